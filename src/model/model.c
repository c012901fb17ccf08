/* Adds layers, nodes and inputs to a model (model.h). No graph is made here: model_call.c and describe.c go through the
 * nodes and call the functions of the layers' types.
 *
 * A layer may be applied to outputs of earlier nodes, or to the model. The model stands for its last node; if it has no
 * nodes yet, an input is added. As on a graph, the model keeps the first error: later layers are not added, and
 * mst_model_check or mst_compile reports the error. */
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/did_you_mean.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/name_rule.h"
#include "layer/list.h"
#include "muster/ops.h"

mst_status mst_model_create(mst_model **out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    mst_model *model = calloc(1, sizeof *model);
    *out = NULL;
    if (!model) return MST_NO_MEMORY("for a model");
    mst_status status = mst_store_create(&model->store);
    if (status)
        free(model);
    else
        *out = model;
    return status;
}

void mst_model_destroy(mst_model *model) {
    if (!model) return;
    if (model->trainer) model->destroy_trainer(model->trainer);
    mst_store_release(model->store);
    if (model->owned) model->destroy_owned(model->owned);
    for (int64_t i = 0; i < model->num_tensors; i++) mst_tensor_release(model->tensor[i]);
    free(model->tensor);
    free(model->layer);
    mst_names_free(&model->names);
    mst_names_free(&model->suffixes);
    free(model->node);
    free(model->input);
    free(model->weight);
    mst_arena_free(&model->weight_names);
    mst_arena_free(&model->arena);
    free(model);
}

mst_status mst_model_check(const mst_model *model) {
    if (MST_IS_NULL(model)) return MST_INVALID;
    return mst_failure_restore(&model->failure);
}

void mst_model_stick(mst_model *model) {
    if (!model->failure.code) mst_failure_keep(&model->failure, mst_error()->code);
}

/* ---- layers ---- */

/* Replaces the strings of OPTIONS by copies that the model owns, and retains the tensors for the model. */
static mst_status own(mst_model *model, const mst_field *fields, char *options) {
    for (const mst_field *field = fields; field->name; field++) {
        void *at = options + field->offset;
        if (field->type == MST_FIELD_TYPE_NESTED) MST_TRY(own(model, field->nested, at));
        if (field->type == MST_FIELD_TYPE_STRING) {
            const char **text = at;
            if (*text && !(*text = mst_arena_string(&model->arena, *text))) return MST_NO_MEMORY("for a layer");
        } else if (field->type == MST_FIELD_TYPE_TENSOR && *(mst_tensor **)at) {
            MST_TRY(mst_grow(&model->tensor, sizeof *model->tensor, model->num_tensors + 1, &model->tensor_capacity));
            model->tensor[model->num_tensors++] = mst_tensor_retain(*(mst_tensor **)at);
        }
    }
    return MST_OK;
}

static mst_status own_inner(mst_model *model, const mst_layer_type *type, void *options) {
    mst_inner_layer *inner = type->inner(options);
    const mst_layer_type *found = mst_layer_inner_type(inner, type, type->name);
    if (!found) return mst_error()->code;
    void *copy = mst_arena_copy(&model->arena, inner->options, found->options_size);
    if (!copy) return MST_NO_MEMORY("for a layer");
    *inner = (mst_inner_layer){found->name, copy};
    return own(model, found->fields, copy);
}

static bool name_is_taken(const mst_model *model, const char *name) {
    return mst_names_get(&model->names, name) >= 0;
}

/* The first name of dense, dense_1, ... that no layer has; NULL if memory runs out. */
static const char *default_name(mst_model *model, const mst_layer_type *type, const void *options) {
    const char *base = type->default_name ? type->default_name(options) : type->name, *name = base;
    int64_t number = mst_names_get(&model->suffixes, base); /* all numbers up to it are taken */
    if (number < 0) number = 0;
    while (name && name_is_taken(model, name))
        name = mst_arena_print(&model->arena, "%s_%lld", base, (long long)++number);
    return name && number && mst_names_set(&model->suffixes, base, number) ? NULL : name;
}

static mst_status bad_name(mst_model *model, const mst_layer_type *type, const char *name) {
    char *shown = mst_arena_copy(&model->arena, name, strlen(name) + 1);
    if (!shown) return MST_NO_MEMORY("for a layer");
    mst_make_plain(shown);
    return MST_FAIL(MST_INVALID, "%s: name '%s': " MST_NAME_RULE, type->name, shown);
}

