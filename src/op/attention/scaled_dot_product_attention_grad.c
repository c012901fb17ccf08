/** scaled_dot_product_attention_grad: the gradients of scaled_dot_product_attention
 *
 *  query, key, value  as scaled_dot_product_attention's
 *  gradient  gradient of output 0 of scaled_dot_product_attention
 *  log_sum   output 1 of scaled_dot_product_attention
 *  mean      like log_sum: the sum over the columns of gradient * output 0, minus the gradient of log_sum
 *  mask      optional, as scaled_dot_product_attention's
 *  dquery    output 0, like query: scale s key
 *  dkey      output 1, like key: scale s^T query, summed over the heads of a key head
 *  dvalue    output 2, like value: w^T gradient, summed over the heads of a key head
 *
 *  w = e^(scale query key^T + mask - log_sum) are the weights, and s = w (gradient value^T - mean). Sums over keys are
 *  in the order of the keys. The sums of dkey and dvalue are in the order of heads, then of queries.
 */
#include <math.h>

#include "op/attention/attention.h"
#include "op/list.h"
#include "op/op.h"

enum { QUERY, KEY, VALUE, GRADIENT, LOG_SUM, MEAN, MASK };

static mst_status attention_grad_infer(mst_infer *c) {
    mst_spec dst, statistic;
    if (c->num_src != MASK && c->num_src != MASK + 1)
        return mst_infer_fail(c, "%d sources, must be %d, or %d with a mask", c->num_src, MASK, MASK + 1);
    MST_TRY(mst_attention_infer(c, c->num_src > MASK ? MASK : 0, &dst, &statistic));
    for (int i = GRADIENT; i < MASK; i++) {
        const mst_spec *want = i == GRADIENT ? &dst : &statistic;
        MST_TRY(mst_infer_same_dtype(c, 0, i));
        MST_TRY(mst_infer_want_ndim(c, i, want->shape.ndim));
        for (int k = 0; k < want->shape.ndim; k++) {
            int64_t dim;
            MST_TRY(mst_infer_same_dim(c, want->shape.dim[k], c->src[i].shape.dim[k], "those of the result", &dim));
        }
    }
    for (int i = 0; i < 3; i++) c->dst[i] = c->src[i];
    return MST_OK;
}

/* A + B; a summand MST_NONE counts as 0. */
static mst_value sum_of(mst_value a, mst_value b) {
    return mst_value_is_none(a) ? b : mst_value_is_none(b) ? a : mst_add(a, b);
}

/* The gradient of source I. Let q, k, v and g be the sources query, key, value and gradient, w the weights,
 * a = g v^T - mean and s = w a. Let u, x and y be the gradients of the outputs. Then the function to differentiate is
 * the sum of w (a b + c) over all queries and keys, with b = scale (u k^T + q x^T) and c = g y^T. So the products
 * (scale q k^T + mask) have the gradient f = w (a b + c), and a has the gradient h = w b. The chain rule gives all
 * other gradients. */
