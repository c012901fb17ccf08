/** conv2d_statistics: conv2d, or normalized_conv2d, and batch_norm_statistics of its output
 *
 *  src, weights  as conv2d's; if there are src_terms, as normalized_conv2d's
 *  gamma, beta   as batch_norm_statistics', [filters]
 *  src_terms     optional: terms of normalized_conv2d
 *  strides, padding, pads, dilations, groups   as conv2d's
 *  activation    as normalized_conv2d's, if there are src_terms
 *  epsilon       as batch_norm_statistics'
 *  dst           output 0, as conv2d's
 *  terms, mean, variance   outputs 1 to 3: the outputs of batch_norm_statistics of dst
 *
 *  The plan makes this op, after differentiation, so it has no gradient.
 */
#include "op/conv/conv2d_statistics.h"

#include "op/conv/conv.h"
#include "op/list.h"
#include "op/op.h"

enum {
    SRC = MST_CONV2D_STATISTICS_SRC,
    WEIGHTS = MST_CONV2D_STATISTICS_WEIGHTS,
    GAMMA = MST_CONV2D_STATISTICS_GAMMA,
    BETA = MST_CONV2D_STATISTICS_BETA,
    SRC_TERMS = MST_CONV2D_STATISTICS_SRC_TERMS
};

static const mst_field fields[] = {
    MST_CONV_FIELDS,
    MST_FIELD_ENUM(mst_conv2d_statistics_options, conv.activation, MST_BATCH_RELU, mst_batch_activations,
                   "before the source"),
    MST_FIELD_F64(mst_conv2d_statistics_options, epsilon, 1e-3, 1e-30, 1e30, "of the batch norm behind"),
    MST_FIELD_END,
};

static mst_status conv2d_statistics_infer(mst_infer *c) {
    int64_t unified;
    if (c->num_src != SRC_TERMS && c->num_src != SRC_TERMS + 1)
        return mst_infer_fail(c, "%d sources, must be 4 or 5", c->num_src);
    MST_TRY(mst_conv_infer_dst(c, MST_CONV2D_NDIM));
    const int64_t filters = c->dst[0].shape.dim[MST_CONV2D_NDIM - 1];
    for (int i = GAMMA; i <= BETA; i++) {
        MST_TRY(mst_infer_same_dtype(c, SRC, i));
        MST_TRY(mst_infer_want_ndim(c, i, 1));
        MST_TRY(mst_infer_same_dim(c, filters, c->src[i].shape.dim[0], "filters", &unified));
    }
    if (c->num_src > SRC_TERMS) MST_TRY(mst_infer_batch_terms(c, SRC_TERMS, MST_BATCH_TERMS, SRC));
    for (int i = MST_CONV2D_STATISTICS_TERMS; i < MST_CONV2D_STATISTICS_OUTPUTS; i++) c->dst[i] = c->src[GAMMA];
    c->dst[MST_CONV2D_STATISTICS_TERMS].shape = mst_shape_make(2, (const int64_t[]){MST_BATCH_TERMS, filters});
    return MST_OK;
}

/* Room for the array that the convolution reads, and for the sums. */
static size_t conv2d_statistics_workspace(const mst_infer *c, int num_threads) {
    const mst_batch_rows rows = mst_batch_rows_of(&c->dst[0].shape);
    (void)num_threads;
    return (size_t)(mst_shape_count(c->src[SRC].shape) + mst_batch_sums_count(&rows)) *
           mst_dtype_size(c->src[SRC].dtype);
}

mst_batch_statistics mst_conv2d_statistics_of(const mst_kernel_args *a) {
    return (mst_batch_statistics){.rows = mst_batch_rows_of(&a->dst[0].shape),
                                  .src = a->dst[MST_CONV2D_STATISTICS_DST].data,
                                  .gamma = a->src[GAMMA].data,
                                  .beta = a->src[BETA].data,
                                  .epsilon = ((const mst_conv2d_statistics_options *)a->options)->epsilon,
                                  .terms = a->dst[MST_CONV2D_STATISTICS_TERMS].data,
                                  .mean = a->dst[MST_CONV2D_STATISTICS_MEAN].data,
                                  .variance = a->dst[MST_CONV2D_STATISTICS_VARIANCE].data};
}

static mst_status conv2d_statistics_reference(const mst_kernel_args *a) {
    const mst_array src[] = {a->src[SRC], a->src[WEIGHTS], a->src[a->num_src - 1]};
    const bool normalized = a->num_src > SRC_TERMS;
    mst_kernel_args inner = *a;
    inner.num_src = 2 + normalized;
    inner.src = src;
    inner.num_dst = 1;
    MST_TRY(normalized ? mst_normalized_conv_run(&inner, 2, &mst_op_conv2d) : mst_conv_reference(&inner));
    mst_batch_statistics s = mst_conv2d_statistics_of(a);
    s.sums = (char *)a->workspace + (size_t)a->src[SRC].count * mst_dtype_size(a->src[SRC].dtype);
    if (a->src[SRC].dtype == MST_F32) {
        mst_batch_measure_f32(&s, 0, s.rows.parts);
        mst_batch_conclude_f32(&s);
    } else {
        mst_batch_measure_f64(&s, 0, s.rows.parts);
        mst_batch_conclude_f64(&s);
    }
    return MST_OK;
}