static mst_status add_layer(mst_model *model, const mst_layer_type *type, const void *given) {
    void *options = mst_arena_copy(&model->arena, given, type->options_size);
    if (!options) return MST_NO_MEMORY("for a layer");
    MST_TRY(own(model, type->fields, options));
    if (type->inner) MST_TRY(own_inner(model, type, options));
    const char *name = mst_layer_name(type, options);
    if (name && !mst_name_is_valid(name)) return bad_name(model, type, name);
    MST_TRY(mst_layer_check(type, options, name ? name : type->name));
    if (name && name_is_taken(model, name))
        return MST_FAIL(MST_EXISTS,
                        "%s: the model has a layer '%s' already: give it another name, or use that layer "
                        "again with mst_share",
                        type->name, name);
    if (!name && !(name = default_name(model, type, options))) return MST_NO_MEMORY("for a layer");
    MST_TRY(mst_grow(&model->layer, sizeof *model->layer, model->num_layers + 1, &model->layer_capacity));
    MST_TRY(mst_names_set(&model->names, name, model->num_layers));
    model->layer[model->num_layers++] = (mst_model_layer){.type = type, .name = name, .options = options};
    return MST_OK;
}

static mst_status add_node(mst_model *model, int64_t layer, const int64_t *src, int num_src) {
    mst_model_layer *l = &model->layer[layer];
    const int64_t *copy = mst_arena_copy(&model->arena, src, (size_t)num_src * sizeof *src);
    if (!copy) return MST_NO_MEMORY("for a layer");
    if (num_src < l->type->min_src || num_src > l->type->max_src)
        return MST_FAIL(MST_INVALID, "%s '%s': applied to %d outputs, takes %s%d", l->type->name, l->name, num_src,
                        l->type->max_src > l->type->min_src ? "at least " : "", l->type->min_src);
    MST_TRY(mst_grow(&model->node, sizeof *model->node, model->num_nodes + 1, &model->node_capacity));
    model->node[model->num_nodes++] =
        (mst_model_node){.layer = layer, .number = l->num_nodes++, .src = copy, .num_src = num_src};
    return MST_OK;
}

static mst_status add_input(mst_model *model, const mst_layer_input_options *options, bool declared) {
    MST_TRY(mst_grow(&model->input, sizeof *model->input, model->num_inputs + 1, &model->input_capacity));
    MST_TRY(add_layer(model, &mst_layer_type_input, options));
    const mst_layer_input_options *checked = model->layer[model->num_layers - 1].options;
    MST_TRY(add_node(model, model->num_layers - 1, NULL, 0));
    mst_model_input *input = &model->input[model->num_inputs++];
    *input = (mst_model_input){.node = model->num_nodes - 1, .declared = declared};
    if (declared) input->row = (mst_spec){checked->dtype, checked->shape};
    return MST_OK;
}

/* Finds the nodes of SOURCE. If SOURCE is a model, this is the node that was added last. If the model has no node, an
 * input is added first. */
static mst_status sources(mst_model *model, const mst_layer_source *source, int64_t *src, int *num_src) {
    *num_src = source->outputs.count;
    for (int i = 0; i < *num_src; i++) {
        const mst_output output = source->outputs.output[i];
        if (output.model != model || output.node < 0 || output.node >= model->num_nodes)
            return MST_FAIL(MST_INVALID, "a layer is applied to an output of another model, or to none");
        src[i] = output.node;
    }
    if (*num_src > 0) {
        model->has_output_sources = true;
        return MST_OK;
    }
    if (model->num_nodes == 0) MST_TRY(add_input(model, &(mst_layer_input_options){0}, false));
    src[0] = model->num_nodes - 1;
    *num_src = 1;
    return MST_OK;
}

static mst_output last_output(mst_model *model, mst_status status) {
    if (!status) return (mst_output){model, model->num_nodes - 1};
    mst_model_stick(model);
    return (mst_output){model, -1};
}

static mst_status model_append(mst_model *model, const mst_layer_type *type, const mst_layer_source *source,
                               const void *options) {
    int64_t src[MST_MAX_OUTPUTS];
    int num_src;
    MST_TRY(mst_failure_restore(&model->failure));
    if (type == &mst_layer_type_input) return add_input(model, options, true);
    MST_TRY(sources(model, source, src, &num_src));
    MST_TRY(add_layer(model, type, options));
    return add_node(model, model->num_layers - 1, src, num_src);
}

mst_output mst_layer_append(const char *type_name, mst_layer_source source, const void *options) {
    const mst_output none = {NULL, -1};
    if (MST_IS_NULL(type_name)) return none;
    if (!source.model) {
        MST_FAIL(MST_INVALID, "%s: model is NULL", type_name);
        return none;
    }
    const mst_layer_type *type = mst_layer_find(type_name);
    if (!type || MST_IS_NULL(options)) return last_output(source.model, mst_error()->code);
    return last_output(source.model, model_append(source.model, type, &source, options));
}

mst_output mst_layer_again(mst_output output, mst_layer_source source) {
    mst_model *model = output.model;
    int64_t src[MST_MAX_OUTPUTS];
    int num_src;
    if (MST_IS_NULL(model)) return (mst_output){NULL, -1};
    mst_status status = mst_failure_restore(&model->failure);
    if (!status && (output.node < 0 || output.node >= model->num_nodes || source.model != model))
        status = MST_FAIL(MST_INVALID, "share: the layer and what it is applied to are not of the same model");
    if (!status) status = sources(model, &source, src, &num_src);
    if (!status) status = add_node(model, model->node[output.node].layer, src, num_src);
    return last_output(model, status);
}

