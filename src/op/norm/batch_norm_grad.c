/** batch_norm_grad: the gradients of batch_norm with respect to its sources
 *
 *  src       as batch_norm's, n rows of channels
 *  gamma     as batch_norm's
 *  mean      output 1 of batch_norm
 *  variance  output 2 of batch_norm
 *  gradient  of output 0 of batch_norm
 *  dsrc      output 0, like src: with u = src - mean and s = 1 / sqrt(variance + epsilon),
 *            gamma s (gradient - sum gradient / n - u s^2 sum(gradient u) / n)
 *  dgamma    output 1, [channels]: s sum(gradient u)
 *  dbeta     output 2, [channels]: sum gradient
 *
 *  Sums are over all axes but the last.
 */
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"

static mst_status batch_norm_grad_infer(mst_infer *c) {
    mst_shape shape;
    MST_TRY(mst_batch_norm_infer(c, 1, 3));
    MST_TRY(mst_infer_same_dtype(c, 0, 4));
    MST_TRY(mst_infer_same_shape(c, 0, 4, &shape));
    c->dst[0] = c->src[0];
    c->dst[1] = c->dst[2] = c->src[1];
    return MST_OK;
}

mst_value mst_batch_norm_gradient(const mst_batch_norm_options *options, mst_value src, mst_value gamma, mst_value mean,
                                  mst_value variance, mst_value gradient) {
    return mst_call(NULL, &mst_op_batch_norm_grad, 5, (const mst_value[]){src, gamma, mean, variance, gradient},
                    options);
}

/* Terms of the gradients of this op with respect to its sources. g is its source gradient; u, s and n are as above. For
 * a loss L, p, p_1 and p_2 are the gradients of L with respect to outputs 0, 1 and 2. Sums of g, p and their products
 * are over the rows. */
typedef struct terms {
    mst_value gamma, g, u, s, n;
    mst_value p, p_1, p_2;
    mst_value sum_g, sum_gu, sum_p, sum_pu, sum_pg;
} terms;

static mst_value or_zeros(mst_value value, mst_value like) {
    return mst_value_is_none(value) ? mst_zeros_like(like) : value;
}

static terms terms_of(const mst_grad *c) {
    const double epsilon = ((const mst_batch_norm_options *)c->options)->epsilon;
    terms t = {.gamma = c->src[1], .g = c->src[4]};
    t.u = mst_sub(c->src[0], c->src[2]);
    t.s = mst_rsqrt(mst_add(c->src[3], mst_scalar(c->graph, mst_value_spec(c->src[3]).dtype, epsilon)));
    t.n = mst_batch_count(c->src[0]); /* replaced by 1 if there are no rows: then the means are 0, as the sums are */
    t.n = mst_maximum(t.n, mst_scalar(c->graph, mst_value_spec(t.n).dtype, 1));
    t.p = or_zeros(c->ddst[0], c->src[0]);
    t.p_1 = or_zeros(c->ddst[1], t.gamma);
    t.p_2 = or_zeros(c->ddst[2], t.gamma);
    t.sum_g = mst_batch_sum(t.g);
    t.sum_gu = mst_batch_sum(mst_mul(t.g, t.u));
    t.sum_p = mst_batch_sum(t.p);
    t.sum_pu = mst_batch_sum(mst_mul(t.p, t.u));
    t.sum_pg = mst_batch_sum(mst_mul(t.p, t.g));
    return t;
}

/* dL / du: g (p_1 s - gamma s^3 sum(p u) / n) - p gamma s^3 sum(g u) / n. */
static mst_value by_centered(const terms *t) {
    const mst_value cube = mst_div(mst_mul(t->gamma, mst_mul(t->s, mst_square(t->s))), t->n);
    const mst_value first = mst_mul(t->g, mst_sub(mst_mul(t->p_1, t->s), mst_mul(cube, t->sum_pu)));
    return mst_sub(first, mst_mul(t->p, mst_mul(cube, t->sum_gu)));
}

/* The sum of p times output 0 is gamma s (sum(p g) - sum(g) sum(p) / n - s^2 sum(g u) sum(p u) / n). */
static mst_value batch_norm_grad_grad(mst_grad *c, int i) {
    const terms t = terms_of(c);
    const mst_value square = mst_square(t.s);
    const mst_value plain = mst_sub(t.sum_pg, mst_div(mst_mul(t.sum_g, t.sum_p), t.n));
    const mst_value cross = mst_mul(square, mst_div(mst_mul(t.sum_gu, t.sum_pu), t.n));
    switch (i) {
        case 0: return by_centered(&t);
        case 1: return mst_mul(t.s, mst_sub(plain, cross));
        case 2: return mst_neg(mst_batch_sum(by_centered(&t)));
        case 3: { /* dL / d variance = dL / ds * (-s^3 / 2) */
            const mst_value of_dst = mst_mul(t.gamma, mst_sub(plain, mst_scale(cross, 3)));
            return mst_mul(mst_scale(mst_mul(t.s, square), -0.5), mst_add(of_dst, mst_mul(t.p_1, t.sum_gu)));
        }
        default: {
            const mst_value of_dst = mst_batch_norm_gradient(c->options, c->src[0], t.gamma, c->src[2], c->src[3], t.p);
            return mst_add(of_dst, mst_add(mst_mul(t.u, mst_mul(t.p_1, t.s)), t.p_2));
        }
    }
}

