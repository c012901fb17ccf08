/* The table of what is wrong with implementations of oneDNN. Each row has the versions in which it was found, by random
 * shapes between pages that nobody may touch and a comparison with plain loops (test/kernel/overrun_test.c). In those
 * versions nothing of the kind was found in what rearranges factors, and with SSE4.1 and AVX.
 * The channels that count are those that are read, of one group. A convolution that an implementation may not make is
 * made by the next one that oneDNN offers; one of bf16 that has none left, in f32 (kernel/onednn/base/conv_parts.c). */
#include "kernel/onednn/base/implementation.h"

#include <string.h>

static const mst_window *axis_of(const mst_conv *v, int axis) {
    return axis == 0 ? &v->depth : &v->window[axis - 1];
}

static int64_t channels_of_group(const mst_conv *v) {
    return v->in_channels / v->groups;
}

/* Windows of one element, some of them further apart than one. */
static bool takes_pixels_out(const mst_conv *v) {
    bool strided = false;
    for (int i = 0; i < MST_MOST_WINDOW_AXES; i++) {
        if (axis_of(v, i)->size != 1) return false;
        strided |= axis_of(v, i)->stride != 1;
    }
    return strided;
}

/* The pixels that are read are copied to the scratchpad first, a whole vector each: where a pixel has fewer channels
 * than a vector has elements, the last ones are written behind the scratchpad, up to 425 kB. 2.6.3, 3.2, 3.7.2. */
static bool copies_less_than_8(const mst_conv *v) {
    enum { VECTOR = 8 };
    return takes_pixels_out(v) && channels_of_group(v) < VECTOR;
}

static bool copies_less_than_16(const mst_conv *v) {
    enum { VECTOR = 16 };
    return takes_pixels_out(v) && channels_of_group(v) < VECTOR;
}

/* The last of an odd number of channels of the output is multiplied together with the first one of the next pixel: the
 * gradient of the source is another one. 2.6.3. */
static bool takes_odd_channels_back(const mst_conv *v) {
    return takes_pixels_out(v) && v->out_channels / v->groups % 2 != 0;
}

/* With three axes it writes before the scratchpad where a window begins above the source and ends below it, and reads
 * behind it where there are zeros on both sides of the depth: that gets into the gradient. 2.6.3, 3.2, 3.7.2. */
static bool is_deep(const mst_conv *v) {
    return mst_window_is_deep(&v->depth);
}

/* It reads behind the source. 2.6.3, 3.2, 3.7.2. */
static bool has_one_channel(const mst_conv *v) {
    return channels_of_group(v) == 1;
}

/* The source is put into the scratchpad as one row for each remainder of the column by the stride. Those that have no
 * column are read without having been written: what the scratchpad held gets into the gradient. 2.6.3, 3.2. */
static bool is_narrower_than_stride(const mst_conv *v) {
    return v->window[1].in < v->window[1].stride;
}

/* Where there are more than 28 columns of output, and fewer than 16 channels of output in a group or as many of the
 * source, the gradient is another one, and memory behind the scratchpad is read; so also where all windows have one
 * element, whose distance means nothing. 2.6.3. */
static bool is_dilated(const mst_conv *v) {
    for (int i = 0; i < MST_MOST_WINDOW_AXES; i++)
        if (axis_of(v, i)->dilation != 1) return true;
    return false;
}

/* With three axes it reads behind the source, and writes behind the weights, where half of the first window or more are
 * zeros before the depth, which padding "same" never has. With several threads it may not end. 2.6.3, 3.2. */
static bool begins_before_its_middle(const mst_conv *v) {
    return is_deep(v) && 2 * v->depth.before >= v->depth.size && v->depth.before > 0;
}

/* Convolutions over three axes are of f32. Those of bf16 read two bytes behind an array with an odd number of channels,
 * from 33 on, where NaN makes NaN: "brgconv" forward in 2.6.3, which also calls through NULL, and "brg_conv_fwd" in
 * 3.7.2; for the gradient of the source in 3.2 and 3.7.2. */
static bool is_deep_in_bf16(const mst_conv *v) {
    return is_deep(v) && v->bf16;
}

typedef struct rule {
    mst_convolution_kind kind;
    const char *beginning; /* of the implementation's name */
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
    {MST_CONVOLUTION_WEIGHTS_GRAD, "jit:avx512_core", begins_before_its_middle},
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

/* Elements of a row or a column lie further apart than one after the other. */
static bool has_gaps(const mst_product_shape *s, int which) {
    const int last = s->ndim - 1;
    const int64_t *dim = s->dim[which], *stride = s->stride[which];
    const int64_t rows = dim[last - 1], columns = dim[last];
    return (rows > 1 && stride[last - 1] != columns) || (columns > 1 && stride[last] != 1);
}

/* Of one row or one column it takes the elements of a factor to lie one after the other, and writes the product so,
 * where others lie in between: the product is another one, and written over them. 3.7.2. */
bool mst_implementation_multiplies(const mst_product_shape *shape, const_dnnl_primitive_desc_t descriptor) {
    const int64_t *made = &shape->dim[MST_PRODUCT_C][shape->ndim - 2];
    if ((made[0] != 1 && made[1] != 1) || !mst_implementation_begins(descriptor, "brg_matmul:")) return true;
    return !has_gaps(shape, MST_PRODUCT_A) && !has_gaps(shape, MST_PRODUCT_C) &&
           (shape->packed || !has_gaps(shape, MST_PRODUCT_B));
}