/* ---- frozen layers ---- */

static mst_status no_layer(const mst_model *model, const char *name) {
    char guess[MST_DID_YOU_MEAN_TEXT];
    const char **names = calloc((size_t)model->num_layers + 1, sizeof *names);
    if (!names) return MST_NO_MEMORY("for the names of layers");
    for (int64_t i = 0; i < model->num_layers; i++) names[i] = model->layer[i].name;
    const mst_status status = MST_FAIL(MST_NOT_FOUND, "the model has no layer '%.200s'%s", name,
                                       mst_did_you_mean(name, names, guess, sizeof guess));
    free(names);
    return status;
}

mst_status mst_model_set_trainable(mst_model *model, const char *layer, bool trainable) {
    if (MST_IS_NULL(model)) return MST_INVALID;
    const int64_t found = layer ? mst_names_get(&model->names, layer) : 0;
    if (found < 0) return no_layer(model, layer);
    const int64_t end = layer ? found + 1 : model->num_layers;
    for (int64_t i = found; i < end; i++) model->layer[i].frozen = !trainable;
    return MST_OK;
}

const char *mst_model_layer_name(const mst_model *model, int64_t i) {
    if (MST_IS_NULL(model)) return NULL;
    return i >= 0 && i < model->num_layers ? model->layer[i].name : NULL;
}

/* ---- inputs and outputs ---- */

static const char *node_name(const mst_model *model, int64_t node) {
    return model->layer[model->node[node].layer].name;
}

/* Whether NAME is taken: it is the layer's name of one of OUTPUTS, or was given to one of the first N outputs. */
static bool is_output_name(const mst_model *model, const mst_outputs *outputs, int n, const char *name) {
    for (int i = 0; i < outputs->count; i++)
        if (strcmp(node_name(model, outputs->output[i].node), name) == 0 ||
            (i < n && strcmp(model->output_name[i], name) == 0))
            return true;
    return false;
}

/* Names output I after its layer. If an earlier output comes from the same layer, output I gets the first free name of
 * NAME_1, NAME_2 and so on. */
static mst_status name_output(mst_model *model, const mst_outputs *outputs, int i) {
    const char *name = node_name(model, outputs->output[i].node);
    const size_t size = strlen(name) + sizeof "_2147483647";
    bool is_taken = false;
    model->output_name[i] = name;
    for (int k = 0; k < i; k++) is_taken |= strcmp(node_name(model, outputs->output[k].node), name) == 0;
    if (!is_taken) return MST_OK;
    char *numbered = mst_arena_alloc(&model->arena, size);
    if (!numbered) return MST_NO_MEMORY("for the name of an output");
    for (int number = 1; is_taken; number++) {
        snprintf(numbered, size, "%s_%d", name, number);
        is_taken = is_output_name(model, outputs, i, numbered);
    }
    model->output_name[i] = numbered;
    return MST_OK;
}

void mst_model_outputs(mst_model *model, mst_outputs outputs) {
    if (MST_IS_NULL(model) || model->failure.code) return;
    mst_status status = MST_OK;
    if (outputs.count < 1) status = MST_FAIL(MST_INVALID, "outputs: a model needs at least one");
    for (int i = 0; i < outputs.count && !status; i++)
        if (outputs.output[i].model != model || outputs.output[i].node < 0)
            status = MST_FAIL(MST_INVALID, "outputs: output %d is of another model, or none", i);
    for (int i = 0; i < outputs.count && !status; i++) status = name_output(model, &outputs, i);
    if (status)
        mst_model_stick(model);
    else
        model->outputs = outputs;
}

mst_outputs mst_model_get_outputs(const mst_model *model) {
    if (model->outputs.count > 0 || model->num_nodes == 0) return model->outputs;
    return (mst_outputs){1, {{(mst_model *)(uintptr_t)model, model->num_nodes - 1}}};
}

int mst_model_num_inputs(const mst_model *model) {
    return MST_IS_NULL(model) ? 0 : (int)model->num_inputs;
}

int mst_model_num_outputs(const mst_model *model) {
    return MST_IS_NULL(model) ? 0 : mst_model_get_outputs(model).count;
}

const char *mst_model_input_name(const mst_model *model, int i) {
    if (MST_IS_NULL(model)) return NULL;
    return i >= 0 && i < model->num_inputs ? node_name(model, model->input[i].node) : NULL;
}

const char *mst_model_output_name(const mst_model *model, int i) {
    if (MST_IS_NULL(model)) return NULL;
    const mst_outputs outputs = mst_model_get_outputs(model);
    if (i < 0 || i >= outputs.count) return NULL;
    return model->outputs.count ? model->output_name[i] : node_name(model, outputs.output[i].node);
}

void mst_model_learn_input(mst_model *model, int i, mst_spec row) {
    if (i < model->num_inputs && !model->input[i].declared) model->input[i].row = row;
}
