#include "model_file/keras/initializers.h"

#include <math.h>
#include <string.h>

#include "graph/field.h"
#include "layer/activation/activation.h"
#include "layer/initializer/initializer.h"
#include "model_file/keras/custom_class.h"

enum { MOST_KEYS = 2 };

/* The initializers. KEY has Keras' names of their numbers, MEMBER the names of those members in mst_initializer. */
static const struct {
    const char *class_name, *name; /* the name of its class, and the short name */
    mst_initializer_kind kind;
    const char *key[MOST_KEYS], *member[MOST_KEYS];
} initializers[] = {
    {"GlorotUniform", "glorot_uniform", MST_INITIALIZER_GLOROT_UNIFORM, {0}, {0}},
    {"GlorotNormal", "glorot_normal", MST_INITIALIZER_GLOROT_NORMAL, {0}, {0}},
    {"HeUniform", "he_uniform", MST_INITIALIZER_HE_UNIFORM, {0}, {0}},
    {"HeNormal", "he_normal", MST_INITIALIZER_HE_NORMAL, {0}, {0}},
    {"LecunUniform", "lecun_uniform", MST_INITIALIZER_LECUN_UNIFORM, {0}, {0}},
    {"LecunNormal", "lecun_normal", MST_INITIALIZER_LECUN_NORMAL, {0}, {0}},
    {"Zeros", "zeros", MST_INITIALIZER_ZEROS, {0}, {0}},
    {"Ones", "ones", MST_INITIALIZER_ONES, {0}, {0}},
    {"Constant", "constant", MST_INITIALIZER_CONSTANT, {"value"}, {"value"}},
    {"RandomUniform", "random_uniform", MST_INITIALIZER_RANDOM_UNIFORM, {"minval", "maxval"}, {"low", "high"}},
    {"RandomNormal", "random_normal", MST_INITIALIZER_RANDOM_NORMAL, {"mean", "stddev"}, {"mean", "stddev"}},
    {"TruncatedNormal", "truncated_normal", MST_INITIALIZER_TRUNCATED_NORMAL, {"mean", "stddev"}, {"mean", "stddev"}},
    {"VarianceScaling", "variance_scaling", MST_INITIALIZER_VARIANCE_SCALING, {"scale"}, {"scale"}},
    {"Orthogonal", "orthogonal", MST_INITIALIZER_ORTHOGONAL, {"gain"}, {"scale"}},
    {"OrthogonalInitializer", "orthogonal", MST_INITIALIZER_ORTHOGONAL, {"gain"}, {"scale"}},
};
enum { NUM_INITIALIZERS = sizeof initializers / sizeof *initializers };

static const char *const modes[] = {"fan_in", "fan_out", "fan_avg"};
static const char *const distributions[] = {"truncated_normal", "untruncated_normal", "uniform"};

static double *member_of(mst_initializer *initializer, const char *name) {
    for (const mst_field *field = mst_initializer_fields; field->name; field++)
        if (strcmp(field->name, name) == 0 && field->type == MST_FIELD_TYPE_F64)
            return (double *)((char *)initializer + field->offset);
    return NULL;
}

static int word_of(const json_t *value, const char *const *words, int count, int otherwise) {
    const char *text = json_string_value(value);
    for (int i = 0; text && i < count; i++)
        if (strcmp(words[i], text) == 0) return i;
    return otherwise;
}

static mst_status read_numbers(int i, const json_t *config, mst_initializer *out) {
    for (int k = 0; k < MOST_KEYS && initializers[i].key[k]; k++) {
        const json_t *number = json_object_get(config, initializers[i].key[k]);
        double *member = member_of(out, initializers[i].member[k]);
        if (!json_is_number(number) || !member) continue;
        *member = json_number_value(number);
        if (*member == 0) *member = MST_ZERO; /* 0 would mean "not given" (graph/field.h) */
    }
    if (out->kind != MST_INITIALIZER_VARIANCE_SCALING) return MST_OK;
    out->fan = (mst_fan)word_of(json_object_get(config, "mode"), modes, 3, MST_FAN_IN);
    /* "normal" is an old name of the truncated normal distribution */
    out->distribution =
        (mst_distribution)word_of(json_object_get(config, "distribution"), distributions, 3, MST_TRUNCATED_NORMAL);
    return MST_OK;
}

mst_status mst_keras_initializer_read(const json_t *value, mst_initializer *out) {
    const char *name = json_string_value(value);
    if (!value || json_is_null(value)) return MST_OK;
    if (!name && !mst_keras_is_custom_class(value)) name = json_string_value(json_object_get(value, "class_name"));
    for (int i = 0; name && i < NUM_INITIALIZERS; i++)
        if (strcmp(name, initializers[i].class_name) == 0 || strcmp(name, initializers[i].name) == 0) {
            *out = (mst_initializer){.kind = initializers[i].kind};
            return read_numbers(i, json_object_get(value, "config"), out);
        }
    return MST_FAIL(MST_UNIMPLEMENTED, "the initializer '%.100s' is not known here", name ? name : "of its own");
}

