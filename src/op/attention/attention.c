/* Code that attention and its gradient share: options, shapes, and how both are built from other ops and written in
 * StableHLO. */
#include "op/attention/attention.h"

#include <math.h>

#include "graph/field.h"
#include "op/op.h"

const mst_field mst_attention_fields[] = {
    MST_FIELD_BOOL(mst_scaled_dot_product_attention_options, causal, "a query sees the keys up to its own place only"),
    MST_FIELD_F64(mst_scaled_dot_product_attention_options, scale, 0, -1e30, 1e30,
                  "factor of the products; 0: 1 / sqrt(depth)"),
    MST_FIELD_END,
};

static double scale_of(const mst_scaled_dot_product_attention_options *o, int64_t depth) {
    return mst_number_given(o->scale) ? o->scale : 1 / sqrt((double)(depth > 0 ? depth : 1));
}

mst_attention mst_attention_make(const mst_scaled_dot_product_attention_options *o, const mst_shape *query,
                                 const mst_shape *key, const mst_shape *value, const mst_shape *mask) {
    mst_attention s = {.batch = query->dim[0],
                       .heads = query->dim[1],
                       .key_heads = key->dim[1],
                       .group = key->dim[1] ? query->dim[1] / key->dim[1] : 0,
                       .queries = query->dim[2],
                       .keys = key->dim[2],
                       .depth = query->dim[3],
                       .columns = value->dim[3],
                       .scale = scale_of(o, query->dim[3]),
                       .causal = o->causal};
    int64_t step = 1;
    for (int k = 1; mask && k <= mask->ndim; k++) {
        const int64_t dim = mask->dim[mask->ndim - k];
        s.mask_step[4 - k] = dim == 1 ? 0 : step;
        step *= dim;
    }
    return s;
}

mst_attention mst_attention_of(const mst_scaled_dot_product_attention_options *o, const mst_spec *src, int mask) {
    return mst_attention_make(o, &src[0].shape, &src[1].shape, &src[2].shape, mask ? &src[mask].shape : NULL);
}

static mst_status check_mask(mst_infer *c, int mask) {
    const mst_shape *shape = &c->src[mask].shape;
    const int64_t want[] = {c->src[0].shape.dim[0], c->src[0].shape.dim[1], c->src[0].shape.dim[2],
                            c->src[1].shape.dim[2]};
    if (c->src[mask].dtype != MST_BOOL) MST_TRY(mst_infer_same_dtype(c, 0, mask));
    if (shape->ndim > 4) return mst_infer_fail(c, "the mask has %d dimensions, must have at most 4", shape->ndim);
    for (int k = 1; k <= shape->ndim; k++) {
        const int64_t dim = shape->dim[shape->ndim - k];
        if (dim >= 0 && want[4 - k] >= 0 && dim != 1 && dim != want[4 - k])
            return mst_infer_fail(c, "the mask does not broadcast to [batch, heads, queries, keys]");
    }
    return MST_OK;
}

mst_status mst_attention_infer(mst_infer *c, int mask, mst_spec *dst, mst_spec *statistic) {
    int64_t batch, heads, keys, depth;
    MST_TRY(mst_infer_want_float(c, 0));
    for (int i = 0; i < 3; i++) {
        MST_TRY(mst_infer_same_dtype(c, 0, i));
        MST_TRY(mst_infer_want_ndim(c, i, 4));
    }
    const int64_t *query = c->src[0].shape.dim, *key = c->src[1].shape.dim, *value = c->src[2].shape.dim;
    MST_TRY(mst_infer_same_dim(c, query[0], key[0], "batches", &batch));
    MST_TRY(mst_infer_same_dim(c, batch, value[0], "batches", &batch));
    MST_TRY(mst_infer_same_dim(c, key[1], value[1], "heads of keys and values", &heads));
    MST_TRY(mst_infer_same_dim(c, key[2], value[2], "numbers of keys and values", &keys));
    MST_TRY(mst_infer_same_dim(c, query[3], key[3], "lengths of queries and keys", &depth));
    if (query[1] >= 0 && heads >= 0 && (heads ? query[1] % heads != 0 : query[1] != 0))
        return mst_infer_fail(c, "%lld heads of queries are no multiple of %lld heads of keys", (long long)query[1],
                              (long long)heads);
    if (mask) MST_TRY(check_mask(c, mask));
    *dst = (mst_spec){.dtype = c->src[0].dtype, .shape = MST_SHAPE(batch, query[1], query[2], value[3])};
    *statistic = (mst_spec){.dtype = c->src[0].dtype, .shape = MST_SHAPE(batch, query[1], query[2])};
    return MST_OK;
}

