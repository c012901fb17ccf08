/* Writes convolutions, pooling and resizing as ONNX's operators. */
#include <math.h>
#include <string.h>

#include "model_file/onnx/onnx_write_op.h"
#include "muster/ops.h"

/* ---- windows ---- */

enum { MOST_AXES = 3 };

typedef struct window {
    int ndim; /* number of spatial axes: two or three */
    int64_t size[MOST_AXES], strides[MOST_AXES], dilations[MOST_AXES];
} window;

/* The number of spatial axes of pictures or volumes, or of weights for them, with NDIM dimensions. */
static int axes_in_space(int ndim) {
    return ndim == MOST_AXES + 2 ? MOST_AXES : 2;
}

/* Fills OUT with one number for each axis: those of AXES, else OTHERWISE, else 1. */
static void spread(mst_axes axes, const int64_t *otherwise, int ndim, int64_t *out) {
    static const int64_t ones[MOST_AXES] = {1, 1, 1};
    for (int i = 0; i < ndim; i++)
        out[i] = axes.count ? axes.axis[axes.count > 1 ? i : 0] : (otherwise ? otherwise : ones)[i];
}

static void set_window(mst_onnx_writer *w, Muster__OnnxNode *made, const window *v) {
    mst_onnx_set_ints(w, made, "kernel_shape", v->size, v->ndim);
    mst_onnx_set_ints(w, made, "strides", v->strides, v->ndim);
}

/* Divides a number of zeros, ALL, between the two ends of an axis. If it is odd, the end gets one more. */
static void halve(int64_t all, int64_t *before, int64_t *behind) {
    *before = all > 0 ? all / 2 : 0;
    *behind = all > 0 ? all - all / 2 : 0;
}

/* Writes the pads as numbers if the size is known, else as auto_pad. */
static void set_pads(mst_onnx_writer *w, Muster__OnnxNode *made, const mst_node *node, const window *v) {
    const mst_axes given = mst_onnx_option_axes(node, "pads");
    const mst_shape src = mst_value_spec(node->src[0]).shape;
    const bool same = mst_onnx_option_int(node, "padding") == MST_PADDING_SAME;
    int64_t pads[2 * MOST_AXES] = {0};
    for (int i = 0; i < v->ndim; i++) {
        const int64_t in = src.dim[1 + i];
        if (given.count) {
            pads[i] = given.axis[2 * i];
            pads[v->ndim + i] = given.axis[2 * i + 1];
        } else if (same && in < 0) {
            mst_onnx_set_text(w, made, "auto_pad", "SAME_UPPER");
            return;
        } else if (same) {
            const int64_t last = (in + v->strides[i] - 1) / v->strides[i] - 1;
            halve(last * v->strides[i] + (v->size[i] - 1) * v->dilations[i] + 1 - in, &pads[i], &pads[v->ndim + i]);
        }
    }
    mst_onnx_set_ints(w, made, "pads", pads, 2 * v->ndim);
}

/* Writes the pads of a transposed convolution. With SAME, the output has size * stride elements. With VALID, it has at
 * least all elements that the windows reach. */
static void set_transposed_pads(mst_onnx_writer *w, Muster__OnnxNode *made, const mst_node *node, const window *v) {
    const bool same = mst_onnx_option_int(node, "padding") == MST_PADDING_SAME;
    int64_t pads[2 * MOST_AXES] = {0}, more[MOST_AXES] = {0};
    for (int i = 0; i < v->ndim; i++) {
        const int64_t beyond = (v->size[i] - 1) * v->dilations[i] + 1 - v->strides[i];
        if (same) halve(beyond, &pads[i], &pads[v->ndim + i]);
        if (beyond < 0) more[i] = -beyond;
    }
    mst_onnx_set_ints(w, made, "pads", pads, 2 * v->ndim);
    mst_onnx_set_ints(w, made, "output_padding", more, v->ndim);
}

/* Writes a convolution. Weights are [window..., channels, filters], or [window..., filters, channels] if it is
 * transposed. Both are transposed to ONNX's order. */
static mst_status write_conv(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_shape shape = mst_value_spec(node->src[1]).shape;
    mst_tensor *weights = mst_onnx_out_of(w, node->src[1])->tensor;
    const bool transposed = strcmp(op->onnx, "ConvTranspose") == 0;
    window v = {.ndim = axes_in_space(shape.ndim)};
    mst_axes perm = {.count = shape.ndim};
    const char *name[2];
    if (!weights)
        return MST_FAIL(MST_UNIMPLEMENTED, "%s '%s': its weights depend on an input", node->op->name, node->name);
    for (int i = 0; i < v.ndim; i++) v.size[i] = shape.dim[i], perm.axis[2 + i] = i;
    perm.axis[0] = v.ndim + 1;
    perm.axis[1] = v.ndim;
    spread(mst_onnx_option_axes(node, "strides"), NULL, v.ndim, v.strides);
    spread(mst_onnx_option_axes(node, "dilations"), NULL, v.ndim, v.dilations);
    name[0] = mst_onnx_first_name(w, node->src[0]);
    name[1] = mst_onnx_constant(w, mst_value_name(node->src[1]), weights, shape, perm);
    Muster__OnnxNode *made = mst_onnx_node(w, op->onnx, mst_onnx_output_name(w, node, true), 2, name);
    set_window(w, made, &v);
    mst_onnx_set_ints(w, made, "dilations", v.dilations, v.ndim);
    const int32_t groups = mst_onnx_option_int(node, "groups");
    mst_onnx_set_int(w, made, "group", groups ? groups : 1);
    (transposed ? set_transposed_pads : set_pads)(w, made, node, &v);
    return MST_OK;
}

