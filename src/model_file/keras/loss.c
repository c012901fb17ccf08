#include "model_file/keras/loss.h"

#include <string.h>

#include "model_file/keras/custom_class.h"

static const struct {
    const char *class_name, *short_name;
    mst_loss loss;
    bool takes_logits; /* has the option from_logits */
} losses[] = {{"SparseCategoricalCrossentropy", NULL, MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, true},
              {"CategoricalCrossentropy", NULL, MST_LOSS_CATEGORICAL_CROSSENTROPY, true},
              {"BinaryCrossentropy", "bce", MST_LOSS_BINARY_CROSSENTROPY, true},
              {"MeanSquaredError", "mse", MST_LOSS_MEAN_SQUARED_ERROR, false},
              {"MeanAbsoluteError", "mae", MST_LOSS_MEAN_ABSOLUTE_ERROR, false},
              {"Huber", NULL, MST_LOSS_HUBER, false},
              {"Hinge", NULL, MST_LOSS_HINGE, false},
              {"Poisson", NULL, MST_LOSS_POISSON, false},
              {"KLDivergence", "kld", MST_LOSS_KL_DIVERGENCE, false}};
enum { NUM_LOSSES = sizeof losses / sizeof *losses };

static bool is_named(int i, const char *name) {
    return strcmp(name, losses[i].class_name) == 0 || strcmp(name, mst_loss_name(losses[i].loss)) == 0 ||
           (losses[i].short_name && strcmp(name, losses[i].short_name) == 0);
}

/* Whether KEY is missing or has the value NUMBER, which Muster uses. */
static bool is_number(const json_t *config, const char *key, double number) {
    const json_t *value = json_object_get(config, key);
    return !value || json_is_null(value) || json_number_value(value) == number;
}

static bool is_mean(const json_t *config) {
    const char *reduction = json_string_value(json_object_get(config, "reduction"));
    return !reduction || strcmp(reduction, "sum_over_batch_size") == 0 || strcmp(reduction, "auto") == 0 ||
           strcmp(reduction, "mean") == 0;
}

/* VALUE, or its item if it is a list of one. */
static const json_t *only_of(const json_t *value) {
    return json_is_array(value) && json_array_size(value) == 1 ? json_array_get(value, 0) : value;
}

/* The name of the function VALUE; NULL if it is not a function. Keras finds functions by name only, even those of other
 * packages. */
static const char *function_name(const json_t *value) {
    const char *class_name = json_string_value(json_object_get(value, "class_name"));
    return class_name && strcmp(class_name, "function") == 0 ? json_string_value(json_object_get(value, "config"))
                                                             : NULL;
}

const char *mst_keras_loss_name(const json_t *value) {
    value = only_of(value);
    const char *name = json_string_value(value);
    if (!name) name = function_name(value);
    return name ? name : json_string_value(json_object_get(value, "class_name"));
}

bool mst_keras_loss_read(const json_t *value, mst_loss *out, bool *from_probabilities) {
    value = only_of(value);
    const bool is_custom = !function_name(value) && mst_keras_is_custom_class(value);
    const char *name = is_custom ? NULL : mst_keras_loss_name(value);
    const json_t *config = json_object_get(value, "config");
    for (int i = 0; name && i < NUM_LOSSES; i++) {
        if (!is_named(i, name)) continue;
        *out = losses[i].loss;
        *from_probabilities = losses[i].takes_logits && !json_is_true(json_object_get(config, "from_logits"));
        return is_mean(config) && is_number(config, "label_smoothing", 0) && is_number(config, "delta", 1) &&
               !json_is_integer(json_object_get(config, "ignore_class"));
    }
    return false;
}

json_t *mst_keras_loss_write(mst_loss loss, bool from_logits) {
    for (int i = 0; i < NUM_LOSSES; i++) {
        if (losses[i].loss != loss) continue;
        json_t *config = json_object();
        if (losses[i].takes_logits) json_object_set_new(config, "from_logits", json_boolean(from_logits));
        return json_pack("{s:s, s:s, s:o, s:n}", "module", "keras.losses", "class_name", losses[i].class_name, "config",
                         config, "registered_name");
    }
    return NULL;
}