/* ---- built from other ops ---- */

/* PRODUCTS, [batch, heads, queries, keys], with the mask applied: -Inf where a query may not attend to a key. */
static mst_value hide(const mst_scaled_dot_product_attention_options *o, mst_value products, mst_value mask) {
    mst_graph *graph = mst_value_graph(products);
    const mst_dtype dtype = mst_value_spec(products).dtype;
    const mst_value nothing = mst_scalar(graph, dtype, 0), hidden = mst_scalar(graph, dtype, -INFINITY);
    if (!mst_value_is_none(mask)) {
        const bool is_bool = mst_value_spec(mask).dtype == MST_BOOL;
        products = mst_add(products, is_bool ? mst_select(mask, nothing, hidden) : mask);
    }
    if (!o->causal) return products;
    const mst_value ones = mst_ones_like(products); /* their running sums number queries and keys */
    const mst_value behind = mst_greater(mst_cumsum(ones, .axis = -1), mst_cumsum(ones, .axis = -2));
    return mst_add(products, mst_select(behind, hidden, nothing));
}

mst_attention_graph mst_attention_graph_make(const mst_scaled_dot_product_attention_options *o, const mst_value *src,
                                             mst_value log_sum, mst_value mask) {
    mst_graph *graph = mst_value_graph(src[0]);
    const mst_dtype dtype = mst_value_spec(src[0]).dtype;
    mst_attention_graph g = {.key = src[1], .value = src[2]};
    g.query = mst_attention_heads_like(src[0], g.key);
    g.scale =
        mst_number_given(o->scale) ? mst_scalar(graph, dtype, o->scale) : mst_rsqrt(mst_dim_size(src[0], -1, dtype));
    const mst_value product = mst_matmul(mst_mul(g.query, g.scale), g.key, .transpose_b = true);
    const mst_value products = hide(o, mst_attention_heads_like(product, src[0]), mask);
    /* a query that attends to no key has a log_sum of -Inf, and weights of 0 */
    const mst_value blind = mst_equal(log_sum, mst_scalar(graph, dtype, -INFINITY));
    const mst_value statistic = mst_select(blind, mst_zeros_like(log_sum), log_sum);
    const mst_value weights = mst_exp(mst_sub(products, mst_expand_dims(statistic, -1)));
    g.weights = mst_attention_heads_like(weights, g.key);
    return g;
}

/* ---- as StableHLO ---- */

mst_hlo mst_attention_dot(mst_lower *l, mst_hlo a, bool transpose_a, mst_hlo b, bool transpose_b) {
    return mst_hlo_dot(l, a, b, MST_AXES(0, 1), MST_AXES(0, 1), MST_AXES(transpose_a ? 2 : 3),
                       MST_AXES(transpose_b ? 3 : 2), l->src_spec[0].dtype);
}

mst_attention_hlo mst_attention_lower(mst_lower *l, const mst_attention *s, int mask) {
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_shape grouped = MST_SHAPE(s->batch, s->key_heads, s->group * s->queries, s->depth);
    const mst_shape whole = MST_SHAPE(s->batch, s->heads, s->queries, s->keys);
    const mst_hlo hidden = mst_hlo_number(l, dtype, -INFINITY);
    mst_attention_hlo h = {.key = l->src[1], .value = l->src[2]};
    h.query = mst_hlo_binary(l, "multiply", mst_hlo_reshape(l, l->src[0], grouped), mst_hlo_number(l, dtype, s->scale));
    h.products = mst_hlo_reshape(l, mst_attention_dot(l, h.query, false, h.key, true), whole);
    if (mask && l->src_spec[mask].dtype == MST_BOOL)
        h.products = mst_hlo_select(l, l->src[mask], h.products, hidden);
    else if (mask)
        h.products = mst_hlo_binary(l, "add", h.products, l->src[mask]);
    if (s->causal) {
        const mst_hlo behind =
            mst_hlo_compare(l, "GT", mst_hlo_iota(l, MST_I32, whole, 3), mst_hlo_iota(l, MST_I32, whole, 2));
        h.products = mst_hlo_select(l, behind, hidden, h.products);
    }
    return h;
}
