/* Only one name of an activation, layer, loss, metric or initializer has different meanings in Keras 2 and Keras 3
 * (tf_keras 2.21, Keras 3.15): the activation hard_sigmoid, clip(x / 5 + 1/2, 0, 1) in Keras 2 and relu6(x + 3) / 6 in
 * Keras 3. A default differs, too: a GRU without the key reset_after is from before Keras 2.2, and means false. */
#include "model_file/keras/keras2_names.h"

#include <stdbool.h>
#include <string.h>

#include "base/no_memory.h"

enum { MOST_DEPTH = 64 };

/* Renames the activation VALUE of KEY: a name, or an object with the name of a function. */
static int rename_activation(json_t *config, const char *key, json_t *value) {
    static const char name[] = "hard_sigmoid", other[] = "hard_sigmoid_keras2";
    json_t *inside = json_object_get(value, "config");
    if (json_is_string(value) && strcmp(json_string_value(value), name) == 0)
        return json_object_set_new(config, key, json_string(other));
    if (json_is_string(inside) && strcmp(json_string_value(inside), name) == 0)
        return json_object_set_new(value, "config", json_string(other));
    return 0;
}

/* Whether KEY ends in "activation", as "recurrent_activation" does. */
static bool is_activation(const char *key) {
    static const char ending[] = "activation";
    const size_t length = strlen(key), size = strlen(ending);
    return length >= size && strcmp(key + length - size, ending) == 0;
}

static bool is_gru(const json_t *layer) {
    const char *class_name = json_string_value(json_object_get(layer, "class_name"));
    return class_name && strcmp(class_name, "GRU") == 0;
}

static int rename_all(json_t *value, int depth) {
    json_t *member;
    const char *key;
    size_t i;
    void *next;
    int failed = 0;
    if (depth > MOST_DEPTH) return 0; /* deeper than layers can be */
    json_array_foreach(value, i, member) failed |= rename_all(member, depth + 1);
    json_object_foreach_safe(value, next, key, member) {
        failed |= rename_all(member, depth + 1);
        if (is_activation(key)) failed |= rename_activation(value, key, member);
    }
    json_t *config = is_gru(value) ? json_object_get(value, "config") : NULL;
    if (json_is_object(config) && !json_object_get(config, "reset_after"))
        failed |= json_object_set_new(config, "reset_after", json_false());
    return failed;
}

mst_status mst_keras2_rename(json_t *config) {
    return rename_all(config, 0) ? MST_NO_MEMORY("for a network") : MST_OK;
}
