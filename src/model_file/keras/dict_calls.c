#include "model_file/keras/dict_calls.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/no_memory.h"
#include "model_file/keras/sorted_keys.h"

enum { MOST_DEPTH = 64 };

typedef struct dict_call {
    const char *file, *model; /* the name of the file; the layer that is called */
    json_t *list;             /* its inputs as a list */
} dict_call;

/* Whether VALUE is a reference to a tensor: ["layer", 0, 0]. */
static bool is_reference(const json_t *value) {
    return json_is_string(json_array_get(value, 0));
}

/* Whether VALUE, an object, is a tensor of Keras 3 and not a dict of the user. */
static bool is_tensor(const json_t *value) {
    return json_object_get(value, "class_name") && json_object_get(value, "config");
}

static bool is_dict(const json_t *value) {
    return json_is_object(value) && !is_tensor(value);
}

static bool has_dict(const json_t *value, int depth) {
    bool has = is_dict(value);
    for (size_t i = 0; i < json_array_size(value) && !has && depth < MOST_DEPTH; i++)
        has = has_dict(json_array_get(value, i), depth + 1);
    return has;
}

static mst_status other_members(const dict_call *c, const char *key) {
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "'%s': the model '%.100s' in it is called with a dict that has not the members which the inputs of "
                    "the model are called: look at '%.100s'",
                    c->file, c->model, key);
}

/* ENDS are the inputs of the called model, as its config lists them, or a part of that list. NULL: one input. */
static mst_status order(const dict_call *c, const json_t *ends, const json_t *value, int depth);

/* Adds the member KEY of the dict VALUE to the list. */
static mst_status order_member(const dict_call *c, const json_t *ends, const json_t *value, const char *key,
                               int depth) {
    const json_t *member = json_object_get(value, key);
    if (!member) return other_members(c, key);
    return order(c, ends, member, depth);
}

/* Orders the members of VALUE for a model that has a dict of inputs too. */
static mst_status order_by_keys(const dict_call *c, const json_t *ends, const json_t *value, int depth) {
    const char **keys = mst_sorted_keys(ends), *key;
    const json_t *member;
    mst_status status = keys ? MST_OK : MST_NO_MEMORY("for a network");
    for (size_t i = 0; !status && keys[i]; i++)
        status = order_member(c, json_object_get(ends, keys[i]), value, keys[i], depth + 1);
    json_object_foreach((json_t *)(uintptr_t)value, key, member) if (!status && !json_object_get(ends, key)) status =
        other_members(c, key);
    mst_sorted_keys_free(keys);
    return status;
}

/* Orders the members of VALUE for a model with a list of inputs, or a single one. Other members are ignored. */
static mst_status order_by_names(const dict_call *c, const json_t *ends, const json_t *value, int depth) {
    if (is_reference(ends)) return order_member(c, NULL, value, json_string_value(json_array_get(ends, 0)), depth + 1);
    for (size_t i = 0; i < json_array_size(ends); i++) {
        const json_t *end = json_array_get(ends, i);
        if (!is_reference(end)) return other_members(c, "");
        MST_TRY(order_member(c, NULL, value, json_string_value(json_array_get(end, 0)), depth + 1));
    }
    return MST_OK;
}

/* Adds VALUE, the argument of a call of a model with the inputs ENDS, to the list, input by input. */
static mst_status order(const dict_call *c, const json_t *ends, const json_t *value, int depth) {
    const bool is_list = json_is_array(value) && !is_reference(value);
    if (depth > MOST_DEPTH) return other_members(c, "");
    if (is_dict(value)) {
        if (json_is_object(ends)) return order_by_keys(c, ends, value, depth);
        return order_by_names(c, ends, value, depth);
    }
    if (!is_list)
        return json_array_append(c->list, (json_t *)(uintptr_t)value) ? MST_NO_MEMORY("for a network") : MST_OK;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const bool alike = json_is_array(ends) && !is_reference(ends);
        MST_TRY(order(c, alike ? json_array_get(ends, i) : NULL, json_array_get(value, i), depth + 1));
    }
    return MST_OK;
}

