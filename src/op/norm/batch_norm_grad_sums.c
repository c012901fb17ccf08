/** batch_norm_grad_sums: fused_batch_norm_grad without dsrc; instead it computes the terms of dsrc
 *  (MST_BATCH_GRAD_TERMS in op/norm/batch_norm.h)
 *
 *  src, gamma, beta, mean, variance, gradient, epsilon, activation   as fused_batch_norm_grad's
 *  terms          output 0, [5, channels]: mean, gamma / sqrt(variance + epsilon), beta; then shift = dbeta / n and
 *                 slope = dgamma s / n, with n rows and s = 1 / sqrt(variance + epsilon)
 *  dgamma, dbeta  outputs 1 and 2, as batch_norm_grad's
 *
 *  The plan makes this op if only the gradients of a convolution read dsrc. It has no gradient.
 */
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"

static mst_status batch_norm_grad_sums_infer(mst_infer *c) {
    MST_TRY(mst_op_fused_batch_norm_grad.infer(c));
    c->dst[0].shape = mst_shape_make(2, (const int64_t[]){MST_BATCH_GRAD_TERMS, c->dst[1].shape.dim[0]});
    return MST_OK;
}

static mst_status batch_norm_grad_sums_reference(const mst_kernel_args *a) {
    const mst_fused_batch_norm_options *o = a->options;
    return mst_batch_grad_sums_run(a, o->epsilon, o->activation);
}

/* clang-format off */
#define ONE(x) {.ndim = 1, .dim = {1}, .value = (const double[]){x}}
#define SOME(...) {.ndim = 1, .dim = {3}, .value = (const double[]){__VA_ARGS__}}
/* clang-format on */

static const mst_example batch_norm_grad_sums_examples[] = {
    {.name = "linear", /* n = 2, s = 1/3, u = -2 and 2 */
     .num_src = 6,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 5}},
             ONE(6),
             ONE(-6),
             ONE(3),
             ONE(4),
             {.ndim = 2, .dim = {2, 1}, .value = (const double[]){7, 16}}},
     .options = &(const mst_fused_batch_norm_options){.epsilon = 5, .activation = MST_BATCH_LINEAR},
     .expect = {(const double[]){3, 2, -6, 11.5, 1}, (const double[]){6}, (const double[]){23}}},
    {.name = "nothing flows above 6", /* the gradients are 7 and 0 */
     .num_src = 6,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 5}},
             ONE(6),
             ONE(6),
             ONE(3),
             ONE(4),
             {.ndim = 2, .dim = {2, 1}, .value = (const double[]){7, 16}}},
     .options = &(const mst_fused_batch_norm_options){.epsilon = 5, .activation = MST_BATCH_RELU6},
     .expect = {(const double[]){3, 2, 6, 3.5, -14.0 / 18}, (const double[]){-14.0 / 3}, (const double[]){7}}},
    {.name = "pictures",
     .num_src = 6,
     .src = {{.ndim = 4, .dim = {2, 3, 2, 3}},
             SOME(0.5, 2, -1),
             SOME(0.1, 1, -0.2),
             SOME(0, 0.1, -0.1),
             SOME(0.3, 1, 0.5),
             {.ndim = 4, .dim = {2, 3, 2, 3}}},
     .options = &(const mst_fused_batch_norm_options){.epsilon = 0.1}},
    {.name = "a gradient of another shape",
     .num_src = 6,
     .src = {{.ndim = 2, .dim = {4, 1}}, ONE(1), ONE(1), ONE(1), ONE(1), {.ndim = 2, .dim = {3, 1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_batch_norm_grad_sums = {
    .name = "batch_norm_grad_sums",
    .num_src = 6,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_fused_batch_norm_fields,
    .options_size = sizeof(mst_fused_batch_norm_options),
    .infer = batch_norm_grad_sums_infer,
    .workspace = mst_batch_norm_workspace,
    .reference = batch_norm_grad_sums_reference,
    MST_EXAMPLES(batch_norm_grad_sums_examples),
};
