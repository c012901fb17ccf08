/** layer_norm: dst = gamma * (src - mean) / sqrt(variance + epsilon) + beta, with mean and variance over the last axes
 *
 *  src       f32 or f64, [..., axes]
 *  gamma     src's dtype, [axes]: the sizes of one or more of the last axes of src
 *  beta      like gamma
 *  epsilon   default 0.001, as in Keras
 *  dst       output 0, like src
 *  mean      output 1, like src, but 1 along each of the axes
 *  variance  output 2, like mean: the mean of (src - mean)^2
 *
 *  The gradient flows through mean and variance. https://arxiv.org/abs/1607.06450
 */
#ifdef MST_OP_HEADER
typedef struct mst_layer_norm_options {
    int zero_;
    mst_value src;
    mst_value gamma;
    mst_value beta;
    double epsilon;
} mst_layer_norm_options;
/** Returns output 0; outputs 1 and 2 are mst_value_output(value, 1) and mst_value_output(value, 2). */
MST_API mst_value mst_layer_norm_with(mst_layer_norm_options options);
#define mst_layer_norm(...) mst_layer_norm_with(MST_NAMED_3(mst_layer_norm_options, src, gamma, beta, __VA_ARGS__))
#endif
#include "op/norm/layer_norm.h"

#include "op/list.h"
#include "op/op.h"

const mst_field mst_layer_norm_fields[] = {
    MST_FIELD_F64(mst_layer_norm_options, epsilon, 1e-3, 1e-30, 1e30, "added to the variance"),
    MST_FIELD_END,
};

mst_status mst_layer_norm_infer(mst_infer *c, int like_gamma) {
    const int ndim = c->src[0].shape.ndim, axes = c->src[1].shape.ndim;
    mst_spec statistic = c->src[0], weight = c->src[1];
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    if (axes < 1 || axes > ndim)
        return mst_infer_fail(c, "gamma has %d dimensions, must have those of the last axes of the source", axes);
    if (like_gamma) {
        MST_TRY(mst_infer_same_dtype(c, 0, like_gamma));
        MST_TRY(mst_infer_same_shape(c, 1, like_gamma, &weight.shape));
    }
    for (int i = 0; i < axes; i++) {
        int64_t *dim = &weight.shape.dim[i];
        MST_TRY(mst_infer_same_dim(c, c->src[0].shape.dim[ndim - axes + i], *dim, "the last axes", dim));
        statistic.shape.dim[ndim - axes + i] = 1;
    }
    c->dst[0] = c->src[0];
    c->dst[1] = statistic;
    c->dst[2] = weight;
    return MST_OK;
}

static mst_status layer_norm_infer(mst_infer *c) {
    MST_TRY(mst_layer_norm_infer(c, 2));
    c->dst[2] = c->dst[1];
    return MST_OK;
}

mst_norm_groups mst_layer_norm_view(const mst_shape *src, const mst_shape *gamma) {
    mst_norm_groups v = {.outer = 1, .rows = 1, .groups = 1, .inner = mst_shape_count(*gamma)};
    for (int i = 0; i < src->ndim - gamma->ndim; i++) v.outer *= src->dim[i];
    return v;
}

static size_t layer_norm_workspace(const mst_infer *c, int num_threads) {
    const mst_norm_groups view = mst_layer_norm_view(&c->src[0].shape, &c->src[1].shape);
    return mst_norm_groups_workspace(&view, num_threads);
}

static mst_value layer_norm_grad(mst_grad *c, int i) {
    mst_value gradient = MST_NONE;
    if (!mst_value_is_none(c->ddst[0])) {
        const mst_value sources[] = {c->src[0], c->src[1], c->dst[1], c->dst[2], c->ddst[0]};
        gradient = mst_value_output(mst_call(NULL, &mst_op_layer_norm_grad, 5, sources, c->options), i);
    }
    return i == 0 ? mst_norm_groups_by_statistics(c, 0, gradient) : gradient;
}

