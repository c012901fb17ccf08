#include "model_file/keras/call_arguments.h"

#include <string.h>

#include "base/no_memory.h"
#include "model_file/keras/classes.h"

const json_t *mst_keras_arguments_of(const json_t *call) {
    return json_is_object(call) ? json_object_get(call, "kwargs") : json_array_get(json_array_get(call, 0), 3);
}

static const char *called_class(const json_t *layer) {
    const char *name = json_string_value(json_object_get(layer, "class_name"));
    return name ? name : "";
}

static bool is_above_0(const json_t *config, const char *key) {
    return json_number_value(json_object_get(config, key)) > 0;
}

bool mst_keras_is_dropout(const json_t *layer) {
    return strstr(called_class(layer), "Dropout") != NULL;
}

mst_status mst_keras_drop_nothing(json_t *layer) {
    return json_object_set_new(json_object_get(layer, "config"), "rate", json_real(0)) ? MST_NO_MEMORY("for a network")
                                                                                       : MST_OK;
}

/* A frozen batch normalization computes in training as in inference. So `training` does not matter for it. */
bool mst_keras_training_matters(const json_t *layer) {
    const json_t *config = json_object_get(layer, "config"), *inside = json_object_get(config, "layer");
    const char *class_name = called_class(layer);
    if (strcmp(class_name, "BatchNormalization") == 0) return !json_is_false(json_object_get(config, "trainable"));
    if (mst_keras_is_dropout(layer)) return is_above_0(config, "rate");
    return strstr(class_name, "Gaussian") || strncmp(class_name, "Random", strlen("Random")) == 0 ||
           is_above_0(config, "dropout") || is_above_0(config, "recurrent_dropout") ||
           (json_is_object(inside) && mst_keras_training_matters(inside));
}

const char *const mst_keras_source_names[] = {"inputs", "sequences", "query", "value", "key", NULL};

/* Whether KEY is the name of a source of the layer. The last three names are only for attention. */
static bool is_source(const mst_keras_class *class, const char *key) {
    enum { OF_ALL = 2 };
    const bool is_attention = class && mst_keras_class_is_called(class);
    for (int i = 0; mst_keras_source_names[i] && (i < OF_ALL || is_attention); i++)
        if (strcmp(key, mst_keras_source_names[i]) == 0) return true;
    return false;
}

/* Checks the argument "training" of CALL. Keras 3 also writes the default of the layer, which fit, evaluate and predict
 * override. */
static mst_status check_training(const json_t *layer, const json_t *call, const json_t *value) {
    if (json_is_object(call) || json_is_false(value) || !mst_keras_training_matters(layer)) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "is called with training=True, which is not known here: freeze it, or leave the argument out");
}

bool mst_keras_is_without_training(const json_t *layer, const json_t *call) {
    return call && !json_is_object(call) && json_is_false(json_object_get(mst_keras_arguments_of(call), "training")) &&
           mst_keras_training_matters(layer);
}

bool mst_keras_keeps_statistics(const json_t *layer, const json_t *call) {
    const json_t *own = json_object_get(json_object_get(layer, MST_KERAS_OWN_OPTIONS), "moving_statistics");
    if (strcmp(called_class(layer), "BatchNormalization") != 0) return false;
    return json_is_true(own) || mst_keras_is_without_training(layer, call);
}

static mst_status check(const json_t *layer, const json_t *call, const char *key, const json_t *value) {
    const mst_keras_class *class = mst_keras_class_find(called_class(layer));
    if (json_is_null(value) || strcmp(key, "mask") == 0 || is_source(class, key)) return MST_OK;
    if (strcmp(key, "training") == 0) return check_training(layer, call, value);
    if (json_is_false(value)) return MST_OK; /* the default */
    if (strcmp(key, "use_causal_mask") == 0 && class && mst_keras_class_is_called(class)) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "is called with the argument '%.100s', which is not taken here: leave it out",
                    key);
}

/* Checks that only outputs of layers are given by position. For any other value, the file does not tell to which
 * argument it belongs. */
static mst_status check_places(const json_t *call) {
    const json_t *args = json_is_object(call) ? json_object_get(call, "args") : NULL, *value;
    size_t i;
    json_array_foreach(args, i, value) if (!json_is_array(value) && !json_is_object(value)) return MST_FAIL(
        MST_UNIMPLEMENTED, "argument %zu of its call is no output of a layer: give it by name, or leave it out", i + 1);
    return MST_OK;
}

mst_status mst_keras_arguments_check(const json_t *layer, const json_t *call) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)mst_keras_arguments_of(call), key, value)
        MST_TRY(check(layer, call, key, value));
    return check_places(call);
}
