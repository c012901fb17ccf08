/** fused_conv2d: dst = activation(scale * conv2d(src, weights) + shift + residual)
 *
 *  src, weights, strides, padding, pads, dilations, groups   as conv2d's
 *  shift        [filters], src's dtype
 *  scale        [filters], src's dtype; optional
 *  residual     like dst; the last source, present if the option residual is set
 *  activation   none, relu or relu6
 *  dst          as conv2d's
 *
 *  The plan makes this op, after differentiation, so it has no gradient.
 */
#include "op/conv/fused_conv2d.h"

#include <math.h>

#include "base/simd.h"
#include "op/conv/conv.h"
#include "op/list.h"
#include "op/op.h"
#include "op/share.h"

enum { SHIFT = 2, SCALE = 3 };

static const mst_field fused_conv2d_fields[] = {
    MST_CONV_FIELDS,
    MST_FIELD_ENUM(mst_fused_conv2d_options, activation, MST_FUSED_NONE, mst_fused_activations, "applied last"),
    MST_FIELD_BOOL(mst_fused_conv2d_options, residual, "the last source is added before the activation"),
    MST_FIELD_END,
};

static mst_status fused_conv2d_infer(mst_infer *c) {
    int64_t unified;
    const int residual = ((const mst_fused_conv2d_options *)c->options)->residual, count = c->num_src - residual;
    if (count != SHIFT + 1 && count != SCALE + 1)
        return mst_infer_fail(c, "%d sources, must be %d or %d", c->num_src, SHIFT + 1 + residual,
                              SCALE + 1 + residual);
    MST_TRY(mst_conv_infer_dst(c, MST_CONV2D_NDIM));
    if (residual) {
        MST_TRY(mst_infer_same_dtype(c, 0, count));
        MST_TRY(mst_infer_want_ndim(c, count, MST_CONV2D_NDIM));
        for (int k = 0; k < MST_CONV2D_NDIM; k++)
            MST_TRY(
                mst_infer_same_dim(c, c->dst[0].shape.dim[k], c->src[count].shape.dim[k], "what is added", &unified));
    }
    for (int i = SHIFT; i < count; i++) {
        MST_TRY(mst_infer_same_dtype(c, 0, i));
        MST_TRY(mst_infer_want_ndim(c, i, 1));
        MST_TRY(mst_infer_same_dim(c, c->dst[0].shape.dim[MST_CONV2D_NDIM - 1], c->src[i].shape.dim[0], "filters",
                                   &unified));
    }
    return MST_OK;
}

#define MST_TEMPLATE "op/conv/fused_conv2d_loop.inc"
#include "base/floats.inc"

void mst_fused_conv2d_finish_f32(const mst_kernel_args *a, int64_t first, int64_t count) {
    const mst_fused_conv2d_options *o = a->options;
    const int num_src = a->num_src - o->residual;
    const mst_shape *dst = &a->dst[0].shape;
    mst_conv_finish_f32(
        (float *)a->dst[0].data + first, count, a->src[SHIFT].data, num_src > SCALE ? a->src[SCALE].data : NULL,
        o->residual ? (const float *)a->src[num_src].data + first : NULL, dst->dim[dst->ndim - 1], o->activation);
}

static mst_status fused_conv2d_reference(const mst_kernel_args *a) {
    const mst_fused_conv2d_options *o = a->options;
    const int count = a->num_src - o->residual;
    const void *scale = count > SCALE ? a->src[SCALE].data : NULL;
    const void *residual = o->residual ? a->src[count].data : NULL;
    const int64_t channels = a->src[SHIFT].count;
    MST_TRY(mst_conv_reference(a));
    if (a->dst[0].dtype == MST_F32)
        mst_conv_finish_f32(a->dst[0].data, a->dst[0].count, a->src[SHIFT].data, scale, residual, channels,
                            o->activation);
    else
        mst_conv_finish_f64(a->dst[0].data, a->dst[0].count, a->src[SHIFT].data, scale, residual, channels,
                            o->activation);
    return MST_OK;
}

/* clang-format off */
#define THREE_BY_THREE {.ndim = 4, .dim = {1, 3, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9}}
#define TWO_BY_TWO {.ndim = 4, .dim = {2, 2, 1, 1}, .value = (const double[]){1, 2, 3, 4}}
#define ONE(x) {.ndim = 1, .dim = {1}, .value = (const double[]){x}}
#define RANDOM(a, b, c, d) {.ndim = 4, .dim = {a, b, c, d}}
/* clang-format on */

