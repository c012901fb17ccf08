/** The part of PMI-1 that a rendezvous needs. Processes that MPICH's mpiexec or one of its relatives has started can
 *  exchange data by PMI-1. The protocol consists of lines "cmd=put key=K value=V". */
#ifndef MUSTER_CLUSTER_PMI_H
#define MUSTER_CLUSTER_PMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

enum { MST_PMI_VALUE = 1024 };

/** Gives the VALUE of process 0, a text without spaces, to all processes of the job: on the others VALUE is filled in.
 *  DESCRIPTOR is that of PMI_FD. All processes must call it; MST_DEADLINE after TIMEOUT seconds. FINISH: this process
 *  will not use PMI any more. An MPI that it starts later needs PMI. */
MST_CHECKED mst_status mst_pmi_share(int descriptor, int64_t rank, double timeout, bool finish,
                                     char value[MST_PMI_VALUE]);

#endif
