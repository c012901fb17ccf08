/* Reads and writes optimizers in Keras' JSON (model_file/keras/weights.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/field.h"
#include "model_file/keras/custom_class.h"
#include "model_file/keras/keras_schedule.h"
#include "model_file/keras/weights.h"
#include "muster/model_file.h"
#include "rule/accumulate.h"

/* Numbers of optimizers: Keras' names, and the doubles in mst_optimizer. */
static const struct {
    const char *key;
    size_t offset;
} numbers[] = {{"momentum", offsetof(mst_optimizer, momentum)},
               {"rho", offsetof(mst_optimizer, rho)},
               {"beta_1", offsetof(mst_optimizer, beta_1)},
               {"beta_2", offsetof(mst_optimizer, beta_2)},
               {"epsilon", offsetof(mst_optimizer, epsilon)},
               {"initial_accumulator_value", offsetof(mst_optimizer, initial_accumulator)},
               {"learning_rate_power", offsetof(mst_optimizer, learning_rate_power)},
               {"l1_regularization_strength", offsetof(mst_optimizer, l1_strength)},
               {"l2_regularization_strength", offsetof(mst_optimizer, l2_strength)},
               {"l2_shrinkage_regularization_strength", offsetof(mst_optimizer, l2_shrinkage)},
               {"beta", offsetof(mst_optimizer, beta)},
               {"weight_decay", offsetof(mst_optimizer, weight_decay)},
               {"clipvalue", offsetof(mst_optimizer, clip_value)},
               {"clipnorm", offsetof(mst_optimizer, clip_norm)},
               {"global_clipnorm", offsetof(mst_optimizer, clip_global_norm)}};
enum { NUM_NUMBERS = sizeof numbers / sizeof *numbers };

static const struct {
    const char *class_name, *rule;
} optimizers[] = {{"SGD", "sgd"},         {"Adam", "adam"},   {"AdamW", "adamw"}, {"RMSprop", "rmsprop"},
                  {"Adagrad", "adagrad"}, {"Nadam", "nadam"}, {"Ftrl", "ftrl"}};
enum { NUM_OPTIMIZERS = sizeof optimizers / sizeof *optimizers };

static double *number_at(mst_optimizer *optimizer, int i) {
    return (double *)((char *)optimizer + numbers[i].offset);
}

/* Keys that are read separately, or that do not affect the numbers that Muster computes. */
static const char *const others[] = {"name",
                                     "learning_rate",
                                     "lr",
                                     "decay",
                                     "nesterov",
                                     "centered",
                                     "amsgrad",
                                     "use_ema",
                                     "ema_momentum",
                                     "ema_overwrite_frequency",
                                     "gradient_accumulation_steps",
                                     "loss_scale_factor",
                                     "jit_compile",
                                     "is_legacy_optimizer"};
enum { NUM_OTHERS = sizeof others / sizeof *others };

static bool is_given(const json_t *value) {
    return value && !json_is_null(value) && !json_is_false(value);
}

static bool is_text(const char *name, const char *other) {
    return strcmp(name, other) == 0;
}

/* Checks that each given setting is one of those above. Otherwise returns false, and WHY tells the unknown setting. */
static bool check_keys(const json_t *config, char why[MST_OPTIMIZER_NOTE]) {
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)config, key, value) {
        bool number = false, known = false;
        for (int i = 0; i < NUM_NUMBERS; i++) number |= is_text(key, numbers[i].key);
        for (int i = 0; i < NUM_OTHERS; i++) known |= is_text(key, others[i]);
        if (!is_given(value) || known || (number && json_is_number(value))) continue;
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        snprintf(why, MST_OPTIMIZER_NOTE, "%.40s = %.60s", key, text ? text : "");
        free(text);
        return false;
    }
    return true;
}

