/* The table of faults in implementations of oneDNN. The numbers at the end of each comment are the versions with the
 * fault. The faults were found by random shapes between guard pages and a comparison with plain loops
 * (test/kernel/overrun_test.c). In those versions no faults were found in reorders, or with SSE4.1 and AVX.
 * "Channels" are those of the input, in one group. If an implementation may not compute a convolution, the next one
 * that oneDNN offers is used. If there is none left in bf16, it is computed in f32
 * (kernel/onednn/base/conv_parts.c). */
#include "kernel/onednn/base/implementation.h"

#include <string.h>

static const mst_window *axis_of(const mst_conv *v, int axis) {
    return axis == 0 ? &v->depth : &v->window[axis - 1];
}

static int64_t channels_of_group(const mst_conv *v) {
    return v->in_channels / v->groups;
}

/* Whether windows have one element and a stride above 1 along some axis. */
static bool takes_pixels_out(const mst_conv *v) {
    bool strided = false;
    for (int i = 0; i < MST_MOST_WINDOW_AXES; i++) {
        if (axis_of(v, i)->size != 1) return false;
        strided |= axis_of(v, i)->stride != 1;
    }
    return strided;
}

/* The implementation copies the pixels that it uses to the scratchpad, a whole vector for each. If a pixel has fewer
 * channels than a vector has elements, the last copies are written past the scratchpad, up to 425 kB. 2.6.3, 3.2,
 * 3.7.2. */
static bool copies_less_than_8(const mst_conv *v) {
    enum { VECTOR = 8 };
    return takes_pixels_out(v) && channels_of_group(v) < VECTOR;
}

static bool copies_less_than_16(const mst_conv *v) {
    enum { VECTOR = 16 };
    return takes_pixels_out(v) && channels_of_group(v) < VECTOR;
}

/* With an odd number of output channels, the last channel is multiplied together with the first one of the next pixel:
 * the gradient of the source is wrong. 2.6.3. */
static bool takes_odd_channels_back(const mst_conv *v) {
    return takes_pixels_out(v) && v->out_channels / v->groups % 2 != 0;
}

/* With three axes it writes before the scratchpad if a window begins above the source and ends below it. It reads past
 * the scratchpad if the depth is padded on both sides, and the gradient becomes wrong. 2.6.3, 3.2, 3.7.2. */
static bool is_deep(const mst_conv *v) {
    return mst_window_is_deep(&v->depth);
}

/* It reads past the end of the source. 2.6.3, 3.2, 3.7.2. */
static bool has_one_channel(const mst_conv *v) {
    return channels_of_group(v) == 1;
}

/* The source is copied to the scratchpad as one row for each remainder of column / stride. Rows without a column are
 * read although they were never written: old contents of the scratchpad get into the gradient. 2.6.3, 3.2, 3.7.2. */
static bool is_narrower_than_stride(const mst_conv *v) {
    return v->window[1].in < v->window[1].stride;
}

/* The gradient is wrong, and memory past the scratchpad is read, with more than 28 columns of output and fewer than 16
 * channels of the output or of the source in a group. This happens even if all windows have one element, for which
 * dilation has no meaning. 2.6.3. */
static bool is_dilated(const mst_conv *v) {
    for (int i = 0; i < MST_MOST_WINDOW_AXES; i++)
        if (axis_of(v, i)->dilation != 1) return true;
    return false;
}

/* With three axes it reads past the source and writes past the weights for some windows that are mostly padding, or
 * that reach past both ends of an axis. With several threads it may not end. Which windows these are is known by trial
 * only. So it is not taken if half of the first window is padding. Nor is it taken if a window of more than three
 * elements and the padding before it are longer than the axis. 2.6.3, 3.2. */
static bool is_mostly_padding(const mst_conv *v) {
    enum { NEVER_WRONG = 3 };
    if (!is_deep(v)) return false;
    for (int i = 0; i < MST_MOST_WINDOW_AXES; i++) {
        const mst_window *w = axis_of(v, i);
        if (w->before > 0 && 2 * w->before >= w->size) return true;
        if (w->size > NEVER_WRONG && w->size + w->before > w->in) return true;
    }
    return false;
}

/* Convolutions over three axes are computed in f32. In bf16, with an odd number of channels from 33 on, they read two
 * bytes past an array; a NaN there makes the result NaN. Forward: "brgconv" in 2.6.3, which also calls a NULL pointer,
 * and "brg_conv_fwd" in 3.7.2. Gradient of the source: 3.2 and 3.7.2. */
static bool is_deep_in_bf16(const mst_conv *v) {
    return is_deep(v) && v->bf16;
}

/* Rows of the source that no window reads are copied to the scratchpad too, for which it is too small: up to 10 kB are
 * written past it, and the result is wrong. 2.6.3. */
static bool skips_rows(const mst_conv *v) {
    const mst_window *rows = &v->window[0];
    return (rows->size - 1) * rows->dilation + 1 < rows->stride;
}

