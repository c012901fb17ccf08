#include "model_file/onnx_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "model/model.h"
#include "model_file/onnx_read.h"
#include "muster/layers.h"
#include "muster/model_file.h"
#include "muster/ops.h"

/* ---- order of channels at the ends ---- */

static bool is_turn(const Muster__OnnxNode *node, mst_axes perm) {
    if (strcmp(node->op_type, "Transpose") != 0) return false;
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Muster__OnnxAttribute *a = node->attribute[i];
        if (strcmp(a->name, "perm") != 0 || a->n_ints != (size_t)perm.count) continue;
        bool same = true;
        for (int k = 0; k < perm.count; k++) same &= a->ints[k] == perm.axis[k];
        return same;
    }
    return false;
}

/* Pictures are [n, channels, height, width], unless all that takes them turns them round first; volumes likewise. */
static bool input_has_channels_first(const Muster__OnnxGraph *graph, const char *name, int ndim) {
    bool turned = false;
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_input; k++) {
            if (strcmp(graph->node[i]->input[k], name) != 0) continue;
            if (!is_turn(graph->node[i], mst_onnx_first_perm(ndim))) return true;
            turned = true;
        }
    return !turned;
}

static bool output_has_channels_first(const Muster__OnnxGraph *graph, const char *name, int ndim) {
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            if (strcmp(graph->node[i]->output[k], name) == 0) return !is_turn(graph->node[i], mst_onnx_last_perm(ndim));
    return true;
}

static int ndim_of(const Muster__OnnxValue *value) {
    const Muster__OnnxTensorType *type = value->type ? value->type->tensor_type : NULL;
    return type && type->shape && type->shape->n_dim <= MST_MAX_NDIM ? (int)type->shape->n_dim : 0;
}

/* ---- models ---- */

typedef struct onnx_layer {
    mst_onnx_file file;
    bool input_last, output_last;
    mst_snapshot *snapshot; /* takes the weights while the model is loaded */
} onnx_layer;

static void free_layer(void *context) {
    onnx_layer *layer = context;
    mst_onnx_file_free(&layer->file);
    free(layer);
}

static mst_value build_layer(void *context, mst_value src, bool training) {
    const onnx_layer *layer = context;
    mst_onnx_reader reader = {
        .file = &layer->file, .graph = mst_value_graph(src), .has_variables = true, .snapshot = layer->snapshot};
    mst_value out = MST_NONE;
    (void)training;
    const mst_status status = mst_onnx_build(&reader, &src, &layer->input_last, &out, &layer->output_last);
    mst_onnx_reader_free(&reader);
    return status ? mst_value_of_last_error(mst_value_graph(src)) : out;
}

static mst_status add_layers(mst_model *model, onnx_layer *layer) {
    const Muster__OnnxGraph *graph = layer->file.graph;
    const size_t inputs = mst_onnx_num_inputs(&layer->file);
    mst_dtype dtype;
    mst_shape shape;
    if (inputs != 1 || graph->n_output != 1)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "has %zu inputs and %zu outputs: a model is read with one of each, mst_onnx_read reads a graph "
                        "with any",
                        inputs, graph->n_output);
    const Muster__OnnxValue *input = mst_onnx_input(&layer->file, 0);
    MST_TRY(mst_onnx_spec(input, &dtype, &shape));
    if (shape.ndim < 1) return MST_FAIL(MST_INVALID, "its input '%.100s' has no dimension of examples", input->name);
    const Muster__OnnxValue *output = graph->output[0];
    layer->input_last = mst_onnx_is_picture(shape.ndim) && input_has_channels_first(graph, input->name, shape.ndim);
    layer->output_last =
        mst_onnx_is_picture(ndim_of(output)) && output_has_channels_first(graph, output->name, ndim_of(output));
    mst_shape row = mst_shape_make(shape.ndim - 1, shape.dim + 1);
    const mst_axes perm = mst_onnx_last_perm(shape.ndim);
    for (int i = 0; layer->input_last && i < row.ndim; i++) row.dim[i] = shape.dim[perm.axis[1 + i]];
    mst_input(model, row, .dtype = dtype, .name = mst_name_is_valid(input->name) ? input->name : NULL);
    mst_lambda(model, build_layer, .context = layer, .name = "onnx");
    return mst_model_check(model);
}

