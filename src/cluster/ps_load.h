/** Which parameter server keeps a variable: each in turn, or the one with the fewest bytes so far, the first of those
 *  where several have as few (TensorFlow's GreedyLoadBalancingStrategy with byte_size_load_fn). */
#ifndef MUSTER_CLUSTER_PS_LOAD_H
#define MUSTER_CLUSTER_PS_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/graph.h"

/** The servers, and what they have been given so far. */
typedef struct mst_ps_load {
    bool by_bytes;
    int num_ps, next; /* whose turn it is */
    int64_t bytes[];  /* [num_ps] */
} mst_ps_load;

/** Of NUM_PS servers, at least one, that have nothing. *OUT is freed by the caller with free(). */
MST_CHECKED mst_status mst_ps_load_create(int num_ps, bool by_bytes, mst_ps_load **out);
/** Bytes of LOAD itself, which may be copied. */
size_t mst_ps_load_size(const mst_ps_load *load);
/** The number of the server that gets VARIABLE, counted from 0; LOAD is an mst_ps_load. Variables are given in the
 *  order in which they were made. */
int mst_ps_load_give(void *load, const mst_spec *variable);

#endif
