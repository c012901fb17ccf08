/** The part of PMI-1, by which MPICH's mpiexec and its relatives let the processes that they start tell each other
 *  things, that a rendezvous needs (its wire protocol is lines "cmd=put key=K value=V"). */
#ifndef MUSTER_CLUSTER_PMI_H
#define MUSTER_CLUSTER_PMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

enum { MST_PMI_VALUE = 1024 };

/** Gives all processes of the job the VALUE (text without spaces) of process 0, whose place is filled on the others.
 *  DESCRIPTOR is that of PMI_FD. All must call it; MST_DEADLINE after TIMEOUT seconds. FINISH: this process will use
 *  PMI no more; an MPI that it starts later needs it. */
MST_CHECKED mst_status mst_pmi_share(int descriptor, int64_t rank, double timeout, bool finish,
                                     char value[MST_PMI_VALUE]);

#endif
