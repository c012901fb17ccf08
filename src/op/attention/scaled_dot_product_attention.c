/** scaled_dot_product_attention: dst = softmax(scale query key^T + mask) value: for each query, a mean of the values.
 *  The weight of a value grows with the product of its key and the query
 *
 *  query    f32 or f64, [batch, heads, queries, depth]
 *  key      query's dtype, [batch, key heads, keys, depth]; heads is a multiple of key heads. Each key head serves
 *           heads / key heads consecutive heads, as in grouped-query attention
 *  value    query's dtype, [batch, key heads, keys, columns]
 *  mask     optional: bool, true where a query may attend to a key; or query's dtype, added to the products. Its shape
 *           broadcasts to [batch, heads, queries, keys]
 *  causal   query i attends only to keys 0 to i
 *  scale    factor of the products, default 1 / sqrt(depth)
 *  dropout  fraction of the weights that is dropped, default 0
 *  seed     of the dropout; 0: made from the names of nodes and scopes
 *  dst      output 0, [batch, heads, queries, columns]
 *  log_sum  output 1, [batch, heads, queries]: the natural logarithm of the sum of e to each product
 *
 *  A query that attends to no key (all masked by false or -Inf) gives zeros, zero gradients and a log_sum of -Inf.
 *
 *  On CPUs the weights [batch, heads, queries, keys] are never in memory as a whole. The op takes the keys block by
 *  block, with a running maximum and sum, and the gradient computes the weights of a block again, from log_sum (Dao et
 *  al., 2022, "FlashAttention", https://arxiv.org/abs/2205.14135). Gradients of a mask, gradients of gradients, and
 *  devices that compile do have the whole weights in memory.
 *
 *  Two cases are built from other ops, which also have the whole weights in memory: dropout, and sources that do not
 *  have 4 dimensions ([..., queries, depth] and so on, with leading dimensions that broadcast). They have output 0
 *  only. They add -1e9 to products that bools or causal mask, and causal needs known numbers of queries and keys.
 */
#ifdef MST_OP_HEADER
typedef struct mst_scaled_dot_product_attention_options {
    int zero_;
    mst_value query, key, value;
    mst_value mask;
    bool causal;
    double scale;
    float dropout;
    uint64_t seed;
} mst_scaled_dot_product_attention_options;
MST_API mst_value mst_scaled_dot_product_attention_with(mst_scaled_dot_product_attention_options options);
#define mst_scaled_dot_product_attention(...) \
    mst_scaled_dot_product_attention_with(    \
        MST_NAMED_3(mst_scaled_dot_product_attention_options, query, key, value, __VA_ARGS__))
#endif
#include <math.h>

#include "graph/field.h"
#include "op/attention/attention.h"
#include "op/list.h"
#include "op/op.h"
#include "op/share.h"

static mst_status attention_infer(mst_infer *c) {
    if (c->num_src != 3 && c->num_src != 4)
        return mst_infer_fail(c, "%d sources, must be query, key, value and maybe a mask", c->num_src);
    return mst_attention_infer(c, c->num_src > 3 ? 3 : 0, &c->dst[0], &c->dst[1]);
}

static mst_value zeros_if_none(mst_value x, mst_value like) {
    return mst_value_is_none(x) ? mst_zeros_like(like) : x;
}

/* The gradient of the product of a query and a key is w (g v - mean). w is the weight, g the gradient of the query's
 * result, v the value. `mean`, the mean of g v over the keys with weights w, is the product of g and the result. A
 * gradient e of log_sum adds w e. */
