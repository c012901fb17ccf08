/** Sums over nodes of the fixed tree (base/shard_tree.h), element by element. */
#ifndef MUSTER_COLLECTIVE_TREE_SUM_H
#define MUSTER_COLLECTIVE_TREE_SUM_H

#include "base/shard_tree.h"
#include "muster/op.h"

/** OUT = the sum of the data of VALUE[0] to VALUE[num_nodes - 1]. They belong to the nodes in NODE. From left to right,
 *  these are the parts of one node of the tree over NUM_SHARDS. FIRST and COUNT select the elements; DTYPE is a numeric
 *  type. Integers wrap around. OUT is not one of the values. Only the data of the arrays is used. */
void mst_tree_sum(mst_dtype dtype, const mst_array *value, const mst_shards *node, int32_t num_nodes,
                  int32_t num_shards, int64_t first, int64_t count, void *out);

#endif
