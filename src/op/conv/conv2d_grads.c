/** conv2d_grads: both gradients of a convolution whose output goes through a batch norm
 *
 *  src        as conv2d's; where there are src_terms, the source of a batch norm whose output the convolution reads
 *  weights    as conv2d's
 *  gradient   of the output of the batch norm behind the convolution, or of the activation behind that
 *  output     of the convolution
 *  terms      output 0 of batch_norm_grad_sums: of output and gradient the gradient of output follows
 *  src_terms  may be left out: output 0 of batch_norm_statistics of src
 *  strides, padding, pads, dilations, groups   as conv2d's
 *  activation      behind the batch norm of output: relu, relu6 or linear, which is none
 *  src_activation  behind that of src
 *  dsrc       output 0, like src: the gradient of what the convolution reads
 *  dweights   output 1, like weights
 *
 *  The plan makes it; it comes after differentiation and has no gradient.
 */
#include "op/conv/conv2d_grads.h"

#include "op/conv/conv.h"
#include "op/conv/normalized_conv.h"
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"
#include "op/share.h"

enum {
    SRC = MST_CONV2D_GRADS_SRC,
    WEIGHTS = MST_CONV2D_GRADS_WEIGHTS,
    GRADIENT = MST_CONV2D_GRADS_GRADIENT,
    OUTPUT = MST_CONV2D_GRADS_OUTPUT,
    TERMS = MST_CONV2D_GRADS_TERMS,
    SRC_TERMS = MST_CONV2D_GRADS_SRC_TERMS
};

static const mst_field fields[] = {
    MST_CONV_FIELDS,
    MST_FIELD_ENUM(mst_conv2d_grads_options, activation, MST_BATCH_RELU, mst_batch_activations, "behind the output"),
    MST_FIELD_ENUM(mst_conv2d_grads_options, src_activation, MST_BATCH_RELU, mst_batch_activations,
                   "before the source"),
    MST_FIELD_END,
};

static mst_status conv2d_grads_infer(mst_infer *c) {
    mst_shape shape;
    if (c->num_src != SRC_TERMS && c->num_src != SRC_TERMS + 1)
        return mst_infer_fail(c, "there must be 5 or 6 sources, not %d", c->num_src);
    MST_TRY(mst_conv_infer_grad(c));
    MST_TRY(mst_infer_same_dtype(c, GRADIENT, OUTPUT));
    MST_TRY(mst_infer_same_shape(c, GRADIENT, OUTPUT, &shape));
    MST_TRY(mst_infer_batch_terms(c, TERMS, MST_BATCH_GRAD_TERMS, GRADIENT));
    if (c->num_src > SRC_TERMS) MST_TRY(mst_infer_batch_terms(c, SRC_TERMS, MST_BATCH_TERMS, SRC));
    c->dst[0] = c->src[SRC];
    c->dst[1] = c->src[WEIGHTS];
    return MST_OK;
}

/* The gradient of the output, and what the convolution reads, as a whole. */
static size_t conv2d_grads_workspace(const mst_infer *c, int num_threads) {
    const int64_t count = mst_shape_count(c->src[GRADIENT].shape) + mst_shape_count(c->src[SRC].shape);
    (void)num_threads;
    return (size_t)count * mst_dtype_size(c->src[SRC].dtype);
}

static mst_status conv2d_grads_differentiate(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    mst_batch_limits storage;
    const mst_batch_limits *limits =
        mst_batch_grad_limits(((const mst_conv2d_grads_options *)a->options)->activation, &storage);
    const int64_t channels = a->src[GRADIENT].shape.dim[3], first = begin * channels;
    (void)thread;
    if (a->src[SRC].dtype == MST_F32)
        mst_batch_differentiate_f32(a->src[TERMS].data, limits, (const float *)a->src[OUTPUT].data + first,
                                    (const float *)a->src[GRADIENT].data + first, end - begin, channels,
                                    (float *)a->workspace + first);
    else
        mst_batch_differentiate_f64(a->src[TERMS].data, limits, (const double *)a->src[OUTPUT].data + first,
                                    (const double *)a->src[GRADIENT].data + first, end - begin, channels,
                                    (double *)a->workspace + first);
    return MST_OK;
}

static mst_status conv2d_grads_reference(const mst_kernel_args *a) {
    const mst_conv2d_grads_options *o = a->options;
    const int64_t channels = a->src[GRADIENT].shape.dim[3], rows = a->src[GRADIENT].count / channels;
    mst_array src[] = {a->src[SRC], a->src[WEIGHTS], a->src[GRADIENT]};
    MST_TRY(mst_parallel(a, rows, mst_grain(rows, channels), conv2d_grads_differentiate, mst_context_of(a)));
    src[GRADIENT].data = a->workspace;
    if (a->num_src > SRC_TERMS) {
        src[SRC].data = (char *)a->workspace + (size_t)a->src[GRADIENT].count * mst_dtype_size(a->src[SRC].dtype);
        MST_TRY(mst_normalize_source(a, SRC_TERMS, o->src_activation, src[SRC].data));
    }
    mst_kernel_args inner = *a;
    inner.num_src = GRADIENT + 1;
    inner.src = src;
    inner.num_dst = 1;
    MST_TRY(mst_op_conv2d_src_grad.reference(&inner));
    inner.dst = &a->dst[1];
    return mst_op_conv2d_weights_grad.reference(&inner);
}

