/* Writes networks as Keras' JSON, in the form of Keras 3 (model_file/keras/network.h). */
#include <string.h>

#include "base/no_memory.h"
#include "model/describe.h"
#include "model_file/keras/arithmetic_ops.h"
#include "model_file/keras/call_arguments.h"
#include "model_file/keras/classes.h"
#include "model_file/keras/initializers.h"
#include "model_file/keras/network.h"
#include "model_file/keras/preprocessing.h"
#include "muster/layers.h"

typedef struct network_writer {
    mst_model *model;
    const mst_model_description *d;
    mst_keras_network *network;
} network_writer;

static json_t *json_shape(mst_shape shape) {
    json_t *list = json_array();
    for (int i = 0; i < shape.ndim; i++)
        json_array_append_new(list, shape.dim[i] < 0 ? json_null() : json_integer(shape.dim[i]));
    return list;
}

static const mst_model_layer *layer_at(const network_writer *w, int64_t node) {
    return &w->model->layer[w->model->node[node].layer];
}

static const char *class_of(const mst_model_layer *layer) {
    return layer->type->class_of ? layer->type->class_of(layer->options) : layer->type->class_name;
}

/* The history of the output of NODE: [layer, number of its call, 0]. */
static json_t *history(const network_writer *w, int64_t node) {
    return json_pack("[s, I, i]", layer_at(w, node)->name, (json_int_t)w->model->node[node].number, 0);
}

static json_t *tensor(const network_writer *w, int64_t node) {
    const mst_spec spec = mst_value_spec(w->d->value[node]);
    return json_pack("{s:s, s:{s:o, s:s, s:o}}", "class_name", "__keras_tensor__", "config", "shape",
                     json_shape(spec.shape), "dtype", mst_keras_dtype_name(spec.dtype), "keras_history",
                     history(w, node));
}

/* The calls of a layer: {"args": [T], "kwargs": {}}, where T is an object that `tensor` makes. Layers that take several
 * sources as a list have args [[T, T]]. */
static json_t *calls(const network_writer *w, int64_t layer, const mst_keras_class *class) {
    const mst_model_layer *l = &w->model->layer[layer];
    const bool is_op = mst_keras_op_name(l) != NULL;
    json_t *list = json_array();
    for (int64_t i = 0; i < w->model->num_nodes; i++) {
        const mst_model_node *node = &w->model->node[i];
        if (node->layer != layer || !w->d->order.has_node[i] || !node->num_src) continue;
        const bool apart = class && mst_keras_class_is_called(class);
        json_t *args = json_array();
        for (int k = 0; k < node->num_src; k++) json_array_append_new(args, tensor(w, node->src[k]));
        if (apart && node->num_src == 1) json_array_append_new(args, tensor(w, node->src[0])); /* query, and value */
        if (is_op) args = mst_keras_op_arguments(l, args);
        if (!is_op && !apart && l->type->max_src > 1) args = json_pack("[o]", args);
        json_t *kwargs = class ? mst_keras_class_write_call(class, l->options) : json_object();
        json_array_append_new(list, json_pack("{s:o, s:o}", "args", args, "kwargs", kwargs));
    }
    return list;
}

/* The first node of a layer. */
static int64_t first_node(const network_writer *w, int64_t layer) {
    int64_t i = 0;
    while (w->model->node[i].layer != layer) i++;
    return i;
}

/* Keras' dtype policy for the layer: mixed_bfloat16 if that is the layer's own precision, else float32. A precision of
 * the session is not written. */
static const char *policy_of(const mst_model_layer *l) {
    for (const mst_field *field = l->type->fields; field->name; field++)
        if (strcmp(field->name, "precision") == 0 &&
            *(const int32_t *)(const void *)((const char *)l->options + field->offset) == MST_MIXED_BFLOAT16)
            return mst_precision_names[MST_MIXED_BFLOAT16];
    return mst_precision_names[MST_FLOAT32];
}