/* clang-format off */
#define THREE_BY_THREE {.ndim = 4, .dim = {1, 3, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9}}
#define TWO_BY_TWO {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}}
#define ONE(x) {.ndim = 1, .dim = {1}, .value = (const double[]){x}}
#define SOME(n) {.ndim = 1, .dim = {n}}
#define RANDOM(a, b, c, d) {.ndim = 4, .dim = {a, b, c, d}}
/* clang-format on */

static const mst_example conv2d_statistics_examples[] = {
    {.name = "of a source", /* the differences from the mean are -20, -10, 10 and 20 */
     .num_src = 4,
     .src = {THREE_BY_THREE, TWO_BY_TWO, ONE(32), ONE(-3)},
     .options = &(const mst_conv2d_statistics_options){.epsilon = 6},
     .expect = {(const double[]){37, 47, 67, 77}, (const double[]){57, 2, -3}, (const double[]){57}}},
    {.name = "of the output of a batch norm", /* the batch norm gives 0 0 0, 0 1 3, 5 7 9 */
     .num_src = 5,
     .src =
         {THREE_BY_THREE, TWO_BY_TWO, ONE(10), ONE(1), {.ndim = 2, .dim = {3, 1}, .value = (const double[]){5, 2, 1}}},
     .options = &(const mst_conv2d_statistics_options){.epsilon = 58.5},
     .expect = {(const double[]){4, 15, 45, 64}, (const double[]){32, 0.4, 1}, (const double[]){32}}},
    {.name = "strides and groups",
     .num_src = 4,
     .src = {RANDOM(5, 6, 5, 4), RANDOM(3, 2, 2, 6), SOME(6), SOME(6)},
     .options =
         &(const mst_conv2d_statistics_options){.conv.conv.strides = {.count = 1, .axis = {2}}, .conv.conv.groups = 2}},
    {.name = "one by one, many rows",
     .num_src = 5,
     .src = {RANDOM(5, 40, 40, 4), RANDOM(1, 1, 4, 64), SOME(64), SOME(64), {.ndim = 2, .dim = {3, 4}}},
     .options = &(const mst_conv2d_statistics_options){.conv.activation = MST_BATCH_RELU6},
     .tolerance = 1e-4},
    {.name = "one by one, parts of less than an example",
     .num_src = 5,
     .src = {RANDOM(5, 56, 56, 8), RANDOM(1, 1, 8, 64), SOME(64), SOME(64), {.ndim = 2, .dim = {3, 8}}},
     .options = &(const mst_conv2d_statistics_options){.conv.activation = MST_BATCH_RELU6},
     .tolerance = 1e-4},
    {.name = "parts of the sums that do not lie in parts of the examples",
     .num_src = 4,
     .src = {RANDOM(300, 6, 6, 8), RANDOM(1, 1, 8, 96), SOME(96), SOME(96)},
     .tolerance = 1e-4},
    {.name = "depthwise",
     .num_src = 5,
     .src = {RANDOM(5, 40, 39, 48), RANDOM(3, 3, 1, 48), SOME(48), SOME(48), {.ndim = 2, .dim = {3, 48}}},
     .options =
         &(const mst_conv2d_statistics_options){
             .conv.conv.padding = MST_PADDING_SAME, .conv.conv.groups = 48, .conv.activation = MST_BATCH_RELU6},
     .tolerance = 1e-4},
    {.name = "depthwise, strided, parts of the sums that do not lie in parts of the examples",
     .num_src = 4,
     .src = {RANDOM(90, 7, 6, 20), RANDOM(3, 3, 1, 20), SOME(20), SOME(20)},
     .options = &(const mst_conv2d_statistics_options){.conv.conv.strides = {.count = 1, .axis = {2}},
                                                       .conv.conv.padding = MST_PADDING_SAME,
                                                       .conv.conv.groups = 20},
     .tolerance = 1e-4},
    {.name = "no examples", .num_src = 4, .src = {RANDOM(0, 3, 3, 1), TWO_BY_TWO, ONE(1), ONE(1)}},
    {.name = "filters differ",
     .num_src = 4,
     .src = {THREE_BY_THREE, TWO_BY_TWO, SOME(2), ONE(1)},
     .fails = MST_INVALID},
    {.name = "other terms",
     .num_src = 5,
     .src = {THREE_BY_THREE, TWO_BY_TWO, ONE(1), ONE(1), {.ndim = 2, .dim = {2, 1}}},
     .fails = MST_INVALID},
    {.name = "three sources", .num_src = 3, .src = {THREE_BY_THREE, TWO_BY_TWO, ONE(1)}, .fails = MST_INVALID},
};

const mst_op mst_op_conv2d_statistics = {
    .name = "conv2d_statistics",
    .num_src = MST_VARIADIC,
    .num_dst = MST_CONV2D_STATISTICS_OUTPUTS,
    .dtypes = MST_FLOATS,
    .fields = fields,
    .options_size = sizeof(mst_conv2d_statistics_options),
    .infer = conv2d_statistics_infer,
    .workspace = conv2d_statistics_workspace,
    .reference = conv2d_statistics_reference,
    MST_EXAMPLES(conv2d_statistics_examples),
};
