/* ONNX's own operators have the channels of pictures second. Some programs write files whose inputs have them last, as
 * in TensorFlow, and transpose them inside. A file does not tell the order of its inputs, so it is derived from the
 * nodes. For each axis of each value, we keep track of the axis of the input from which it came, through operators that
 * keep or move axes. A node that treats an axis as the channels is a claim about the input. The order is decided by:
 *   1. The first strong claim: convolutions, pooling, means over the pixels, Transpose to the other order.
 *   2. The first weak claim: a constant with one number per channel, a softmax, a product with a matrix.
 *   3. The sizes: 1 to 4 channels.
 *   4. The program that wrote the file. If it is unknown, ONNX's own order. */
#include "model_file/onnx/onnx_channels.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "model_file/onnx/onnx_read.h"

/* What is known about a value. */
typedef struct trace {
    int ndim;                           /* 0: nothing is known about it */
    int channels;                       /* the axis of the channels; 0: not known */
    int input;                          /* the input to which FROM refers; -1: none */
    int from[MST_MAX_NDIM];             /* the axis of that input from which each axis came; -1: none */
    const Muster__OnnxTensor *constant; /* NULL: it is not a constant */
    mst_tensor *data;                   /* of the constant, if it is an initializer: the file keeps these apart */
} trace;

typedef struct finder {
    const mst_onnx_file *file;
    mst_names names; /* of values: name to index in VALUE */
    trace *value;
    int64_t num_values, capacity;
    int depth;          /* of the graph whose nodes are followed: 0 is that of the file */
    int *strong, *weak; /* [inputs] the axis of the channels by the first claim; 0: no claim */
} finder;

static mst_status name_trace(finder *f, const char *name, const trace *t) {
    if (!*name || mst_names_get(&f->names, name) >= 0) return MST_OK; /* the reader refuses values made twice */
    MST_TRY(mst_grow(&f->value, sizeof *f->value, f->num_values + 1, &f->capacity));
    f->value[f->num_values] = *t;
    return mst_names_set(&f->names, name, f->num_values++);
}

static mst_status name_constant(finder *f, const Muster__OnnxTensor *constant, mst_tensor *data) {
    return name_trace(f, constant->name, &(trace){.input = -1, .constant = constant, .data = data});
}

/* What is known about the value at input I of NODE; nothing if there is no such input. */
static trace source(const finder *f, const Muster__OnnxNode *node, size_t i) {
    const int64_t at = i < node->n_input ? mst_names_get(&f->names, node->input[i]) : -1;
    return at < 0 || !f->value ? (trace){.input = -1} : f->value[at];
}

static const Muster__OnnxAttribute *attribute(const Muster__OnnxNode *node, const char *name) {
    for (size_t i = 0; i < node->n_attribute; i++)
        if (strcmp(node->attribute[i]->name, name) == 0) return node->attribute[i];
    return NULL;
}

static int64_t int_attribute(const Muster__OnnxNode *node, const char *name, int64_t otherwise) {
    const Muster__OnnxAttribute *a = attribute(node, name);
    return a ? a->i : otherwise;
}

/* ---- claims ---- */

static void claim(finder *f, const trace *t, int axis, bool strong) {
    if (t->input < 0 || axis < 1 || axis >= t->ndim) return;
    const int ndim = (int)mst_onnx_input(f->file, (size_t)t->input)->type->tensor_type->shape->n_dim;
    const int from = t->from[axis];
    int *first = strong ? &f->strong[t->input] : &f->weak[t->input];
    if (!*first && (from == 1 || from == ndim - 1)) *first = from;
}

/* A weak claim. AXIS becomes the channels of T if these are not known. */
static void claim_weakly(finder *f, trace *t, int axis) {
    claim(f, t, axis, false);
    if (!t->channels && axis > 0 && axis < t->ndim) t->channels = axis;
}

/* ---- nodes ---- */

