/** Code that convolutions over two and three axes and their gradients share: the table of options, the inference of
 *  shapes, and the loops of the reference kernels. conv2d and conv3d have the same gradient ops:
 *
 *      dst       = conv2d(src, weights) or conv3d(src, weights)
 *      d src     = conv2d_src_grad(src, weights, gradient)       of src only the shape is read
 *      d weights = conv2d_weights_grad(src, weights, gradient)   of weights only the shape is read
 *
 *  Each op is linear in each source whose values it reads. So the gradients of the gradient ops are made of these ops
 *  too. */
#ifndef MUSTER_OP_CONV_CONV_H
#define MUSTER_OP_CONV_CONV_H

#include "op/conv/window.h"

extern const mst_field mst_conv_fields[];
/** Fields for options structs that are mst_conv2d_options or begin with it. */
#define MST_CONV_FIELDS                                                                                               \
    MST_FIELD_AXES(mst_conv2d_options, strides, "from one window to the next: one, or one for each axis; default 1"), \
        MST_FIELD_ENUM(mst_conv2d_options, padding, MST_PADDING_VALID, mst_window_paddings, "around the source"),     \
        MST_FIELD_AXES(mst_conv2d_options, pads, "zeros before and after each axis, in place of a padding"),          \
        MST_FIELD_AXES(mst_conv2d_options, dilations, "between the elements of a window; default 1"),                 \
        MST_FIELD_I32(mst_conv2d_options, groups, 1, 1, 1 << 30, "groups of channels that do not mix"),               \
        MST_FIELD_ENUM(mst_conv2d_options, precision, MST_PRECISION_DEFAULT, mst_precision_names,                     \
                       "of a convolution of f32; default the session's")

enum { MST_CONV2D_NDIM = 4, MST_CONV3D_NDIM = 5 };
/** The number of dimensions that the sources of a convolution or a pooling must have: MST_CONV3D_NDIM (three axes) if
 *  SRC has so many, else MST_CONV2D_NDIM (two axes). */
static inline int mst_conv_ndim(const mst_shape *src) {
    return src->ndim == MST_CONV3D_NDIM ? MST_CONV3D_NDIM : MST_CONV2D_NDIM;
}

/** The sizes of a convolution, all of them known. */
typedef struct mst_conv {
    int64_t n, in_channels, out_channels, groups;
    bool bf16;                          /**< kernels that can do it may round the factors to bf16 */
    bool made_bf16;                     /**< the output, or the gradient of the source, is bf16 */
    mst_window depth;                   /**< one element long if there are only two axes */
    mst_window window[MST_WINDOW_AXES]; /**< rows, columns */
} mst_conv;

/** Sets DST to the shape of the output for these shapes of source and weights. Checks the shapes and the options. */
MST_CHECKED mst_status mst_conv_infer(mst_infer *c, const mst_shape *src, const mst_shape *weights, mst_shape *dst);
/** Infers output 0 of a convolution from sources 0 and 1, which must have NDIM dimensions. */
MST_CHECKED mst_status mst_conv_infer_dst(mst_infer *c, int ndim);
mst_status mst_conv_reference(const mst_kernel_args *a);
/** These write a convolution, and its two gradients, in StableHLO. */
void mst_conv_lower(mst_lower *l);
void mst_conv_src_grad_lower(mst_lower *l);
void mst_conv_weights_grad_lower(mst_lower *l);
/** The gradient of source I of a convolution. */
mst_value mst_conv_grad(mst_grad *c, int i);
/** Infers a gradient from sources 0 to 2: source, weights and the gradient of the output. */
MST_CHECKED mst_status mst_conv_infer_grad(mst_infer *c);
/** Describes the convolution with options O of arrays of these shapes, in which all lengths are known. */
mst_conv mst_conv_make(const mst_conv2d_options *o, const mst_shape *src, const mst_shape *weights,
                       const mst_shape *dst);

/** These add the nodes of the gradients to the graph; OPTIONS are those of the convolution. */
mst_value mst_conv_src_grad(const mst_conv2d_options *options, mst_value src, mst_value weights, mst_value gradient);
mst_value mst_conv_weights_grad(const mst_conv2d_options *options, mst_value src, mst_value weights,
                                mst_value gradient);
/** Adds the node of a convolution with these options, for the gradient of a gradient. */
mst_value mst_conv_again(const mst_conv2d_options *options, mst_value src, mst_value weights);

/** The arrays of the loops below. Each loop computes rows BEGIN to END - 1 of DST. The rows are numbered over:
 *
 *      mst_conv_rows                [n, depth, height] of the output
 *      mst_conv_src_grad_rows       [n, depth, height] of the source
 *      mst_conv_weights_grad_rows   [depth, height, width, channels of a group] of the weights */
typedef struct mst_conv_arrays {
    mst_conv conv;
    const void *src, *weights, *gradient;
    void *dst;
} mst_conv_arrays;
void mst_conv_rows_f32(const mst_conv_arrays *a, int64_t begin, int64_t end);
void mst_conv_rows_f64(const mst_conv_arrays *a, int64_t begin, int64_t end);
void mst_conv_src_grad_rows_f32(const mst_conv_arrays *a, int64_t begin, int64_t end);
void mst_conv_src_grad_rows_f64(const mst_conv_arrays *a, int64_t begin, int64_t end);
void mst_conv_weights_grad_rows_f32(const mst_conv_arrays *a, int64_t begin, int64_t end);
void mst_conv_weights_grad_rows_f64(const mst_conv_arrays *a, int64_t begin, int64_t end);

#endif
