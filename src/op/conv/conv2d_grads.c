/** conv2d_grads: both gradients of a convolution whose output goes through a batch norm
 *
 *  src        as conv2d's. If there are src_terms, a batch norm comes before the convolution: src is the source of this
 *             batch norm, and the convolution reads its output
 *  weights    as conv2d's
 *  gradient   of the output of the batch norm after the convolution, or of the activation after that
 *  output     the output of the convolution
 *  terms      output 0 of batch_norm_grad_sums. The gradient of `output` is computed from terms, output and gradient
 *  src_terms  optional: output 0 of batch_norm_statistics of src
 *  variance   optional: output 2 of batch_norm_statistics of src
 *  strides, padding, pads, dilations, groups   as conv2d's
 *  activation      after the batch norm that follows the convolution: relu, relu6, or linear for none
 *  src_activation  after the batch norm of src
 *  epsilon         of the batch norm of src
 *  weights_only    the only output is dweights, as output 0; there must be no variance
 *  dsrc       output 0, like src: the gradient of what the convolution reads
 *  dweights   output 1, like weights
 *  sums, dgamma, dbeta   outputs 2 to 4 if there is a variance: the outputs of batch_norm_grad_sums of src and dsrc
 *
 *  The plan makes this op, after differentiation, so it has no gradient.
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
    SRC_TERMS = MST_CONV2D_GRADS_SRC_TERMS,
    VARIANCE = MST_CONV2D_GRADS_VARIANCE
};

static const mst_field fields[] = {
    MST_CONV_FIELDS,
    MST_FIELD_ENUM(mst_conv2d_grads_options, activation, MST_BATCH_RELU, mst_batch_activations, "behind the output"),
    MST_FIELD_ENUM(mst_conv2d_grads_options, src_activation, MST_BATCH_RELU, mst_batch_activations,
                   "before the source"),
    MST_FIELD_F64(mst_conv2d_grads_options, epsilon, 1e-3, 1e-30, 1e30, "of the batch norm before the source"),
    MST_FIELD_BOOL(mst_conv2d_grads_options, weights_only, "no gradient of the source"),
    MST_FIELD_END,
};

static int conv2d_grads_count(const void *options, int num_src) {
    if (((const mst_conv2d_grads_options *)options)->weights_only) return 1;
    return num_src > VARIANCE ? MST_CONV2D_GRADS_OUTPUTS : MST_CONV2D_GRADS_SUMS;
}

/* Checks the variance, and infers the outputs that a node has only if it has a variance. */
static mst_status infer_sums(mst_infer *c) {
    int64_t channels;
    MST_TRY(mst_infer_same_dtype(c, SRC, VARIANCE));
    MST_TRY(mst_infer_want_ndim(c, VARIANCE, 1));
    MST_TRY(mst_infer_same_dim(c, c->src[SRC].shape.dim[3], c->src[VARIANCE].shape.dim[0], "channels", &channels));
    for (int i = MST_CONV2D_GRADS_SUMS; i < MST_CONV2D_GRADS_OUTPUTS; i++) c->dst[i] = c->src[VARIANCE];
    c->dst[MST_CONV2D_GRADS_SUMS].shape = mst_shape_make(2, (const int64_t[]){MST_BATCH_GRAD_TERMS, channels});
    return MST_OK;
}

static mst_status conv2d_grads_infer(mst_infer *c) {
    mst_shape shape;
    const int most = ((const mst_conv2d_grads_options *)c->options)->weights_only ? VARIANCE : VARIANCE + 1;
    if (c->num_src < SRC_TERMS || c->num_src > most)
        return mst_infer_fail(c, "there must be 5 to %d sources, not %d", most, c->num_src);
    MST_TRY(mst_conv_infer_grad(c));
    MST_TRY(mst_infer_same_dtype(c, GRADIENT, OUTPUT));
    MST_TRY(mst_infer_same_shape(c, GRADIENT, OUTPUT, &shape));
    MST_TRY(mst_infer_batch_terms(c, TERMS, MST_BATCH_GRAD_TERMS, GRADIENT));
    if (c->num_src > SRC_TERMS) MST_TRY(mst_infer_batch_terms(c, SRC_TERMS, MST_BATCH_TERMS, SRC));
    c->dst[MST_CONV2D_GRADS_DSRC] = c->src[SRC]; /* with weights_only, dweights replaces it */
    c->dst[mst_conv2d_grads_of_weights(c->options)] = c->src[WEIGHTS];
    return c->num_src > VARIANCE ? infer_sums(c) : MST_OK;
}