static const mst_example fused_conv2d_examples[] = {
    {.name = "shift",
     .num_src = 3,
     .src = {THREE_BY_THREE, TWO_BY_TWO, ONE(-50)},
     .expect = {(const double[]){-13, -3, 17, 27}}},
    {.name = "shift and relu",
     .num_src = 3,
     .src = {THREE_BY_THREE, TWO_BY_TWO, ONE(-50)},
     .options = &(const mst_fused_conv2d_options){.activation = MST_FUSED_RELU},
     .expect = {(const double[]){0, 0, 17, 27}}},
    {.name = "scale, shift and relu6",
     .num_src = 4,
     .src = {THREE_BY_THREE, TWO_BY_TWO, ONE(-20), ONE(0.5)},
     .options = &(const mst_fused_conv2d_options){.activation = MST_FUSED_RELU6},
     .expect = {(const double[]){0, 3.5, 6, 6}}},
    {.name = "shift and what is added",
     .num_src = 4,
     .src = {THREE_BY_THREE,
             TWO_BY_TWO,
             ONE(-50),
             {.ndim = 4, .dim = {1, 2, 2, 1}, .value = (const double[]){1, 10, 100, -50}}},
     .options = &(const mst_fused_conv2d_options){.residual = true},
     .expect = {(const double[]){-12, 7, 117, -23}}},
    {.name = "scale, shift, what is added, and relu",
     .num_src = 5,
     .src = {THREE_BY_THREE,
             TWO_BY_TWO,
             ONE(-20),
             ONE(0.5),
             {.ndim = 4, .dim = {1, 2, 2, 1}, .value = (const double[]){1, 10, 100, -50}}},
     .options = &(const mst_fused_conv2d_options){.activation = MST_FUSED_RELU, .residual = true},
     .expect = {(const double[]){0, 13.5, 113.5, 0}}},
    {.name = "one picture in parts, with what is added",
     .num_src = 4,
     .src = {RANDOM(1, 64, 37, 16), RANDOM(1, 1, 16, 96), {.ndim = 1, .dim = {96}}, RANDOM(1, 64, 37, 96)},
     .options = &(const mst_fused_conv2d_options){.activation = MST_FUSED_RELU6, .residual = true},
     .tolerance = 1e-4},
    {.name = "what is added has another shape",
     .num_src = 4,
     .src = {THREE_BY_THREE, TWO_BY_TWO, ONE(1), RANDOM(1, 1, 2, 1)},
     .options = &(const mst_fused_conv2d_options){.residual = true},
     .fails = MST_INVALID},
    {.name = "strides and groups",
     .num_src = 4,
     .src = {RANDOM(5, 6, 5, 4), RANDOM(3, 2, 2, 6), {.ndim = 1, .dim = {6}}, {.ndim = 1, .dim = {6}}},
     .options = &(const mst_fused_conv2d_options){.conv.strides = {.count = 1, .axis = {2}}, .conv.groups = 2}},
    {.name = "one picture in parts, same",
     .num_src = 4,
     .src = {RANDOM(1, 41, 37, 16), RANDOM(3, 3, 16, 128), {.ndim = 1, .dim = {128}}, {.ndim = 1, .dim = {128}}},
     .options = &(const mst_fused_conv2d_options){.conv.padding = MST_PADDING_SAME, .activation = MST_FUSED_RELU},
     .tolerance = 1e-4},
    {.name = "one picture in parts, strides, pads and dilations",
     .num_src = 3,
     .src = {RANDOM(1, 90, 37, 8), RANDOM(3, 3, 8, 128), {.ndim = 1, .dim = {128}}},
     .options = &(const mst_fused_conv2d_options){.conv.strides = {.count = 1, .axis = {2}},
                                                  .conv.pads = {.count = 4, .axis = {2, 1, 0, 1}},
                                                  .conv.dilations = {.count = 2, .axis = {3, 1}}},
     .tolerance = 1e-4},
    {.name = "one picture in parts, of which some lie in the zeros above and below", /* parts of one row, then of two */
     .num_src = 3,
     .src = {RANDOM(1, 11, 700, 16), RANDOM(1, 1, 16, 96), {.ndim = 1, .dim = {96}}},
     .options = &(const mst_fused_conv2d_options){.conv.pads = {.count = 4, .axis = {1, 2, 0, 0}}},
     .tolerance = 1e-4},
    {.name = "one picture, depthwise",
     .num_src = 5,
     .src = {RANDOM(1, 13, 11, 24),
             RANDOM(3, 3, 1, 24),
             {.ndim = 1, .dim = {24}},
             {.ndim = 1, .dim = {24}},
             RANDOM(1, 13, 11, 24)},
     .options =
         &(const mst_fused_conv2d_options){
             .conv.padding = MST_PADDING_SAME, .conv.groups = 24, .residual = true, .activation = MST_FUSED_RELU6}},
    {.name = "no examples", .num_src = 3, .src = {RANDOM(0, 3, 3, 1), TWO_BY_TWO, ONE(1)}},
    {.name = "no shift", .num_src = 2, .src = {THREE_BY_THREE, TWO_BY_TWO}, .fails = MST_INVALID},
    {.name = "filters differ",
     .num_src = 3,
     .src = {THREE_BY_THREE, TWO_BY_TWO, {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_fused_conv2d = {
    .name = "fused_conv2d",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = fused_conv2d_fields,
    .options_size = sizeof(mst_fused_conv2d_options),
    .infer = fused_conv2d_infer,
    .reference = fused_conv2d_reference,
    MST_EXAMPLES(fused_conv2d_examples),
};