/* Reads the settings of moving averages, and of gradients of several steps. False if Muster does not have a setting. */
static bool read_more(const json_t *config, mst_optimizer *out, char why[MST_OPTIMIZER_NOTE]) {
    const json_t *steps = json_object_get(config, "gradient_accumulation_steps");
    const json_int_t number = json_integer_value(steps);
    if (json_is_true(json_object_get(config, "use_ema"))) {
        const json_t *frequency = json_object_get(config, "ema_overwrite_frequency");
        out->ema_decay = json_number_value(json_object_get(config, "ema_momentum"));
        if (is_given(frequency)) {
            snprintf(why, MST_OPTIMIZER_NOTE, "use_ema with ema_overwrite_frequency");
            return false;
        }
        if (!(out->ema_decay > 0 && out->ema_decay < 1)) {
            snprintf(why, MST_OPTIMIZER_NOTE, "ema_momentum = %g", out->ema_decay);
            return false;
        }
    }
    if (!steps || json_is_null(steps)) return true;
    out->gradient_accumulation_steps = (int)number;
    if (json_is_integer(steps) && number >= 1 && number <= INT32_MAX) return true;
    snprintf(why, MST_OPTIMIZER_NOTE, "gradient_accumulation_steps");
    return false;
}

/* Reads the learning rate, a number or a schedule. Keras 2 divides a number by 1 + decay * step. */
static bool read_rate(const json_t *config, mst_optimizer *out, char why[MST_OPTIMIZER_NOTE]) {
    const json_t *rate = json_object_get(config, "learning_rate"), *decay = json_object_get(config, "decay");
    if (!rate) rate = json_object_get(config, "lr"); /* before Keras 2.3 */
    const double number = json_number_value(rate), falls = json_number_value(decay);
    const bool is_schedule = mst_keras_schedule_read(rate, &out->schedule);
    if (!json_is_number(rate) && !is_schedule) {
        const char *name = json_string_value(json_object_get(rate, "class_name"));
        snprintf(why, MST_OPTIMIZER_NOTE, "a learning rate %.60s", name ? name : "that is no number");
        return false;
    }
    if (decay && !json_is_number(decay)) {
        snprintf(why, MST_OPTIMIZER_NOTE, "a decay that is no number");
        return false;
    }
    if (is_schedule && falls != 0) {
        snprintf(why, MST_OPTIMIZER_NOTE, "a decay beside a schedule of the learning rate");
        return false;
    }
    if (is_schedule) return true;
    if (falls == 0 || number == 0)
        out->learning_rate = number == 0 ? MST_ZERO : number;
    else
        out->schedule =
            (mst_schedule){.kind = MST_SCHEDULE_INVERSE_TIME, .rate = number, .decay_steps = 1, .decay_rate = falls};
    if (!mst_schedule_is_set(&out->schedule) || !mst_schedule_check(&out->schedule)) return true;
    snprintf(why, MST_OPTIMIZER_NOTE, "decay = %g", falls);
    return false;
}

/* In the versions of Keras 2 that had a decay, three optimizers have other formulas than in Keras 3. NOTE then tells
 * the user. Returns false if the optimizer cannot be used for this reason. */
static bool check_version(const char *class_name, const json_t *config, char note[MST_OPTIMIZER_NOTE]) {
    const bool old = json_object_get(config, "decay") || json_object_get(config, "schedule_decay");
    if (!old) return true;
    if (is_text(class_name, "RMSprop") && json_number_value(json_object_get(config, "momentum")) == 0)
        snprintf(note, MST_OPTIMIZER_NOTE,
                 "epsilon is added below the root, as in Keras 3, and not behind it, as in Keras 2");
    else if (is_text(class_name, "Nadam"))
        snprintf(note, MST_OPTIMIZER_NOTE, "in Keras 2 it has another formula than in Keras 3");
    else if (is_text(class_name, "Adagrad") && !json_object_get(config, "initial_accumulator_value"))
        snprintf(note, MST_OPTIMIZER_NOTE, "it begins with sums of 0, as before Keras 2.3");
    return !*note || is_text(class_name, "RMSprop");
}

static void write_more(const mst_optimizer *o, json_t *config) {
    if (o->ema_decay > 0) {
        json_object_set_new(config, "use_ema", json_true());
        json_object_set_new(config, "ema_momentum", json_real(o->ema_decay));
    }
    if (mst_accumulates(o))
        json_object_set_new(config, "gradient_accumulation_steps", json_integer(o->gradient_accumulation_steps));
}

/* Reads an optimizer. If Muster does not have it, or not with its settings, returns false, and WHY tells the reason.
 * Else WHY is "", or tells what is computed in another way. */
