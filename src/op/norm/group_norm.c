/** group_norm: dst = gamma * (src - mean) / sqrt(variance + epsilon) + beta. Each example and group of channels has a
 *  mean and a variance, over all other axes and the channels of the group
 *
 *  src       f32 or f64, [n, ..., channels]
 *  gamma     src's dtype, [channels]
 *  beta      src's dtype, [channels]
 *  groups    number of groups of neighbouring channels, default 32; must divide the number of channels
 *  epsilon   default 0.001, as in Keras
 *  dst       output 0, like src
 *  mean      output 1, [n, groups]
 *  variance  output 2, [n, groups]: the mean of (src - mean)^2
 *
 *  The gradient flows through mean and variance. https://arxiv.org/abs/1803.08494
 */
#ifdef MST_OP_HEADER
typedef struct mst_group_norm_options {
    int zero_;
    mst_value src;
    mst_value gamma;
    mst_value beta;
    int32_t groups;
    double epsilon;
} mst_group_norm_options;
/** Returns output 0; outputs 1 and 2 are mst_value_output(value, 1) and mst_value_output(value, 2). */
MST_API mst_value mst_group_norm_with(mst_group_norm_options options);
#define mst_group_norm(...) mst_group_norm_with(MST_NAMED_3(mst_group_norm_options, src, gamma, beta, __VA_ARGS__))
#endif
#include "op/norm/group_norm.h"

#include "op/list.h"
#include "op/op.h"

const mst_field mst_group_norm_fields[] = {
    MST_FIELD_I32(mst_group_norm_options, groups, 32, 1, 1000000000, "of channels"),
    MST_FIELD_F64(mst_group_norm_options, epsilon, 1e-3, 1e-30, 1e30, "added to the variance"),
    MST_FIELD_END,
};

mst_status mst_group_norm_infer(mst_infer *c, int like_gamma) {
    const mst_shape *src = &c->src[0].shape;
    const int32_t groups = ((const mst_group_norm_options *)c->options)->groups;
    mst_spec weight = c->src[1];
    MST_TRY(mst_infer_want_float(c, 0));
    if (src->ndim < 2) return mst_infer_fail(c, "the source needs at least two dimensions");
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_want_ndim(c, 1, 1));
    if (like_gamma) {
        MST_TRY(mst_infer_same_dtype(c, 0, like_gamma));
        MST_TRY(mst_infer_same_shape(c, 1, like_gamma, &weight.shape));
    }
    int64_t *channels = &weight.shape.dim[0];
    MST_TRY(mst_infer_same_dim(c, src->dim[src->ndim - 1], *channels, "channels", channels));
    if (*channels >= 0 && *channels % groups)
        return mst_infer_fail(c, "%lld channels are no multiple of %d groups", (long long)*channels, (int)groups);
    c->dst[0] = c->src[0];
    c->dst[1] = (mst_spec){.dtype = c->src[0].dtype, .shape = MST_SHAPE(src->dim[0], groups)};
    c->dst[2] = weight;
    return MST_OK;
}

static mst_status group_norm_infer(mst_infer *c) {
    MST_TRY(mst_group_norm_infer(c, 2));
    c->dst[2] = c->dst[1];
    return MST_OK;
}

mst_norm_groups mst_group_norm_view(const mst_shape *src, const mst_group_norm_options *options) {
    mst_norm_groups v = {
        .outer = src->dim[0], .rows = 1, .groups = options->groups, .inner = src->dim[src->ndim - 1] / options->groups};
    for (int i = 1; i < src->ndim - 1; i++) v.rows *= src->dim[i];
    return v;
}

static size_t group_norm_workspace(const mst_infer *c, int num_threads) {
    const mst_norm_groups view = mst_group_norm_view(&c->src[0].shape, c->options);
    return mst_norm_groups_workspace(&view, num_threads);
}

static mst_value group_norm_grad(mst_grad *c, int i) {
    mst_value gradient = MST_NONE;
    if (!mst_value_is_none(c->ddst[0])) {
        const mst_value sources[] = {c->src[0], c->src[1], c->dst[1], c->dst[2], c->ddst[0]};
        gradient = mst_value_output(mst_call(NULL, &mst_op_group_norm_grad, 5, sources, c->options), i);
    }
    return i == 0 ? mst_norm_groups_by_statistics(c, ((const mst_group_norm_options *)c->options)->groups, gradient)
                  : gradient;
}