static bool is_one_of(const char *name, const char *const *list) {
    for (; *list; list++)
        if (strcmp(*list, name) == 0) return true;
    return false;
}

/* Operators whose input 0 and output 0 have the channels second. */
static bool is_window(const char *name) {
    static const char *const windows[] = {"AveragePool",   "BatchNormalization",
                                          "Conv",          "ConvTranspose",
                                          "DepthToSpace",  "GlobalAveragePool",
                                          "GlobalMaxPool", "GroupNormalization",
                                          "LRN",           "InstanceNormalization",
                                          "MaxPool",       "Resize",
                                          "SpaceToDepth",  NULL};
    return is_one_of(name, windows);
}

/* Operators whose outputs have the axes of input 0. */
static bool keeps_axes(const char *name) {
    static const char *const keepers[] = {
        "CumSum", "LayerNormalization", "LogSoftmax", "Pad", "Slice", "Softmax", "Split", "Tile", NULL};
    return is_one_of(name, keepers);
}

static bool is_elementwise(const char *name) {
    for (const mst_onnx_op *op = mst_onnx_elementwise_ops; op->name; op++)
        if (strcmp(op->name, name) == 0) return true;
    return strcmp(name, "Concat") == 0;
}

/* The only axis after the first along which the constant T, broadcast to NDIM dimensions, has more than one element; 0:
 * none, or several. */
static int axis_of_constant(const trace *t, int ndim) {
    int axis = 0;
    const int off = ndim - (int)t->constant->n_dims;
    for (int i = 0; i < (int)t->constant->n_dims; i++)
        if (t->constant->dims[i] != 1) axis = axis || i + off < 1 ? -1 : i + off;
    return axis < 0 ? 0 : axis;
}

/* What is known about the result of NODE, which broadcasts its operands. It is what is known about the operand with the
 * most dimensions, and the channels that constant operands tell. If several operands have the most dimensions, one
 * whose channels are known is taken, else one that comes from an input. */
static trace join_operands(finder *f, const Muster__OnnxNode *node) {
    trace all = {.input = -1};
    for (size_t i = 0; i < node->n_input; i++) {
        const trace t = source(f, node, i);
        if (t.constant) continue;
        const bool better = t.ndim == all.ndim && (all.channels ? 0 : t.channels || all.input < 0);
        if (t.ndim > all.ndim || better) all = t;
    }
    for (size_t i = 0; i < node->n_input; i++) {
        const trace t = source(f, node, i);
        if (t.constant && (int)t.constant->n_dims <= all.ndim)
            claim_weakly(f, &all, axis_of_constant(&t, all.ndim));
        else if (!t.constant && t.ndim == all.ndim && all.channels)
            claim(f, &t, all.channels, true);
    }
    return all;
}

/* A Transpose that moves the channels from one order to the other is a strong claim: the source has one order, and the
 * result has the other. */
static trace transposed(finder *f, const Muster__OnnxNode *node) {
    const Muster__OnnxAttribute *perm = attribute(node, "perm");
    const trace src = source(f, node, 0);
    const int ndim = perm ? (int)perm->n_ints : src.ndim;
    trace t = {.input = src.input, .ndim = ndim};
    if (ndim < 1 || ndim > MST_MAX_NDIM || (src.ndim && src.ndim != ndim)) return (trace){.input = -1};
    const mst_axes to_first = mst_onnx_first_perm(ndim), to_last = mst_onnx_last_perm(ndim);
    bool is_first = ndim > 3, is_last = ndim > 3;
    for (int i = 0; i < ndim; i++) {
        const int64_t axis = perm ? perm->ints[i] : ndim - 1 - i;
        if (axis < 0 || axis >= ndim) return (trace){.input = -1};
        is_first &= axis == to_first.axis[i];
        is_last &= axis == to_last.axis[i];
        t.from[i] = src.from[axis];
        if (src.channels && axis == src.channels) t.channels = i;
    }
    if (is_first || is_last) claim(f, &src, is_first ? ndim - 1 : 1, true);
    if (!t.channels && (is_first || is_last)) t.channels = is_first ? 1 : ndim - 1;
    return t;
}