static mst_status layer_norm_reference(const mst_kernel_args *a) {
    const mst_norm_groups view = mst_layer_norm_view(&a->src[0].shape, &a->src[1].shape);
    return mst_norm_groups_run(a, &view, ((const mst_layer_norm_options *)a->options)->epsilon);
}

static void layer_norm_lower(mst_lower *l) {
    const mst_norm_groups view = mst_layer_norm_view(&l->src_spec[0].shape, &l->src_spec[1].shape);
    mst_norm_groups_lower(l, &view, ((const mst_layer_norm_options *)l->options)->epsilon);
}

#define ROW(n, ...)                                        \
    {                                                      \
        .ndim = 1, .dim = {n}, .value = (const double[]) { \
            __VA_ARGS__                                    \
        }                                                  \
    }

static const mst_example layer_norm_examples[] = {
    {.name = "two rows",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 5, 10, 40}}, ROW(2, 1, 2), ROW(2, 3, 4)},
     .options = &(const mst_layer_norm_options){.epsilon = 5},
     .expect = {(const double[]){3 - 2.0 / 3, 4 + 4.0 / 3, 3 - 15 / 15.165750888103101, 4 + 30 / 15.165750888103101},
                (const double[]){3, 25}, (const double[]){4, 225}}},
    {.name = "default epsilon",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 7}}, ROW(1, 2), ROW(1, 3)},
     .expect = {(const double[]){3, 3}, (const double[]){1, 7}, (const double[]){0, 0}}},
    {.name = "a row alone",
     .num_src = 3,
     .src = {ROW(2, 1, 5), ROW(2, 1, 1), ROW(2, 0, 0)},
     .options = &(const mst_layer_norm_options){.epsilon = 5},
     .expect = {(const double[]){-2.0 / 3, 2.0 / 3}, (const double[]){3}, (const double[]){4}}},
    {.name = "two axes",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {3, 2, 4}}, {.ndim = 2, .dim = {2, 4}}, {.ndim = 2, .dim = {2, 4}}},
     .options = &(const mst_layer_norm_options){.epsilon = 0.1}},
    {.name = "a long axis",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {2, 3, 37}}, {.ndim = 1, .dim = {37}}, {.ndim = 1, .dim = {37}}}},
    {.name = "many rows",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {40, 5}}, {.ndim = 1, .dim = {5}}, {.ndim = 1, .dim = {5}}}},
    {.name = "gamma of another length",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "gamma and beta differ",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 1, .dim = {3}}, {.ndim = 2, .dim = {2, 3}}},
     .fails = MST_INVALID},
    {.name = "gamma has more axes",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {3}}, {.ndim = 2, .dim = {2, 3}}, {.ndim = 2, .dim = {2, 3}}},
     .fails = MST_INVALID},
    {.name = "gamma is a scalar",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {3}}, {.ndim = 0}, {.ndim = 0}},
     .fails = MST_INVALID},
    {.name = "integers",
     .num_src = 3,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "a negative epsilon",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 2}}, {.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {2}}},
     .options = &(const mst_layer_norm_options){.epsilon = -1},
     .fails = MST_INVALID},
};

const mst_op mst_op_layer_norm = {
    .name = "layer_norm",
    .num_src = 3,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_layer_norm_fields,
    .options_size = sizeof(mst_layer_norm_options),
    .infer = layer_norm_infer,
    .grad = layer_norm_grad,
    .workspace = layer_norm_workspace,
    .reference = layer_norm_reference,
    .lower = layer_norm_lower,
    MST_EXAMPLES(layer_norm_examples),
};

mst_value mst_layer_norm_with(mst_layer_norm_options options) {
    return mst_call(NULL, &mst_op_layer_norm, 3, (const mst_value[]){options.src, options.gamma, options.beta},
                    &options);
}