static mst_value attention_grad(mst_grad *c, int i) {
    const mst_scaled_dot_product_attention_options *o = c->options;
    const mst_value mask = c->num_src > 3 ? c->src[3] : MST_NONE;
    const mst_value gradient = zeros_if_none(c->ddst[0], c->dst[0]);
    mst_value mean = mst_reduce_sum(.src = mst_mul(gradient, c->dst[0]), .axes = MST_AXES(-1));
    if (!mst_value_is_none(c->ddst[1])) mean = mst_sub(mean, c->ddst[1]);
    if (i == 3) {
        const mst_attention_graph g = mst_attention_graph_make(o, c->src, c->dst[1], mask);
        const mst_value grouped = mst_attention_heads_like(gradient, g.key);
        const mst_value product = mst_matmul(grouped, g.value, .transpose_b = true);
        const mst_value weights = mst_attention_heads_like(g.weights, c->src[0]);
        const mst_value slope = mst_sub(mst_attention_heads_like(product, c->src[0]), mst_expand_dims(mean, -1));
        return mst_unbroadcast(mst_mul(weights, slope), mask);
    }
    const mst_value sources[] = {c->src[0], c->src[1], c->src[2], gradient, c->dst[1], mean, mask};
    if (mst_value_is_none(c->shared))
        c->shared = mst_call(NULL, &mst_op_scaled_dot_product_attention_grad, c->num_src + 3, sources, c->options);
    return mst_value_output(c->shared, i);
}

static void attention_lower(mst_lower *l) {
    const mst_attention s = mst_attention_of(l->options, l->src_spec, l->num_src > 3 ? 3 : 0);
    const mst_dtype dtype = l->src_spec[0].dtype;
    const int mask = l->num_src > 3 ? 3 : 0;
    const mst_attention_hlo h = mst_attention_lower(l, &s, mask);
    const mst_hlo zero = mst_hlo_number(l, dtype, 0), infinity = mst_hlo_number(l, dtype, -INFINITY);
    const mst_hlo greatest = mst_hlo_reduce_keep(l, "maximum", h.products, -INFINITY, MST_AXES(3));
    const mst_hlo most = mst_hlo_select(l, mst_hlo_compare(l, "EQ", greatest, infinity), zero, greatest);
    const mst_hlo power = mst_hlo_unary(l, "exponential", mst_hlo_binary(l, "subtract", h.products, most));
    const mst_hlo sum = mst_hlo_reduce_keep(l, "add", power, 0, MST_AXES(3));
    const mst_hlo blind = mst_hlo_compare(l, "EQ", sum, zero);
    const mst_hlo weights =
        mst_hlo_binary(l, "divide", power, mst_hlo_select(l, blind, mst_hlo_number(l, dtype, 1), sum));
    const mst_hlo grouped = mst_hlo_reshape(l, weights, MST_SHAPE(s.batch, s.key_heads, s.group * s.queries, s.keys));
    l->dst[0] = mst_hlo_reshape(l, mst_attention_dot(l, grouped, false, h.value, false), l->dst_spec[0].shape);
    l->dst[1] = mst_hlo_reshape(l, mst_hlo_binary(l, "add", most, mst_hlo_unary(l, "log", sum)), l->dst_spec[1].shape);
}

#define LOG_2 0.69314718055994530942
#define LOG_3 1.0986122886681098
#define LOG_4 1.3862943611198906
/* [batch, heads, steps, length] */
#define PART(n, h, t, d)                 \
    {                                    \
        .ndim = 4, .dim = { n, h, t, d } \
    }
/* one query, the number 1: its products with the keys are the keys themselves */
#define ONE                                                         \
    {                                                               \
        .ndim = 4, .dim = {1, 1, 1, 1}, .value = (const double[]) { \
            1                                                       \
        }                                                           \
    }
#define KEYS                                                        \
    {                                                               \
        .ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]) { \
            0, LOG_3                                                \
        }                                                           \
    }
#define VALUES                                                      \
    {                                                               \
        .ndim = 4, .dim = {1, 1, 2, 2}, .value = (const double[]) { \
            4, 8, 12, 0                                             \
        }                                                           \
    }

