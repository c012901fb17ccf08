#include "model_file/keras/flat_ends.h"

#include <stdbool.h>

#include "base/no_memory.h"
#include "model_file/keras/sorted_keys.h"

enum { MOST_DEPTH = 64 };

/* Whether VALUE is a reference to a tensor: ["layer", 0, 0]. */
static bool is_layer_reference(const json_t *value) {
    return json_is_string(json_array_get(value, 0));
}

static bool collect_ends(json_t *value, int depth, json_t *list);

static bool collect_members(json_t *value, int depth, json_t *list) {
    const char **keys = mst_sorted_keys(value);
    bool good = keys != NULL;
    for (size_t i = 0; good && keys[i]; i++) good = collect_ends(json_object_get(value, keys[i]), depth + 1, list);
    mst_sorted_keys_free(keys);
    return good;
}

/* Adds the references of VALUE to LIST. Anything else is added unchanged; the reader refuses it. */
static bool collect_ends(json_t *value, int depth, json_t *list) {
    const bool is_list = json_is_array(value) && !is_layer_reference(value);
    if (json_is_object(value) && depth < MOST_DEPTH) return collect_members(value, depth, list);
    if (!is_list || depth >= MOST_DEPTH) return json_array_append(list, value) == 0;
    bool good = true;
    for (size_t i = 0; i < json_array_size(value) && good; i++)
        good = collect_ends(json_array_get(value, i), depth + 1, list);
    return good;
}

static bool is_nested(const json_t *value) {
    bool nested = json_is_object(value);
    for (size_t i = 0; i < json_array_size(value) && !is_layer_reference(value); i++)
        nested |= !is_layer_reference(json_array_get(value, i));
    return nested;
}

/* The sorted keys of END if each of its members is one reference; else NULL. */
static json_t *keys_of(const json_t *end) {
    const char **keys = json_is_object(end) ? mst_sorted_keys(end) : NULL;
    json_t *list = keys ? json_array() : NULL;
    for (size_t i = 0; list && keys[i]; i++) {
        if (!is_layer_reference(json_object_get(end, keys[i])) || json_array_append_new(list, json_string(keys[i]))) {
            json_decref(list);
            list = NULL;
        }
    }
    mst_sorted_keys_free(keys);
    return list;
}

static bool flatten_ends(json_t *value, int depth) {
    static const char *const ends[] = {"input_layers", "output_layers"};
    static const char *const names[] = {MST_KERAS_INPUT_KEYS, MST_KERAS_OUTPUT_KEYS};
    json_t *member;
    const char *key;
    size_t i;
    bool good = true;
    if (depth > MOST_DEPTH) return true; /* deeper than models can be */
    json_array_foreach(value, i, member) good &= flatten_ends(member, depth + 1);
    json_object_foreach(value, key, member) good &= flatten_ends(member, depth + 1);
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        json_t *end = json_object_get(value, ends[k]);
        if (!is_nested(end)) continue;
        json_t *list = json_array(), *keys = keys_of(end);
        good &= !keys || json_object_set_new(value, names[k], keys) == 0;
        good &= list && collect_ends(end, 0, list) && json_object_set(value, ends[k], list) == 0;
        json_decref(list);
    }
    return good;
}

mst_status mst_keras_flatten_ends(json_t *config) {
    return flatten_ends(config, 0) ? MST_OK : MST_NO_MEMORY("for a network");
}
