/* mst_model_call, and mst_model_build, which builds a model's nodes in a graph. */
#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/spec.h"
#include "model/model.h"
#include "muster/ops.h"

/* Adds a last dimension of 1 to X if examples of ROW have it and X does not. As in Keras, pictures of 28x28 then have
 * one channel, and numbers or texts are rows of one. */
static mst_value add_channel(mst_value x, const mst_spec *row) {
    const int ndim = row->shape.ndim;
    const bool lacks = ndim > 0 && row->shape.dim[ndim - 1] == 1 && mst_value_spec(x).shape.ndim == ndim;
    return lacks ? mst_expand_dims(x, ndim) : x;
}

/* Whether X has the shape of a batch of examples of ROW. */
static bool fits(mst_value x, const mst_spec *row) {
    const mst_shape shape = mst_value_spec(x).shape;
    if (shape.ndim != row->shape.ndim + 1) return false;
    for (int i = 0; i < row->shape.ndim; i++)
        if (shape.dim[i + 1] >= 0 && row->shape.dim[i] >= 0 && shape.dim[i + 1] != row->shape.dim[i]) return false;
    return true;
}

/* The value for input I, from X. If the input was declared: checks the shape and converts X to the declared dtype.
 * Otherwise: casts integers to f32. */
static mst_value feed_input(mst_model *model, int64_t i, mst_value x) {
    const mst_model_input *input = &model->input[i];
    const mst_model_layer *layer = &model->layer[model->node[input->node].layer];
    char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
    const mst_spec spec = mst_value_spec(x);
    if (mst_value_is_none(x)) return x;
    if (!input->declared) return mst_dtype_is_float(spec.dtype) ? x : mst_cast(x, MST_F32);
    x = add_channel(x, &input->row);
    if (!fits(x, &input->row))
        return mst_value_fail(mst_value_graph(x), MST_INVALID, "input '%s' is %s, examples must be %s", layer->name,
                              mst_spec_print(&spec, have, sizeof have), mst_spec_print(&input->row, want, sizeof want));
    /* an input has no weights, so it needs no scope; it is the same in training */
    mst_layer_call call = {.type = layer->type,
                           .name = layer->name,
                           .options = layer->options,
                           .graph = mst_value_graph(x),
                           .src = &x,
                           .num_src = 1};
    return mst_layer_build(&call, MST_REUSE_INHERIT);
}

/* How the nodes of a model are built. */
typedef struct build {
    mst_model *model;
    mst_graph *graph;
    bool training;
    const mst_layer_steps *steps; /* as in mst_layer_call */
    mst_value *values, *masks;    /* [nodes] */
    bool *needed;                 /* [nodes] an output depends on the node */
    bool *built;                  /* [layers] the layer has its weights */
} build;

/* Builds node N: its value and its mask. */
static void build_node(const build *b, int64_t n) {
    const mst_model *model = b->model;
    const mst_model_node *node = &model->node[n];
    mst_value src[MST_MAX_OUTPUTS], mask[MST_MAX_OUTPUTS]; /* enough, because sources are an mst_outputs */
    const mst_model_layer *layer = &model->layer[node->layer];
    bool has_mask = false;
    for (int i = 0; i < node->num_src; i++) {
        src[i] = b->values[node->src[i]];
        mask[i] = b->masks[node->src[i]];
        has_mask |= !mst_value_is_none(mask[i]);
    }
    mst_layer_call call = {.type = layer->type,
                           .name = layer->name,
                           .scoped = true,
                           .options = layer->options,
                           .graph = b->graph,
                           .src = src,
                           .num_src = node->num_src,
                           .mask = has_mask ? mask : NULL,
                           .steps = b->steps,
                           .training = b->training,
                           .frozen = layer->frozen};
    /* a layer used again shares its variables */
    const mst_reuse reuse = b->built[node->layer] ? MST_REUSE_TRUE : MST_REUSE_INHERIT;
    b->built[node->layer] = true;
    if (b->steps && !layer->type->by_step)
        b->values[n] =
            mst_value_fail(b->graph, MST_UNIMPLEMENTED,
                           "layer '%s' (%s): the model cannot write step by step, because this layer looks at "
                           "other steps in a way that is not kept",
                           layer->name, layer->type->name);
    else
        b->values[n] = mst_layer_build(&call, reuse);
    if (layer->type->mask && !mst_value_is_none(b->values[n])) b->masks[n] = layer->type->mask(&call);
}

/* VALUE, or an error if an output of the last build has a mask, because the caller would not get the mask. */
static mst_value without_mask(const mst_model *model, mst_value value) {
    if (!model->masked_output || mst_value_is_none(value)) return value;
    return mst_value_fail(
        mst_value_graph(value), MST_UNIMPLEMENTED,
        "output '%s' has a mask, which a loss of your own would not know: its steps would count alike, where Keras "
        "leaves some out; train with mst_fit, or put a layer after it that makes one row of all steps",
        model->masked_output);
}

static mst_status build_begin(build *b) {
    const mst_model *model = b->model;
    const mst_outputs outputs = mst_model_get_outputs(model);
    b->needed = calloc((size_t)(model->num_nodes + model->num_layers) + 1, sizeof *b->needed);
    b->masks = calloc((size_t)model->num_nodes + 1, sizeof *b->masks);
    if (!b->needed || !b->masks) return MST_NO_MEMORY("for a model");
    b->built = b->needed + model->num_nodes;
    for (int i = 0; i < outputs.count; i++) b->needed[outputs.output[i].node] = true;
    for (int64_t i = model->num_nodes - 1; i >= 0; i--)
        for (int k = 0; b->needed[i] && k < model->node[i].num_src; k++) b->needed[model->node[i].src[k]] = true;
    return MST_OK;
}