static mst_status group_norm_reference(const mst_kernel_args *a) {
    const mst_group_norm_options *o = a->options;
    const mst_norm_groups view = mst_group_norm_view(&a->src[0].shape, o);
    return mst_norm_groups_run(a, &view, o->epsilon);
}

static void group_norm_lower(mst_lower *l) {
    const mst_group_norm_options *o = l->options;
    const mst_norm_groups view = mst_group_norm_view(&l->src_spec[0].shape, o);
    mst_norm_groups_lower(l, &view, o->epsilon);
}

#define ROW(n, ...)                                        \
    {                                                      \
        .ndim = 1, .dim = {n}, .value = (const double[]) { \
            __VA_ARGS__                                    \
        }                                                  \
    }
#define OPTIONS(...)                  \
    &(const mst_group_norm_options) { \
        __VA_ARGS__                   \
    }

static const mst_example group_norm_examples[] = {
    {.name = "two groups of two rows", /* means 3 and 25, variances 4 and 225 */
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {1, 2, 2}, .value = (const double[]){1, 10, 5, 40}}, ROW(2, 1, 2), ROW(2, 3, 4)},
     .options = OPTIONS(.groups = 2, .epsilon = 5),
     .expect = {(const double[]){3 - 2.0 / 3, 4 - 30 / 15.165750888103101, 3 + 2.0 / 3, 4 + 30 / 15.165750888103101},
                (const double[]){3, 25}, (const double[]){4, 225}}},
    {.name = "one group",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {1, 2, 2}, .value = (const double[]){1, 5, 5, 1}}, ROW(2, 1, 2), ROW(2, 3, 4)},
     .options = OPTIONS(.groups = 1, .epsilon = 5),
     .expect = {(const double[]){3 - 2.0 / 3, 4 + 4.0 / 3, 3 + 2.0 / 3, 4 - 4.0 / 3}, (const double[]){3},
                (const double[]){4}}},
    {.name = "no axes between",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {1, 4}, .value = (const double[]){1, 5, 10, 40}},
             ROW(4, 1, 2, 1, 2),
             ROW(4, 3, 4, 5, 6)},
     .options = OPTIONS(.groups = 2, .epsilon = 5),
     .expect = {(const double[]){3 - 2.0 / 3, 4 + 4.0 / 3, 5 - 15 / 15.165750888103101, 6 + 30 / 15.165750888103101},
                (const double[]){3, 25}, (const double[]){4, 225}}},
    {.name = "default groups",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {2, 3, 64}}, {.ndim = 1, .dim = {64}}, {.ndim = 1, .dim = {64}}}},
    {.name = "pictures",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {2, 3, 3, 6}}, {.ndim = 1, .dim = {6}}, {.ndim = 1, .dim = {6}}},
     .options = OPTIONS(.groups = 3, .epsilon = 0.1)},
    {.name = "many examples",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {9, 2, 4}}, {.ndim = 1, .dim = {4}}, {.ndim = 1, .dim = {4}}},
     .options = OPTIONS(.groups = 2)},
    {.name = "channels are no multiple of the groups",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 1, .dim = {3}}, {.ndim = 1, .dim = {3}}},
     .options = OPTIONS(.groups = 2),
     .fails = MST_INVALID},
    {.name = "gamma of another length",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 4}}, {.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {2}}},
     .options = OPTIONS(.groups = 2),
     .fails = MST_INVALID},
    {.name = "a row",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {4}}, {.ndim = 1, .dim = {4}}, {.ndim = 1, .dim = {4}}},
     .options = OPTIONS(.groups = 2),
     .fails = MST_INVALID},
    {.name = "negative groups",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 4}}, {.ndim = 1, .dim = {4}}, {.ndim = 1, .dim = {4}}},
     .options = OPTIONS(.groups = -1),
     .fails = MST_INVALID},
};

const mst_op mst_op_group_norm = {
    .name = "group_norm",
    .num_src = 3,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_group_norm_fields,
    .options_size = sizeof(mst_group_norm_options),
    .infer = group_norm_infer,
    .grad = group_norm_grad,
    .workspace = group_norm_workspace,
    .reference = group_norm_reference,
    .lower = group_norm_lower,
    MST_EXAMPLES(group_norm_examples),
};

mst_value mst_group_norm_with(mst_group_norm_options options) {
    return mst_call(NULL, &mst_op_group_norm, 3, (const mst_value[]){options.src, options.gamma, options.beta},
                    &options);
}
