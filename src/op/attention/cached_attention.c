/** cached_attention: attention of the next steps of a sequence; keys and values of the earlier steps are sources
 *
 *  query       f32 or f64, [batch, heads, steps, depth]; heads is a multiple of key heads, as in
 *              mst_scaled_dot_product_attention
 *  key, value  query's dtype, [batch, key heads, steps, depth] and [batch, key heads, steps, columns]
 *  past_key, past_value
 *              like key and value, with [capacity] in place of [steps]
 *  past        i32, a scalar: number of valid rows of past_key and past_value; limited to the range 0 to capacity
 *  scale       factor of the products, default 1 / sqrt(depth)
 *  dst         [batch, heads, steps, columns]. Step i attends to the first `past` rows of past_key, and to keys 0 to i
 *
 *  The rows of past_key after the first `past` are not read. This is the KV cache of programs that generate text token
 *  by token, and of ONNX' Attention (past_key, past_value). It has no gradient.
 */
#ifdef MST_OP_HEADER
typedef struct mst_cached_attention_options {
    int zero_;
    mst_value query, key, value;
    mst_value past_key, past_value, past;
    double scale;
} mst_cached_attention_options;
MST_API mst_value mst_cached_attention_with(mst_cached_attention_options options);
#define mst_cached_attention(...) \
    mst_cached_attention_with(MST_NAMED_3(mst_cached_attention_options, query, key, value, __VA_ARGS__))
#endif
#include "op/attention/cached_attention.h"

#include <math.h>

#include "graph/field.h"
#include "op/attention/attention.h"
#include "op/op.h"
#include "op/share.h"

static const mst_field cached_attention_fields[] = {
    MST_FIELD_F64(mst_cached_attention_options, scale, 0, -1e30, 1e30, "factor of the products; 0: 1 / sqrt(depth)"),
    MST_FIELD_END,
};

static mst_status cached_attention_infer(mst_infer *c) {
    int64_t same;
    mst_spec log_sum;
    MST_TRY(mst_attention_infer(c, 0, &c->dst[0], &log_sum));
    for (int i = MST_PAST_KEY; i <= MST_PAST_VALUE; i++) {
        MST_TRY(mst_infer_same_dtype(c, 0, i));
        MST_TRY(mst_infer_want_ndim(c, i, 4));
    }
    const int64_t *query = c->src[0].shape.dim, *key = c->src[1].shape.dim, *value = c->src[2].shape.dim;
    const int64_t *past_key = c->src[MST_PAST_KEY].shape.dim, *past_value = c->src[MST_PAST_VALUE].shape.dim;
    MST_TRY(mst_infer_same_dim(c, query[2], key[2], "numbers of queries and keys", &same));
    MST_TRY(mst_infer_same_dim(c, past_key[2], past_value[2], "numbers of kept keys and values", &same));
    for (int k = 0; k < 4; k++) {
        if (k == 2) continue;
        MST_TRY(mst_infer_same_dim(c, key[k], past_key[k], "dimensions of keys and kept keys", &same));
        MST_TRY(mst_infer_same_dim(c, value[k], past_value[k], "dimensions of values and kept values", &same));
    }
    if (c->src[MST_PAST].dtype != MST_I32) return mst_infer_fail(c, "the number of kept steps must be i32");
    return mst_infer_want_ndim(c, MST_PAST, 0);
}

mst_cached_sizes mst_cached_sizes_of(const mst_kernel_args *a) {
    const mst_cached_attention_options *o = a->options;
    const mst_scaled_dot_product_attention_options attention = {.scale = o->scale, .causal = true};
    const int64_t capacity = a->src[MST_PAST_KEY].shape.dim[2], past = *(const int32_t *)a->src[MST_PAST].data;
    return (mst_cached_sizes){
        .sizes = mst_attention_make(&attention, &a->src[0].shape, &a->src[1].shape, &a->src[2].shape, NULL),
        .capacity = capacity,
        .past = past < 0          ? 0
                : past > capacity ? capacity
                                  : past};
}

size_t mst_cached_attention_workspace(const mst_infer *c, int num_threads) {
    const int64_t numbers = c->src[MST_PAST_KEY].shape.dim[2] + c->src[1].shape.dim[2];
    return (size_t)num_threads * (size_t)numbers * sizeof(double);
}

#define MST_TEMPLATE "op/attention/cached_rows.inc"
#include "base/floats.inc"

/* Computes queries BEGIN to END - 1, numbered over all heads. */
static mst_status cached_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_cached_sizes s = mst_cached_sizes_of(a);
    double *p = (double *)a->workspace + thread * (s.capacity + s.sizes.keys);
    for (int64_t row = begin; row < end; row++)
        (a->dst[0].dtype == MST_F32 ? attend_cached_f32 : attend_cached_f64)(a, &s, row, p);
    return MST_OK;
}

static mst_status cached_attention_reference(const mst_kernel_args *a) {
    const mst_cached_sizes s = mst_cached_sizes_of(a);
    const int64_t rows = s.sizes.batch * s.sizes.heads * s.sizes.queries;
    const int64_t cost = (s.past + s.sizes.keys) * (s.sizes.depth + s.sizes.columns);
    return mst_parallel(a, rows, mst_grain(rows, cost), cached_run, mst_context_of(a));
}

/* Multiplies all queries with the past keys and the new ones. A product is -Inf where a query may not attend to the
 * key. */
