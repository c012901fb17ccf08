/** What attention and its gradient share.
 *
 *  Queries are [batch, heads, queries, depth], keys [batch, key heads, keys, depth], values [batch, key heads, keys,
 *  columns]. Each key head serves `group` heads that follow one another. So the queries of a group are rows of one
 *  matrix, [group queries, depth].
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
    int64_t mask_step[4]; /**< elements from one to the next in the mask; 0 along an axis that is broadcast */
} mst_attention;

/** MASK: NULL if there is none. */
mst_attention mst_attention_make(const mst_scaled_dot_product_attention_options *o, const mst_shape *query,
                                 const mst_shape *key, const mst_shape *value, const mst_shape *mask);

/** The same from the sources of a node; MASK: number of the mask, 0 if there is none. */
mst_attention mst_attention_of(const mst_scaled_dot_product_attention_options *o, const mst_spec *src, int mask);

/** How many keys query QUERY sees at most. */
static inline int64_t mst_attention_seen(const mst_attention *s, int64_t query) {
    return s->causal && query + 1 < s->keys ? query + 1 : s->keys;
}

/** Where the mask of query QUERY of HEAD begins, in elements. */
static inline int64_t mst_attention_mask_at(const mst_attention *s, int64_t batch, int64_t head, int64_t query) {
    return batch * s->mask_step[0] + head * s->mask_step[1] + query * s->mask_step[2];
}

/** Checks sources 0 to 2, queries, keys and values, and source MASK if there is one. Sets DST to the result, and
 *  STATISTIC to a number of each query. */
MST_CHECKED mst_status mst_attention_infer(mst_infer *c, int mask, mst_spec *dst, mst_spec *statistic);

/* The reference kernels, and what they need. */
size_t mst_attention_workspace(const mst_infer *c, int num_threads);
MST_CHECKED mst_status mst_attention_reference(const mst_kernel_args *a);
size_t mst_attention_grad_workspace(const mst_infer *c, int num_threads);
MST_CHECKED mst_status mst_attention_grad_reference(const mst_kernel_args *a);

/** Attention as other ops, with the queries of a group in one matrix: [batch, key heads, group queries, ...]. */
typedef struct mst_attention_graph {
    mst_value query, key, value; /**< the query is not scaled */
    mst_value weights; /**< e to the product less the statistic: after softmax, if that is the log of the sum */
    mst_value scale;   /**< a scalar */
} mst_attention_graph;
/** SRC: query, key, value. LOG_SUM, [batch, heads, queries]; MASK: MST_NONE if there is none. */
mst_attention_graph mst_attention_graph_make(const mst_scaled_dot_product_attention_options *o, const mst_value *src,
                                             mst_value log_sum, mst_value mask);
/** X, [n, heads, rows, ...], with as many heads as LIKE: by the op heads_like, if X has not. MST_NONE stays. */
mst_value mst_attention_heads_like(mst_value x, mst_value like);

/** Attention as StableHLO, grouped like mst_attention_graph. MASK: number of the source, 0 if there is none. */
typedef struct mst_attention_hlo {
    mst_hlo query, key, value; /**< the query is scaled */
    mst_hlo products;          /**< with the mask; -Inf where a query does not see a key */
} mst_attention_hlo;
mst_attention_hlo mst_attention_lower(mst_lower *l, const mst_attention *s, int mask);
/** A matrix product of each batch and key head: A B, with A or B transposed. */
mst_hlo mst_attention_dot(mst_lower *l, mst_hlo a, bool transpose_a, mst_hlo b, bool transpose_b);

#endif
