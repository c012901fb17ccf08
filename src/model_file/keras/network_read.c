/* Reads networks from Keras' JSON: layers, their calls, inputs and outputs (model_file/keras/network.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "model/describe.h"
#include "model_file/keras/arithmetic_ops.h"
#include "model_file/keras/call_arguments.h"
#include "model_file/keras/classes.h"
#include "model_file/keras/custom_class.h"
#include "model_file/keras/flat_ends.h"
#include "model_file/keras/initializers.h"
#include "model_file/keras/mask_ops.h"
#include "model_file/keras/nested_network.h"
#include "model_file/keras/network.h"
#include "model_file/keras/preprocessing.h"
#include "muster/layers.h"

enum { MOST_LAYERS = 100000, MOST_CALLS = 1000000 };

/* One call of a layer, and its result once it is made. */
typedef struct keras_call {
    int64_t layer;
    int64_t number;       /* of the call among the calls of the layer, from 0 */
    const json_t *inputs; /* its arguments, in the form of Keras 2 or 3 */
    mst_output output;
    bool done, waits; /* done: OUTPUT is set; waits: its sources are being made */
} keras_call;

typedef struct network_reader {
    const char *file;
    mst_model *model;
    mst_keras_network *network;
    const json_t *layers; /* of the file */
    json_t *plain_layers; /* for a functional model: LAYERS with ops replaced by layers; NULL: not made */
    keras_call *call;
    int64_t num_calls, capacity;
    mst_names names;     /* of the layers, with their indices */
    int64_t *first_call; /* [num_layers + 1] index of the first call of each layer; its calls are consecutive */
    int64_t *axis;       /* of each layer: the axis of a normalization; -1 for other layers */
    mst_keras_masks masks;
    bool is_mixed; /* some layers compute in bf16, those with the policy float32 do not */
    bool is_flat;  /* the network of the file has inner models, and its flat form is read */
} network_reader;

void mst_keras_network_free(mst_keras_network *network) {
    mst_arena_free(&network->arena);
    *network = (mst_keras_network){0};
}

static mst_status malformed(const network_reader *r, const char *what) {
    return MST_FAIL(MST_CORRUPT, "'%s': the network in it is damaged: %s", r->file, what);
}

/* Puts the names of the file and of layer I before the error message. */
static mst_status of_layer(const network_reader *r, int64_t i, mst_status status) {
    enum { LONGEST = 100 };
    char name[LONGEST], class_name[LONGEST];
    if (!status) return MST_OK;
    snprintf(name, sizeof name, "%s", r->network->layer[i].name);
    snprintf(class_name, sizeof class_name, "%s", r->network->layer[i].class_name);
    mst_make_plain(name);
    mst_make_plain(class_name);
    return mst_error_prefix("'%s': layer '%s' (%s)", r->file, name, class_name);
}

static const json_t *config_of(const network_reader *r, int64_t i) {
    return json_object_get(json_array_get(r->layers, (size_t)i), "config");
}

/* ---- single layers ---- */

/* The dtype or policy of a layer. For a map of policies without layers, it is the default of the map, or null. */
static const json_t *policy_of(const json_t *config) {
    const json_t *dtype = json_object_get(config, "dtype"), *inside = json_object_get(dtype, "config");
    const char *class_name = json_string_value(json_object_get(dtype, "class_name"));
    const json_t *map = json_object_get(inside, "policy_map");
    const bool names_none = json_is_object(map) && !json_object_size(map);
    return class_name && names_none && strcmp(class_name, "DTypePolicyMap") == 0
               ? json_object_get(inside, "default_policy")
               : dtype;
}

/* The name of the dtype, which is given as a name or as an object with the name; "" if there is none. */
static const char *dtype_text(const json_t *config) {
    const json_t *dtype = policy_of(config);
    const char *text = json_string_value(dtype);
    if (!text) text = json_string_value(json_object_get(json_object_get(dtype, "config"), "name"));
    return text ? text : "";
}

