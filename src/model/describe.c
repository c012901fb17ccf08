#include "model/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "muster/ops.h"

static bool is_known(const mst_model *model) {
    for (int64_t i = 0; i < model->num_inputs; i++)
        if (!model->input[i].row.dtype) return false;
    return model->num_inputs > 0;
}

static mst_value placeholder(mst_graph *graph, const mst_model_input *input) {
    const mst_spec *row = &input->row;
    mst_shape shape = {.ndim = row->shape.ndim + 1, .dim = {-1}};
    memcpy(shape.dim + 1, row->shape.dim, (size_t)row->shape.ndim * sizeof *shape.dim);
    return mst_placeholder(graph, row->dtype, shape, "input");
}

static mst_status describe_build(mst_model *model, mst_model_description *d) {
    mst_value *inputs = calloc((size_t)model->num_inputs, sizeof *inputs);
    d->value = calloc((size_t)model->num_nodes, sizeof *d->value);
    d->num_variables = calloc((size_t)model->num_nodes, sizeof *d->num_variables);
    mst_status status = mst_graph_create(&d->graph);
    if (!status && (!inputs || !d->value || !d->num_variables)) status = MST_NO_MEMORY("for a model's description");
    for (int64_t i = 0; !status && i < model->num_inputs; i++) inputs[i] = placeholder(d->graph, &model->input[i]);
    if (!status) status = mst_model_build(model, inputs, false, d->value, NULL, d->num_variables);
    if (!status) status = mst_graph_check(d->graph);
    free(inputs);
    return status;
}

static mst_status list_variables(mst_model_description *d) {
    const int count = mst_collection(d->graph, MST_VARIABLES, NULL, NULL, 0);
    const int num_trainable = mst_collection(d->graph, MST_TRAINABLE, NULL, NULL, 0);
    mst_value *trainable = calloc((size_t)num_trainable + 1, sizeof *trainable);
    d->variable = calloc((size_t)count + 1, sizeof *d->variable);
    d->trainable = calloc((size_t)count + 1, sizeof *d->trainable);
    if (trainable && d->variable && d->trainable) {
        mst_collection(d->graph, MST_VARIABLES, NULL, d->variable, count);
        mst_collection(d->graph, MST_TRAINABLE, NULL, trainable, num_trainable);
        for (int i = 0, k = 0; i < count; i++) /* both lists are in the order of creation */
            if (k < num_trainable && mst_value_equal(trainable[k], d->variable[i])) d->trainable[i] = true, k++;
    }
    free(trainable);
    return d->variable && d->trainable && trainable ? MST_OK : MST_NO_MEMORY("for a model's description");
}

mst_status mst_model_describe(mst_model *model, mst_model_description *out) {
    *out = (mst_model_description){0};
    MST_TRY(mst_failure_restore(&model->failure));
    MST_TRY(mst_model_order_make(model, &out->order));
    if (!is_known(model)) return MST_OK;
    MST_TRY(describe_build(model, out));
    return list_variables(out);
}

void mst_model_forget(mst_model_description *d) {
    mst_model_order_free(&d->order);
    mst_graph_destroy(d->graph);
    free(d->value);
    free(d->num_variables);
    free(d->variable);
    free(d->trainable);
    *d = (mst_model_description){0};
}

/* ---- weights ---- */

static mst_status add_weight(mst_model *model, const mst_model_description *d, int variable, int64_t layer,
                             int64_t *count) {
    const char *name = mst_arena_string(&model->weight_names, mst_value_name(d->variable[variable]));
    if (!name) return MST_NO_MEMORY("for the list of weights");
    model->weight[(*count)++] = (mst_weight){.name = name,
                                             .layer = model->layer[layer].name,
                                             .spec = mst_value_spec(d->variable[variable]),
                                             .trainable = d->trainable[variable]};
    return MST_OK;
}

/* Lists the weights layer by layer; in each layer the trainable ones come first, as in Keras. */
static mst_status list_weights(mst_model *model, const mst_model_description *d, int64_t *count) {
    const int num = model->num_nodes ? d->num_variables[model->num_nodes - 1] : 0;
    int64_t *first = malloc((size_t)(model->num_layers + model->num_nodes + 1) * sizeof *first);
    model->weight = calloc((size_t)num + 1, sizeof *model->weight);
    if (!model->weight || !first) {
        free(first);
        return MST_NO_MEMORY("for the list of weights");
    }
    int64_t *next = first + model->num_layers; /* [nodes] the next node of the same layer; -1: none */
    for (int64_t i = 0; i < model->num_layers; i++) first[i] = -1;
    for (int64_t node = model->num_nodes - 1; node >= 0; node--) {
        next[node] = first[model->node[node].layer];
        first[model->node[node].layer] = node;
    }
    mst_status status = MST_OK;
    for (int64_t i = 0; i < d->order.num_layers; i++)
        for (int pass = 0; pass < 2; pass++)
            for (int64_t node = first[d->order.layer[i]]; node >= 0; node = next[node])
                for (int v = mst_model_first_variable(d, node); v < d->num_variables[node] && !status; v++)
                    if (d->trainable[v] == (pass == 0)) status = add_weight(model, d, v, d->order.layer[i], count);
    free(first);
    return status;
}

mst_status mst_model_weights(mst_model *model, const mst_weight **out, int64_t *count) {
    if (MST_IS_NULL(model) || MST_IS_NULL(out) || MST_IS_NULL(count)) return MST_INVALID;
    mst_model_description description;
    *out = NULL;
    *count = 0;
    free(model->weight);
    model->weight = NULL;
    mst_arena_free(&model->weight_names);
    mst_status status = mst_model_describe(model, &description);
    if (!status && !description.graph)
        status = MST_FAIL(MST_INVALID,
                          "the shapes of the model's inputs are not known yet: begin it with mst_input, or "
                          "train it first");
    if (!status) status = list_weights(model, &description, count);
    mst_model_forget(&description);
    if (!status) *out = model->weight;
    return status;
}