/* The result is wrong, or the process ends, for some windows with a stride or a dilation: if an axis has one element of
 * output, or elements that no window reads. 3.7.2. */
static bool is_spread_over_one(const mst_conv *v) {
    bool spread = false, one = false, skips = false;
    for (int i = 0; i < MST_MOST_WINDOW_AXES; i++) {
        const mst_window *w = axis_of(v, i);
        if (w->in == 1 && w->size == 1) continue;
        spread |= w->stride != 1 || w->dilation != 1;
        one |= w->out == 1;
        skips |= (w->size - 1) * w->dilation + 1 < w->stride;
    }
    return spread && (one || skips);
}

typedef struct rule {
    mst_convolution_kind kind;
    const char *beginning; /* beginning of the implementation's name */
    bool (*is_wrong)(const mst_conv *conv);
} rule;

static const rule rules[] = {
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit_1x1:avx2", copies_less_than_8},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit_1x1:avx512_core", copies_less_than_16},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit_bf16_1x1:", copies_less_than_16},
    {MST_CONVOLUTION_SRC_GRAD, "jit_bf16_1x1:", takes_odd_channels_back},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit_bf16:", is_deep},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit_bf16:", has_one_channel},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit_bf16:", is_narrower_than_stride},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit_bf16:", is_dilated},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit:avx512_core_amx_bf16", is_narrower_than_stride},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit:avx512_core_amx_bf16", is_dilated},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit:avx512_core", is_mostly_padding},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit:avx10_1_512_amx", is_narrower_than_stride},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit:avx10_1_512_amx", is_dilated},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "brgconv_bwd_w:", is_narrower_than_stride},
    {MST_CONVOLUTION, "brgconv:avx512_core_amx", skips_rows},
    {MST_CONVOLUTION, "brg_conv_fwd:avx10_1_512_amx", is_spread_over_one},
    {MST_CONVOLUTION_SRC_GRAD, "brg", is_spread_over_one},
    {MST_CONVOLUTION, "", is_deep_in_bf16},
    {MST_CONVOLUTION_SRC_GRAD, "", is_deep_in_bf16},
    {MST_CONVOLUTION_WEIGHTS_GRAD, "", is_deep_in_bf16},
};

bool mst_implementation_begins(const_dnnl_primitive_desc_t descriptor, const char *beginning) {
    const char *name = NULL;
    return dnnl_primitive_desc_query(descriptor, dnnl_query_impl_info_str, 0, (void *)&name) == dnnl_success && name &&
           strncmp(name, beginning, strlen(beginning)) == 0;
}

bool mst_implementation_is_sound(mst_convolution_kind kind, const mst_conv *conv,
                                 const_dnnl_primitive_desc_t descriptor) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].kind == kind && mst_implementation_begins(descriptor, rules[i].beginning) &&
            rules[i].is_wrong(conv))
            return false;
    return true;
}

/* Whether the elements of a row or a column are not adjacent in memory. */
static bool has_gaps(const mst_product_shape *s, int which) {
    const int last = s->ndim - 1;
    const int64_t *dim = s->dim[which], *stride = s->stride[which];
    const int64_t rows = dim[last - 1], columns = dim[last];
    return (rows > 1 && stride[last - 1] != columns) || (columns > 1 && stride[last] != 1);
}

/* If the product has one row or one column, "brg_matmul" assumes that the elements of each factor and of the product
 * are adjacent in memory. If they are not, the product is wrong, and overwrites the elements in between. 3.7.2. */
static bool skips_gaps(const mst_product_shape *s) {
    const int64_t *made = &s->dim[MST_PRODUCT_C][s->ndim - 2];
    return (made[0] == 1 || made[1] == 1) &&
           (has_gaps(s, MST_PRODUCT_A) || has_gaps(s, MST_PRODUCT_C) || (!s->packed && has_gaps(s, MST_PRODUCT_B)));
}

/* AMX multiplies bf16 numbers in pairs. With 63 products in a sum, or 63 more than a multiple of 64, the tiles may not
 * fit together, and the processor refuses the instruction: the process ends by SIGILL. 2.6.3. (With several threads,
 * which Muster does not use within a product, AMX's products may be wrong if B is transposed and has 49 to 63 columns.
 * 2.6.3.) */
static bool sums_63(const mst_product_shape *s) {
    enum { TILE = 64 };
    return s->bf16 && s->dim[MST_PRODUCT_A][s->ndim - 1] % TILE == TILE - 1;
}

bool mst_implementation_multiplies(const void *shape, const_dnnl_primitive_desc_t descriptor) {
    if (mst_implementation_begins(descriptor, "brg_matmul:") && skips_gaps(shape)) return false;
    return !mst_implementation_begins(descriptor, "brg:avx512_core_amx") || !sums_63(shape);
}
