#include "model_file/onnx/onnx_model.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "model/model.h"
#include "model_file/onnx/onnx_channels.h"
#include "model_file/onnx/onnx_classes.h"
#include "model_file/onnx/onnx_layers.h"
#include "model_file/onnx/onnx_read.h"
#include "muster/layers.h"
#include "muster/model_file.h"
#include "muster/ops.h"

/* ---- models ---- */

enum { NAME_SIZE = MST_ONNX_LAYER_NAME };

/* One output of the layer `onnx`. It is the context of the layer that stands for this output. */
typedef struct onnx_output {
    const struct onnx_layer *layer;
    size_t i;
} onnx_output;

typedef struct onnx_layer {
    mst_onnx_file file;
    bool *input_last, *output_last; /* [inputs], [outputs]: whether the channels are last */
    bool *is_left_out;              /* [outputs]: labels of a classifier, beside the scores that give them */
    onnx_output *output;
    mst_value *built;       /* [outputs] of the last build; the layer itself returns only output 0 */
    mst_snapshot *snapshot; /* takes the weights while the model is loaded */
} onnx_layer;

static void free_layer(void *context) {
    onnx_layer *layer = context;
    mst_onnx_file_free(&layer->file);
    free(layer->input_last);
    free(layer->output_last);
    free(layer->is_left_out);
    free(layer->output);
    free(layer->built);
    free(layer);
}

static mst_value build_layer(void *context, const mst_value *src, int num_src, bool training) {
    const onnx_layer *layer = context;
    mst_graph *graph = mst_value_graph(src[0]);
    mst_onnx_reader reader = {.file = &layer->file, .graph = graph, .has_variables = true, .snapshot = layer->snapshot};
    (void)num_src, (void)training;
    const mst_status status = mst_onnx_build(&reader, src, layer->input_last, layer->built, layer->output_last);
    mst_onnx_reader_free(&reader);
    if (!status) return layer->built[0];
    if (graph->failure.code) mst_failure_keep(&graph->failure, mst_error()->code); /* tells the node of the file */
    return mst_value_of_last_error(graph);
}

/* Returns one output of the layer `onnx`. A model builds its layers in order, so that layer was built just before. */
static mst_value pick_output(void *context, mst_value src, bool training) {
    const onnx_output *output = context;
    (void)training;
    if (mst_value_equal(src, output->layer->built[0])) return output->layer->built[output->i];
    return mst_value_fail(mst_value_graph(src), MST_INVALID,
                          "an output of ONNX is applied to another layer than its own");
}

const char *mst_onnx_name_layer(const mst_model *model, const char *name, char *out) {
    int size = snprintf(out, NAME_SIZE - 16, "%s", name);
    if (size > NAME_SIZE - 17) size = NAME_SIZE - 17;
    for (char *c = out; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_.-/", *c)) *c = '_';
    if (!mst_name_is_valid(out)) size = snprintf(out, NAME_SIZE, "value");
    for (int number = 1; mst_names_get(&model->names, out) >= 0; number++)
        snprintf(out + size, (size_t)(NAME_SIZE - size), "_%d", number);
    return out;
}

static mst_status add_input(mst_model *model, onnx_layer *layer, size_t i, mst_outputs *inputs) {
    const Muster__OnnxValue *input = mst_onnx_input(&layer->file, i);
    char name[NAME_SIZE];
    mst_dtype dtype;
    mst_shape shape;
    MST_TRY(mst_onnx_spec(input, &dtype, &shape));
    if (shape.ndim < 1)
        return MST_FAIL(MST_INVALID,
                        "its input '%.100s' is a scalar: a model's inputs have a first dimension, for the examples; "
                        "mst_onnx_read reads such a graph",
                        input->name);
    mst_shape row = mst_shape_make(shape.ndim - 1, shape.dim + 1);
    const mst_axes perm = mst_onnx_last_perm(shape.ndim);
    for (int k = 0; layer->input_last[i] && k < row.ndim; k++) row.dim[k] = shape.dim[perm.axis[1 + k]];
    inputs->output[inputs->count++] =
        mst_input(model, row, .dtype = dtype, .name = mst_onnx_name_layer(model, input->name, name));
    return mst_model_check(model);
}

/* Adds a layer for each output, with the name of the output. Adds none if there is one output and the layer `onnx` has
 * its name already. */
static mst_status add_outputs(mst_model *model, onnx_layer *layer, mst_output all, const char *name_of_all) {
    const Muster__OnnxGraph *graph = layer->file.graph;
    mst_outputs outputs = {.count = 0};
    char name[NAME_SIZE];
    if (graph->n_output == 1 && strcmp(graph->output[0]->name, name_of_all) == 0) return MST_OK;
    for (size_t i = 0; i < graph->n_output; i++) {
        if (layer->is_left_out[i]) continue;
        layer->output[i] = (onnx_output){layer, i};
        outputs.output[outputs.count++] = mst_lambda(all, pick_output, .context = &layer->output[i],
                                                     .name = mst_onnx_name_layer(model, graph->output[i]->name, name));
        MST_TRY(mst_model_check(model));
    }
    if (outputs.count > 1) mst_model_outputs(model, outputs); /* more layers can follow a single one */
    return mst_model_check(model);
}

static mst_status check_ends(size_t inputs, size_t outputs) {
    if (!inputs || !outputs)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "has %zu inputs and %zu outputs: a model has at least one of each, mst_onnx_read reads a graph "
                        "with any number",
                        inputs, outputs);
    if (inputs <= MST_MAX_OUTPUTS && outputs <= MST_MAX_OUTPUTS) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "has %zu inputs and %zu outputs: a model has at most %d of each, mst_onnx_read reads a graph with "
                    "any number",
                    inputs, outputs, MST_MAX_OUTPUTS);
}