/* Reads a shape from a list that begins with the size of the batch, which is ignored. */
static bool read_rows(const json_t *list, mst_shape *shape) {
    const size_t count = json_array_size(list);
    if (count < 1 || count > MST_MAX_NDIM) return false;
    *shape = (mst_shape){.ndim = (int32_t)count - 1};
    for (size_t i = 1; i < count; i++) {
        const json_t *dim = json_array_get(list, i);
        const json_int_t number = json_integer_value(dim);
        if (!json_is_null(dim) && (!json_is_integer(dim) || number < 0 || number > (json_int_t)1 << 40)) return false;
        shape->dim[i - 1] = json_is_null(dim) ? -1 : number;
    }
    return true;
}

static const json_t *shape_of(const json_t *config) {
    const json_t *shape = json_object_get(config, "batch_shape");
    if (!shape) shape = json_object_get(config, "batch_input_shape");
    return json_is_array(shape) ? shape : NULL;
}

static mst_status add_input(const network_reader *r, const char *name, const json_t *shape, const char *dtype,
                            mst_output *out) {
    mst_layer_input_options options = {.name = name, .dtype = *dtype ? mst_keras_dtype_named(dtype) : MST_F32};
    if (!read_rows(shape, &options.shape)) return malformed(r, "an input without a shape");
    if (!options.dtype)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': an input of dtype %.50s is not known here", r->file, dtype);
    *out = mst_layer_append("input", mst_source_model(r->model), &options);
    return mst_model_check(r->model);
}

/* Fails with the reason why a class is not supported. */
static mst_status unknown_class(const char *class_name) {
    if (strcmp(class_name, "Lambda") == 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "it is code of Python, which is never run here: replace it by layers");
    return MST_FAIL(MST_UNIMPLEMENTED, "there is no such layer here");
}

static mst_status unknown_op(void) {
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "there is no such layer here: an op is read where it is applied to outputs of "
                    "layers, or to one and to numbers, and a layer does the same");
}

/* Refuses policies of other classes: they quantize weights, or have a policy for each inner layer. */
static mst_status check_policy(const json_t *config) {
    const char *dtype = dtype_text(config);
    const char *class_name = json_string_value(json_object_get(policy_of(config), "class_name"));
    if (!*dtype && class_name)
        return MST_FAIL(MST_UNIMPLEMENTED, "weights of a %.50s are not read: f32 is", class_name);
    if (!*dtype || strcmp(dtype, "float32") == 0 || strncmp(dtype, "mixed_", strlen("mixed_")) == 0) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "weights of dtype %.50s are not read: f32 is", dtype);
}

static bool is_bf16(const json_t *config) {
    return strcmp(dtype_text(config), mst_precision_names[MST_MIXED_BFLOAT16]) == 0;
}

/* Sets the name of layer I in its OPTIONS. Also sets its precision if the file has one and the layer supports it. For a
 * BatchNormalization, also sets the option that follows from INPUTS, the arguments of its first call. */
static void set_common(const network_reader *r, int64_t i, const mst_layer_type *type, const json_t *inputs,
                       char *options) {
    for (const mst_field *field = type->fields; field->name; field++) {
        if (strcmp(field->name, "name") == 0) *(const char **)(options + field->offset) = r->network->layer[i].name;
        if (strcmp(field->name, "precision") == 0 && r->is_mixed)
            *(int32_t *)(options + field->offset) = is_bf16(config_of(r, i)) ? MST_MIXED_BFLOAT16 : MST_FLOAT32;
        if (strcmp(field->name, "moving_statistics") == 0)
            *(bool *)(options + field->offset) =
                mst_keras_keeps_statistics(json_array_get(r->layers, (size_t)i), inputs);
    }
}

static mst_status check_class(const network_reader *r, int64_t i) {
    const char *class_name = r->network->layer[i].class_name;
    if (mst_keras_is_custom_class(json_array_get(r->layers, (size_t)i)))
        return MST_FAIL(
            MST_UNIMPLEMENTED,
            "its class is not Keras' own but code of Python, which is never run here: replace it by layers");
    return mst_keras_class_find(class_name) ? MST_OK : unknown_class(class_name);
}

