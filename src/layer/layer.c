/* What all types of layers share (layer/type.h): finding a type, checking options, weights, masks, and building. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/argument.h"
#include "base/did_you_mean.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "layer/type.h"
#include "muster/ops.h"

enum { MOST_TYPES = 128, MOST_OPTIONS = 1024 };

const mst_layer_type *mst_layer_find(const char *name) {
    for (int i = 0; mst_layer_type_table[i]; i++)
        if (strcmp(mst_layer_type_table[i]->name, name) == 0) return mst_layer_type_table[i];
    const char *names[MOST_TYPES + 1] = {NULL};
    for (int i = 0; i < MOST_TYPES && mst_layer_type_table[i]; i++) names[i] = mst_layer_type_table[i]->name;
    char guess[MST_DID_YOU_MEAN_TEXT];
    MST_FAIL(MST_INVALID, "there is no layer '%s'%s", name, mst_did_you_mean(name, names, guess, sizeof guess));
    return NULL;
}

const char *mst_layer_name(const mst_layer_type *type, const void *options) {
    for (const mst_field *field = type->fields; field->name; field++)
        if (field->type == MST_FIELD_TYPE_STRING && strcmp(field->name, "name") == 0)
            return *(const char *const *)(const void *)((const char *)options + field->offset);
    return NULL;
}

const mst_layer_type *mst_layer_inner_type(const mst_inner_layer *inner, const mst_layer_type *type, const char *name) {
    const mst_layer_type *found = inner->type ? mst_layer_find(inner->type) : NULL;
    if (found && inner->options && found->min_src == 1 && !found->inner && !found->adapt) return found;
    if (found || !inner->type)
        MST_FAIL(MST_INVALID, "%s '%s': %s inside of it: give a layer of one source, MST_INNER(dense, .units = 8)",
                 type->name, name, found ? found->name : "no layer");
    return NULL;
}

static mst_status check_inner(const mst_layer_type *type, void *options, const char *name) {
    const mst_inner_layer *inner = type->inner(options);
    const mst_layer_type *found = mst_layer_inner_type(inner, type, name);
    return found ? mst_layer_check(found, (void *)(uintptr_t)inner->options, name) : mst_error()->code;
}

mst_status mst_layer_check(const mst_layer_type *type, void *options, const char *name) {
    MST_TRY(mst_options_check(type->fields, type->name, name, options));
    if (type->inner) MST_TRY(check_inner(type, options, name));
    return type->check ? type->check(options, name) : MST_OK;
}

mst_value mst_layer_fail(const mst_layer_call *call) {
    return mst_value_of_last_error(call->graph);
}

mst_status mst_layer_want_ndim(const mst_layer_call *call, int ndim, const char *form) {
    const int got = mst_value_spec(call->src[0]).shape.ndim;
    if (got == ndim) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s '%s': needs %s, got %d dimensions", call->type->name, call->name, form, got);
}

mst_status mst_layer_channels(const mst_layer_call *call, const char *form, int least, int most, int64_t *channels) {
    const mst_shape shape = mst_value_spec(call->src[0]).shape;
    *channels = shape.ndim >= least && shape.ndim <= most ? shape.dim[shape.ndim - 1] : 0;
    if (*channels >= 1) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s '%s': needs %s with channels that are known, got %d dimensions", call->type->name,
                    call->name, form, shape.ndim);
}

mst_value mst_layer_mask(const mst_layer_call *call) {
    return call->mask ? call->mask[0] : MST_NONE;
}

mst_value mst_layer_mask_pass(const mst_layer_call *call) {
    return mst_layer_mask(call);
}

mst_value mst_layer_mask_refuse(const mst_layer_call *call) {
    for (int i = 0; call->mask && i < call->num_src; i++)
        if (!mst_value_is_none(call->mask[i]))
            return mst_value_fail(call->graph, MST_UNIMPLEMENTED,
                                  "%s '%s': its source has a mask, which such layers do not take here",
                                  call->type->name, call->name);
    return MST_NONE;
}

void mst_layer_weight_with(mst_layer_call *call, mst_get_variable_options options) {
    assert(call->num_weights < MST_MAX_LAYER_WEIGHTS);
    options.graph = call->graph;
    options.not_trainable |= call->frozen;
    call->weight[call->num_weights++] = mst_get_variable_with(options);
}

mst_value mst_layer_updated(const mst_layer_call *call, mst_value variable) {
    const mst_graph *graph = call->graph;
    const int64_t first = graph->current.replica ? graph->current.replica->first_update : 0;
    for (int64_t c = 0; c < graph->num_collections; c++) {
        const mst_collection_list *list = &graph->collection[c];
        if (strcmp(list->name, MST_UPDATES) != 0) continue;
        for (int64_t i = list->count - 2; i >= first; i -= 2) /* pairs of a variable and its value */
            if (list->value[i].node == variable.node) return list->value[i + 1];
    }
    return variable;
}