static mst_status write_pool(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name = mst_onnx_first_name(w, node->src[0]);
    window v = {.ndim = axes_in_space(mst_onnx_source_ndim(node, 0)), .dilations = {1, 1, 1}};
    spread(mst_onnx_option_axes(node, "size"), NULL, v.ndim, v.size);
    spread(mst_onnx_option_axes(node, "strides"), v.size, v.ndim, v.strides);
    Muster__OnnxNode *made = mst_onnx_node(w, op->onnx, mst_onnx_output_name(w, node, true), 1, &name);
    set_window(w, made, &v);
    set_pads(w, made, node, &v);
    return MST_OK;
}

/* The pixels of a block are in the channels row by row, which is ONNX's mode DCR. */
static mst_status write_blocks(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name = mst_onnx_first_name(w, node->src[0]);
    mst_onnx_set_int(w, mst_onnx_node(w, op->onnx, mst_onnx_output_name(w, node, true), 1, &name), "blocksize",
                     mst_onnx_option_int(node, "block_size"));
    return MST_OK;
}

/* ---- resizing ---- */

/* The scale for which ONNX, which rounds IN * scale down, gives OUT. It is the smallest such scale from OUT / IN on. */
static float scale_for(float in, float out) {
    float scale = out / in;
    while (in * scale < out || (double)in * (double)scale < (double)out) scale = nextafterf(scale, INFINITY);
    return scale;
}

/* Writes means over areas as a pooling, which is possible if all areas have the same size. */
static mst_status write_areas(mst_onnx_writer *w, const mst_node *node, const mst_shape *src, mst_axes size) {
    window v = {.ndim = 2};
    int64_t out[MOST_AXES];
    spread(size, NULL, v.ndim, out);
    for (int i = 0; i < v.ndim; i++) {
        if (src->dim[1 + i] % out[i])
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "resize2d '%s': means over areas of unequal size are not written as ONNX", node->name);
        v.size[i] = v.strides[i] = src->dim[1 + i] / out[i];
    }
    const char *name = mst_onnx_first_name(w, node->src[0]);
    set_window(w, mst_onnx_node(w, "AveragePool", mst_onnx_output_name(w, node, true), 1, &name), &v);
    return MST_OK;
}

static mst_status write_resize(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const mst_axes size = mst_onnx_option_axes(node, "size");
    const mst_shape src = mst_value_spec(node->src[0]).shape;
    const int32_t interpolation = mst_onnx_option_int(node, "interpolation");
    const bool nearest = interpolation == MST_INTERPOLATION_NEAREST;
    const bool corners = mst_onnx_option_bool(node, "align_corners");
    (void)op;
    if (src.dim[3] < 0 || src.dim[1] < 1 || src.dim[2] < 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "resize2d '%s': of a size that is not known", node->name);
    if (interpolation == MST_INTERPOLATION_AREA) return write_areas(w, node, &src, size);
    float scale[4] = {1, 1, 1, 1};
    for (int i = 0; i < 2; i++)
        scale[2 + i] = scale_for((float)src.dim[1 + i], (float)size.axis[size.count > 1 ? i : 0]);
    mst_tensor *tensor;
    MST_TRY(mst_tensor_copy(MST_F32, MST_SHAPE(4), scale, &tensor));
    const char *name[3] = {mst_onnx_first_name(w, node->src[0]), "",
                           mst_onnx_constant(w, "scales", tensor, MST_SHAPE(4), MST_AXES(0))};
    mst_tensor_release(tensor);
    Muster__OnnxNode *made = mst_onnx_node(w, "Resize", mst_onnx_output_name(w, node, true), 3, name);
    mst_onnx_set_text(w, made, "mode", nearest ? "nearest" : "linear");
    mst_onnx_set_text(w, made, "coordinate_transformation_mode", corners ? "align_corners" : "half_pixel");
    if (nearest) mst_onnx_set_text(w, made, "nearest_mode", "round_prefer_ceil");
    return MST_OK;
}

/* ---- all ---- */

const mst_onnx_written mst_onnx_written_windows[] = {
    {"avg_pool2d", write_pool, "AveragePool"},
    {"avg_pool3d", write_pool, "AveragePool"},
    {"conv2d", write_conv, "Conv"},
    {"conv2d_transpose", write_conv, "ConvTranspose"},
    {"conv3d", write_conv, "Conv"},
    {"conv3d_transpose", write_conv, "ConvTranspose"},
    {"depth_to_space", write_blocks, "DepthToSpace"},
    {"max_pool2d", write_pool, "MaxPool"},
    {"max_pool3d", write_pool, "MaxPool"},
    {"resize2d", write_resize, NULL},
    {"space_to_depth", write_blocks, "SpaceToDepth"},
    {NULL, NULL, NULL},
};