/* Whether the layer or its inner layer is frozen. */
static bool is_frozen(const json_t *config) {
    const json_t *inside = json_object_get(json_object_get(config, "layer"), "config");
    return json_is_false(json_object_get(config, "trainable")) || json_is_false(json_object_get(inside, "trainable"));
}

/* If layer I acts in training in a way that Muster does not support, notes that in the model. Such a model predicts as
 * in Keras but cannot be trained. */
static mst_status note_training(const network_reader *r, int64_t i, const json_t *call) {
    const mst_keras_layer *l = &r->network->layer[i];
    const json_t *layer = json_array_get(r->layers, (size_t)i);
    const char *what = mst_keras_only_trains(layer);
    if (!what && mst_keras_is_without_training(layer, call) && !mst_keras_keeps_statistics(layer, call))
        what = "training=False";
    if (!what || r->model->only_predicts) return MST_OK;
    const bool is_class = strcmp(what, l->class_name) == 0;
    r->model->only_predicts = mst_arena_print(&r->model->arena, "layer '%s' (%s)%s%s", l->name, l->class_name,
                                              is_class ? "" : ", ", is_class ? "" : what);
    return r->model->only_predicts ? MST_OK : MST_NO_MEMORY("for a network");
}

/* Adds layer I, of a class that Muster has. INPUTS are the arguments of the call that makes the layer; NULL: there are
 * no named arguments. */
static mst_status add_known(const network_reader *r, int64_t i, mst_layer_source source, const json_t *inputs,
                            mst_output *out) {
    const mst_keras_layer *l = &r->network->layer[i];
    MST_TRY(check_class(r, i));
    const mst_keras_class *class = mst_keras_class_find(l->class_name);
    const mst_layer_type *type = mst_keras_class_type(class);
    char *options = calloc(1, type->options_size);
    mst_option_memory memory = {0};
    if (!options) return MST_NO_MEMORY("for a layer");
    mst_status status = mst_keras_class_read(class, config_of(r, i), &memory, options, &r->axis[i]);
    if (!status) mst_keras_class_read_call(class, mst_keras_arguments_of(inputs), options);
    if (!status) status = check_policy(config_of(r, i));
    if (!status) status = note_training(r, i, inputs);
    set_common(r, i, type, inputs, options);
    if (!status) {
        *out = mst_layer_append(type->name, source, options);
        status = mst_model_check(r->model);
        if (!status && is_frozen(config_of(r, i))) status = mst_model_set_trainable(r->model, l->name, false);
    }
    mst_keras_class_free(class, options);
    mst_option_memory_free(&memory);
    free(options);
    return status;
}

/* ---- lists of layers ---- */

/* Keeps the place of the weights of LAYER, for a model that was made flat. False if memory is out. */
static bool keep_place(const network_reader *r, const json_t *layer, mst_keras_layer *out) {
    const char *path = json_string_value(json_object_get(layer, "path"));
    const char *group = json_string_value(json_object_get(layer, "group"));
    if (!r->is_flat || !path) return true;
    out->path = mst_arena_string(&r->network->arena, path);
    if (group) out->group = mst_arena_string(&r->network->arena, group);
    return out->path && (out->group || !group);
}

/* The class of the inner layer of a layer of CLASS_NAME; NULL: there is none, or it is damaged. */
static const char *class_inside(const char *class_name, const json_t *config) {
    const mst_keras_class *class = mst_keras_class_find(class_name);
    if (!class || !mst_keras_class_type(class)->inner) return NULL;
    return json_string_value(json_object_get(json_object_get(config, "layer"), "class_name"));
}