/* The weights are set while the model is described, which builds its graph. */
static mst_status set_weights(mst_model *model, onnx_layer *layer) {
    const mst_weight *weights;
    int64_t count;
    MST_TRY(mst_snapshot_create(&layer->snapshot));
    mst_status status = mst_model_weights(model, &weights, &count);
    if (!status) status = mst_store_restore(model->store, layer->snapshot);
    mst_snapshot_release(layer->snapshot);
    layer->snapshot = NULL;
    return status;
}

mst_status mst_onnx_load(const char *name, const void *data, size_t size, mst_model *model) {
    onnx_layer *layer = calloc(1, sizeof *layer);
    if (!layer) return MST_NO_MEMORY("for a model");
    model->owned = layer;
    model->destroy_owned = free_layer;
    MST_TRY(mst_onnx_file_parse(name, data, size, &layer->file));
    mst_status status = add_layers(model, layer);
    if (!status) status = set_weights(model, layer);
    return status && !strstr(mst_error()->message, name) ? mst_error_prefix("'%s'", name) : status;
}

/* ---- graphs ---- */

static mst_status make_inputs(const mst_onnx_file *file, mst_graph *graph, mst_value *input) {
    for (size_t i = 0; i < mst_onnx_num_inputs(file); i++) {
        const Muster__OnnxValue *value = mst_onnx_input(file, i);
        mst_dtype dtype;
        mst_shape shape;
        MST_TRY(mst_onnx_spec(value, &dtype, &shape));
        input[i] = mst_placeholder(graph, dtype, shape, mst_name_is_valid(value->name) ? value->name : "input");
        MST_TRY(mst_graph_check(graph));
    }
    return MST_OK;
}

static mst_status build_graph(const mst_onnx_file *file, mst_graph *graph) {
    const size_t inputs = mst_onnx_num_inputs(file), outputs = file->graph->n_output;
    mst_onnx_reader reader = {.file = file, .graph = graph};
    mst_value *input = calloc(inputs + 1, sizeof *input), *output = calloc(outputs + 1, sizeof *output);
    bool *last = calloc(inputs + outputs + 1, sizeof *last);
    mst_status status = input && output && last ? make_inputs(file, graph, input) : MST_NO_MEMORY("for a graph");
    if (!status) mst_name_scope_push(graph, "onnx");
    if (!status) {
        status = mst_onnx_build(&reader, input, last, output, last);
        mst_name_scope_pop(graph);
    }
    for (size_t i = 0; i < outputs && !status; i++) {
        const char *name = file->graph->output[i]->name;
        mst_rename(mst_identity(output[i]), mst_name_is_valid(name) ? name : "output");
    }
    if (!status) status = mst_graph_check(graph);
    mst_onnx_reader_free(&reader);
    free(input);
    free(output);
    free(last);
    return status;
}

mst_status mst_onnx_decode(const void *data, size_t size, mst_graph **out) {
    if ((size && MST_IS_NULL(data)) || MST_IS_NULL(out)) return MST_INVALID;
    mst_onnx_file file;
    mst_graph *graph = NULL;
    *out = NULL;
    mst_status status = mst_onnx_file_parse("ONNX", data, size, &file);
    if (!status) status = mst_graph_create(&graph);
    if (!status) status = build_graph(&file, graph);
    mst_onnx_file_free(&file);
    if (status)
        mst_graph_destroy(graph);
    else
        *out = graph;
    return status;
}

mst_status mst_onnx_read(const char *path, mst_graph **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    void *data;
    size_t size;
    *out = NULL;
    MST_TRY(mst_file_read(path, INT32_MAX, &data, &size));
    const mst_status status = mst_onnx_decode(data, size, out);
    free(data);
    return status ? mst_error_prefix("'%s'", path) : MST_OK;
}
