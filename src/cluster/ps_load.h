/** Chooses the parameter server that keeps a variable: each in turn, or the one with the fewest bytes so far. Among
 *  servers with equally few bytes it is the first, as in TensorFlow's GreedyLoadBalancingStrategy with
 *  byte_size_load_fn. */
#ifndef MUSTER_CLUSTER_PS_LOAD_H
#define MUSTER_CLUSTER_PS_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/graph.h"

/** The servers, and the bytes that each has been given so far. */
typedef struct mst_ps_load {
    bool by_bytes;
    int num_ps, next; /* whose turn it is */
    int64_t bytes[];  /* [num_ps] */
} mst_ps_load;

/** Makes the load of NUM_PS servers, at least one, without variables. The caller frees *OUT with free(). */
MST_CHECKED mst_status mst_ps_load_create(int num_ps, bool by_bytes, mst_ps_load **out);
/** Size of LOAD in bytes; it may be copied as memory. */
size_t mst_ps_load_size(const mst_ps_load *load);
/** The number of the server that gets VARIABLE, counted from 0. LOAD is an mst_ps_load. Call it for the variables in
 *  the order in which they were made. */
int mst_ps_load_give(void *load, const mst_spec *variable);

#endif