static mst_status list_layers(network_reader *r, const json_t *layers) {
    const size_t count = json_array_size(layers);
    mst_keras_network *n = r->network;
    if (!json_is_array(layers) || count < 1) return malformed(r, "no layers");
    if (count > MOST_LAYERS) return malformed(r, "too many layers");
    r->layers = layers;
    n->layer = mst_arena_alloc(&n->arena, count * sizeof *n->layer);
    r->axis = calloc(count, sizeof *r->axis);
    if (!n->layer || !r->axis) return MST_NO_MEMORY("for a network");
    for (size_t i = 0; i < count; i++) {
        const json_t *layer = json_array_get(layers, i), *config = json_object_get(layer, "config");
        const char *class_name = json_string_value(json_object_get(layer, "class_name"));
        const char *name = json_string_value(json_object_get(config, "name"));
        if (!name) name = json_string_value(json_object_get(layer, "name"));
        if (!class_name || !name || !json_is_object(config)) return malformed(r, "a layer without class or name");
        mst_keras_layer *l = &n->layer[i];
        *l = (mst_keras_layer){.name = mst_arena_string(&n->arena, name),
                               .class_name = mst_arena_string(&n->arena, class_name)};
        const char *inside = class_inside(class_name, config);
        if (inside && !(l->inside = mst_arena_string(&n->arena, inside))) return MST_NO_MEMORY("for a network");
        if (!l->name || !l->class_name || !keep_place(r, layer, l)) return MST_NO_MEMORY("for a network");
        if (mst_names_get(&r->names, n->layer[i].name) < 0)
            MST_TRY(mst_names_set(&r->names, n->layer[i].name, (int64_t)i));
        r->axis[i] = -1;
        r->is_mixed |= is_bf16(config);
        n->num_layers++;
    }
    return MST_OK;
}

/* Adds the input of a stack. Its shape is that of an InputLayer or the first layer, or the one for which the model was
 * built. */
static mst_status add_first_input(const network_reader *r, const json_t *object) {
    const json_t *config = json_object_get(object, "config"), *first = config_of(r, 0), *shape = shape_of(first);
    const bool is_input = strcmp(r->network->layer[0].class_name, "InputLayer") == 0;
    const char *dtype = is_input ? dtype_text(first) : "";
    mst_output input;
    if (!shape) shape = json_object_get(json_object_get(object, "build_config"), "input_shape");
    if (!json_is_array(shape)) shape = json_object_get(config, "build_input_shape");
    if (!is_input && !json_is_array(shape)) return MST_OK;
    return add_input(r, is_input ? r->network->layer[0].name : NULL, shape, dtype, &input);
}

static mst_status read_sequential(network_reader *r, const json_t *object) {
    const json_t *config = json_object_get(object, "config");
    mst_output output;
    r->network->is_sequential = true;
    MST_TRY(list_layers(r, json_is_array(config) ? config : json_object_get(config, "layers")));
    MST_TRY(add_first_input(r, object));
    for (int64_t i = 0; i < r->network->num_layers; i++)
        if (i > 0 || strcmp(r->network->layer[i].class_name, "InputLayer") != 0)
            MST_TRY(of_layer(r, i, add_known(r, i, mst_source_model(r->model), NULL, &output)));
    return MST_OK;
}

/* ---- graphs of layers ---- */

/* The call whose result has the history [layer, number, tensor]; NULL if there is none. */
static keras_call *find_call(const network_reader *r, const json_t *history) {
    const char *name = json_string_value(json_array_get(history, 0));
    const json_int_t number = json_integer_value(json_array_get(history, 1));
    const int64_t layer = name ? mst_names_get(&r->names, name) : -1;
    if (layer < 0 || number < 0 || number >= r->first_call[layer + 1] - r->first_call[layer]) return NULL;
    return &r->call[r->first_call[layer] + number];
}

/* Adds the histories of the tensors in VALUE to OUT. A call in Keras 3 is {"args": [T] or [[T, T]], "kwargs": {...}},
 * where T has its history in "config". In Keras 2 it is [H, H], where H is [layer, number, tensor, kwargs]. */
static bool add_histories(const json_t *value, json_t *out) {
    size_t i;
    json_t *item;
    if (json_is_object(value)) {
        json_t *history = json_object_get(json_object_get(value, "config"), "keras_history");
        return json_is_array(history) && json_array_append(out, history) == 0;
    }
    if (!json_is_array(value)) return false;
    if (json_is_string(json_array_get(value, 0))) return json_array_append(out, (json_t *)(uintptr_t)value) == 0;
    json_array_foreach(value, i, item) if (!json_is_null(item) && !add_histories(item, out)) return false;
    return true;
}

