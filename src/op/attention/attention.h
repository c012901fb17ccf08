/** Code that attention and its gradient share.
 *
 *  Queries are [batch, heads, queries, depth], keys [batch, key heads, keys, depth], values [batch, key heads, keys,
 *  columns]. Each key head serves `group` consecutive heads. So the queries of a group are rows of one matrix,
 *  [group queries, depth]. A query "sees" a key if causal and mask allow it to attend to that key.
 */
#ifndef MUSTER_OP_ATTENTION_H
#define MUSTER_OP_ATTENTION_H

#include "muster/hlo.h"
#include "muster/op.h"
#include "muster/ops.h"

extern const mst_field mst_attention_fields[];

/** The sizes of one attention. */
typedef struct mst_attention {
    int64_t batch, heads, key_heads, group, queries, keys, depth, columns;
    double scale;
    bool causal;
    int64_t mask_step[4]; /**< strides of the mask, in elements; 0 along an axis that is broadcast */
} mst_attention;

/** The sizes for sources of these shapes. MASK: NULL if there is none. */
mst_attention mst_attention_make(const mst_scaled_dot_product_attention_options *o, const mst_shape *query,
                                 const mst_shape *key, const mst_shape *value, const mst_shape *mask);

/** The same for the sources SRC of a node. MASK: number of the source that is the mask, 0 if there is none. */
mst_attention mst_attention_of(const mst_scaled_dot_product_attention_options *o, const mst_spec *src, int mask);

/** How many keys query QUERY sees, without regard to the mask: keys 0 to the result - 1. */
static inline int64_t mst_attention_seen(const mst_attention *s, int64_t query) {
    return s->causal && query + 1 < s->keys ? query + 1 : s->keys;
}

/** The offset, in elements, of the mask of query QUERY of HEAD. */
static inline int64_t mst_attention_mask_at(const mst_attention *s, int64_t batch, int64_t head, int64_t query) {
    return batch * s->mask_step[0] + head * s->mask_step[1] + query * s->mask_step[2];
}

/** Checks queries, keys and values, sources 0 to 2, and source MASK if it is not 0. Infers DST, the result, and
 *  STATISTIC, which has one number per query. */
MST_CHECKED mst_status mst_attention_infer(mst_infer *c, int mask, mst_spec *dst, mst_spec *statistic);

/* The reference kernels, and their bytes of workspace. */
size_t mst_attention_workspace(const mst_infer *c, int num_threads);
MST_CHECKED mst_status mst_attention_reference(const mst_kernel_args *a);
size_t mst_attention_grad_workspace(const mst_infer *c, int num_threads);
MST_CHECKED mst_status mst_attention_grad_reference(const mst_kernel_args *a);

/** Attention built from other ops. Query and weights have the queries of a group in one matrix: [batch, key heads,
 *  group queries, ...]. */
typedef struct mst_attention_graph {
    mst_value query, key, value; /**< the query is not scaled */
    mst_value weights;           /**< e^(product - log_sum), the product scaled and masked: the softmax */
    mst_value scale;             /**< a scalar */
} mst_attention_graph;
/** SRC: query, key, value. LOG_SUM: [batch, heads, queries]. MASK: MST_NONE if there is none. */
mst_attention_graph mst_attention_graph_make(const mst_scaled_dot_product_attention_options *o, const mst_value *src,
                                             mst_value log_sum, mst_value mask);
/** X, [n, heads, rows, ...], with as many heads as LIKE. If X has another number of heads, adds the op heads_like. If X
 *  is MST_NONE, returns MST_NONE. */
mst_value mst_attention_heads_like(mst_value x, mst_value like);

/** Attention as StableHLO, grouped like mst_attention_graph. MASK: number of the source, 0 if there is none. */
typedef struct mst_attention_hlo {
    mst_hlo query, key, value; /**< the query is scaled */
    mst_hlo products;          /**< with the mask; -Inf where a query does not see a key */
} mst_attention_hlo;
mst_attention_hlo mst_attention_lower(mst_lower *l, const mst_attention *s, int mask);
/** The matrix product A B for each batch and key head. TRANSPOSE_A, TRANSPOSE_B: A, B is transposed first. */
mst_hlo mst_attention_dot(mst_lower *l, mst_hlo a, bool transpose_a, mst_hlo b, bool transpose_b);

#endif
