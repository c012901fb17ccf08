#include "model_file/arithmetic_ops.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct op_kind {
    const char *class_name, *function; /* Keras 3's, and Keras 2's */
    const char *layer;                 /* of two tensors; NULL: none */
} op_kind;

static const op_kind kinds[] = {
    {"Add", "__operators__.add", "Add"},       {"Add", "math.add", "Add"},
    {"Subtract", "math.subtract", "Subtract"}, {"Multiply", "math.multiply", "Multiply"},
    {"TrueDivide", "math.truediv", NULL},      {"Divide", "math.divide", NULL},
};

/* What an op is applied to: a tensor, or a number. */
typedef struct operand {
    const json_t *tensor;
    double number;
} operand;

/* .h5 files do not say where a class is from. */
static bool is_of_ops(const char *module) {
    static const char *const packages[] = {"keras.src.ops.", "keras.ops."};
    for (size_t i = 0; module && i < sizeof packages / sizeof *packages; i++)
        if (strncmp(module, packages[i], strlen(packages[i])) == 0) return true;
    return !module;
}

static const op_kind *kind_of(const json_t *layer) {
    const char *class_name = json_string_value(json_object_get(layer, "class_name"));
    const char *module = json_string_value(json_object_get(layer, "module"));
    const char *function = json_string_value(json_object_get(json_object_get(layer, "config"), "function"));
    const bool is_lambda = class_name && strcmp(class_name, "TFOpLambda") == 0;
    const char *name = is_lambda ? function : class_name;
    if (!name || (!is_lambda && !is_of_ops(module))) return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, is_lambda ? kinds[i].function : kinds[i].class_name) == 0) return &kinds[i];
    return NULL;
}

/* Of Keras 3 a tensor is an object with its history, of Keras 2 the history: ["layer", call, tensor]. */
static bool read_operand(const json_t *value, operand *out) {
    const char *name = json_string_value(json_array_get(value, 0));
    if (name && strcmp(name, "_CONSTANT_VALUE") == 0) value = json_array_get(value, 2);
    *out = (operand){.number = json_number_value(value)};
    if (json_is_number(value)) return true;
    const json_t *history = json_object_get(json_object_get(value, "config"), "keras_history");
    if ((name && json_array_size(value) >= 3) || json_is_array(history)) out->tensor = value;
    return out->tensor != NULL;
}

/* Keras 3: {"args": [a, b]}; Keras 2: ["layer", call, tensor, {"y": b}], where the first three are a. */
static bool read_operands(const json_t *call, operand *a, operand *b) {
    const json_t *args = json_object_get(call, "args");
    if (json_is_object(call))
        return read_operand(json_array_get(args, 0), a) && read_operand(json_array_get(args, 1), b);
    return read_operand(call, a) && read_operand(json_object_get(json_array_get(call, 3), "y"), b);
}

/* What an op does in one call, as a layer does it. */
typedef struct equivalent {
    const char *class_name; /* of the layer; NULL: there is none */
    double scale, offset;   /* of a Rescaling */
} equivalent;

/* Of x and a number. */
static equivalent rescaling_of(const op_kind *kind, const operand *a, const operand *b) {
    const double number = a->tensor ? b->number : a->number;
    const char *op = kind->class_name;
    equivalent e = {"Rescaling", 1, 0};
    if (strcmp(op, "Add") == 0) {
        e.offset = number;
    } else if (strcmp(op, "Subtract") == 0) {
        e.scale = a->tensor ? 1 : -1;
        e.offset = a->tensor ? -number : number;
    } else if (strcmp(op, "Multiply") == 0) {
        e.scale = number;
    } else if (a->tensor) {
        e.scale = 1 / number;
    } else {
        e.class_name = NULL; /* number / x */
    }
    if (!isfinite(e.scale)) e.class_name = NULL;
    return e;
}

static equivalent equivalent_of(const op_kind *kind, const json_t *call) {
    operand a, b;
    if (!read_operands(call, &a, &b) || (!a.tensor && !b.tensor)) return (equivalent){0};
    return a.tensor && b.tensor ? (equivalent){.class_name = kind->layer} : rescaling_of(kind, &a, &b);
}

static bool is_same(const equivalent *a, const equivalent *b) {
    return a->class_name && b->class_name && strcmp(a->class_name, b->class_name) == 0 && a->scale == b->scale &&
           a->offset == b->offset;
}

/* A tensor without what else Keras 2 has in the list of its history. */
static json_t *tensor_alone(const json_t *tensor) {
    if (json_is_object(tensor)) return json_incref((json_t *)(uintptr_t)tensor);
    return json_pack("[O, O, O]", json_array_get(tensor, 0), json_array_get(tensor, 1), json_array_get(tensor, 2));
}

/* CALL as a layer has it, in the form of its generation. */
static json_t *layer_call(const json_t *call) {
    operand operands[2] = {0};
    json_t *tensors = json_array();
    if (!read_operands(call, &operands[0], &operands[1])) operands[0].tensor = NULL;
    for (int i = 0; i < 2; i++)
        if (operands[i].tensor) json_array_append_new(tensors, tensor_alone(operands[i].tensor));
    return json_is_object(call) ? json_pack("{s:[o]}", "args", tensors) : tensors;
}

/* The layer that does what the op LAYER does; LAYER itself where there is none. */
static json_t *layer_for(const json_t *layer) {
    const json_t *calls = json_object_get(layer, "inbound_nodes"), *call;
    json_t *name = json_object_get(json_object_get(layer, "config"), "name");
    const op_kind *kind = name ? kind_of(layer) : NULL;
    if (!kind) return json_incref((json_t *)(uintptr_t)layer);
    equivalent e = equivalent_of(kind, json_array_get(calls, 0)); /* all calls must have the same */
    json_t *layer_calls = json_array();
    size_t i;
    json_array_foreach(calls, i, call) {
        const equivalent other = equivalent_of(kind, call);
        if (!is_same(&e, &other)) e.class_name = NULL;
        if (e.class_name) json_array_append_new(layer_calls, layer_call(call));
    }
    if (!e.class_name) {
        json_decref(layer_calls);
        return json_incref((json_t *)(uintptr_t)layer);
    }
    json_t *out = json_copy((json_t *)(uintptr_t)layer); /* it is where the op was */
    const bool is_rescaling = strcmp(e.class_name, "Rescaling") == 0;
    json_object_del(out, "module");
    json_object_set_new(out, "class_name", json_string(e.class_name));
    json_object_set_new(out, "config",
                        is_rescaling ? json_pack("{s:O, s:f, s:f}", "name", name, "scale", e.scale, "offset", e.offset)
                                     : json_pack("{s:O}", "name", name));
    json_object_set_new(out, "inbound_nodes", layer_calls);
    return out;
}

json_t *mst_keras_layers_for_ops(const json_t *layers) {
    json_t *out = json_array(), *layer;
    size_t i;
    json_array_foreach(layers, i, layer) if (json_array_append_new(out, layer_for(layer))) {
        json_decref(out);
        return NULL;
    }
    return out;
}