/* Adds the histories of sources that are given by name, such as the last ones of attention. */
static bool add_named(const json_t *call, json_t *out) {
    for (int i = 0; mst_keras_source_names[i]; i++) {
        const json_t *value = json_object_get(mst_keras_arguments_of(call), mst_keras_source_names[i]);
        if (value && !json_is_null(value) && !add_histories(value, out)) return false;
    }
    return true;
}

static bool histories_of(const json_t *call, json_t *out) {
    const json_t *args = json_is_object(call) ? json_object_get(call, "args") : call;
    if (!json_is_array(args)) return false;
    for (size_t i = 0; i < json_array_size(args); i++)
        if (!json_is_array(json_array_get(args, i)) && !json_is_object(json_array_get(args, i))) return false;
    return add_histories(args, out) && add_named(call, out);
}

/* Finds the outputs with these HISTORIES. If one of them has not been made yet, *MISSING becomes the call that gives
 * it. */
static mst_status find_sources(const network_reader *r, const json_t *histories, mst_outputs *sources,
                               keras_call **missing) {
    const size_t count = json_array_size(histories);
    *sources = (mst_outputs){0};
    *missing = NULL;
    if (count < 1) return MST_FAIL(MST_CORRUPT, "what it is applied to is damaged, or no output of a layer");
    if (count > MST_MAX_OUTPUTS)
        return MST_FAIL(MST_UNIMPLEMENTED, "is applied to more than %d outputs", MST_MAX_OUTPUTS);
    for (size_t i = 0; i < count && !*missing; i++) {
        keras_call *from = find_call(r, json_array_get(histories, i));
        if (!from) return MST_FAIL(MST_CORRUPT, "what it is applied to is damaged, or no output of a layer");
        const mst_keras_layer *maker = &r->network->layer[from->layer];
        if (mst_keras_is_mask_op(maker->class_name))
            return MST_FAIL(MST_UNIMPLEMENTED, "is applied to '%.100s' (%s): there is no such layer here", maker->name,
                            maker->class_name);
        if (from->done)
            sources->output[sources->count++] = from->output;
        else
            *missing = from;
    }
    return MST_OK;
}

/* Checks the named arguments of CALL. In Muster they are options of the layer, so they must equal those of the layer's
 * FIRST call. */
static mst_status check_arguments(const network_reader *r, const keras_call *call, const keras_call *first) {
    static const char causal[] = "use_causal_mask";
    const json_t *arguments = mst_keras_arguments_of(call->inputs), *others = mst_keras_arguments_of(first->inputs);
    MST_TRY(mst_keras_arguments_check(json_array_get(r->layers, (size_t)call->layer), call->inputs));
    if (json_is_true(json_object_get(arguments, causal)) != json_is_true(json_object_get(others, causal)))
        return MST_FAIL(MST_UNIMPLEMENTED, "its calls differ in %s, which is an option of the layer here", causal);
    const json_t *layer = json_array_get(r->layers, (size_t)call->layer);
    if (mst_keras_keeps_statistics(layer, call->inputs) != mst_keras_keeps_statistics(layer, first->inputs))
        return MST_FAIL(MST_UNIMPLEMENTED, "its calls differ in training, which is an option of the layer here");
    return MST_OK;
}

/* Makes CALL. If another call must be made before it, sets *MISSING to that call instead. */
static mst_status make_call(const network_reader *r, keras_call *call, keras_call **missing) {
    mst_outputs sources;
    keras_call *first = &r->call[r->first_call[call->layer]]; /* of the layer */
    json_t *histories = json_array();
    if (!histories) return MST_NO_MEMORY("for a network");
    const bool has_histories = histories_of(call->inputs, histories);
    mst_status status = check_class(r, call->layer);
    if (!status && !has_histories) { /* an op, whose arguments may be other than those of layers */
        if (mst_keras_is_op(json_array_get(r->layers, (size_t)call->layer))) status = unknown_op();
        json_array_clear(histories);
    }
    if (!status) status = check_arguments(r, call, first);
    if (!status) status = note_training(r, call->layer, call->inputs);
    if (!status) status = find_sources(r, histories, &sources, missing);
    const json_t *mask = json_object_get(mst_keras_arguments_of(call->inputs), "mask");
    if (!status) status = mst_keras_masks_check(&r->masks, call->inputs, mask);
    json_decref(histories);
    if (!status && !*missing && !first->done && first != call) *missing = first;
    if (status || *missing) return status;
    call->done = true;
    if (call == first) return add_known(r, call->layer, mst_source_outputs(sources), call->inputs, &call->output);
    call->output = mst_layer_again(first->output, mst_source_outputs(sources));
    return mst_model_check(r->model);
}

