/** layer_norm_grad: the gradients of layer_norm with respect to its sources
 *
 *  src       as layer_norm's
 *  gamma     as layer_norm's
 *  mean      output 1 of layer_norm
 *  variance  output 2 of layer_norm
 *  gradient  of output 0 of layer_norm
 *  dsrc      output 0, like src: s (h - M(h) - s^2 u M(h u)), with u = src - mean, s = 1 / sqrt(variance + epsilon),
 *            h = gamma gradient, and M the mean over the last axes
 *  dgamma    output 1, like gamma: the sum of gradient u s over the other axes
 *  dbeta     output 2, like gamma: the sum of gradient over the same axes
 */
#include "op/norm/layer_norm.h"
#include "op/op.h"

static mst_status layer_norm_grad_infer(mst_infer *c) {
    mst_shape shape;
    MST_TRY(mst_layer_norm_infer(c, 0));
    const mst_spec statistic = c->dst[1];
    for (int i = 2; i < 5; i++) MST_TRY(mst_infer_same_dtype(c, 0, i));
    MST_TRY(mst_infer_same_shape(c, 2, 3, &shape));
    MST_TRY(mst_infer_same_shape(c, 0, 4, &shape));
    MST_TRY(mst_infer_want_ndim(c, 2, statistic.shape.ndim));
    for (int i = 0; i < statistic.shape.ndim; i++) {
        int64_t dim;
        MST_TRY(mst_infer_same_dim(c, statistic.shape.dim[i], c->src[2].shape.dim[i], "those of the mean", &dim));
    }
    c->dst[1] = c->dst[2];
    return MST_OK;
}

static size_t layer_norm_grad_workspace(const mst_infer *c, int num_threads) {
    const mst_norm_groups view = mst_layer_norm_view(&c->src[0].shape, &c->src[1].shape);
    return mst_norm_groups_grad_workspace(&view, c->src[0].dtype, num_threads);
}

static mst_value layer_norm_grad_grad(mst_grad *c, int i) {
    return mst_norm_groups_second(c, 0, ((const mst_layer_norm_options *)c->options)->epsilon, i);
}

static mst_status layer_norm_grad_reference(const mst_kernel_args *a) {
    const mst_norm_groups view = mst_layer_norm_view(&a->src[0].shape, &a->src[1].shape);
    return mst_norm_groups_grad_run(a, &view, ((const mst_layer_norm_options *)a->options)->epsilon);
}

static void layer_norm_grad_lower(mst_lower *l) {
    const mst_norm_groups view = mst_layer_norm_view(&l->src_spec[0].shape, &l->src_spec[1].shape);
    mst_norm_groups_grad_lower(l, &view, ((const mst_layer_norm_options *)l->options)->epsilon);
}

static const mst_example layer_norm_grad_examples[] = {
    {.name = "one row", /* u = -2, 2, s = 1/3, h = 6 g, M(h) = 69, M(h u) = 54 */
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {1, 2}, .value = (const double[]){1, 5}},
             {.ndim = 1, .dim = {2}, .value = (const double[]){6, 6}},
             {.ndim = 2, .dim = {1, 1}, .value = (const double[]){3}},
             {.ndim = 2, .dim = {1, 1}, .value = (const double[]){4}},
             {.ndim = 2, .dim = {1, 2}, .value = (const double[]){7, 16}}},
     .options = &(const mst_layer_norm_options){.epsilon = 5},
     .expect = {(const double[]){-5, 5}, (const double[]){-14.0 / 3, 32.0 / 3}, (const double[]){7, 16}}},
    {.name = "two axes",
     .num_src = 5,
     .src = {{.ndim = 3, .dim = {3, 2, 2}},
             {.ndim = 2, .dim = {2, 2}},
             {.ndim = 3, .dim = {3, 1, 1}},
             {.ndim = 3, .dim = {3, 1, 1}, .low = 0.5, .high = 2},
             {.ndim = 3, .dim = {3, 2, 2}}},
     .options = &(const mst_layer_norm_options){.epsilon = 0.1}},
    {.name = "a long axis",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {2, 37}},
             {.ndim = 1, .dim = {37}},
             {.ndim = 2, .dim = {2, 1}},
             {.ndim = 2, .dim = {2, 1}, .low = 0.5, .high = 2},
             {.ndim = 2, .dim = {2, 37}}}},
    {.name = "many rows",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {20, 3}},
             {.ndim = 1, .dim = {3}},
             {.ndim = 2, .dim = {20, 1}},
             {.ndim = 2, .dim = {20, 1}, .low = 0.5, .high = 2},
             {.ndim = 2, .dim = {20, 3}}}},
    {.name = "a gradient of another shape",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {2, 3}},
             {.ndim = 1, .dim = {3}},
             {.ndim = 2, .dim = {2, 1}},
             {.ndim = 2, .dim = {2, 1}, .low = 0.5, .high = 2},
             {.ndim = 2, .dim = {3, 3}}},
     .fails = MST_INVALID},
    {.name = "a mean for each element",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {2, 3}},
             {.ndim = 1, .dim = {3}},
             {.ndim = 2, .dim = {2, 3}},
             {.ndim = 2, .dim = {2, 3}, .low = 0.5, .high = 2},
             {.ndim = 2, .dim = {2, 3}}},
     .fails = MST_INVALID},
    {.name = "a mean of fewer dimensions",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {2, 3}},
             {.ndim = 1, .dim = {3}},
             {.ndim = 1, .dim = {2}},
             {.ndim = 1, .dim = {2}, .low = 0.5, .high = 2},
             {.ndim = 2, .dim = {2, 3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_layer_norm_grad = {
    .name = "layer_norm_grad",
    .num_src = 5,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_layer_norm_fields,
    .options_size = sizeof(mst_layer_norm_options),
    .infer = layer_norm_grad_infer,
    .grad = layer_norm_grad_grad,
    .workspace = layer_norm_grad_workspace,
    .reference = layer_norm_grad_reference,
    .lower = layer_norm_grad_lower,
    MST_EXAMPLES(layer_norm_grad_examples),
};