json_t *mst_keras_initializer_write(const mst_initializer *initializer) {
    mst_initializer copy = *initializer;
    if (copy.kind == MST_INITIALIZER_GLOROT_UNIFORM) return NULL;
    for (int i = 0; i < NUM_INITIALIZERS; i++) {
        if (initializers[i].kind != copy.kind) continue;
        json_t *config = json_object();
        for (int k = 0; k < MOST_KEYS && initializers[i].key[k]; k++) {
            const double *member = member_of(&copy, initializers[i].member[k]);
            if (member && mst_number_given(*member))
                json_object_set_new(config, initializers[i].key[k], json_real(*member));
        }
        if (copy.kind == MST_INITIALIZER_VARIANCE_SCALING) {
            json_object_set_new(config, "mode", json_string(modes[copy.fan]));
            json_object_set_new(config, "distribution", json_string(distributions[copy.distribution]));
        }
        return json_pack("{s:s, s:s, s:o, s:n}", "module", "keras.initializers", "class_name",
                         initializers[i].class_name, "config", config, "registered_name");
    }
    return NULL;
}

mst_status mst_keras_activation_read(const json_t *value, int *out) {
    const char *name = json_string_value(value);
    if (!value || json_is_null(value)) return MST_OK;
    if (!name) name = json_string_value(json_object_get(value, "config")); /* a function with this name */
    if (name && strcmp(name, "silu") == 0) name = "swish";
    if (name && strcmp(name, "hard_swish") == 0) name = "hard_silu";
    for (int i = 0; name && mst_activation_names[i]; i++)
        if (strcmp(mst_activation_names[i], name) == 0) {
            *out = i;
            return MST_OK;
        }
    return MST_FAIL(MST_UNIMPLEMENTED, "the activation '%.100s' is not known here", name ? name : "of its own");
}

const char *mst_keras_activation_name(int activation) {
    if (activation == MST_HARD_SIGMOID_KERAS2) return NULL;
    return activation == MST_SWISH ? "silu" : mst_activation_names[activation];
}

mst_status mst_keras_regularizer_read(const json_t *value, float *l1, float *l2) {
    const char *name = json_string_value(value);
    const json_t *config = json_object_get(value, "config");
    if (!value || json_is_null(value)) return MST_OK;
    if (!name && !mst_keras_is_custom_class(value)) name = json_string_value(json_object_get(value, "class_name"));
    const bool has_l1 = name && (strcmp(name, "L1") == 0 || strcmp(name, "l1") == 0);
    const bool has_l2 = name && (strcmp(name, "L2") == 0 || strcmp(name, "l2") == 0);
    const bool both = name && (strcmp(name, "L1L2") == 0 || strcmp(name, "l1_l2") == 0);
    if (!has_l1 && !has_l2 && !both)
        return MST_FAIL(MST_UNIMPLEMENTED, "the regularizer '%.100s' is not known here", name ? name : "of its own");
    const json_t *first = json_object_get(config, "l1"), *second = json_object_get(config, "l2");
    const double otherwise = both ? 0 : 0.01; /* Keras' default */
    if (!has_l2) *l1 = (float)(json_is_number(first) ? json_number_value(first) : otherwise);
    if (!has_l1) *l2 = (float)(2 * (json_is_number(second) ? json_number_value(second) : otherwise));
    return MST_OK;
}

json_t *mst_keras_regularizer_write(float l1, float l2) {
    if (l1 == 0 && l2 == 0) return json_null();
    return json_pack("{s:s, s:s, s:{s:f, s:f}, s:n}", "module", "keras.regularizers", "class_name", "L1L2", "config",
                     "l1", (double)l1, "l2", (double)l2 / 2, "registered_name");
}

static const struct {
    const char *name;
    mst_dtype dtype;
} dtypes[] = {{"float32", MST_F32}, {"float64", MST_F64}, {"int32", MST_I32},    {"int64", MST_I64},
              {"uint8", MST_U8},    {"bool", MST_BOOL},   {"string", MST_STRING}};
enum { NUM_DTYPES = sizeof dtypes / sizeof *dtypes };

mst_dtype mst_keras_dtype_named(const char *name) {
    for (int i = 0; i < NUM_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0) return dtypes[i].dtype;
    return MST_NO_DTYPE;
}

const char *mst_keras_dtype_name(mst_dtype dtype) {
    for (int i = 0; i < NUM_DTYPES; i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].name;
    return dtypes[0].name;
}