static mst_status list_calls(network_reader *r) {
    const int64_t num_layers = r->network->num_layers;
    if (!(r->first_call = calloc((size_t)num_layers + 1, sizeof *r->first_call))) return MST_NO_MEMORY("for a network");
    for (int64_t i = 0; i < num_layers; i++) {
        const json_t *nodes = json_object_get(json_array_get(r->layers, (size_t)i), "inbound_nodes");
        const bool is_input = strcmp(r->network->layer[i].class_name, "InputLayer") == 0;
        const size_t count = is_input ? 1 : json_array_size(nodes);
        if (r->num_calls + (int64_t)count > MOST_CALLS) return malformed(r, "too many calls");
        MST_TRY(mst_grow(&r->call, sizeof *r->call, r->num_calls + (int64_t)count, &r->capacity));
        for (size_t k = 0; k < count; k++)
            r->call[r->num_calls++] =
                (keras_call){.layer = i, .number = (int64_t)k, .inputs = json_array_get(nodes, k)};
        r->first_call[i + 1] = r->num_calls;
    }
    return MST_OK;
}

/* Makes CALL, and before it the calls that it needs. STACK holds the waiting calls. It is used instead of recursion,
 * since a network may be deep. */
static mst_status make_with_sources(const network_reader *r, keras_call *call, keras_call **stack) {
    int64_t size = 0;
    stack[size++] = call;
    while (size > 0) {
        keras_call *top = stack[size - 1], *missing = NULL;
        MST_TRY(of_layer(r, top->layer, make_call(r, top, &missing)));
        top->waits = missing != NULL;
        if (!missing)
            size--;
        else if (missing->waits)
            return malformed(r, "layers that are applied to one another");
        else
            stack[size++] = missing;
    }
    return MST_OK;
}

/* Makes all calls in the order of the file, except that the sources of a call are made before it. */
static mst_status make_calls(const network_reader *r) {
    keras_call **stack = calloc((size_t)r->num_calls + 1, sizeof(keras_call *));
    mst_status status = stack ? MST_OK : MST_NO_MEMORY("for a network");
    for (int64_t i = 0; i < r->num_calls && !status; i++)
        if (!r->call[i].done && !mst_keras_is_mask_op(r->network->layer[r->call[i].layer].class_name))
            status = make_with_sources(r, &r->call[i], stack);
    free(stack);
    return status;
}

/* Element I of LIST, [["input", 0, 0], ...]. A list with one history may also be ["input", 0, 0]. */
static const json_t *history_at(const json_t *list, size_t i) {
    if (json_is_string(json_array_get(list, 0))) return i == 0 ? list : NULL;
    return json_array_get(list, i);
}

/* ---- inputs and outputs ---- */

/* The names of inputs that are a dict. */
typedef struct input_names {
    mst_names wanted;  /* their keys, with their indices */
    const char **name; /* [count] a key; NULL: the layer keeps its own name */
    bool *is_input;    /* [num_layers] */
} input_names;

static void input_names_free(input_names *n) {
    mst_names_free(&n->wanted);
    free(n->name);
    free(n->is_input);
}

/* Lets input I keep the name of its layer. Then the input whose key is that name must keep its own too, and so on. */
static void keep_name(const network_reader *r, const json_t *list, input_names *n, int64_t i) {
    while (i >= 0 && n->name[i]) {
        n->name[i] = NULL;
        const keras_call *call = find_call(r, history_at(list, (size_t)i));
        i = call ? mst_names_get(&n->wanted, r->network->layer[call->layer].name) : -1;
    }
}