static void cached_attention_lower(mst_lower *l) {
    const mst_scaled_dot_product_attention_options o = {
        .scale = ((const mst_cached_attention_options *)l->options)->scale, .causal = true};
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_attention s = mst_attention_of(&o, l->src_spec, 0);
    const int64_t capacity = l->src_spec[MST_PAST_KEY].shape.dim[2];
    const mst_shape old = MST_SHAPE(s.batch, s.heads, s.queries, capacity);
    const mst_attention_hlo new = mst_attention_lower(l, &s, 0);
    const mst_hlo kept = mst_hlo_reshape(l, mst_attention_dot(l, new.query, false, l->src[MST_PAST_KEY], true), old);
    const mst_hlo is_kept = mst_hlo_compare(l, "LT", mst_hlo_iota(l, MST_I32, old, 3), l->src[MST_PAST]);
    const mst_hlo seen = mst_hlo_select(l, is_kept, kept, mst_hlo_number(l, dtype, -INFINITY));
    const mst_hlo products = mst_hlo_concat(l, 2, (mst_hlo[]){seen, new.products}, 3);
    const mst_hlo most = mst_hlo_reduce_keep(l, "maximum", products, -INFINITY, MST_AXES(3));
    const mst_hlo power = mst_hlo_unary(l, "exponential", mst_hlo_binary(l, "subtract", products, most));
    const mst_hlo sum = mst_hlo_reduce_keep(l, "add", power, 0, MST_AXES(3));
    const mst_hlo weights = mst_hlo_reshape(l, mst_hlo_binary(l, "divide", power, sum),
                                            MST_SHAPE(s.batch, s.key_heads, s.group * s.queries, capacity + s.keys));
    const mst_hlo values = mst_hlo_concat(l, 2, (mst_hlo[]){l->src[MST_PAST_VALUE], l->src[2]}, 2);
    l->dst[0] = mst_hlo_reshape(l, mst_attention_dot(l, weights, false, values, false), l->dst_spec[0].shape);
}

#define LOG_2 0.69314718055994530942
#define LOG_3 1.0986122886681098
/* [batch, heads, steps, length] */
#define PART(n, h, t, d) \
    { .ndim = 4, .dim = {n, h, t, d}, .no_grad = true }
#define VALUES(t, d, ...)                                                            \
    {                                                                                \
        .ndim = 4, .dim = {1, 1, t, d}, .no_grad = true, .value = (const double[]) { \
            __VA_ARGS__                                                              \
        }                                                                            \
    }
#define PAST(n)                                                                   \
    {                                                                             \
        .dtype = MST_I32, .ndim = 0, .no_grad = true, .value = (const double[]) { \
            n                                                                     \
        }                                                                         \
    }

static const mst_example cached_attention_examples[] = {
    {.name = "one of two kept steps, and a new one",
     .num_src = 6,
     .src = {VALUES(1, 1, 1), VALUES(1, 1, LOG_3), VALUES(1, 2, 12, 0), VALUES(2, 1, 0, 9), VALUES(2, 2, 4, 8, 99, 99),
             PAST(1)},
     .expect = {(const double[]){10, 2}}},
    {.name = "nothing kept",
     .num_src = 6,
     .src = {VALUES(1, 1, 1), VALUES(1, 1, 5), VALUES(1, 2, 3, 4), VALUES(2, 1, 0, 9), VALUES(2, 2, 4, 8, 99, 99),
             PAST(-3)},
     .expect = {(const double[]){3, 4}}},
    {.name = "two new steps, all kept", /* weights 1/4, 1/4, 1/2, then 1/5, 1/5, 2/5, 1/5 */
     .num_src = 6,
     .src = {VALUES(2, 1, 1, 1), VALUES(2, 1, LOG_2, 0), VALUES(2, 1, 4, 5), VALUES(2, 1, 0, 0), VALUES(2, 1, 4, 8),
             PAST(7)},
     .expect = {(const double[]){5, 5}}},
    {.name = "heads in groups",
     .num_src = 6,
     .src = {PART(2, 4, 3, 5), PART(2, 2, 3, 5), PART(2, 2, 3, 6), PART(2, 2, 7, 5), PART(2, 2, 7, 6), PAST(4)}},
    {.name = "many steps, scaled",
     .num_src = 6,
     .src = {PART(1, 2, 33, 20), PART(1, 2, 33, 20), PART(1, 2, 33, 17), PART(1, 2, 140, 20), PART(1, 2, 140, 17),
             PAST(100)},
     .options = &(const mst_cached_attention_options){.scale = 0.5}},
    {.name = "no room",
     .num_src = 6,
     .src = {PART(1, 1, 2, 4), PART(1, 1, 2, 4), PART(1, 1, 2, 4), PART(1, 1, 0, 4), PART(1, 1, 0, 4), PAST(1)}},
    {.name = "kept values of another length",
     .num_src = 6,
     .src = {PART(1, 1, 1, 2), PART(1, 1, 1, 2), PART(1, 1, 1, 2), PART(1, 1, 4, 2), PART(1, 1, 4, 3), PAST(1)},
     .fails = MST_INVALID},
    {.name = "more keys than queries",
     .num_src = 6,
     .src = {PART(1, 1, 1, 2), PART(1, 1, 2, 2), PART(1, 1, 2, 2), PART(1, 1, 4, 2), PART(1, 1, 4, 2), PAST(1)},
     .fails = MST_INVALID},
};

const mst_op mst_op_cached_attention = {
    .name = "cached_attention",
    .num_src = 6,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = cached_attention_fields,
    .options_size = sizeof(mst_cached_attention_options),
    .infer = cached_attention_infer,
    .workspace = mst_cached_attention_workspace,
    .reference = cached_attention_reference,
    .lower = cached_attention_lower,
    MST_EXAMPLES(cached_attention_examples),
};

mst_value mst_cached_attention_with(mst_cached_attention_options o) {
    const mst_value src[] = {o.query, o.key, o.value, o.past_key, o.past_value, o.past};
    return mst_call(NULL, &mst_op_cached_attention, 6, src, &o);
}
