#include "model_file/keras/arithmetic_ops.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model_file/keras/indexing.h"
#include "model_file/keras/number_list.h"
#include "muster/layers.h"

typedef enum op_sort {
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    POWER,
    UNARY, /* takes one tensor */
    TAKE,
    INDEXING
} op_sort;

typedef struct op_kind {
    const char *class_name, *function; /* the class in Keras 3, the function in Keras 2; NULL: none */
    op_sort sort;
    const char *layer; /* the class of the layer for two tensors; NULL: none */
    double number;     /* for UNARY: the exponent; 0 stands for -x */
} op_kind;

static const op_kind kinds[] = {
    {"Add", "__operators__.add", ADD, "Add", 0},
    {"Add", "math.add", ADD, "Add", 0},
    {"Subtract", "math.subtract", SUBTRACT, "Subtract", 0},
    {"Multiply", "math.multiply", MULTIPLY, "Multiply", 0},
    {"TrueDivide", "math.truediv", DIVIDE, "Divide", 0},
    {"Divide", "math.divide", DIVIDE, "Divide", 0},
    {"Power", "math.pow", POWER, NULL, 0},
    {"Negative", "math.negative", UNARY, NULL, 0},
    {"Square", "math.square", UNARY, NULL, 2},
    {"Sqrt", "math.sqrt", UNARY, NULL, 0.5},
    {"Reciprocal", "math.reciprocal", UNARY, NULL, -1},
    {"Take", NULL, TAKE, NULL, 0},
    {"GetItem", NULL, INDEXING, NULL, 0},
};

/* An operand of an op: a tensor, or a constant of numbers. The other member is NULL. */
typedef struct operand {
    const json_t *tensor, *constant;
} operand;

/* Whether MODULE is that of Keras' ops. .h5 files have no modules (NULL). */
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
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *own = is_lambda ? kinds[i].function : kinds[i].class_name;
        if (own && strcmp(name, own) == 0) return &kinds[i];
    }
    return NULL;
}

bool mst_keras_is_op(const json_t *layer) {
    return kind_of(layer) != NULL;
}

/* ---- operands of ops ---- */

/* Reads an operand. In Keras 3, a tensor is an object that contains its history. In Keras 2, it is only the history:
 * ["layer", call, tensor]. */
static bool read_operand(const json_t *value, operand *out) {
    const char *name = json_string_value(json_array_get(value, 0));
    if (name && strcmp(name, "_CONSTANT_VALUE") == 0) value = json_array_get(value, 2);
    *out = (operand){.constant = mst_keras_numbers_in(value)};
    if (out->constant) return true;
    const json_t *history = json_object_get(json_object_get(value, "config"), "keras_history");
    if ((name && json_array_size(value) >= 3) || json_is_array(history)) out->tensor = value;
    return out->tensor != NULL;
}

/* Reads the operands of CALL. Keras 3: {"args": [a, b]}. Keras 2: ["layer", call, tensor, {"y": b}], where the first
 * three elements are a. For ops of one tensor, b is missing or is read elsewhere. */
static bool read_operands(const op_kind *kind, const json_t *call, operand *a, operand *b) {
    const json_t *args = json_object_get(call, "args");
    const bool is_3 = json_is_object(call), one = kind->sort == UNARY || kind->sort == TAKE || kind->sort == INDEXING;
    *b = (operand){0};
    if (!read_operand(is_3 ? json_array_get(args, 0) : call, a)) return false;
    if (one) return a->tensor != NULL;
    return read_operand(is_3 ? json_array_get(args, 1) : json_object_get(json_array_get(call, 3), "y"), b);
}

/* ---- the layer that computes the same as an op ---- */

/* The layer that computes the same as an op in one of its calls. */
typedef struct equivalent {
    const char *class_name; /* of the layer; NULL: there is none */
    json_t *config;         /* without the name */
} equivalent;

