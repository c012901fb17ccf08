/** fused_batch_norm_grad: the gradients of fused_batch_norm with respect to its sources
 *
 *  src, gamma, beta      as batch_norm's
 *  mean, variance        outputs 1 and 2 of batch_norm
 *  gradient              of the output of the activation
 *  epsilon               as batch_norm's
 *  activation            relu, relu6, or linear for none
 *  dsrc, dgamma, dbeta   as batch_norm_grad's
 *
 *  The plan makes this op, after differentiation, so it has no gradient.
 */
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"

static mst_status fused_batch_norm_grad_infer(mst_infer *c) {
    mst_shape shape;
    MST_TRY(mst_batch_norm_infer(c, 1, 4));
    MST_TRY(mst_infer_same_dtype(c, 0, 5));
    MST_TRY(mst_infer_same_shape(c, 0, 5, &shape));
    c->dst[0] = c->src[0];
    c->dst[1] = c->dst[2] = c->src[1];
    return MST_OK;
}

static mst_status fused_batch_norm_grad_reference(const mst_kernel_args *a) {
    const mst_fused_batch_norm_options *o = a->options;
    return mst_batch_norm_grad_run(a, o->epsilon, o->activation);
}

/* clang-format off */
#define ONE(x) {.ndim = 1, .dim = {1}, .value = (const double[]){x}}
#define SOME(...) {.ndim = 1, .dim = {3}, .value = (const double[]){__VA_ARGS__}}
/* clang-format on */

static const mst_example fused_batch_norm_grad_examples[] = {
    {.name = "all of it flows", /* as batch_norm_grad: the outputs are 2 and 10 */
     .num_src = 6,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 5}},
             ONE(6),
             ONE(6),
             ONE(3),
             ONE(4),
             {.ndim = 2, .dim = {2, 1}, .value = (const double[]){7, 16}}},
     .options = &(const mst_fused_batch_norm_options){.epsilon = 5},
     .expect = {(const double[]){-5, 5}, (const double[]){6}, (const double[]){23}}},
    {.name = "nothing flows above 6", /* the gradients are 7 and 0: sums 7 and -14 */
     .num_src = 6,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 5}},
             ONE(6),
             ONE(6),
             ONE(3),
             ONE(4),
             {.ndim = 2, .dim = {2, 1}, .value = (const double[]){7, 16}}},
     .options = &(const mst_fused_batch_norm_options){.epsilon = 5, .activation = MST_BATCH_RELU6},
     .expect = {(const double[]){35.0 / 9, -35.0 / 9}, (const double[]){-14.0 / 3}, (const double[]){7}}},
    {.name = "pictures",
     .num_src = 6,
     .src = {{.ndim = 4, .dim = {2, 3, 2, 3}},
             SOME(0.5, 2, -1),
             SOME(0.1, 1, -0.2),
             SOME(0, 0.1, -0.1),
             SOME(0.3, 1, 0.5),
             {.ndim = 4, .dim = {2, 3, 2, 3}}},
     .options = &(const mst_fused_batch_norm_options){.epsilon = 0.1, .activation = MST_BATCH_RELU6}},
    {.name = "a gradient of another shape",
     .num_src = 6,
     .src = {{.ndim = 2, .dim = {4, 1}}, ONE(1), ONE(1), ONE(1), ONE(1), {.ndim = 2, .dim = {3, 1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_fused_batch_norm_grad = {
    .name = "fused_batch_norm_grad",
    .num_src = 6,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_fused_batch_norm_fields,
    .options_size = sizeof(mst_fused_batch_norm_options),
    .infer = fused_batch_norm_grad_infer,
    .workspace = mst_batch_norm_workspace,
    .reference = fused_batch_norm_grad_reference,
    MST_EXAMPLES(fused_batch_norm_grad_examples),
};
