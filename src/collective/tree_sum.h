/** Sums of values of nodes of the fixed tree (base/shard_tree.h), element by element. */
#ifndef MUSTER_COLLECTIVE_TREE_SUM_H
#define MUSTER_COLLECTIVE_TREE_SUM_H

#include "base/shard_tree.h"
#include "muster/op.h"

/** OUT = the sum of the data of VALUE[0] to VALUE[num_nodes - 1], which belong to the nodes NODE: from left to right
 *  the parts of one node of the tree over NUM_SHARDS. FIRST and COUNT say which elements; they are of DTYPE, a number.
 *  Integers wrap around. OUT is none of the values. Of the arrays nothing but the data is looked at. */
void mst_tree_sum(mst_dtype dtype, const mst_array *value, const mst_shards *node, int32_t num_nodes,
                  int32_t num_shards, int64_t first, int64_t count, void *out);

#endif