/* Takes ownership of CONFIG, which is NULL if a number in it is not finite. */
static equivalent equivalent_with(const char *class_name, json_t *config) {
    return (equivalent){config ? class_name : NULL, config};
}

static double same(double x) {
    return x;
}

static double negative(double x) {
    return -x;
}

static double inverse(double x) {
    return 1 / x;
}

/* Applies F to a number, or to each number of a list. NULL if a result is not finite. */
static json_t *each(const json_t *numbers, double (*f)(double)) {
    if (!json_is_array(numbers)) return json_real(f(json_number_value(numbers)));
    json_t *list = json_array();
    for (size_t i = 0; list && i < json_array_size(numbers); i++)
        if (json_array_append_new(list, each(json_array_get(numbers, i), f))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* A Rescaling. Takes ownership of SCALE and OFFSET. */
static equivalent rescaling(json_t *scale, json_t *offset) {
    return equivalent_with("Rescaling", json_pack("{s:o, s:o}", "scale", scale, "offset", offset));
}

static equivalent power(double exponent, double factor) {
    return equivalent_with("Power", json_pack("{s:f, s:f}", "exponent", exponent, "factor", factor));
}

/* The layer for an op of a tensor and a constant. */
static equivalent of_constant(const op_kind *kind, const operand *a, const operand *b) {
    const json_t *constant = a->tensor ? b->constant : a->constant;
    const bool is_number = json_is_number(constant), behind = a->tensor != NULL; /* behind: x op constant */
    const double number = json_number_value(constant);
    switch (kind->sort) {
        case ADD: return rescaling(json_real(1), each(constant, same));
        case SUBTRACT: return rescaling(json_real(behind ? 1 : -1), each(constant, behind ? negative : same));
        case MULTIPLY: return rescaling(each(constant, same), json_real(0));
        case DIVIDE:
            if (behind) return rescaling(each(constant, inverse), json_real(0));
            return is_number ? power(-1, number) : (equivalent){0};
        case POWER: return behind && is_number ? power(number, 1) : (equivalent){0};
        default: return (equivalent){0};
    }
}

static equivalent equivalent_of(const op_kind *kind, const json_t *layer, const json_t *call) {
    operand a, b;
    if (!read_operands(kind, call, &a, &b) || (!a.tensor && !b.tensor)) return (equivalent){0};
    if (kind->sort == UNARY) return kind->number == 0 ? rescaling(json_real(-1), json_real(0)) : power(kind->number, 1);
    if (kind->sort == TAKE) return equivalent_with("Take", mst_keras_take_config(layer, call));
    if (kind->sort == INDEXING) return equivalent_with("Take", mst_keras_indexing_config(a.tensor, call));
    if (!a.tensor || !b.tensor) return of_constant(kind, &a, &b);
    return kind->layer ? equivalent_with(kind->layer, json_object()) : (equivalent){0};
}

static bool is_same(const equivalent *a, const equivalent *b) {
    return a->class_name && b->class_name && strcmp(a->class_name, b->class_name) == 0 &&
           json_equal(a->config, b->config);
}

/* ---- replacing an op by its layer ---- */

/* A new reference to TENSOR. For Keras 2, it is the history without further elements of its list. */
static json_t *tensor_alone(const json_t *tensor) {
    if (json_is_object(tensor)) return json_incref((json_t *)(uintptr_t)tensor);
    return json_pack("[O, O, O]", json_array_get(tensor, 0), json_array_get(tensor, 1), json_array_get(tensor, 2));
}

/* CALL, a call of an op, in the form of a call of a layer. The form is of the same generation of Keras, 2 or 3. */
static json_t *layer_call(const op_kind *kind, const json_t *call) {
    operand operands[2] = {0};
    json_t *tensors = json_array();
    if (!read_operands(kind, call, &operands[0], &operands[1])) operands[0].tensor = NULL;
    for (int i = 0; i < 2; i++)
        if (operands[i].tensor) json_array_append_new(tensors, tensor_alone(operands[i].tensor));
    return json_is_object(call) ? json_pack("{s:[o]}", "args", tensors) : tensors;
}

static const char was_op[] = "muster_was_op";

bool mst_keras_was_op(const json_t *layer) {
    return json_is_true(json_object_get(layer, was_op));
}

/* A copy of LAYER, an op, as the layer E with CALLS. Takes ownership of the configuration of E and of CALLS. */
static json_t *replaced(const json_t *layer, const equivalent *e, json_t *calls) {
    json_t *out = json_copy((json_t *)(uintptr_t)layer); /* keeps the name and place of the op */
    json_t *config = json_copy(e->config);
    json_object_del(out, "module");
    json_object_set_new(out, was_op, json_true());
    json_object_set(config, "name", json_object_get(json_object_get(layer, "config"), "name"));
    json_object_set_new(out, "class_name", json_string(e->class_name));
    json_object_set_new(out, "config", config);
    json_object_set_new(out, "inbound_nodes", calls);
    return out;
}

/* The layer that computes the same as the op LAYER; LAYER itself if there is none. */
static json_t *layer_for(const json_t *layer) {
    const json_t *calls = json_object_get(layer, "inbound_nodes"), *call;
    const op_kind *kind = json_object_get(json_object_get(layer, "config"), "name") ? kind_of(layer) : NULL;
    if (!kind) return json_incref((json_t *)(uintptr_t)layer);
    const equivalent e = equivalent_of(kind, layer, json_array_get(calls, 0)); /* must be equal for all calls */
    bool has_layer = e.class_name != NULL;
    json_t *layer_calls = json_array();
    size_t i;
    json_array_foreach(calls, i, call) {
        const equivalent other = equivalent_of(kind, layer, call);
        has_layer = has_layer && is_same(&e, &other);
        if (has_layer) json_array_append_new(layer_calls, layer_call(kind, call));
        json_decref(other.config);
    }
    json_t *out = has_layer ? replaced(layer, &e, json_incref(layer_calls)) : json_incref((json_t *)(uintptr_t)layer);
    json_decref(layer_calls);
    json_decref(e.config);
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

/* ---- writing ---- */

static bool is_layer(const mst_model_layer *layer, const char *type) {
    return strcmp(layer->type->name, type) == 0;
}

const char *mst_keras_op_name(const mst_model_layer *layer) {
    if (is_layer(layer, "take")) return "Take";
    if (is_layer(layer, "power"))
        return ((const mst_layer_power_options *)layer->options)->exponent == -1 ? "Divide" : "Power";
    const bool divides =
        is_layer(layer, "merge") && ((const mst_layer_merge_options *)layer->options)->kind == MST_MERGE_DIVIDE;
    return divides ? "Divide" : NULL;
}

/* A number that was given as 0 is kept as -0 (graph/field.h), and `+ 0.0` makes it 0 again. */
json_t *mst_keras_op_arguments(const mst_model_layer *layer, json_t *tensors) {
    if (is_layer(layer, "take")) {
        json_array_append_new(tensors, mst_keras_take_indices(layer->options));
    } else if (is_layer(layer, "power")) {
        const mst_layer_power_options *o = layer->options;
        if (o->exponent == -1)
            json_array_insert_new(tensors, 0, json_real(o->factor + 0.0));
        else
            json_array_append_new(tensors, json_real(o->exponent + 0.0));
    }
    return tensors;
}

mst_status mst_keras_op_write(const mst_model_layer *layer, json_t *config) {
    if (is_layer(layer, "take"))
        json_object_set_new(config, "axis", json_integer(((const mst_layer_take_options *)layer->options)->axis));
    if (!is_layer(layer, "power")) return MST_OK;
    const mst_layer_power_options *o = layer->options;
    if (o->factor == 1 || o->exponent == -1) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "layer '%s': cannot be saved for Keras, whose powers have no factor, but for an exponent of -1: "
                    "put a rescaling behind it",
                    layer->name);
}