static mst_value attention_grad_grad(mst_grad *c, int i) {
    const mst_value *src = c->src, *ddst = c->ddst, mask = c->num_src > MASK ? src[MASK] : MST_NONE;
    const mst_attention_graph m = mst_attention_graph_make(c->options, src, src[LOG_SUM], mask);
    const mst_value g = mst_attention_heads_like(src[GRADIENT], m.key), q = m.query, k = m.key, w = m.weights;
    const mst_value mean = mst_expand_dims(src[MEAN], -1);
    const mst_value a = mst_sub(mst_matmul(g, m.value, .transpose_b = true), mst_attention_heads_like(mean, m.key));
    const bool has_u = !mst_value_is_none(ddst[0]), has_x = !mst_value_is_none(ddst[1]);
    const bool has_y = !mst_value_is_none(ddst[2]);
    const mst_value u = has_u ? mst_attention_heads_like(ddst[0], m.key) : MST_NONE;
    const mst_value b_u = has_u ? mst_matmul(u, k, .transpose_b = true) : MST_NONE;
    const mst_value b_x = has_x ? mst_matmul(q, ddst[1], .transpose_b = true) : MST_NONE;
    const mst_value b = has_u || has_x ? mst_mul(sum_of(b_u, b_x), m.scale) : MST_NONE;
    const mst_value y = has_y ? mst_matmul(g, ddst[2], .transpose_b = true) : MST_NONE;
    const mst_value h = mst_value_is_none(b) ? MST_NONE : mst_mul(w, b);
    const mst_value f = mst_mul(w, sum_of(mst_value_is_none(b) ? MST_NONE : mst_mul(a, b), y));
    const mst_value s = mst_mul(w, a);
    const mst_value of_h = mst_value_is_none(h) ? MST_NONE : mst_attention_heads_like(h, src[0]);
    mst_value d = MST_NONE;
    switch (i) {
        case QUERY:
            d = sum_of(mst_matmul(f, k), has_x ? mst_matmul(s, ddst[1]) : MST_NONE);
            return mst_attention_heads_like(mst_mul(d, m.scale), src[0]);
        case KEY:
            d = sum_of(mst_matmul(f, q, .transpose_a = true), has_u ? mst_matmul(s, u, .transpose_a = true) : MST_NONE);
            return mst_mul(d, m.scale);
        case VALUE: return mst_value_is_none(h) ? MST_NONE : mst_matmul(h, g, .transpose_a = true);
        case GRADIENT:
            d = sum_of(mst_value_is_none(h) ? MST_NONE : mst_matmul(h, m.value),
                       has_y ? mst_matmul(w, ddst[2]) : MST_NONE);
            return mst_attention_heads_like(d, src[0]);
        case MEAN: return mst_value_is_none(h) ? MST_NONE : mst_neg(mst_reduce_sum(.src = of_h, .axes = MST_AXES(-1)));
        default: break;
    }
    const mst_value of_f = mst_attention_heads_like(f, src[0]);
    return i == LOG_SUM ? mst_neg(mst_reduce_sum(.src = of_f, .axes = MST_AXES(-1))) : mst_unbroadcast(of_f, mask);
}

static void attention_grad_lower(mst_lower *l) {
    const int mask = l->num_src > MASK ? MASK : 0;
    const mst_attention s = mst_attention_of(l->options, l->src_spec, mask);
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_shape statistic = MST_SHAPE(s.batch, s.heads, s.queries, 1);
    const mst_shape whole = MST_SHAPE(s.batch, s.heads, s.queries, s.keys);
    const mst_shape grouped = MST_SHAPE(s.batch, s.key_heads, s.group * s.queries, s.keys);
    const mst_attention_hlo h = mst_attention_lower(l, &s, mask);
    const mst_hlo zero = mst_hlo_number(l, dtype, 0), infinity = mst_hlo_number(l, dtype, -INFINITY);
    const mst_hlo log_sum = mst_hlo_reshape(l, l->src[LOG_SUM], statistic);
    const mst_hlo shift = mst_hlo_select(l, mst_hlo_compare(l, "EQ", log_sum, infinity), zero, log_sum);
    const mst_hlo w = mst_hlo_unary(l, "exponential", mst_hlo_binary(l, "subtract", h.products, shift));
    const mst_hlo g =
        mst_hlo_reshape(l, l->src[GRADIENT], MST_SHAPE(s.batch, s.key_heads, s.group * s.queries, s.columns));
    const mst_hlo product = mst_hlo_reshape(l, mst_attention_dot(l, g, false, h.value, true), whole);
    const mst_hlo a = mst_hlo_binary(l, "subtract", product, mst_hlo_reshape(l, l->src[MEAN], statistic));
    const mst_hlo slope = mst_hlo_reshape(l, mst_hlo_binary(l, "multiply", w, a), grouped);
    const mst_hlo dq = mst_hlo_binary(l, "multiply", mst_attention_dot(l, slope, false, h.key, false),
                                      mst_hlo_number(l, dtype, s.scale));
    l->dst[0] = mst_hlo_reshape(l, dq, l->dst_spec[0].shape);
    l->dst[1] = mst_attention_dot(l, slope, true, h.query, false);
    l->dst[2] = mst_attention_dot(l, mst_hlo_reshape(l, w, grouped), true, g, false);
}

/* [batch, heads, steps, length], and a number of each query */
#define PART(n, h, t, d)                 \
    {                                    \
        .ndim = 4, .dim = { n, h, t, d } \
    }
#define STATISTIC(n, h, t)            \
    {                                 \
        .ndim = 3, .dim = { n, h, t } \
    }
/* values of log_sum that are large, so that all weights are small */
#define LOG_SUMS(n, h, t) \
    { .ndim = 3, .dim = {n, h, t}, .low = 1, .high = 3 }