/* Makes *OUT, a list that replaces VALUE, if VALUE contains a dict; else *OUT is NULL. VALUE has all inputs, or all
 * masks, of a call. */
static mst_status make_list(dict_call *c, const json_t *ends, const json_t *value, json_t **out) {
    *out = NULL;
    if (!has_dict(value, 0)) return MST_OK;
    if (!(c->list = json_array())) return MST_NO_MEMORY("for a network");
    const mst_status status = order(c, ends, value, 0);
    if (status)
        json_decref(c->list);
    else
        *out = c->list;
    return status;
}

static mst_status order_argument(dict_call *c, const json_t *ends, json_t *arguments, const char *key) {
    json_t *list;
    MST_TRY(make_list(c, ends, json_object_get(arguments, key), &list));
    return list && json_object_set_new(arguments, key, list) ? MST_NO_MEMORY("for a network") : MST_OK;
}

/* Replaces dicts in call I. Keras 3: {"args": [dict], "kwargs": {"mask": dict}}. Keras 2: the call is the dict. */
static mst_status order_call(dict_call *c, const json_t *ends, json_t *calls, size_t i) {
    json_t *call = json_array_get(calls, i), *args = json_object_get(call, "args"), *list;
    if (!json_is_object(call)) return MST_OK;
    if (!json_is_array(args)) {
        MST_TRY(make_list(c, ends, call, &list));
        return list && json_array_set_new(calls, i, list) ? MST_NO_MEMORY("for a network") : MST_OK;
    }
    MST_TRY(make_list(c, ends, json_array_get(args, 0), &list));
    if (list && json_array_set_new(args, 0, list)) return MST_NO_MEMORY("for a network");
    json_t *arguments = json_object_get(call, "kwargs");
    MST_TRY(order_argument(c, ends, arguments, "inputs"));
    return order_argument(c, ends, arguments, "mask");
}

/* The inputs of the model LAYER, as its config lists them; to be released. The input of a stack has the name of its
 * first layer. NULL: LAYER is not a model. */
static json_t *ends_of(const json_t *layer) {
    const json_t *config = json_object_get(layer, "config");
    json_t *ends = json_object_get(config, "input_layers");
    const json_t *first = json_array_get(json_object_get(config, "layers"), 0);
    if (ends) return json_incref(ends);
    const char *name = json_string_value(json_object_get(json_object_get(first, "config"), "name"));
    return name ? json_pack("[s, i, i]", name, 0, 0) : NULL;
}

static mst_status order_calls(const char *file, const json_t *layer) {
    json_t *calls = json_object_get(layer, "inbound_nodes"), *ends = ends_of(layer);
    const char *name = json_string_value(json_object_get(json_object_get(layer, "config"), "name"));
    dict_call c = {.file = file, .model = name ? name : ""};
    mst_status status = MST_OK;
    for (size_t i = 0; ends && !status && i < json_array_size(calls); i++) status = order_call(&c, ends, calls, i);
    json_decref(ends);
    return status;
}

static mst_status order_all(const char *file, json_t *value, int depth) {
    json_t *member;
    const char *key;
    size_t i;
    mst_status status = MST_OK;
    if (depth > MOST_DEPTH) return MST_OK; /* deeper than models can be */
    json_array_foreach(value, i, member) if (!status) status = order_all(file, member, depth + 1);
    json_object_foreach(value, key, member) if (!status) status = order_all(file, member, depth + 1);
    if (!status && json_is_array(json_object_get(value, "inbound_nodes"))) status = order_calls(file, value);
    return status;
}

mst_status mst_keras_order_dict_calls(const char *name, json_t *config) {
    return order_all(name, config, 0);
}
