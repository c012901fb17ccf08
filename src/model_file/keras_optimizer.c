#include <math.h>
#include <string.h>

#include "graph/field.h"
#include "model_file/keras_schedule.h"
#include "model_file/own_class.h"
#include "model_file/weights.h"
#include "rule/accumulate.h"

/* Numbers of optimizers with Keras' names of them, which are doubles of mst_optimizer. */
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

/* Moving averages, and gradients of several steps. False where there is more of it than Muster has. */
static bool read_more(const json_t *config, mst_optimizer *out) {
    const json_t *steps = json_object_get(config, "gradient_accumulation_steps");
    const json_int_t number = json_integer_value(steps);
    if (json_is_true(json_object_get(config, "use_ema"))) {
        const json_t *frequency = json_object_get(config, "ema_overwrite_frequency");
        out->ema_decay = json_number_value(json_object_get(config, "ema_momentum"));
        if ((frequency && !json_is_null(frequency)) || !(out->ema_decay > 0 && out->ema_decay < 1)) return false;
    }
    if (!steps || json_is_null(steps)) return true;
    out->gradient_accumulation_steps = (int)number;
    return json_is_integer(steps) && number >= 1 && number <= INT32_MAX;
}

static void write_more(const mst_optimizer *o, json_t *config) {
    if (o->ema_decay > 0) {
        json_object_set_new(config, "use_ema", json_true());
        json_object_set_new(config, "ema_momentum", json_real(o->ema_decay));
    }
    if (mst_accumulates(o))
        json_object_set_new(config, "gradient_accumulation_steps", json_integer(o->gradient_accumulation_steps));
}

void mst_keras_optimizer_read(const json_t *object, mst_optimizer *out) {
    const char *class_name = json_string_value(json_object_get(object, "class_name"));
    const json_t *config = json_object_get(object, "config"), *rate = json_object_get(config, "learning_rate");
    mst_optimizer read = {0};
    *out = (mst_optimizer){0};
    const bool is_schedule = mst_keras_schedule_read(rate, &read.schedule);
    if (!class_name || mst_keras_is_own_class(object) || (!json_is_number(rate) && !is_schedule) ||
        !read_more(config, &read))
        return;
    if (!is_schedule) read.learning_rate = json_number_value(rate);
    if (!is_schedule && read.learning_rate == 0) read.learning_rate = MST_ZERO;
    read.nesterov = json_is_true(json_object_get(config, "nesterov"));
    read.centered = json_is_true(json_object_get(config, "centered"));
    read.amsgrad = json_is_true(json_object_get(config, "amsgrad"));
    for (int i = 0; i < NUM_NUMBERS; i++) {
        const json_t *number = json_object_get(config, numbers[i].key);
        if (!json_is_number(number)) continue;
        *number_at(&read, i) = json_number_value(number);
        if (json_number_value(number) == 0) *number_at(&read, i) = MST_ZERO;
    }
    for (int i = 0; i < NUM_OPTIMIZERS; i++)
        if (strcmp(optimizers[i].class_name, class_name) == 0) {
            read = mst_optimizer_named(optimizers[i].rule, read);
            if (!mst_optimizer_check(&read)) *out = read;
        }
}

/* What is not written for Keras: averages whose decay begins smaller, the other epsilon. */
static bool is_more(const mst_optimizer *o) {
    return (o->ema_decay > 0 && o->ema_num_updates) || o->epsilon_kind != MST_EPSILON_HAT;
}

/* Members that are 0 are left out where they are not what the rule takes. */
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
            if (*number_at(&full, k) != 0) json_object_set_new(config, numbers[k].key, json_real(*number_at(&full, k)));
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