static mst_status layer_config(const network_writer *w, int64_t layer, json_t *config) {
    const mst_model_layer *l = &w->model->layer[layer];
    if (l->type == mst_layer_find("input")) {
        const mst_spec spec = mst_value_spec(w->d->value[first_node(w, layer)]);
        json_object_set_new(config, "batch_shape", json_shape(spec.shape));
        json_object_set_new(config, "dtype", json_string(mst_keras_dtype_name(spec.dtype)));
        return MST_OK;
    }
    const mst_keras_class *class = mst_keras_class_find(class_of(l));
    if (!class || mst_keras_class_type(class) != l->type)
        return MST_FAIL(MST_UNIMPLEMENTED, "layer '%s': layers '%s' cannot be saved for Keras", l->name, l->type->name);
    if (mst_keras_op_name(l)) return mst_keras_op_write(l, config);
    json_object_set_new(config, "dtype", json_string(policy_of(l)));
    /* Keras' SpatialDropout does not take it */
    if (strncmp(class_of(l), "SpatialDropout", strlen("SpatialDropout")) != 0)
        json_object_set_new(config, "trainable", json_boolean(!l->frozen));
    const char *inside = mst_keras_class_inside(class, l->options);
    if (inside && !*inside)
        return MST_FAIL(MST_UNIMPLEMENTED, "layer '%s': the layer in it cannot be saved for Keras", l->name);
    if (mst_keras_class_check(class, l->options)) return mst_error_prefix("layer '%s'", l->name);
    mst_keras_class_write(class, l->options, config);
    if (!inside) return mst_keras_preprocessing_write(w->model, l, config);
    const mst_inner_layer *inner = l->type->inner(l->options);
    const mst_model_layer in_it = {
        .type = mst_layer_find(inner->type), .name = l->name, .options = (void *)(uintptr_t)inner->options};
    return mst_keras_preprocessing_write(w->model, &in_it, json_object_get(json_object_get(config, "layer"), "config"));
}

/* Whether LAYER has options that its class of Keras does not have. */
static bool is_extended(const mst_model_layer *layer) {
    for (const mst_field *field = layer->type->fields; field->name; field++)
        if (strcmp(field->name, "activation") == 0 &&
            *(const int *)(const void *)((const char *)layer->options + field->offset) == MST_GELU_TANH)
            return true;
    if (strcmp(layer->type->name, "multi_head_attention") != 0) return false;
    const mst_layer_multi_head_attention_options *o = layer->options;
    return o->num_key_value_heads || o->rotary_base != 0;
}