/* clang-format off */
#define ROWS(n, m, ...) {.ndim = 2, .dim = {n, m}, .value = (const double[]){__VA_ARGS__}}
#define RANDOM(a, b, c, d) {.ndim = 4, .dim = {a, b, c, d}}
/* clang-format on */

static const mst_example conv2d_grads_examples[] = {
    {.name = "linear", /* the gradient of the output is 2 (5 - 1 - 3 (4 - 2)) = -4, 2 (7 - 1 - 3 (1 - 2)) = 18 */
     .num_src = 5,
     .src = {{.ndim = 4, .dim = {1, 2, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){4, 1}},
             ROWS(5, 1, 2, 2, 0, 1, 3)},
     .options = &(const mst_conv2d_grads_options){.activation = MST_BATCH_LINEAR},
     .expect = {(const double[]){-4, 10, 36, -12, 38, 72}, (const double[]){32, 46, 74, 88}}},
    {.name = "relu of a source that relu6 cuts", /* of 0 and 14; the source is 0 0 0, 2 4 6 */
     .num_src = 6,
     .src = {{.ndim = 4, .dim = {1, 2, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 7}},
             {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){1, 4}},
             ROWS(5, 1, 2, 2, 0, 0, 0),
             ROWS(3, 1, 3, 2, 0)},
     .options = &(const mst_conv2d_grads_options){.src_activation = MST_BATCH_RELU6},
     .expect = {(const double[]){0, 14, 28, 0, 42, 56}, (const double[]){0, 0, 56, 84}}},
    {.name = "strides and groups",
     .num_src = 6,
     .src = {RANDOM(2, 4, 5, 4),
             RANDOM(2, 3, 2, 6),
             RANDOM(2, 2, 2, 6),
             RANDOM(2, 2, 2, 6),
             {.ndim = 2, .dim = {5, 6}},
             {.ndim = 2, .dim = {3, 4}}},
     .options =
         &(const mst_conv2d_grads_options){
             .conv.strides = {.count = 1, .axis = {2}}, .conv.groups = 2, .activation = MST_BATCH_RELU6}},
    {.name = "one by one, several parts",
     .num_src = 5,
     .src = {RANDOM(5, 40, 40, 4),
             RANDOM(1, 1, 4, 64),
             RANDOM(5, 40, 40, 64),
             RANDOM(5, 40, 40, 64),
             {.ndim = 2, .dim = {5, 64}}},
     .options = &(const mst_conv2d_grads_options){.activation = MST_BATCH_RELU},
     .tolerance = 1e-3},
    {.name = "depthwise, several parts",
     .num_src = 6,
     .src = {RANDOM(5, 40, 40, 48),
             RANDOM(3, 3, 1, 48),
             RANDOM(5, 20, 20, 48),
             RANDOM(5, 20, 20, 48),
             {.ndim = 2, .dim = {5, 48}},
             {.ndim = 2, .dim = {3, 48}}},
     .options = &(const mst_conv2d_grads_options){.conv.strides = {.count = 1, .axis = {2}},
                                                  .conv.padding = MST_PADDING_SAME,
                                                  .conv.groups = 48,
                                                  .activation = MST_BATCH_LINEAR},
     .tolerance = 1e-3},
    {.name = "no examples",
     .num_src = 5,
     .src =
         {RANDOM(0, 3, 3, 2), RANDOM(2, 2, 2, 2), RANDOM(0, 2, 2, 2), RANDOM(0, 2, 2, 2), {.ndim = 2, .dim = {5, 2}}}},
    {.name = "an output of another shape",
     .num_src = 5,
     .src =
         {RANDOM(1, 3, 3, 2), RANDOM(2, 2, 2, 2), RANDOM(1, 2, 2, 2), RANDOM(1, 2, 1, 2), {.ndim = 2, .dim = {5, 2}}},
     .fails = MST_INVALID},
    {.name = "three terms",
     .num_src = 5,
     .src =
         {RANDOM(1, 3, 3, 2), RANDOM(2, 2, 2, 2), RANDOM(1, 2, 2, 2), RANDOM(1, 2, 2, 2), {.ndim = 2, .dim = {3, 2}}},
     .fails = MST_INVALID},
    {.name = "four sources",
     .num_src = 4,
     .src = {RANDOM(1, 3, 3, 2), RANDOM(2, 2, 2, 2), RANDOM(1, 2, 2, 2), RANDOM(1, 2, 2, 2)},
     .fails = MST_INVALID},
};

const mst_op mst_op_conv2d_grads = {
    .name = "conv2d_grads",
    .num_src = MST_VARIADIC,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .fields = fields,
    .options_size = sizeof(mst_conv2d_grads_options),
    .infer = conv2d_grads_infer,
    .workspace = conv2d_grads_workspace,
    .reference = conv2d_grads_reference,
    MST_EXAMPLES(conv2d_grads_examples),
};