void mst_layer_update(const mst_layer_call *call, mst_value variable, mst_value value) {
    if (mst_value_is_none(value)) return; /* the error is recorded in the graph already */
    mst_collect(call->graph, MST_UPDATES, variable);
    mst_collect(call->graph, MST_UPDATES, value);
}

mst_value mst_layer_build(mst_layer_call *call, mst_reuse reuse) {
    const mst_layer_type *type = call->type;
    mst_value y = MST_NONE;
    for (int i = 0; i < call->num_src; i++)
        if (mst_value_is_none(call->src[i])) return call->src[i];
    if (!call->scoped) return type->build(call);
    mst_with_variables (call->graph, call->name, reuse) {
        const mst_status status = type->weights ? type->weights(call) : MST_OK;
        y = status ? mst_layer_fail(call) : type->build(call);
    }
    return y;
}

mst_value mst_layer_value(const char *type_name, mst_layer_source source, const void *options) {
    _Alignas(max_align_t) char checked[MOST_OPTIONS], checked_inner[MOST_OPTIONS];
    mst_graph *graph = mst_value_graph(source.value);
    if (MST_IS_NULL(type_name) || MST_IS_NULL(options)) return mst_graph_error_value(graph);
    const mst_layer_type *type = mst_layer_find(type_name);
    if (!type || !graph || type->options_size > sizeof checked)
        return mst_value_fail(graph, MST_INVALID, "%s: %s", type_name,
                              type ? "what it is applied to is no value" : "there is no such layer");
    if (type->min_src != 1)
        return mst_value_fail(graph, MST_INVALID, "%s: a layer of models only, it is not applied to a value",
                              type_name);
    memcpy(checked, options, type->options_size);
    const char *name = mst_layer_name(type, checked);
    if (type->inner) {
        mst_inner_layer *inner = type->inner(checked);
        const mst_layer_type *found = mst_layer_inner_type(inner, type, name ? name : type->name);
        if (!found) return mst_value_of_last_error(graph);
        assert(found->options_size <= sizeof checked_inner);
        inner->options = memcpy(checked_inner, inner->options, found->options_size);
    }
    if (mst_layer_check(type, checked, name ? name : type->name)) return mst_value_of_last_error(graph);
    mst_layer_call call = {.type = type,
                           .name = name ? name : type->name,
                           .scoped = name || type->weights,
                           .options = checked,
                           .graph = graph,
                           .src = &source.value,
                           .num_src = 1,
                           .training = true};
    return mst_layer_build(&call, MST_REUSE_INHERIT);
}

mst_layer_source mst_source_model(mst_model *model) {
    return (mst_layer_source){.model = model};
}

mst_layer_source mst_source_output(mst_output output) {
    return (mst_layer_source){.model = output.model, .outputs = {1, {output}}};
}

mst_layer_source mst_source_outputs(mst_outputs outputs) {
    mst_layer_source source = {.outputs = outputs};
    if (outputs.count > 0) source.model = outputs.output[0].model;
    return source;
}

mst_layer_source mst_source_value(mst_value value) {
    return (mst_layer_source){.value = value};
}