static const mst_example attention_examples[] = {
    {.name = "two keys",
     .num_src = 3,
     .src = {ONE, KEYS, VALUES},
     .expect = {(const double[]){10, 2}, (const double[]){LOG_4}}},
    {.name = "one is not seen",
     .num_src = 4,
     .src = {ONE, KEYS, VALUES, {.dtype = MST_BOOL, .ndim = 1, .dim = {2}, .value = (const double[]){1, 0}}},
     .expect = {(const double[]){4, 8}, (const double[]){0}}},
    {.name = "none is seen", /* there are no finite differences at -Inf */
     .num_src = 4,
     .src = {{.ndim = 4, .dim = {1, 1, 1, 1}, .value = (const double[]){1}, .no_grad = true},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .no_grad = true},
             {.ndim = 4, .dim = {1, 1, 2, 2}, .no_grad = true},
             {.dtype = MST_BOOL, .ndim = 0, .value = (const double[]){0}}},
     .expect = {(const double[]){0, 0}, (const double[]){-INFINITY}}},
    {.name = "a number is added",
     .num_src = 4,
     .src = {ONE, KEYS, VALUES, {.ndim = 2, .dim = {1, 2}, .value = (const double[]){LOG_3, 0}}},
     .expect = {(const double[]){8, 4}, (const double[]){LOG_2 + LOG_3}}},
    {.name = "causal", /* query 0 sees key 0 */
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 1}}, KEYS, VALUES},
     .options = &(const mst_scaled_dot_product_attention_options){.causal = true},
     .expect = {(const double[]){4, 8, 10, 2}, (const double[]){0, LOG_4}}},
    {.name = "two heads of one key head, scaled",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {1, 2, 1, 1}, .value = (const double[]){0.5, 0}}, KEYS, VALUES},
     .options = &(const mst_scaled_dot_product_attention_options){.scale = 2},
     .expect = {(const double[]){10, 2, 8, 4}, (const double[]){LOG_4, LOG_2}}},
    {.name = "some of each", .num_src = 3, .src = {PART(2, 4, 5, 3), PART(2, 2, 6, 3), PART(2, 2, 6, 4)}},
    {.name = "causal, more queries than keys",
     .num_src = 3,
     .src = {PART(2, 2, 7, 4), PART(2, 2, 3, 4), PART(2, 2, 3, 2)},
     .options = &(const mst_scaled_dot_product_attention_options){.causal = true}},
    {.name = "a bias of each head, causal",
     .num_src = 4,
     .src = {PART(2, 4, 3, 2), PART(2, 1, 5, 2), PART(2, 1, 5, 3), {.ndim = 4, .dim = {1, 4, 3, 5}}},
     .options = &(const mst_scaled_dot_product_attention_options){.causal = true}},
    {.name = "a bias of each batch",
     .num_src = 4,
     .src = {PART(2, 2, 3, 2), PART(2, 2, 4, 2), PART(2, 2, 4, 3), {.ndim = 4, .dim = {2, 1, 1, 4}}}},
    {.name = "one query sees nothing",
     .num_src = 4,
     .src = {{.ndim = 4, .dim = {1, 2, 2, 2}, .no_grad = true},
             {.ndim = 4, .dim = {1, 2, 3, 2}, .no_grad = true},
             {.ndim = 4, .dim = {1, 2, 3, 2}, .no_grad = true},
             {.dtype = MST_BOOL, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 0, 1, 0, 0, 0}}}},
    {.name = "several blocks",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {1, 2, 41, 5}, .no_grad = true},
             {.ndim = 4, .dim = {1, 1, 131, 5}, .no_grad = true},
             {.ndim = 4, .dim = {1, 1, 131, 3}, .no_grad = true}}},
    {.name = "several blocks, causal",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {1, 2, 131, 17}, .no_grad = true},
             {.ndim = 4, .dim = {1, 2, 131, 17}, .no_grad = true},
             {.ndim = 4, .dim = {1, 2, 131, 16}, .no_grad = true}},
     .options = &(const mst_scaled_dot_product_attention_options){.causal = true}},
    {.name = "several blocks, with a mask of each query",
     .num_src = 4,
     .src = {{.ndim = 4, .dim = {2, 1, 37, 4}, .no_grad = true},
             {.ndim = 4, .dim = {2, 1, 101, 4}, .no_grad = true},
             {.ndim = 4, .dim = {2, 1, 101, 3}, .no_grad = true},
             {.dtype = MST_BOOL, .ndim = 4, .dim = {2, 1, 37, 101}}}},
    {.name = "heads that are no multiple",
     .num_src = 3,
     .src = {PART(1, 3, 2, 2), PART(1, 2, 2, 2), PART(1, 2, 2, 2)},
     .fails = MST_INVALID},
    {.name = "queries and keys of two lengths",
     .num_src = 3,
     .src = {PART(1, 1, 2, 2), PART(1, 1, 2, 3), PART(1, 1, 2, 2)},
     .fails = MST_INVALID},
    {.name = "more values than keys",
     .num_src = 3,
     .src = {PART(1, 1, 2, 2), PART(1, 1, 2, 2), PART(1, 1, 3, 2)},
     .fails = MST_INVALID},
    {.name = "a mask of other keys",
     .num_src = 4,
     .src = {PART(1, 1, 2, 2), PART(1, 1, 2, 2), PART(1, 1, 2, 2), {.dtype = MST_BOOL, .ndim = 1, .dim = {3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_scaled_dot_product_attention = {
    .name = "scaled_dot_product_attention",
    .num_src = MST_VARIADIC,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_attention_fields,
    .options_size = sizeof(mst_scaled_dot_product_attention_options),
    .infer = attention_infer,
    .grad = attention_grad,
    .workspace = mst_attention_workspace,
    .reference = mst_attention_reference,
    .lower = attention_lower,
    MST_EXAMPLES(attention_examples),
};

/* ---- with dropout, or sources that do not have 4 dimensions ---- */

enum { HIDDEN = -1000000000 };

/* A mask of HIDDEN for keys after the query, else 0. */
static mst_value causal_mask(mst_value query, mst_value key) {
    const mst_spec q = mst_value_spec(query), k = mst_value_spec(key);
    const int64_t queries = q.shape.dim[q.shape.ndim - 2], keys = k.shape.dim[k.shape.ndim - 2];
    mst_graph *graph = mst_value_graph(query);
    if (queries < 0 || keys < 0)
        return mst_value_fail(graph, MST_INVALID, "attention: with a causal mask the number of steps must be known");
    const mst_value place = mst_expand_dims(mst_range(graph, q.dtype, 0, (double)queries, 1), 1);
    const mst_value behind = mst_greater(mst_range(graph, q.dtype, 0, (double)keys, 1), place);
    return mst_scale(mst_cast(behind, q.dtype), HIDDEN);
}

/* X with as many heads as LIKE, if LIKE has 4 dimensions; else X. */
static mst_value heads_of(mst_value x, mst_value like) {
    return mst_value_spec(like).shape.ndim == 4 ? mst_attention_heads_like(x, like) : x;
}

static mst_value attention_of_ops(const mst_scaled_dot_product_attention_options *o, double scale) {
    const mst_value query = heads_of(mst_scale(o->query, scale), o->key);
    mst_value mask = o->mask, products = heads_of(mst_matmul(query, o->key, .transpose_b = true), o->query);
    if (!mst_value_is_none(mask) && mst_value_spec(mask).dtype == MST_BOOL)
        mask = mst_scale(mst_cast(mst_logical_not(mask), mst_value_spec(products).dtype), HIDDEN);
    if (!mst_value_is_none(mask)) products = mst_add(products, mask);
    if (o->causal) products = mst_add(products, causal_mask(o->query, o->key));
    mst_value weights = mst_softmax(products);
    if (o->dropout > 0)
        weights = mst_dropout_with((mst_dropout_options){.src = weights, .rate = o->dropout, .seed = o->seed});
    return heads_of(mst_matmul(heads_of(weights, o->key), o->value), o->query);
}

mst_value mst_scaled_dot_product_attention_with(mst_scaled_dot_product_attention_options o) {
    const mst_shape query = mst_value_spec(o.query).shape, key = mst_value_spec(o.key).shape;
    const int64_t length = query.ndim ? query.dim[query.ndim - 1] : -1;
    const bool masked = !mst_value_is_none(o.mask);
    if (query.ndim < 2 || key.ndim < 2 || length < 1)
        return mst_value_fail(mst_value_graph(o.query), MST_INVALID,
                              "attention: needs [..., steps, length], with a length that is known");
    const double scale = mst_number_given(o.scale) ? o.scale : 1 / sqrt((double)length);
    if (o.dropout > 0 || query.ndim != 4 || key.ndim != 4 || mst_value_spec(o.value).shape.ndim != 4)
        return attention_of_ops(&o, scale);
    return mst_call(NULL, &mst_op_scaled_dot_product_attention, masked ? 4 : 3,
                    (const mst_value[]){o.query, o.key, o.value, o.mask}, &o);
}