/* LIST becomes the numbers of the constant T, at most MST_MAX_NDIM. Returns how many there are, or -1 if T is no such
 * constant. Long tensors are not unpacked again for each node that uses them. */
static int short_list(const trace *t, int64_t *list) {
    const Muster__OnnxTensor *m = t->constant;
    mst_tensor *made = NULL;
    if (!m || m->n_dims > 1 || (m->n_dims == 1 && m->dims[0] > MST_MAX_NDIM)) return -1;
    if (!t->data && mst_onnx_tensor(m, &made)) return -1; /* the reader reports it */
    const mst_tensor *data = t->data ? t->data : made;
    const int count = (int)mst_tensor_count(data);
    for (int i = 0; i < count; i++) list[i] = (int64_t)mst_tensor_get(data, i);
    mst_tensor_release(made);
    return count;
}

/* The reduced axes: bit K is set for axis K. 0: they are not known. */
static uint32_t reduced_axes(const finder *f, const Muster__OnnxNode *node, int ndim) {
    const Muster__OnnxAttribute *a = attribute(node, "axes");
    const trace given = source(f, node, 1);
    int64_t list[MST_MAX_NDIM];
    const int64_t count = a ? (int64_t)a->n_ints : short_list(&given, list);
    uint32_t axes = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t axis = a ? a->ints[i] : list[i];
        if (axis >= -ndim && axis < ndim) axes |= 1U << (axis < 0 ? axis + ndim : axis);
    }
    return axes;
}

/* A mean, sum or similar. If it is over all axes except the examples and one other axis, that axis is the channels. */
static trace reduced(finder *f, const Muster__OnnxNode *node) {
    trace src = source(f, node, 0), none = {.input = -1};
    if (src.ndim < 3) return none;
    const uint32_t axes = reduced_axes(f, node, src.ndim);
    int left = 0, num_left = 0;
    for (int i = 1; i < src.ndim; i++)
        if (!(axes >> i & 1)) left = i, num_left++;
    if (axes && !(axes & 1) && num_left == 1) {
        claim(f, &src, left, true);
        if (!src.channels) src.channels = left;
    }
    return int_attribute(node, "keepdims", 1) ? src : none;
}

static trace kept(finder *f, const Muster__OnnxNode *node) {
    trace t = source(f, node, 0);
    const bool softmax = strstr(node->op_type, "Softmax") != NULL;
    if (!softmax && strcmp(node->op_type, "LayerNormalization") != 0) return t;
    const int64_t axis = int_attribute(node, "axis", -1);
    claim_weakly(f, &t, (int)(axis < 0 ? axis + t.ndim : axis));
    return t;
}

static trace multiplied(finder *f, const Muster__OnnxNode *node) {
    trace t = source(f, node, 0);
    const trace matrix = source(f, node, 1);
    if (t.ndim < 3 || !matrix.constant || matrix.constant->n_dims != 2) return (trace){.input = -1};
    claim_weakly(f, &t, t.ndim - 1);
    return t;
}

/* A Reshape to [-1, K]: if the last axis of the source has K elements, each of its rows becomes an example. Programs
 * that have the channels last write products with a matrix so. */
static trace reshaped(finder *f, const Muster__OnnxNode *node) {
    trace src = source(f, node, 0);
    const trace shape = source(f, node, 1);
    int64_t list[MST_MAX_NDIM];
    if (src.ndim > 2 && src.input >= 0 && src.from[src.ndim - 1] >= 0 && short_list(&shape, list) == 2) {
        const Muster__OnnxValue *input = mst_onnx_input(f->file, (size_t)src.input);
        const int64_t size = input->type->tensor_type->shape->dim[src.from[src.ndim - 1]]->dim_value;
        if (list[0] == -1 && list[1] == size) claim_weakly(f, &src, src.ndim - 1);
    }
    return (trace){.input = -1};
}

