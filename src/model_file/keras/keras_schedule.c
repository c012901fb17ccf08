#include "model_file/keras/keras_schedule.h"

#include <math.h>
#include <string.h>

#include "graph/field.h"
#include "model_file/keras/custom_class.h"

/* The schedules of Keras and their arguments. */
static const struct {
    const char *class_name;
    mst_schedule_kind kind;
} schedules[] = {{"ExponentialDecay", MST_SCHEDULE_EXPONENTIAL},
                 {"InverseTimeDecay", MST_SCHEDULE_INVERSE_TIME},
                 {"PolynomialDecay", MST_SCHEDULE_POLYNOMIAL},
                 {"CosineDecay", MST_SCHEDULE_COSINE},
                 {"PiecewiseConstantDecay", MST_SCHEDULE_PIECEWISE}};
enum { NUM_SCHEDULES = sizeof schedules / sizeof *schedules };

/* ---- reading ---- */

/* The number of KEY; OTHERWISE if KEY is missing or null; NaN if it is something else. */
static double number_of(const json_t *config, const char *key, double otherwise) {
    const json_t *value = json_object_get(config, key);
    if (!value || json_is_null(value)) return otherwise;
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* NUMBER as a member in which MST_ZERO stands for 0. */
static double given(double number) {
    return number == 0 ? MST_ZERO : number;
}

static bool is_steps(double number) {
    return number >= 0 && number <= 1e15 && number == floor(number);
}

static bool read_pieces(const json_t *config, mst_schedule *s) {
    const json_t *boundaries = json_object_get(config, "boundaries"), *values = json_object_get(config, "values");
    const size_t count = json_array_size(values);
    if (count < 1 || count > MST_SCHEDULE_PIECES || json_array_size(boundaries) != count - 1) return false;
    s->num_pieces = (int)count;
    for (size_t i = 0; i < count; i++) {
        const double boundary = json_number_value(json_array_get(boundaries, i));
        s->value[i] = json_number_value(json_array_get(values, i));
        if (!json_is_number(json_array_get(values, i)) || !is_steps(boundary)) return false;
        if (i < count - 1) s->boundary[i] = (int64_t)boundary;
    }
    return true;
}

static bool read_decay(const json_t *config, mst_schedule *s) {
    const double steps = number_of(config, "decay_steps", NAN), warmup = number_of(config, "warmup_steps", 0);
    const double first = number_of(config, "initial_learning_rate", NAN),
                 target = number_of(config, "warmup_target", NAN);
    if (!is_steps(steps) || !is_steps(warmup)) return false;
    s->decay_steps = (int64_t)steps;
    s->rate = first;
    s->staircase = json_is_true(json_object_get(config, "staircase"));
    s->cycle = json_is_true(json_object_get(config, "cycle"));
    if (s->kind == MST_SCHEDULE_EXPONENTIAL || s->kind == MST_SCHEDULE_INVERSE_TIME)
        s->decay_rate = number_of(config, "decay_rate", NAN);
    if (s->kind == MST_SCHEDULE_POLYNOMIAL) {
        s->end = given(number_of(config, "end_learning_rate", 0.0001));
        s->power = given(number_of(config, "power", 1));
    }
    if (s->kind == MST_SCHEDULE_COSINE) s->alpha = number_of(config, "alpha", 0);
    if (s->kind == MST_SCHEDULE_COSINE && !isnan(target) && warmup > 0) {
        s->warmup_steps = (int64_t)warmup;
        s->warmup_from = first;
        s->rate = target;
    }
    return true;
}

bool mst_keras_schedule_read(const json_t *object, mst_schedule *out) {
    const char *class_name = json_string_value(json_object_get(object, "class_name"));
    const json_t *config = json_object_get(object, "config");
    if (mst_keras_is_custom_class(object)) return false;
    for (int i = 0; class_name && i < NUM_SCHEDULES; i++) {
        if (strcmp(schedules[i].class_name, class_name) != 0) continue;
        mst_schedule read = {.kind = schedules[i].kind};
        const bool good = read.kind == MST_SCHEDULE_PIECEWISE ? read_pieces(config, &read) : read_decay(config, &read);
        if (!good || mst_schedule_check(&read)) return false;
        *out = read;
        return true;
    }
    return false;
}

/* ---- writing ---- */

static json_t *write_pieces(const mst_schedule *s) {
    json_t *boundaries = json_array(), *values = json_array();
    for (int i = 0; i < s->num_pieces; i++) json_array_append_new(values, json_real(s->value[i]));
    for (int i = 0; i < s->num_pieces - 1; i++) json_array_append_new(boundaries, json_integer(s->boundary[i]));
    return json_pack("{s:o, s:o}", "boundaries", boundaries, "values", values);
}

/* The value of a member: OTHERWISE, the default, if it is 0; and 0 if it is MST_ZERO, since -0 + 0.0 is 0. */
static double member(double number, double otherwise) {
    return mst_number_given(number) ? number + 0.0 : otherwise;
}

static json_t *write_decay(const mst_schedule *s) {
    const bool warms_up = s->warmup_steps > 0;
    json_t *config = json_pack("{s:f, s:I}", "initial_learning_rate", warms_up ? member(s->warmup_from, 0) : s->rate,
                               "decay_steps", (json_int_t)s->decay_steps);
    if (s->kind == MST_SCHEDULE_EXPONENTIAL || s->kind == MST_SCHEDULE_INVERSE_TIME) {
        json_object_set_new(config, "decay_rate", json_real(s->decay_rate));
        json_object_set_new(config, "staircase", json_boolean(s->staircase));
    } else if (s->kind == MST_SCHEDULE_POLYNOMIAL) {
        json_object_set_new(config, "end_learning_rate", json_real(member(s->end, 0.0001)));
        json_object_set_new(config, "power", json_real(member(s->power, 1)));
        json_object_set_new(config, "cycle", json_boolean(s->cycle));
    } else {
        json_object_set_new(config, "alpha", json_real(member(s->alpha, 0)));
        if (warms_up) json_object_set_new(config, "warmup_target", json_real(s->rate));
        if (warms_up) json_object_set_new(config, "warmup_steps", json_integer(s->warmup_steps));
    }
    return config;
}

json_t *mst_keras_schedule_write(const mst_schedule *s) {
    if (s->warmup_steps && s->kind != MST_SCHEDULE_COSINE) return NULL;
    for (int i = 0; i < NUM_SCHEDULES; i++) {
        if (schedules[i].kind != s->kind) continue;
        json_t *config = s->kind == MST_SCHEDULE_PIECEWISE ? write_pieces(s) : write_decay(s);
        return json_pack("{s:s, s:s, s:o, s:n}", "module", "keras.optimizers.schedules", "class_name",
                         schedules[i].class_name, "config", config, "registered_name");
    }
    return NULL;
}