/* The module that has the class of LAYER: "muster" if Keras has no such class. */
static const char *module_of(const mst_model_layer *layer, const char *class_name) {
    static const char *const rows[][2] = {{"LayerScale", "keras.src.applications.convnext"},
                                          {"CustomScaleLayer", "keras.src.applications.inception_resnet_v2"},
                                          {"PositionEmbedding", "muster"},
                                          {"EmbeddingLogits", "muster"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(class_name, rows[i][0]) == 0) return rows[i][1];
    return is_extended(layer) ? "muster" : "keras.layers";
}

static bool keeps_statistics(const mst_model_layer *l) {
    for (const mst_field *field = l->type->fields; field->name; field++)
        if (strcmp(field->name, "moving_statistics") == 0)
            return *(const bool *)((const char *)l->options + field->offset);
    return false;
}

static mst_status write_layer(const network_writer *w, int64_t layer, json_t *layers) {
    const mst_model_layer *l = &w->model->layer[layer];
    mst_keras_network *n = w->network;
    const char *op = mst_keras_op_name(l), *written = op ? op : class_of(l);
    const char *module = module_of(l, written);
    const char *registered = strcmp(module, "keras.layers") != 0 ? written : op;
    json_t *config = json_pack("{s:s}", "name", l->name);
    json_t *object = json_pack("{s:s, s:s, s:o, s:s?, s:s}", "module", op ? "keras.src.ops.numpy" : module,
                               "class_name", written, "config", config, "registered_name", registered, "name", l->name);
    if (!object || json_array_append_new(layers, object)) return MST_NO_MEMORY("for a network");
    MST_TRY(layer_config(w, layer, config));
    if (keeps_statistics(l))
        json_object_set_new(object, MST_KERAS_OWN_OPTIONS, json_pack("{s:b}", "moving_statistics", 1));
    if (!n->is_sequential)
        json_object_set_new(object, "inbound_nodes", calls(w, layer, mst_keras_class_find(class_of(l))));
    const char *name = mst_arena_string(&n->arena, l->name), *class_name = mst_arena_string(&n->arena, written);
    if (!name || !class_name) return MST_NO_MEMORY("for a network");
    const mst_keras_class *class = mst_keras_class_find(class_name);
    n->layer[n->num_layers++] = (mst_keras_layer){
        .name = name, .class_name = class_name, .inside = class ? mst_keras_class_inside(class, l->options) : NULL};
    return MST_OK;
}

static json_t *histories(const network_writer *w, bool outputs) {
    json_t *list = json_array();
    const mst_outputs given = mst_model_get_outputs(w->model);
    if (outputs)
        for (int i = 0; i < given.count; i++) json_array_append_new(list, history(w, given.output[i].node));
    else
        for (int64_t i = 0; i < w->model->num_inputs; i++)
            json_array_append_new(list, history(w, w->model->input[i].node));
    return list;
}

static mst_status write_network(const network_writer *w, json_t **out) {
    const mst_model_order *order = &w->d->order;
    mst_keras_network *n = w->network;
    json_t *layers = json_array(), *config = json_pack("{s:o, s:b}", "layers", layers, "trainable", true);
    mst_status status = MST_OK;
    n->layer = mst_arena_alloc(&n->arena, ((size_t)order->num_layers + 1) * sizeof *n->layer);
    if (!n->layer || !config) status = MST_NO_MEMORY("for a network");
    for (int64_t i = 0; i < order->num_layers && !status; i++) status = write_layer(w, order->layer[i], layers);
    if (status) {
        json_decref(config);
        return status;
    }
    if (!n->is_sequential) {
        json_object_set_new(config, "input_layers", histories(w, false));
        json_object_set_new(config, "output_layers", histories(w, true));
    }
    const char *name = w->model->name ? w->model->name : n->is_sequential ? "sequential" : "functional";
    json_object_set_new(config, "name", json_string(name));
    *out = json_pack("{s:s, s:s, s:o, s:o}", "module", n->is_sequential ? "keras" : "keras.src.models.functional",
                     "class_name", n->is_sequential ? "Sequential" : "Functional", "config", config, "registered_name",
                     n->is_sequential ? json_null() : json_string("Functional"));
    return *out ? MST_OK : MST_NO_MEMORY("for a network");
}

mst_status mst_keras_network_write(mst_model *model, json_t **config, mst_keras_network *out) {
    mst_model_description d;
    const network_writer w = {model, &d, out};
    *config = NULL;
    *out = (mst_keras_network){0};
    if (model->only_predicts)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "%s: this cannot be written as a file of Keras: save the model as FILE.onnx, or its weights as "
                        "FILE.safetensors",
                        model->only_predicts);
    mst_status status = mst_model_describe(model, &d);
    if (!status && !d.graph)
        status = MST_FAIL(MST_INVALID,
                          "the shapes of the model's inputs are not known yet: begin it with mst_input, or "
                          "train it first");
    if (!status) {
        const mst_outputs outputs = mst_model_get_outputs(model);
        out->is_sequential = d.order.is_chain && model->num_inputs == 1 && outputs.count == 1;
        for (int64_t i = 0; i < model->num_layers; i++) { /* these layers cannot be in a stack */
            const mst_keras_class *class = mst_keras_class_find(class_of(&model->layer[i]));
            if (class && mst_keras_class_is_called(class)) out->is_sequential = false;
            if (mst_keras_op_name(&model->layer[i])) out->is_sequential = false;
        }
        status = write_network(&w, config);
    }
    mst_model_forget(&d);
    return status;
}