/* Chooses the names of the inputs of a dict. In Keras they are its keys, whatever the names of their layers. A key is
 * not used if it is not a valid name, or if it is the name of another layer that keeps it. */
static mst_status name_inputs(const network_reader *r, const json_t *list, const json_t *keys, input_names *n) {
    const size_t count = json_array_size(keys);
    n->name = calloc(count + 1, sizeof *n->name);
    n->is_input = calloc((size_t)r->network->num_layers + 1, sizeof *n->is_input);
    if (!n->name || !n->is_input) return MST_NO_MEMORY("for a network");
    for (size_t i = 0; i < count; i++) {
        const keras_call *call = find_call(r, history_at(list, i));
        if (call) n->is_input[call->layer] = true;
        if ((n->name[i] = json_string_value(json_array_get(keys, i))))
            MST_TRY(mst_names_set(&n->wanted, n->name[i], (int64_t)i));
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t layer = n->name[i] ? mst_names_get(&r->names, n->name[i]) : -1;
        if (n->name[i] && (!mst_name_is_valid(n->name[i]) || (layer >= 0 && !n->is_input[layer])))
            keep_name(r, list, n, (int64_t)i);
    }
    return MST_OK;
}

static mst_status add_named_inputs(const network_reader *r, const json_t *list, const input_names *n, size_t named) {
    for (size_t i = 0; history_at(list, i); i++) {
        keras_call *call = find_call(r, history_at(list, i));
        if (!call || call->done) return malformed(r, "an input that no layer is, or that comes twice");
        const json_t *config = config_of(r, call->layer);
        const char *name = i < named && n->name[i] ? n->name[i] : r->network->layer[call->layer].name;
        MST_TRY(of_layer(r, call->layer, add_input(r, name, shape_of(config), dtype_text(config), &call->output)));
        call->done = true;
    }
    return MST_OK;
}

/* Adds the inputs in LIST. KEYS are the keys if they are a dict, else NULL. */
static mst_status add_inputs(const network_reader *r, const json_t *list, const json_t *keys) {
    input_names names = {.name = NULL};
    mst_status status = name_inputs(r, list, keys, &names);
    if (!status) status = add_named_inputs(r, list, &names, json_array_size(keys));
    input_names_free(&names);
    return status;
}

static mst_status set_outputs(const network_reader *r, const json_t *list) {
    mst_outputs outputs = {0};
    for (size_t i = 0; history_at(list, i); i++) {
        const keras_call *call = find_call(r, history_at(list, i));
        if (!call || !call->done || i >= MST_MAX_OUTPUTS)
            return malformed(r, "an output that no layer gives, or too many");
        outputs.output[outputs.count++] = call->output;
    }
    mst_model_outputs(r->model, outputs);
    return mst_model_check(r->model);
}

/* In Muster, outputs have the names of their layers. So no key of a dict of outputs may be the name of another output's
 * layer. */
static mst_status check_output_keys(const network_reader *r, const json_t *list, const json_t *keys) {
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        const char *own = json_string_value(json_array_get(history_at(list, i), 0));
        for (size_t k = 0; key && own && strcmp(key, own) != 0 && k < json_array_size(list); k++) {
            const char *name = json_string_value(json_array_get(history_at(list, k), 0));
            if (!name || strcmp(name, key) != 0) continue;
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "'%s': its output '%.100s' is of the layer '%.100s', while the layer '%.100s' is another "
                            "output: outputs go by the names of their layers here: give the layers the names of the "
                            "outputs",
                            r->file, key, own, key);
        }
    }
    return MST_OK;
}

static mst_status read_functional(network_reader *r, const json_t *config) {
    r->plain_layers = mst_keras_layers_for_ops(json_object_get(config, "layers"));
    if (!r->plain_layers) return MST_NO_MEMORY("for a network");
    MST_TRY(list_layers(r, r->plain_layers));
    if (mst_keras_masks_find(r->layers, &r->names, &r->masks)) return mst_error_prefix("'%s'", r->file);
    MST_TRY(list_calls(r));
    MST_TRY(add_inputs(r, json_object_get(config, "input_layers"), json_object_get(config, MST_KERAS_INPUT_KEYS)));
    MST_TRY(make_calls(r));
    const json_t *outputs = json_object_get(config, "output_layers");
    MST_TRY(check_output_keys(r, outputs, json_object_get(config, MST_KERAS_OUTPUT_KEYS)));
    return set_outputs(r, outputs);
}

