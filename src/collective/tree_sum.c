#include "collective/tree_sum.h"

#include <string.h>

#include "base/simd.h"

/* Elements of a block: blocks of a few levels fit into the first-level cache. */
enum { BLOCK = 512 };

typedef struct tree_sum {
    const mst_array *value;
    const mst_shards *node;
    int32_t num_nodes, num_shards;
    void *out;
} tree_sum;

#define MST_TEMPLATE "collective/tree_sum.inc"
#include "op/numbers.inc"

void mst_tree_sum(mst_dtype dtype, const mst_array *value, const mst_shards *node, int32_t num_nodes,
                  int32_t num_shards, int64_t first, int64_t count, void *out) {
    static void (*const sum[MST_NUM_DTYPES])(const tree_sum *, int64_t, int64_t) = {MST_BY_NUMBER(tree_sum)};
    const tree_sum s = {value, node, num_nodes, num_shards, out};
    if (num_nodes > 0) sum[dtype](&s, first, count);
}
