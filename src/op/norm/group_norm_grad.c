/** group_norm_grad: the gradients of group_norm with respect to its sources
 *
 *  src       as group_norm's
 *  gamma     as group_norm's
 *  mean      output 1 of group_norm
 *  variance  output 2 of group_norm
 *  gradient  of output 0 of group_norm
 *  dsrc      output 0, like src: s (h - M(h) - s^2 u M(h u)), with u = src - mean, s = 1 / sqrt(variance + epsilon),
 *            h = gamma gradient, and M the mean over a group
 *  dgamma    output 1, [channels]: the sum of gradient u s over all axes but the last
 *  dbeta     output 2, [channels]: the sum of gradient over the same axes
 */
#include "op/norm/group_norm.h"
#include "op/op.h"

static mst_status group_norm_grad_infer(mst_infer *c) {
    mst_shape shape;
    int64_t dim;
    MST_TRY(mst_group_norm_infer(c, 0));
    const mst_spec statistic = c->dst[1];
    for (int i = 2; i < 5; i++) MST_TRY(mst_infer_same_dtype(c, 0, i));
    MST_TRY(mst_infer_same_shape(c, 2, 3, &shape));
    MST_TRY(mst_infer_same_shape(c, 0, 4, &shape));
    MST_TRY(mst_infer_want_ndim(c, 2, 2));
    MST_TRY(mst_infer_same_dim(c, statistic.shape.dim[0], c->src[2].shape.dim[0], "examples", &dim));
    MST_TRY(mst_infer_same_dim(c, statistic.shape.dim[1], c->src[2].shape.dim[1], "groups", &dim));
    c->dst[1] = c->dst[2];
    return MST_OK;
}

static size_t group_norm_grad_workspace(const mst_infer *c, int num_threads) {
    const mst_norm_groups view = mst_group_norm_view(&c->src[0].shape, c->options);
    return mst_norm_groups_grad_workspace(&view, c->src[0].dtype, num_threads);
}

static mst_value group_norm_grad_grad(mst_grad *c, int i) {
    const mst_group_norm_options *o = c->options;
    return mst_norm_groups_second(c, o->groups, o->epsilon, i);
}

static mst_status group_norm_grad_reference(const mst_kernel_args *a) {
    const mst_group_norm_options *o = a->options;
    const mst_norm_groups view = mst_group_norm_view(&a->src[0].shape, o);
    return mst_norm_groups_grad_run(a, &view, o->epsilon);
}

static void group_norm_grad_lower(mst_lower *l) {
    const mst_group_norm_options *o = l->options;
    const mst_norm_groups view = mst_group_norm_view(&l->src_spec[0].shape, o);
    mst_norm_groups_grad_lower(l, &view, o->epsilon);
}

#define OPTIONS(...)                  \
    &(const mst_group_norm_options) { \
        __VA_ARGS__                   \
    }

static const mst_example group_norm_grad_examples[] = {
    {.name = "one channel of two rows", /* u = -2, 2, s = 1/3 */
     .num_src = 5,
     .src = {{.ndim = 3, .dim = {1, 2, 1}, .value = (const double[]){1, 5}},
             {.ndim = 1, .dim = {1}, .value = (const double[]){6}},
             {.ndim = 2, .dim = {1, 1}, .value = (const double[]){3}},
             {.ndim = 2, .dim = {1, 1}, .value = (const double[]){4}},
             {.ndim = 3, .dim = {1, 2, 1}, .value = (const double[]){7, 16}}},
     .options = OPTIONS(.groups = 1, .epsilon = 5),
     .expect = {(const double[]){-5, 5}, (const double[]){6}, (const double[]){23}}},
    {.name = "pictures",
     .num_src = 5,
     .src = {{.ndim = 4, .dim = {2, 2, 2, 4}},
             {.ndim = 1, .dim = {4}},
             {.ndim = 2, .dim = {2, 2}},
             {.ndim = 2, .dim = {2, 2}, .low = 0.5, .high = 2},
             {.ndim = 4, .dim = {2, 2, 2, 4}}},
     .options = OPTIONS(.groups = 2, .epsilon = 0.1)},
    {.name = "no axes between",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {3, 6}},
             {.ndim = 1, .dim = {6}},
             {.ndim = 2, .dim = {3, 2}},
             {.ndim = 2, .dim = {3, 2}, .low = 0.5, .high = 2},
             {.ndim = 2, .dim = {3, 6}}},
     .options = OPTIONS(.groups = 2)},
    {.name = "many examples",
     .num_src = 5,
     .src = {{.ndim = 3, .dim = {9, 2, 2}},
             {.ndim = 1, .dim = {2}},
             {.ndim = 2, .dim = {9, 2}},
             {.ndim = 2, .dim = {9, 2}, .low = 0.5, .high = 2},
             {.ndim = 3, .dim = {9, 2, 2}}},
     .options = OPTIONS(.groups = 2)},
    {.name = "a gradient of another shape",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {2, 2}},
             {.ndim = 1, .dim = {2}},
             {.ndim = 2, .dim = {2, 2}},
             {.ndim = 2, .dim = {2, 2}, .low = 0.5, .high = 2},
             {.ndim = 2, .dim = {3, 2}}},
     .options = OPTIONS(.groups = 2),
     .fails = MST_INVALID},
    {.name = "means of other groups",
     .num_src = 5,
     .src = {{.ndim = 2, .dim = {2, 2}},
             {.ndim = 1, .dim = {2}},
             {.ndim = 2, .dim = {2, 1}},
             {.ndim = 2, .dim = {2, 1}, .low = 0.5, .high = 2},
             {.ndim = 2, .dim = {2, 2}}},
     .options = OPTIONS(.groups = 2),
     .fails = MST_INVALID},
};

const mst_op mst_op_group_norm_grad = {
    .name = "group_norm_grad",
    .num_src = 5,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_group_norm_fields,
    .options_size = sizeof(mst_group_norm_options),
    .infer = group_norm_grad_infer,
    .grad = group_norm_grad_grad,
    .workspace = group_norm_grad_workspace,
    .reference = group_norm_grad_reference,
    .lower = group_norm_grad_lower,
    MST_EXAMPLES(group_norm_grad_examples),
};
