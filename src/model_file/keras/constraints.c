#include "model_file/keras/constraints.h"

#include <string.h>

#include "graph/field.h"
#include "model_file/keras/custom_class.h"
#include "model_file/keras/not_taken.h"

/* The constraints by class name and by short name. KEEPS says which numbers their configurations have. */
enum { MIN_VALUE = 1, MAX_VALUE = 2, RATE = 4, AXIS = 8 };
static const struct {
    const char *class_name, *name;
    mst_constraint_kind kind;
    unsigned keeps;
} constraints[] = {
    {"NonNeg", "non_neg", MST_CONSTRAINT_NON_NEG, 0},
    {"MaxNorm", "max_norm", MST_CONSTRAINT_MAX_NORM, MAX_VALUE | AXIS},
    {"UnitNorm", "unit_norm", MST_CONSTRAINT_UNIT_NORM, AXIS},
    {"MinMaxNorm", "min_max_norm", MST_CONSTRAINT_MIN_MAX_NORM, MIN_VALUE | MAX_VALUE | RATE | AXIS},
};
enum { NUM_CONSTRAINTS = sizeof constraints / sizeof *constraints };

/* The number of the constraint; -1: it is not known. */
static int find_constraint(const json_t *value) {
    const char *name = json_string_value(value);
    if (!name && !mst_keras_is_custom_class(value)) name = json_string_value(json_object_get(value, "class_name"));
    for (int i = 0; name && i < NUM_CONSTRAINTS; i++)
        if (strcmp(name, constraints[i].class_name) == 0 || strcmp(name, constraints[i].name) == 0) return i;
    return -1;
}

bool mst_keras_constraint_is_known(const json_t *value) {
    return !value || json_is_null(value) || find_constraint(value) >= 0;
}

static mst_status read_constraint_number(const char *key, const json_t *config, const char *name, double *out) {
    const json_t *value = json_object_get(config, name);
    if (!value) return MST_OK; /* Keras' default */
    *out = json_number_value(value);
    if (!json_is_number(value) || !(*out >= 0 && *out <= 1e30)) return mst_keras_not_taken(key, value);
    if (*out == 0) *out = MST_ZERO; /* 0 would mean "not given" (graph/field.h) */
    return MST_OK;
}

/* Reads one axis, a list of axes, or null for all. */
static mst_status read_axes(const char *key, const json_t *value, mst_constraint *out) {
    const size_t count = json_is_array(value) ? json_array_size(value) : 1;
    if (!value) return MST_OK;
    out->whole = json_is_null(value);
    if (out->whole) return MST_OK;
    if (count < 1 || count > MST_MAX_NDIM) return mst_keras_not_taken(key, value);
    out->axes.count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *axis = json_is_array(value) ? json_array_get(value, i) : value;
        if (!json_is_integer(axis) || json_integer_value(axis) < -MST_MAX_NDIM ||
            json_integer_value(axis) >= MST_MAX_NDIM)
            return mst_keras_not_taken(key, value);
        out->axes.axis[i] = (int32_t)json_integer_value(axis);
    }
    return MST_OK;
}

mst_status mst_keras_constraint_read(const char *key, const json_t *value, mst_constraint *out) {
    const int i = find_constraint(value);
    const json_t *config = json_object_get(value, "config");
    if (i < 0) return MST_OK;
    *out = (mst_constraint){.kind = constraints[i].kind};
    if (constraints[i].keeps & MIN_VALUE) MST_TRY(read_constraint_number(key, config, "min_value", &out->min_value));
    if (constraints[i].keeps & MAX_VALUE) MST_TRY(read_constraint_number(key, config, "max_value", &out->max_value));
    if (constraints[i].keeps & RATE) MST_TRY(read_constraint_number(key, config, "rate", &out->rate));
    return constraints[i].keeps & AXIS ? read_axes(key, json_object_get(config, "axis"), out) : MST_OK;
}

static void write_number(json_t *config, const char *name, double number) {
    /* -0 stands for a 0 that was given; `+ 0.0` makes it 0 again */
    if (mst_number_given(number)) json_object_set_new(config, name, json_real(number + 0.0));
}

json_t *mst_keras_constraint_write(const mst_constraint *constraint) {
    for (int i = 0; i < NUM_CONSTRAINTS; i++) {
        if (constraints[i].kind != constraint->kind) continue;
        json_t *config = json_object();
        if (constraints[i].keeps & MIN_VALUE) write_number(config, "min_value", constraint->min_value);
        if (constraints[i].keeps & MAX_VALUE) write_number(config, "max_value", constraint->max_value);
        if (constraints[i].keeps & RATE) write_number(config, "rate", constraint->rate);
        if (constraints[i].keeps & AXIS && constraint->whole) json_object_set_new(config, "axis", json_null());
        if (constraints[i].keeps & AXIS && !constraint->whole && constraint->axes.count) {
            json_t *axes = json_array();
            for (int k = 0; k < constraint->axes.count; k++)
                json_array_append_new(axes, json_integer(constraint->axes.axis[k]));
            if (constraint->axes.count == 1) { /* Keras' own form */
                json_t *axis = json_incref(json_array_get(axes, 0));
                json_decref(axes);
                axes = axis;
            }
            json_object_set_new(config, "axis", axes);
        }
        return json_pack("{s:s, s:s, s:o, s:n}", "module", "keras.constraints", "class_name", constraints[i].class_name,
                         "config", config, "registered_name");
    }
    return json_null();
}