/* What is known about the result of a Gather in a loop, which takes one element of an axis in each step. */
static trace step_part(const finder *f, const Muster__OnnxNode *node) {
    const trace src = source(f, node, 0), index = source(f, node, 1);
    const int64_t given = int_attribute(node, "axis", 0), axis = given < 0 ? given + src.ndim : given;
    trace t = {.input = src.input};
    if (!f->depth || axis < 0 || axis >= src.ndim || (index.constant && index.constant->n_dims))
        return (trace){.input = -1};
    for (int i = 0; i < src.ndim; i++) {
        if (i == axis) continue;
        if (src.channels && i == src.channels) t.channels = t.ndim;
        t.from[t.ndim++] = src.from[i];
    }
    return t;
}

static mst_status follow_node(finder *f, const Muster__OnnxNode *node);

/* Follows the nodes of the graphs inside NODE. They use values of the graphs around them. */
static mst_status follow_graphs(finder *f, const Muster__OnnxNode *node) {
    f->depth++;
    for (size_t k = 0; k < node->n_attribute; k++) {
        const Muster__OnnxAttribute *a = node->attribute[k];
        if (a->type != MST_ONNX_GRAPH || a->i < 0) continue;
        const Muster__OnnxGraph *graph = f->file->inner[a->i].graph;
        for (size_t i = 0; i < graph->n_initializer; i++)
            MST_TRY(name_constant(f, graph->initializer[i], f->file->inner[a->i].tensor[i]));
        for (size_t i = 0; i < graph->n_node; i++) MST_TRY(follow_node(f, graph->node[i]));
    }
    f->depth--;
    return MST_OK;
}

static mst_status follow_node(finder *f, const Muster__OnnxNode *node) {
    const char *name = node->op_type;
    trace t = {.input = -1};
    if (is_window(name)) {
        const trace src = source(f, node, 0);
        claim(f, &src, 1, true);
        t = (trace){.input = -1, .ndim = src.ndim ? src.ndim : 4, .channels = 1};
    } else if (strcmp(name, "Transpose") == 0) {
        t = transposed(f, node);
    } else if (strncmp(name, "Reduce", 6) == 0) {
        t = reduced(f, node);
    } else if (strcmp(name, "Gather") == 0) {
        t = step_part(f, node);
    } else if (strcmp(name, "Reshape") == 0) {
        t = reshaped(f, node);
    } else if (strcmp(name, "MatMul") == 0) {
        t = multiplied(f, node);
    } else if (strcmp(name, "Constant") == 0) {
        const Muster__OnnxAttribute *a = attribute(node, "value");
        if (a && a->t) t = (trace){.input = -1, .constant = a->t};
    } else if (keeps_axes(name)) {
        t = kept(f, node);
    } else if (is_elementwise(name)) {
        t = join_operands(f, node);
    }
    MST_TRY(follow_graphs(f, node));
    for (size_t i = 0; i < node->n_output && (i == 0 || strcmp(name, "Split") == 0); i++)
        MST_TRY(name_trace(f, node->output[i], &t));
    return MST_OK;
}

/* ---- decisions ---- */

/* The axis, second or last, with 1 to 4 elements: pictures have few channels. 0 if neither or both have so few. */
static int axis_by_sizes(const Muster__OnnxValue *value, int ndim) {
    mst_dtype dtype;
    mst_shape shape;
    if (mst_onnx_spec(value, &dtype, &shape) || shape.ndim != ndim) return 0;
    const bool second = shape.dim[1] >= 1 && shape.dim[1] <= 4,
               last = shape.dim[ndim - 1] >= 1 && shape.dim[ndim - 1] <= 4;
    return second == last ? 0 : second ? 1 : ndim - 1;
}

static bool writes_channels_last(const Muster__OnnxModel *model) {
    static const char *const writers[] = {"tf2onnx", "keras2onnx", "keras", "tflite2onnx", NULL};
    return is_one_of(model->producer_name, writers);
}

