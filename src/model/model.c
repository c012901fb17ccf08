#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "layer/dense.h"
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
    free(model->layer);
    mst_arena_free(&model->arena);
    free(model);
}

static void stick(mst_model *model) {
    if (!model->failure.code) mst_failure_keep(&model->failure, mst_error()->code);
}

static void add(mst_model *model, mst_model_layer layer) {
    if (mst_grow(&model->layer, sizeof layer, model->num_layers + 1, &model->layer_capacity))
        stick(model);
    else
        model->layer[model->num_layers++] = layer;
}

static mst_value build_dense(const mst_model_layer *layer, mst_value x, bool training) {
    (void)training;
    mst_layer_dense_options options = layer->dense;
    options.src = x;
    return mst_dense_build(&options, layer->kernel_name, layer->bias_name);
}

static mst_value build_flatten(const mst_model_layer *layer, mst_value x, bool training) {
    (void)layer, (void)training;
    return mst_value_spec(x).shape.ndim == 1 ? mst_expand_dims(x, 1) : mst_flat(x);
}

static mst_value build_dropout(const mst_model_layer *layer, mst_value x, bool training) {
    return training ? mst_dropout(x, .rate = (float)layer->rate) : x;
}

static mst_value build_activation(const mst_model_layer *layer, mst_value x, bool training) {
    (void)training;
    return mst_activate(x, layer->activation);
}

static mst_value build_function(const mst_model_layer *layer, mst_value x, bool training) {
    return layer->function(layer->context, x, training);
}

void mst_dense_with(mst_dense_options o) {
    mst_model *model = o.model;
    if (MST_IS_NULL(model)) return;
    const char *name = o.name
                           ? mst_arena_string(&model->arena, o.name)
                           : mst_arena_print(&model->arena, model->num_dense ? "dense_%d" : "dense", model->num_dense);
    model->num_dense++;
    if (!name || o.units < 1) {
        MST_FAIL(MST_INVALID, "dense: %lld units, must be at least 1", (long long)o.units);
        stick(model);
        return;
    }
    add(model, (mst_model_layer){.build = build_dense,
                                 .kernel_name = "kernel",
                                 .bias_name = "bias",
                                 .dense = {.units = o.units,
                                           .name = name,
                                           .activation = o.activation,
                                           .no_bias = o.no_bias,
                                           .kernel_initializer = o.kernel_initializer,
                                           .bias_initializer = o.bias_initializer,
                                           .l1 = o.l1,
                                           .l2 = o.l2}});
}

void mst_flatten(mst_model *model) {
    if (MST_IS_NULL(model)) return;
    add(model, (mst_model_layer){.build = build_flatten});
}

void mst_model_dropout(mst_model *model, double rate) {
    if (MST_IS_NULL(model)) return;
    if (!(rate >= 0 && rate < 1)) {
        MST_FAIL(MST_INVALID, "dropout: a rate of %g, must be in [0, 1)", rate);
        stick(model);
        return;
    }
    add(model, (mst_model_layer){.build = build_dropout, .rate = rate});
}

void mst_model_activation(mst_model *model, mst_activation activation) {
    if (MST_IS_NULL(model)) return;
    add(model, (mst_model_layer){.build = build_activation, .activation = activation});
}

void mst_model_function(mst_model *model, mst_build_function build, void *context) {
    if (MST_IS_NULL(model)) return;
    if (MST_IS_NULL(build)) {
        stick(model);
        return;
    }
    add(model, (mst_model_layer){.build = build_function, .function = build, .context = context});
}

mst_value mst_model_call(mst_model *model, mst_value inputs, bool training) {
    if (MST_IS_NULL(model)) return MST_NONE;
    if (model->failure.code)
        return mst_value_fail(mst_value_graph(inputs), model->failure.code, "%s", model->failure.message);
    if (!mst_value_graph(inputs)) return mst_value_fail(NULL, MST_INVALID, "model: the inputs are no value");
    mst_value x = inputs;
    for (int64_t i = 0; i < model->num_layers; i++) x = model->layer[i].build(&model->layer[i], x, training);
    return x;
}

void mst_model_mlp(mst_model *model, const int64_t *hidden, int num_hidden, int64_t classes, float l2) {
    if (MST_IS_NULL(model)) return;
    if (num_hidden > 0 && MST_IS_NULL(hidden)) {
        stick(model);
        return;
    }
    mst_flatten(model);
    for (int i = 0; i <= num_hidden; i++) {
        int64_t units = i < num_hidden ? hidden[i] : classes;
        if (units < 1) {
            MST_FAIL(MST_INVALID, "mlp: layer %d has %lld units, must be at least 1", i + 1, (long long)units);
            stick(model);
            return;
        }
        add(model, (mst_model_layer){.build = build_dense,
                                     .kernel_name = "weights",
                                     .bias_name = "biases",
                                     .dense = {.units = units,
                                               .name = mst_arena_print(&model->arena, "layer%d", i + 1),
                                               .activation = i < num_hidden ? MST_RELU : MST_LINEAR,
                                               .kernel_initializer = mst_truncated_normal_initializer(.stddev = 0.1),
                                               .l2 = l2}});
    }
}
