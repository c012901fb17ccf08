/** Sums over nodes of the fixed tree (base/shard_tree.h), element by element. */
#ifndef MUSTER_COLLECTIVE_TREE_SUM_H
#define MUSTER_COLLECTIVE_TREE_SUM_H

#include "base/shard_tree.h"
#include "muster/op.h"

/** OUT[i] = sum over k of VALUE[k][i], for elements FIRST <= i < FIRST + COUNT. VALUE[k] is the value of NODE[k]. From
 *  left to right, the num_nodes nodes make up one node of the tree over NUM_SHARDS. DTYPE is a numeric type. Integers
 *  wrap around. OUT is not one of the values. Of each array only the data is used. */
void mst_tree_sum(mst_dtype dtype, const mst_array *value, const mst_shards *node, int32_t num_nodes,
                  int32_t num_shards, int64_t first, int64_t count, void *out);

#endif
