/** The part of PMI-1 that a rendezvous needs. Processes that MPICH's mpiexec or one of its relatives has started can
 *  exchange data by PMI-1. The protocol consists of lines "cmd=put key=K value=V". */
#ifndef MUSTER_CLUSTER_PMI_H
#define MUSTER_CLUSTER_PMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

enum { MST_PMI_VALUE = 1024 }; /**< room for a value, with the zero at its end */

/** Gives the VALUE of process 0, a text without spaces, to all processes of the job: on the others VALUE is filled in.
 *  DESCRIPTOR is the number in the environment variable PMI_FD. All processes must call this; MST_DEADLINE after
 *  TIMEOUT seconds. FINISH: ends PMI for this process. It must be false if the process starts an MPI later, which needs
 *  PMI. */
MST_CHECKED mst_status mst_pmi_share(int descriptor, int64_t rank, double timeout, bool finish,
                                     char value[MST_PMI_VALUE]);

#endif