/* A classifier of ai.onnx.ml has the label of each example beside the scores of the classes. The label follows from the
 * scores. So the model gets only the scores, and a note with the names of the classes. LEFT_OUT gets a text that names
 * what the model leaves out. */
static mst_status find_classes(mst_model *model, onnx_layer *layer, char *left_out, size_t size) {
    const Muster__OnnxGraph *graph = layer->file.graph;
    mst_onnx_classes classes;
    size_t scores = graph->n_output, label = graph->n_output;
    mst_onnx_classes_find(&layer->file, &classes);
    for (size_t i = 0; i < graph->n_output; i++) {
        if (mst_onnx_is_label(&layer->file, i)) label = i;
        if (mst_onnx_is_scores(&layer->file, i, &classes)) scores = i;
    }
    if (graph->n_output > 2 || scores == graph->n_output || (graph->n_output == 2 && label == graph->n_output))
        return MST_OK;
    if (label < graph->n_output) layer->is_left_out[label] = true;
    if (label < graph->n_output)
        snprintf(left_out, size,
                 "its output '%.60s', the label, is left out: it is the class with the largest score of '%.60s'%s",
                 graph->output[label]->name, graph->output[scores]->name,
                 classes.has_map ? ", now [n, classes] and no map" : "");
    char *note = mst_onnx_classes_note(&classes, mst_onnx_is_probabilities(&layer->file, scores));
    const mst_status status = note ? mst_store_set_note(model->store, "muster/train", note) : MST_OK;
    free(note);
    return status;
}

static mst_status add_layers(mst_model *model, onnx_layer *layer, char *left_out, size_t size) {
    const Muster__OnnxGraph *graph = layer->file.graph;
    const size_t inputs = mst_onnx_num_inputs(&layer->file), outputs = graph->n_output;
    mst_outputs list = {.count = 0};
    char name[NAME_SIZE];
    MST_TRY(check_ends(inputs, outputs));
    layer->input_last = calloc(inputs, sizeof *layer->input_last);
    layer->output_last = calloc(outputs, sizeof *layer->output_last);
    layer->is_left_out = calloc(outputs, sizeof *layer->is_left_out);
    layer->output = calloc(outputs, sizeof *layer->output);
    layer->built = calloc(outputs, sizeof *layer->built);
    if (!layer->input_last || !layer->output_last || !layer->is_left_out || !layer->output || !layer->built)
        return MST_NO_MEMORY("for a model");
    MST_TRY(find_classes(model, layer, left_out, size));
    MST_TRY(mst_onnx_channels_find(&layer->file, layer->input_last, layer->output_last));
    for (size_t i = 0; i < inputs; i++) MST_TRY(add_input(model, layer, i, &list));
    mst_onnx_name_layer(model, "onnx", name);
    const mst_output all = mst_lambda(list, NULL, .context = layer, .name = name, .join = build_layer);
    MST_TRY(mst_model_check(model));
    return add_outputs(model, layer, all, name);
}

/* Sets the weights. They are collected while the model is described, since this builds its graph. */
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

mst_status mst_onnx_load(const char *path, mst_model *model, char *left_out, size_t size) {
    onnx_layer *layer = calloc(1, sizeof *layer);
    if (!layer) return MST_NO_MEMORY("for a model");
    model->owned = layer;
    model->destroy_owned = free_layer;
    if (size) *left_out = '\0';
    MST_TRY(mst_onnx_file_read(path, &layer->file));
    mst_status status = add_layers(model, layer, left_out, size);
    if (!status) status = set_weights(model, layer);
    return status && !strstr(mst_error()->message, path) ? mst_error_prefix("'%s'", path) : status;
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
    bool *last = calloc(inputs + outputs + 1, sizeof *last); /* all false: inputs and outputs are in ONNX's order */
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

mst_status mst_onnx_graph(const mst_onnx_file *file, mst_graph **out) {
    mst_graph *graph = NULL;
    *out = NULL;
    mst_status status = mst_graph_create(&graph);
    if (!status) status = build_graph(file, graph);
    if (status)
        mst_graph_destroy(graph);
    else
        *out = graph;
    return status;
}

mst_status mst_onnx_decode(const void *data, size_t size, mst_graph **out) {
    if ((size && MST_IS_NULL(data)) || MST_IS_NULL(out)) return MST_INVALID;
    mst_onnx_file file;
    *out = NULL;
    mst_status status = mst_onnx_file_parse("ONNX", NULL, data, size, &file);
    if (!status) status = mst_onnx_graph(&file, out);
    mst_onnx_file_free(&file);
    return status;
}

mst_status mst_onnx_read(const char *path, mst_graph **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    mst_onnx_file file;
    *out = NULL;
    mst_status status = mst_onnx_file_read(path, &file);
    if (!status && mst_onnx_graph(&file, out)) status = mst_error_prefix("'%s'", path);
    mst_onnx_file_free(&file);
    return status;
}