/* ---- the whole ---- */

/* Checks the axis of a batch normalization, whose number Keras 2 writes: in Muster it is always the last. */
static mst_status check_source(const mst_model_layer *layer, int64_t axis, mst_shape source) {
    if (axis >= 0 && axis != source.ndim - 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "is over axis %lld, here it must be the last one", (long long)axis);
    return mst_keras_preprocessing_check(layer, source);
}

/* Refuses an op whose sources have different numbers of dimensions. Layers insert dimensions of 1 after the batch. Ops
 * align the last dimensions, so the batch of one source would be combined with another dimension. */
static mst_status check_op(const network_reader *r, int64_t at, const mst_model_node *node,
                           const mst_model_description *d) {
    const int ndim = mst_value_spec(d->value[node->src[0]]).shape.ndim;
    if (!mst_keras_was_op(json_array_get(r->layers, (size_t)at))) return MST_OK;
    for (int i = 1; i < node->num_src; i++)
        if (mst_value_spec(d->value[node->src[i]]).shape.ndim != ndim)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "is an op of outputs with %d and %d dimensions, whose batches do not meet: reshape one of "
                            "them, or take the layer that does the same",
                            ndim, mst_value_spec(d->value[node->src[i]]).shape.ndim);
    return MST_OK;
}

/* Makes the checks that depend on the shapes of the layers' sources. */
static mst_status check_sources(const network_reader *r) {
    mst_model_description d;
    mst_status status = mst_model_describe(r->model, &d);
    for (int64_t i = 0; !status && d.graph && i < r->model->num_nodes; i++) {
        const mst_model_node *node = &r->model->node[i];
        const mst_model_layer *layer = &r->model->layer[node->layer];
        const int64_t at = mst_names_get(&r->names, layer->name);
        if (at < 0 || node->num_src < 1 || !d.order.has_node[i]) continue;
        status = of_layer(r, at, check_source(layer, r->axis[at], mst_value_spec(d.value[node->src[0]]).shape));
        if (!status) status = of_layer(r, at, check_op(r, at, node, &d));
    }
    mst_model_forget(&d);
    return status;
}

static mst_status read_network(network_reader *r, const json_t *object) {
    const char *class_name = json_string_value(json_object_get(object, "class_name"));
    const json_t *config = json_object_get(object, "config");
    if (!class_name || !config) return MST_FAIL(MST_CORRUPT, "'%s': has no network of Keras", r->file);
    if (!mst_keras_is_model(class_name) || mst_keras_is_custom_class(object))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "'%s': its model is of the class '%.100s', code of Python, which is never run here: Sequential "
                        "and Functional models are read",
                        r->file, class_name);
    MST_TRY(strcmp(class_name, "Sequential") == 0 ? read_sequential(r, object) : read_functional(r, config));
    return check_sources(r);
}

static mst_status read_name(const json_t *object, mst_model *model) {
    const char *name = json_string_value(json_object_get(json_object_get(object, "config"), "name"));
    if (!name || !*name) return MST_OK;
    char *own = mst_arena_string(&model->arena, name);
    if (!own) return MST_NO_MEMORY("for a network");
    mst_make_plain(own);
    model->name = own;
    return MST_OK;
}

mst_status mst_keras_network_read(const char *name, const json_t *object, mst_model *model, mst_keras_network *out) {
    network_reader r = {.file = name, .model = model, .network = out};
    json_t *flat;
    *out = (mst_keras_network){0};
    mst_status status = mst_keras_flatten(name, object, &flat);
    r.is_flat = flat != NULL;
    if (!status) status = read_network(&r, flat ? flat : object);
    if (!status) status = read_name(object, model);
    json_decref(flat);
    json_decref(r.plain_layers);
    mst_names_free(&r.names);
    mst_keras_masks_free(&r.masks);
    free(r.first_call);
    free(r.axis);
    free(r.call);
    return status;
}