/* Room for the gradient of the output, for the array that the convolution reads, and for the sums. */
static size_t conv2d_grads_workspace(const mst_infer *c, int num_threads) {
    const mst_batch_rows rows = mst_batch_rows_of(&c->src[SRC].shape);
    const int64_t count =
        mst_shape_count(c->src[GRADIENT].shape) + mst_shape_count(c->src[SRC].shape) + mst_batch_sums_count(&rows);
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

mst_batch_sums mst_conv2d_grads_sums(const mst_kernel_args *a) {
    const mst_conv2d_grads_options *o = a->options;
    return (mst_batch_sums){.rows = mst_batch_rows_of(&a->src[SRC].shape),
                            .src = a->src[SRC].data,
                            .gradient = a->dst[MST_CONV2D_GRADS_DSRC].data,
                            .src_terms = a->src[SRC_TERMS].data,
                            .variance = a->src[VARIANCE].data,
                            .epsilon = o->epsilon,
                            .activation = o->src_activation,
                            .terms = a->dst[MST_CONV2D_GRADS_SUMS].data,
                            .dgamma = a->dst[MST_CONV2D_GRADS_DGAMMA].data,
                            .dbeta = a->dst[MST_CONV2D_GRADS_DBETA].data};
}

static void reference_sums(const mst_kernel_args *a, void *workspace) {
    mst_batch_sums sums = mst_conv2d_grads_sums(a);
    sums.sums = workspace;
    if (a->src[SRC].dtype == MST_F32) {
        mst_batch_add_up_f32(&sums, 0, sums.rows.parts);
        mst_batch_join_f32(&sums);
    } else {
        mst_batch_add_up_f64(&sums, 0, sums.rows.parts);
        mst_batch_join_f64(&sums);
    }
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
    if (!o->weights_only) MST_TRY(mst_op_conv2d_src_grad.reference(&inner));
    if (a->num_src > VARIANCE)
        reference_sums(a, (char *)src[SRC].data + (size_t)a->src[SRC].count * mst_dtype_size(a->src[SRC].dtype));
    inner.dst = &a->dst[mst_conv2d_grads_of_weights(o)];
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
    {.name = "relu of a source that relu6 cuts", /* the gradient of the output is 0 14, the source 0 0 0, 2 4 6 */
     .num_src = 6,
     .src = {{.ndim = 4, .dim = {1, 2, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 7}},
             {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){1, 4}},
             ROWS(5, 1, 2, 2, 0, 0, 0),
             ROWS(3, 1, 3, 2, 0)},
     .options = &(const mst_conv2d_grads_options){.src_activation = MST_BATCH_RELU6},
     .expect = {(const double[]){0, 14, 28, 0, 42, 56}, (const double[]){0, 0, 56, 84}}},
    {.name = "weights alone",
     .num_src = 6,
     .src = {{.ndim = 4, .dim = {1, 2, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 7}},
             {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){5, 7}},
             {.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){1, 4}},
             ROWS(5, 1, 2, 2, 0, 0, 0),
             ROWS(3, 1, 3, 2, 0)},
     .options = &(const mst_conv2d_grads_options){.src_activation = MST_BATCH_RELU6, .weights_only = true},
     .expect = {(const double[]){0, 0, 56, 84}}},
    {.name = "weights alone, of many pictures",
     .num_src = 5,
     .src = {RANDOM(5, 41, 40, 3),
             RANDOM(3, 3, 3, 32),
             RANDOM(5, 21, 20, 32),
             RANDOM(5, 21, 20, 32),
             {.ndim = 2, .dim = {5, 32}}},
     .options = &(const mst_conv2d_grads_options){.conv.strides = {.count = 1, .axis = {2}},
                                                  .conv.padding = MST_PADDING_SAME,
                                                  .activation = MST_BATCH_RELU6,
                                                  .weights_only = true},
     .tolerance = 1e-3},
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
    {.name = "one by one, many rows",
     .num_src = 5,
     .src = {RANDOM(5, 40, 40, 4),
             RANDOM(1, 1, 4, 64),
             RANDOM(5, 40, 40, 64),
             RANDOM(5, 40, 40, 64),
             {.ndim = 2, .dim = {5, 64}}},
     .options = &(const mst_conv2d_grads_options){.activation = MST_BATCH_RELU},
     .tolerance = 1e-3},
    {.name = "one by one, parts of less than an example",
     .num_src = 6,
     .src = {RANDOM(5, 56, 56, 8),
             RANDOM(1, 1, 8, 64),
             RANDOM(5, 56, 56, 64),
             RANDOM(5, 56, 56, 64),
             {.ndim = 2, .dim = {5, 64}},
             {.ndim = 2, .dim = {3, 8}}},
     .options = &(const mst_conv2d_grads_options){.activation = MST_BATCH_RELU6},
     .tolerance = 1e-3},
    {.name = "depthwise, strided",
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
    {.name = "depthwise",
     .num_src = 6,
     .src = {RANDOM(5, 40, 39, 8),
             RANDOM(3, 3, 1, 8),
             RANDOM(5, 40, 39, 8),
             RANDOM(5, 40, 39, 8),
             {.ndim = 2, .dim = {5, 8}},
             {.ndim = 2, .dim = {3, 8}}},
     .options = &(const mst_conv2d_grads_options){.conv.padding = MST_PADDING_SAME,
                                                  .conv.groups = 8,
                                                  .activation = MST_BATCH_RELU6,
                                                  .src_activation = MST_BATCH_RELU6},
     .tolerance = 1e-3},
    {.name = "one by one, few rows",
     .num_src = 5,
     .src = {RANDOM(4, 3, 3, 16),
             RANDOM(1, 1, 16, 8),
             RANDOM(4, 3, 3, 8),
             RANDOM(4, 3, 3, 8),
             {.ndim = 2, .dim = {5, 8}}}},
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
    .num_dst = MST_VARIADIC,
    .dtypes = MST_FLOATS,
    .fields = fields,
    .options_size = sizeof(mst_conv2d_grads_options),
    .count_dst = conv2d_grads_count,
    .infer = conv2d_grads_infer,
    .workspace = conv2d_grads_workspace,
    .reference = conv2d_grads_reference,
    MST_EXAMPLES(conv2d_grads_examples),
};