static bool read_optimizer(const char *class_name, const json_t *object, mst_optimizer *read,
                           char why[MST_OPTIMIZER_NOTE]) {
    const json_t *config = json_object_get(object, "config");
    int k = 0;
    while (k < NUM_OPTIMIZERS && !is_text(optimizers[k].class_name, class_name)) k++;
    if (k == NUM_OPTIMIZERS || mst_keras_is_custom_class(object)) {
        snprintf(why, MST_OPTIMIZER_NOTE, "there is none such here");
        return false;
    }
    if (!read_rate(config, read, why) || !read_more(config, read, why) || !check_keys(config, why) ||
        !check_version(class_name, config, why))
        return false;
    read->nesterov = json_is_true(json_object_get(config, "nesterov"));
    read->centered = json_is_true(json_object_get(config, "centered"));
    read->amsgrad = json_is_true(json_object_get(config, "amsgrad"));
    for (int i = 0; i < NUM_NUMBERS; i++) {
        const json_t *number = json_object_get(config, numbers[i].key);
        if (!json_is_number(number)) continue;
        *number_at(read, i) = json_number_value(number) == 0 ? MST_ZERO : json_number_value(number);
    }
    *read = mst_optimizer_named(optimizers[k].rule, *read);
    if (is_given(json_object_get(config, "loss_scale_factor")))
        snprintf(why, MST_OPTIMIZER_NOTE, "loss_scale_factor, by which gradients are divided again, is left out");
    if (!mst_optimizer_check(read)) return true;
    snprintf(why, MST_OPTIMIZER_NOTE, "%.*s", MST_OPTIMIZER_NOTE - 1, mst_error()->message);
    return false;
}

/* CLASS_NAME without the package that .h5 files of Keras 2.11 to 2.15 put before Keras' own optimizers. */
static const char *without_package(const char *class_name) {
    static const char package[] = "Custom>";
    return strncmp(class_name, package, strlen(package)) == 0 ? class_name + strlen(package) : class_name;
}

void mst_keras_optimizer_read(const json_t *object, mst_optimizer *out, char note[MST_OPTIMIZER_NOTE]) {
    const char *class_name = json_string_value(json_object_get(object, "class_name"));
    mst_optimizer read = {0};
    *out = (mst_optimizer){0};
    *note = '\0';
    if (class_name && read_optimizer(without_package(class_name), object, &read, note)) *out = read;
}

/* Whether O has settings that Keras' files do not have: moving averages with a smaller decay in the first steps,
 * another kind of epsilon, or a weight decay for some variables only. */
static bool is_more(const mst_optimizer *o) {
    return (o->ema_decay > 0 && o->ema_num_updates) || o->epsilon_kind != MST_EPSILON_HAT || o->decay_kernels_only;
}

/* Settings that are not given are omitted, since Keras has the same defaults. A setting that was given as 0 is -0
 * (graph/field.h), and `+ 0.0` makes it 0. */
mst_status mst_keras_optimizer_write(const mst_optimizer *optimizer, json_t **object) {
    mst_optimizer full = *optimizer;
    *object = NULL;
    for (int i = 0; optimizer->rule && i < NUM_OPTIMIZERS; i++) {
        if (strcmp(optimizers[i].rule, optimizer->rule) != 0) continue;
        full = mst_optimizer_named(optimizers[i].rule, full);
        if (is_more(&full)) break;
        json_t *rate = mst_schedule_is_set(&full.schedule) ? mst_keras_schedule_write(&full.schedule)
                                                           : json_real(full.learning_rate);
        if (!rate) break;
        json_t *config = json_pack("{s:o}", "learning_rate", rate);
        for (int k = 0; k < NUM_NUMBERS; k++)
            if (mst_number_given(*number_at(&full, k)))
                json_object_set_new(config, numbers[k].key, json_real(*number_at(&full, k) + 0.0));
        if (full.nesterov) json_object_set_new(config, "nesterov", json_true());
        if (full.centered) json_object_set_new(config, "centered", json_true());
        if (full.amsgrad) json_object_set_new(config, "amsgrad", json_true());
        write_more(&full, config);
        *object = json_pack("{s:s, s:s, s:o, s:n}", "module", "keras.optimizers", "class_name",
                            optimizers[i].class_name, "config", config, "registered_name");
        return MST_OK;
    }
    return MST_FAIL(MST_UNIMPLEMENTED, "the optimizer '%s', with its options, cannot be saved for Keras",
                    optimizer->rule ? optimizer->rule : "");
}

bool mst_keras_has_optimizer(const mst_optimizer *optimizer) {
    json_t *object;
    const bool has = !mst_keras_optimizer_write(optimizer, &object);
    json_decref(object);
    return has;
}