static mst_status batch_norm_grad_reference(const mst_kernel_args *a) {
    return mst_batch_norm_grad_run(a, ((const mst_batch_norm_options *)a->options)->epsilon, MST_BATCH_LINEAR);
}

static void batch_norm_grad_lower(mst_lower *l) {
    const mst_batch_norm_options *o = l->options;
    const mst_spec *src = &l->src_spec[0];
    const mst_axes rows = mst_batch_axes(&src->shape);
    const mst_hlo n = mst_batch_rows_number(l, src), epsilon = mst_hlo_number(l, src->dtype, o->epsilon);
    const mst_hlo gamma = l->src[1], g = l->src[4], u = mst_hlo_binary(l, "subtract", l->src[0], l->src[2]);
    const mst_hlo deviation = mst_hlo_unary(l, "sqrt", mst_hlo_binary(l, "add", l->src[3], epsilon));
    const mst_hlo s = mst_hlo_binary(l, "divide", mst_hlo_number(l, src->dtype, 1), deviation);
    const mst_hlo sum = mst_hlo_reduce(l, "add", g, 0, rows);
    const mst_hlo product = mst_hlo_reduce(l, "add", mst_hlo_binary(l, "multiply", g, u), 0, rows);
    const mst_hlo dgamma = mst_hlo_binary(l, "multiply", product, s);
    const mst_hlo shift = mst_hlo_binary(l, "divide", sum, n);
    const mst_hlo slope = mst_hlo_binary(l, "divide", mst_hlo_binary(l, "multiply", dgamma, s), n);
    const mst_hlo rest =
        mst_hlo_binary(l, "subtract", mst_hlo_binary(l, "subtract", g, shift), mst_hlo_binary(l, "multiply", slope, u));
    l->dst[0] = mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "multiply", gamma, s), rest);
    l->dst[1] = dgamma;
    l->dst[2] = sum;
}

#define POSITIVE(n) \
    { .ndim = 1, .dim = {n}, .low = 0.5, .high = 2 }

static const mst_example batch_norm_grad_examples[] = {
    {.name = "one channel", /* u = -2, 2, s = 1/3 */
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 5}},
             {.ndim = 1, .dim = {1}, .value = (const double[]){6}},
             {.ndim = 1, .dim = {1}, .value = (const double[]){3}},
             {.ndim = 1, .dim = {1}, .value = (const double[]){4}},
             {.ndim = 2, .dim = {2, 1}, .value = (const double[]){7, 16}}},
     .options = &(const mst_batch_norm_options){.epsilon = 5},
     .expect = {(const double[]){-5, 5}, (const double[]){6}, (const double[]){23}}},
    {.name = "pictures",
     .num_src = 5,
     .src = {{.ndim = 4, .dim = {2, 3, 2, 3}},
             {.ndim = 1, .dim = {3}},
             {.ndim = 1, .dim = {3}},
             POSITIVE(3),
             {.ndim = 4, .dim = {2, 3, 2, 3}}},
     .options = &(const mst_batch_norm_options){.epsilon = 0.1}},
    {.name = "many channels", /* computed in blocks of 32, 16, 8 and 5 */
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {7, 61}},
             {.ndim = 1, .dim = {61}},
             {.ndim = 1, .dim = {61}},
             POSITIVE(61),
             {.ndim = 2, .dim = {7, 61}}}},
    {.name = "a gradient of another shape",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {4, 2}}, POSITIVE(2), POSITIVE(2), POSITIVE(2), {.ndim = 2, .dim = {3, 2}}},
     .fails = MST_INVALID},
    {.name = "channels differ",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {4, 2}}, POSITIVE(2), POSITIVE(3), POSITIVE(2), {.ndim = 2, .dim = {4, 2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_batch_norm_grad = {
    .name = "batch_norm_grad",
    .num_src = 5,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_batch_norm_fields,
    .options_size = sizeof(mst_batch_norm_options),
    .infer = batch_norm_grad_infer,
    .grad = batch_norm_grad_grad,
    .workspace = mst_batch_norm_workspace,
    .reference = batch_norm_grad_reference,
    .lower = batch_norm_grad_lower,
    MST_EXAMPLES(batch_norm_grad_examples),
};