static const mst_example attention_grad_examples[] = {
    {.name = "one of each", /* w = e^0 = 1, s = 1 (6 - 4) = 2 */
     .num_src = 6,
     .src = {{.ndim = 4, .dim = {1, 1, 1, 1}, .value = (const double[]){2}},
             {.ndim = 4, .dim = {1, 1, 1, 1}, .value = (const double[]){5}},
             {.ndim = 4, .dim = {1, 1, 1, 1}, .value = (const double[]){3}},
             {.ndim = 4, .dim = {1, 1, 1, 1}, .value = (const double[]){2}},
             {.ndim = 3, .dim = {1, 1, 1}, .value = (const double[]){5}},
             {.ndim = 3, .dim = {1, 1, 1}, .value = (const double[]){4}}},
     .options = &(const mst_scaled_dot_product_attention_options){.scale = 0.5},
     .expect = {(const double[]){5}, (const double[]){2}, (const double[]){2}}},
    {.name = "some of each",
     .num_src = 6,
     .src = {PART(2, 2, 3, 2), PART(2, 2, 2, 2), PART(2, 2, 2, 3), PART(2, 2, 3, 3), LOG_SUMS(2, 2, 3),
             STATISTIC(2, 2, 3)}},
    {.name = "grouped heads, causal, with a mask",
     .num_src = 7,
     .src = {PART(1, 4, 3, 2),
             PART(1, 2, 4, 2),
             PART(1, 2, 4, 3),
             PART(1, 4, 3, 3),
             LOG_SUMS(1, 4, 3),
             STATISTIC(1, 4, 3),
             {.ndim = 4, .dim = {1, 4, 1, 4}}},
     .options = &(const mst_scaled_dot_product_attention_options){.causal = true}},
    {.name = "a query that sees nothing",
     .num_src = 7,
     .src = {PART(1, 1, 1, 2),
             PART(1, 1, 2, 2),
             PART(1, 1, 2, 2),
             PART(1, 1, 1, 2),
             {.ndim = 3, .dim = {1, 1, 1}, .value = (const double[]){-INFINITY}, .no_grad = true},
             STATISTIC(1, 1, 1),
             {.dtype = MST_BOOL, .ndim = 0, .value = (const double[]){0}}},
     .expect = {(const double[]){0, 0}, (const double[]){0, 0, 0, 0}, (const double[]){0, 0, 0, 0}}},
    {.name = "several blocks",
     .num_src = 6,
     .src = {{.ndim = 4, .dim = {1, 2, 41, 5}, .no_grad = true},
             {.ndim = 4, .dim = {1, 1, 131, 5}, .no_grad = true},
             {.ndim = 4, .dim = {1, 1, 131, 3}, .no_grad = true},
             {.ndim = 4, .dim = {1, 2, 41, 3}, .no_grad = true},
             {.ndim = 3, .dim = {1, 2, 41}, .low = 3, .high = 5, .no_grad = true},
             {.ndim = 3, .dim = {1, 2, 41}, .no_grad = true}}},
    {.name = "several blocks, causal, with a mask",
     .num_src = 7,
     .src = {{.ndim = 4, .dim = {1, 2, 131, 17}, .no_grad = true},
             {.ndim = 4, .dim = {1, 2, 131, 17}, .no_grad = true},
             {.ndim = 4, .dim = {1, 2, 131, 16}, .no_grad = true},
             {.ndim = 4, .dim = {1, 2, 131, 16}, .no_grad = true},
             {.ndim = 3, .dim = {1, 2, 131}, .low = 3, .high = 5, .no_grad = true},
             {.ndim = 3, .dim = {1, 2, 131}, .no_grad = true},
             {.dtype = MST_BOOL, .ndim = 4, .dim = {1, 1, 1, 131}}},
     .options = &(const mst_scaled_dot_product_attention_options){.causal = true}},
    {.name = "a gradient of other queries",
     .num_src = 6,
     .src = {PART(1, 1, 2, 1), PART(1, 1, 2, 1), PART(1, 1, 2, 1), PART(1, 1, 3, 1), STATISTIC(1, 1, 2),
             STATISTIC(1, 1, 2)},
     .fails = MST_INVALID},
};

const mst_op mst_op_scaled_dot_product_attention_grad = {
    .name = "scaled_dot_product_attention_grad",
    .num_src = MST_VARIADIC,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_attention_fields,
    .options_size = sizeof(mst_scaled_dot_product_attention_options),
    .infer = attention_grad_infer,
    .grad = attention_grad_grad,
    .workspace = mst_attention_grad_workspace,
    .reference = mst_attention_grad_reference,
    .lower = attention_grad_lower,
    MST_EXAMPLES(attention_grad_examples),
};