static void build_end(build *b) {
    free(b->needed);
    free(b->masks);
}

mst_status mst_model_build(mst_model *model, const mst_value *inputs, bool training, mst_value *values,
                           mst_value *output_masks, int *num_variables) {
    const mst_outputs outputs = mst_model_get_outputs(model);
    build b = {.model = model, .graph = mst_value_graph(inputs[0]), .training = training, .values = values};
    if (training && model->only_predicts)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "%s: training with this is not supported, the model can only predict and be evaluated: to "
                        "train it, save it without this in the program that made it",
                        model->only_predicts);
    mst_status status = build_begin(&b);
    for (int64_t i = 0; i < model->num_inputs && !status; i++)
        values[model->input[i].node] = feed_input(model, i, inputs[i]);
    for (int64_t i = 0; i < model->num_nodes && !status; i++) {
        if (b.needed[i] && model->node[i].num_src > 0) build_node(&b, i);
        if (num_variables) num_variables[i] = mst_collection(b.graph, MST_VARIABLES, NULL, NULL, 0);
    }
    model->masked_output = NULL;
    for (int i = 0; i < outputs.count && !status; i++) {
        const int64_t n = outputs.output[i].node;
        if (!mst_value_is_none(b.masks[n])) model->masked_output = model->layer[model->node[n].layer].name;
        if (output_masks) output_masks[i] = b.masks[n];
    }
    build_end(&b);
    return status;
}

mst_status mst_model_build_steps(mst_model *model, mst_value tokens, const mst_layer_steps *steps, mst_value *output) {
    build b = {.model = model, .graph = mst_value_graph(tokens), .steps = steps};
    if (model->num_inputs != 1 || mst_model_num_outputs(model) != 1)
        return MST_FAIL(MST_INVALID,
                        "model: it has %d inputs and %d outputs: one that writes step by step has one of "
                        "each",
                        (int)model->num_inputs, mst_model_num_outputs(model));
    b.values = calloc((size_t)model->num_nodes + 1, sizeof *b.values);
    mst_status status = b.values ? build_begin(&b) : MST_NO_MEMORY("for a model");
    if (!status) b.values[model->input->node] = mst_cast(tokens, model->input->row.dtype);
    for (int64_t i = 0; i < model->num_nodes && !status; i++)
        if (b.needed[i] && model->node[i].num_src > 0) build_node(&b, i);
    if (!status) *output = b.values[mst_model_get_outputs(model).output[0].node];
    build_end(&b);
    free(b.values);
    return status ? status : mst_graph_check(mst_value_graph(tokens));
}

/* Fails if the model cannot be called: it keeps an error, or an argument is wrong. */
static mst_status check_call(mst_model *model, const mst_value *inputs, int num_inputs, int num_outputs) {
    MST_TRY(mst_failure_restore(&model->failure));
    if (model->num_nodes == 0) return MST_FAIL(MST_INVALID, "model: it has no layers");
    if (num_inputs != model->num_inputs || num_outputs != mst_model_num_outputs(model))
        return MST_FAIL(MST_INVALID, "model: it has %d input%s and %d output%s, and is called with %d and %d",
                        (int)model->num_inputs, model->num_inputs == 1 ? "" : "s", mst_model_num_outputs(model),
                        mst_model_num_outputs(model) == 1 ? "" : "s", num_inputs, num_outputs);
    for (int i = 0; i < num_inputs; i++)
        if (!mst_value_graph(inputs[i])) return MST_FAIL(MST_INVALID, "model: input %d is no value", i);
    return MST_OK;
}

void mst_model_call_masked(mst_model *model, const mst_value *inputs, int num_inputs, bool training, mst_value *outputs,
                           mst_value *masks, int num_outputs) {
    for (int i = 0; i < num_outputs; i++) outputs[i] = masks[i] = MST_NONE;
    mst_value *values = NULL;
    mst_status status = check_call(model, inputs, num_inputs, num_outputs);
    if (!status) {
        values = calloc((size_t)model->num_nodes, sizeof *values);
        status = values ? mst_model_build(model, inputs, training, values, masks, NULL) : MST_NO_MEMORY("for a model");
    }
    mst_graph *graph = num_inputs > 0 ? mst_value_graph(inputs[0]) : NULL;
    const mst_value failed = status ? mst_value_of_last_error(graph) : MST_NONE;
    const mst_outputs list = mst_model_get_outputs(model);
    for (int i = 0; i < num_outputs; i++) outputs[i] = status ? failed : values[list.output[i].node];
    free(values);
}

void mst_model_call_all(mst_model *model, const mst_value *inputs, int num_inputs, bool training, mst_value *outputs,
                        int num_outputs) {
    mst_value masks[MST_MAX_OUTPUTS];
    if (MST_IS_NULL(outputs)) return;
    const int count = num_outputs < MST_MAX_OUTPUTS ? num_outputs : MST_MAX_OUTPUTS;
    for (int i = 0; i < num_outputs; i++) outputs[i] = MST_NONE;
    if (MST_IS_NULL(model) || MST_IS_NULL(inputs)) return;
    mst_model_call_masked(model, inputs, num_inputs, training, outputs, masks, count);
    for (int i = 0; i < count && training; i++) outputs[i] = without_mask(model, outputs[i]);
}

mst_value mst_model_call(mst_model *model, mst_value inputs, bool training) {
    mst_value output = MST_NONE;
    if (MST_IS_NULL(model)) return MST_NONE;
    mst_model_call_all(model, &inputs, 1, training, &output, 1);
    return output;
}