static int ndim_of(const Muster__OnnxValue *value) {
    const Muster__OnnxTensorType *type = value->type ? value->type->tensor_type : NULL;
    const int ndim = type && type->shape && type->shape->n_dim <= MST_MAX_NDIM ? (int)type->shape->n_dim : 0;
    return mst_onnx_is_picture(ndim) ? ndim : 0;
}

/* Adds what is known before the first node: the constants and the inputs. */
static mst_status add_ends(finder *f) {
    const Muster__OnnxGraph *graph = f->file->graph;
    for (size_t i = 0; i < graph->n_initializer; i++)
        MST_TRY(name_constant(f, graph->initializer[i], f->file->tensor[i]));
    for (size_t i = 0; i < mst_onnx_num_inputs(f->file); i++) {
        const Muster__OnnxValue *input = mst_onnx_input(f->file, i);
        trace t = {.input = (int)i, .ndim = ndim_of(input)};
        for (int k = 0; k < t.ndim; k++) t.from[k] = k;
        if (t.ndim) MST_TRY(name_trace(f, input->name, &t));
    }
    return MST_OK;
}

static int choose_input(const finder *f, size_t i) {
    const Muster__OnnxValue *input = mst_onnx_input(f->file, i);
    const int ndim = ndim_of(input), by_sizes = ndim ? axis_by_sizes(input, ndim) : 0;
    if (f->strong[i]) return f->strong[i];
    if (f->weak[i]) return f->weak[i];
    if (by_sizes) return by_sizes;
    return writes_channels_last(f->file->model) ? ndim - 1 : 1;
}

/* The axis of the channels of OUTPUT: as the nodes tell, else as in the first input that is a picture, else as the
 * sizes tell. A PixelUnshuffle may leave fewer columns than a picture has channels. */
static int choose_output(const finder *f, const Muster__OnnxValue *output, const bool *first) {
    const int64_t at = mst_names_get(&f->names, output->name);
    const trace t = at < 0 || !f->value ? (trace){.input = -1} : f->value[at];
    const int ndim = ndim_of(output), by_sizes = axis_by_sizes(output, ndim);
    if (t.channels && t.ndim == ndim) return t.channels;
    for (int k = 1; t.input >= 0 && t.ndim == ndim && k < ndim; k++)
        if (t.from[k] == (first[t.input] ? 1 : ndim_of(mst_onnx_input(f->file, (size_t)t.input)) - 1)) return k;
    for (size_t i = 0; i < mst_onnx_num_inputs(f->file); i++)
        if (ndim_of(mst_onnx_input(f->file, i))) return first[i] ? 1 : ndim - 1;
    if (by_sizes) return by_sizes;
    return writes_channels_last(f->file->model) ? ndim - 1 : 1;
}

mst_status mst_onnx_channels_find(const mst_onnx_file *file, bool *first, bool *output_first) {
    const size_t inputs = mst_onnx_num_inputs(file), outputs = file->graph->n_output;
    const bool own = strcmp(file->model->producer_name, "muster") == 0; /* our files always have ONNX's order */
    finder f = {
        .file = file, .strong = calloc(inputs + 1, sizeof *f.strong), .weak = calloc(inputs + 1, sizeof *f.weak)};
    mst_status status = f.strong && f.weak ? add_ends(&f) : MST_NO_MEMORY("for a model");
    for (size_t i = 0; i < file->graph->n_node && !status; i++) status = follow_node(&f, file->graph->node[i]);
    for (size_t i = 0; i < inputs && !status; i++)
        first[i] = ndim_of(mst_onnx_input(file, i)) && (own || choose_input(&f, i) == 1);
    for (size_t i = 0; i < outputs && !status; i++)
        output_first[i] =
            ndim_of(file->graph->output[i]) && (own || choose_output(&f, file->graph->output[i], first) == 1);
    mst_names_free(&f.names);
    free(f.value);
    free(f.strong);
    free(f.weak);
    return status;
}
