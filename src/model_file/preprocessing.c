#include "model_file/preprocessing.h"

#include <stdio.h>
#include <string.h>

#include "base/no_memory.h"
#include "layer/encode.h"
#include "layer/list.h"
#include "model_file/classes.h"
#include "model_file/item_op.h"
#include "model_file/number_list.h"
#include "muster/layers.h"

typedef mst_layer_normalization_options normalization_options;
typedef mst_layer_category_encoding_options category_encoding_options;
typedef mst_layer_discretization_options discretization_options;
typedef mst_layer_rescaling_options rescaling_options;
typedef mst_layer_string_lookup_options string_lookup_options;

/* KEY of CONFIG; NULL where it is null. */
static const json_t *given(const json_t *config, const char *key) {
    const json_t *value = json_object_get(config, key);
    return json_is_null(value) ? NULL : value;
}

/* ---- what is made of numbers of categories ---- */

static mst_status read_mode(const json_t *config, mst_output_mode *out) {
    const json_t *value = given(config, "output_mode");
    const char *text = json_string_value(value);
    if (!value) return MST_OK;
    if (text && strcmp(text, "binary") == 0) text = mst_output_mode_names[MST_OUTPUT_MODE_MULTI_HOT]; /* its old name */
    for (int i = MST_OUTPUT_MODE_INT; text && mst_output_mode_names[i]; i++) {
        if (strcmp(text, mst_output_mode_names[i]) != 0) continue;
        *out = (mst_output_mode)i;
        return MST_OK;
    }
    return mst_keras_not_taken("output_mode", value);
}

static void write_mode(json_t *config, mst_output_mode mode) {
    if (mode) json_object_set_new(config, "output_mode", json_string(mst_output_mode_names[mode]));
}

/* ---- Normalization ---- */

/* One axis, as a number or in a list; none in an empty list, or null. */
static mst_status read_axis(const json_t *config, normalization_options *o) {
    const json_t *value = json_object_get(config, "axis");
    const json_t *number = json_is_array(value) ? json_array_get(value, 0) : value;
    if (!value) return MST_OK;
    o->no_axis = json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
    if (o->no_axis) return MST_OK;
    const json_int_t axis = json_integer_value(number);
    if (json_array_size(value) > 1 || !json_is_integer(number) || axis == 0 || axis > MST_MAX_NDIM ||
        axis < -MST_MAX_NDIM)
        return mst_keras_not_taken("axis", value);
    o->axis = (int)axis;
    return MST_OK;
}

/* Of each element of the axis, or of all. Keras of old also took what broadcasts with the source: [[1], [2]]. */
static mst_status read_statistic(const json_t *config, const char *key, mst_option_memory *memory, mst_tensor **out) {
    const json_t *value = given(config, key);
    mst_tensor *tensor, *row = NULL;
    int long_dims = 0;
    if (!value) return MST_OK;
    if (!mst_keras_numbers_in(value)) return mst_keras_not_taken(key, value);
    MST_TRY(mst_keras_numbers_read(value, &tensor));
    const mst_shape shape = mst_tensor_shape(tensor);
    for (int i = 0; i < shape.ndim; i++) long_dims += shape.dim[i] > 1;
    const int64_t count = mst_tensor_count(tensor);
    mst_status status = long_dims > 1 ? mst_keras_not_taken(key, value)
                                      : mst_tensor_create(MST_F32, long_dims ? MST_SHAPE(count) : MST_SCALAR, &row);
    if (row) {
        memcpy(mst_tensor_data(row), mst_tensor_data(tensor), (size_t)count * sizeof(float));
        status = mst_option_memory_keep(memory, row);
        *out = row;
    }
    mst_tensor_release(tensor);
    return status;
}

static mst_status read_normalization(const json_t *config, mst_option_memory *memory, normalization_options *o) {
    MST_TRY(read_axis(config, o));
    MST_TRY(read_statistic(config, "mean", memory, &o->mean));
    return read_statistic(config, "variance", memory, &o->variance);
}

static mst_status write_normalization(const char *name, const normalization_options *o, json_t *config) {
    if (o->fill_missing)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "layer '%s': cannot be saved for Keras, whose Normalization has no .fill_missing: fill in the "
                        "numbers that are missing",
                        name);
    json_object_set_new(config, "axis", o->no_axis ? json_array() : json_pack("[i]", o->axis));
    if (!o->mean) return MST_OK;
    json_t *mean = mst_keras_numbers_write(o->mean), *variance = mst_keras_numbers_write(o->variance);
    const bool failed = json_object_set_new(config, "mean", mean) || json_object_set_new(config, "variance", variance);
    return failed ? MST_FAIL(MST_INVALID, "layer '%s': its mean or its variance is not finite", name) : MST_OK;
}

/* ---- Discretization ---- */

static mst_status read_discretization(const json_t *config, mst_option_memory *memory, discretization_options *o) {
    const json_t *value = given(config, "bin_boundaries");
    MST_TRY(read_mode(config, &o->output_mode));
    if (!value || json_array_size(value) == 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "it has no boundaries yet: call its adapt, or give it bin_boundaries");
    if (!mst_keras_numbers_in(value)) return mst_keras_not_taken("bin_boundaries", value);
    MST_TRY(mst_keras_numbers_read(value, &o->bin_boundaries));
    return mst_option_memory_keep(memory, o->bin_boundaries);
}

/* What was learnt is a weight here. */
static mst_status learnt_boundaries(mst_model *model, const char *name, mst_tensor **out) {
    char entry[600];
    snprintf(entry, sizeof entry, "%.500s/bin_boundaries", name);
    return mst_store_get(model->store, NULL, entry, out);
}

static mst_status write_discretization(mst_model *model, const char *name, const discretization_options *o,
                                       json_t *config) {
    mst_tensor *boundaries = o->bin_boundaries ? mst_tensor_retain(o->bin_boundaries) : NULL;
    json_object_del(config, "trainable"); /* Keras' own is none of its arguments */
    write_mode(config, o->output_mode);
    if (o->num_bins) json_object_set_new(config, "num_bins", json_integer(o->num_bins));
    json_object_set_new(config, "epsilon", json_real(o->epsilon));
    if (!boundaries && learnt_boundaries(model, name, &boundaries)) boundaries = NULL;
    json_t *list = boundaries ? mst_keras_numbers_write(boundaries) : NULL; /* NULL: some are infinite */
    mst_tensor_release(boundaries);
    if (list) return json_object_set_new(config, "bin_boundaries", list) ? MST_NO_MEMORY("for a network") : MST_OK;
    return MST_FAIL(MST_INVALID, "layer '%s': has no boundaries yet: call mst_adapt before, with enough data", name);
}

/* ---- StringLookup ---- */

/* How many of the LIST's first strings stand for all others: they are there as many times as there are numbers for
 * these, or not at all. */
static size_t num_special(const json_t *list, const json_t *token, size_t others) {
    for (size_t i = 0; i < others; i++)
        if (!json_equal(json_array_get(list, i), token)) return 0;
    return others;
}

static mst_status read_vocabulary(const json_t *list, size_t first, mst_option_memory *memory, mst_tensor **out) {
    const size_t count = json_array_size(list);
    MST_TRY(mst_tensor_create(MST_STRING, MST_SHAPE((int64_t)(count - first)), out));
    mst_status status = mst_option_memory_keep(memory, *out);
    for (size_t i = first; i < count && !status; i++) {
        const json_t *token = json_array_get(list, i);
        const mst_string string = {json_string_value(token), json_string_length(token)};
        status = json_is_string(token) ? mst_tensor_set_string(*out, (int64_t)(i - first), string)
                                       : mst_keras_not_taken("vocabulary", list);
    }
    return status;
}

static mst_status read_string_lookup(const json_t *config, mst_option_memory *memory, string_lookup_options *o) {
    const json_t *list = given(config, "vocabulary"), *others = given(config, "num_oov_indices");
    const json_int_t count = others ? json_integer_value(others) : 1;
    json_t *unknown = json_string("[UNK]");
    const json_t *token = given(config, "oov_token");
    mst_status status = read_mode(config, &o->output_mode);
    if (!status && ((others && !json_is_integer(others)) || count < 0 || count > INT32_MAX))
        status = mst_keras_not_taken("num_oov_indices", others);
    if (!status && list && !json_is_array(list)) status = mst_keras_not_taken("vocabulary", list);
    const size_t first = status ? 0 : num_special(list, token ? token : unknown, (size_t)count);
    if (!status && json_array_size(list) <= first)
        status = MST_FAIL(MST_UNIMPLEMENTED,
                          "it has no vocabulary: call its adapt and save the model as .keras, or "
                          "give it vocabulary");
    o->no_oov = count == 0;
    o->num_oov_indices = count;
    if (!status) status = read_vocabulary(list, first, memory, &o->vocabulary);
    json_decref(unknown);
    return status;
}

static mst_status write_string_lookup(const char *name, const string_lookup_options *o, json_t *config) {
    if (!o->vocabulary)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "layer '%s': cannot be saved for Keras: the strings that it has learnt are known by their "
                        "hashes alone: give it .vocabulary",
                        name);
    json_t *list = json_array();
    int failed = json_object_set_new(config, "vocabulary", list);
    for (int64_t i = 0; i < mst_tensor_count(o->vocabulary) && !failed; i++) {
        const mst_string token = mst_tensor_get_string(o->vocabulary, i);
        failed = json_array_append_new(list, json_stringn(token.data, token.length));
    }
    if (failed) return MST_FAIL(MST_INVALID, "layer '%s': a string of its vocabulary is no UTF-8", name);
    json_object_set_new(config, "num_oov_indices", json_integer(o->no_oov ? 0 : o->num_oov_indices));
    write_mode(config, o->output_mode);
    return MST_OK;
}

/* ---- Rescaling ---- */

/* A number to AT, or several to TENSOR. */
static mst_status read_factor(const json_t *config, const char *key, mst_option_memory *memory, float *at,
                              mst_tensor **tensor) {
    const json_t *value = given(config, key), *numbers = mst_keras_numbers_in(value);
    if (!value) return MST_OK;
    if (!numbers) return mst_keras_not_taken(key, value);
    if (json_is_number(numbers)) {
        const float number = (float)json_number_value(numbers);
        *at = number == 0 ? (float)MST_ZERO : number; /* a 0 would stand for the default */
        return MST_OK;
    }
    MST_TRY(mst_keras_numbers_read(value, tensor));
    return mst_option_memory_keep(memory, *tensor);
}

static mst_status read_rescaling(const json_t *config, mst_option_memory *memory, rescaling_options *o) {
    MST_TRY(read_factor(config, "scale", memory, &o->scale, &o->scales));
    return read_factor(config, "offset", memory, &o->offset, &o->offsets);
}

static mst_status write_factor(const char *name, const char *key, float number, const mst_tensor *tensor,
                               json_t *config) {
    json_t *value = tensor ? mst_keras_numbers_write(tensor) : json_real((double)number + 0.0);
    if (!json_object_set_new(config, key, value)) return MST_OK;
    return MST_FAIL(MST_INVALID, "layer '%s': a number of its %s is not finite", name, key);
}

static mst_status write_rescaling(const char *name, const rescaling_options *o, json_t *config) {
    MST_TRY(write_factor(name, "scale", o->scale, o->scales, config));
    return write_factor(name, "offset", o->offset, o->offsets, config);
}

/* ---- all ---- */

static bool is(const char *class_name, const char *name) {
    return strcmp(class_name, name) == 0;
}

mst_status mst_keras_preprocessing_read(const char *class_name, const json_t *config, mst_option_memory *memory,
                                        void *options) {
    if (is(class_name, "Normalization")) return read_normalization(config, memory, options);
    if (is(class_name, "CategoryEncoding"))
        return read_mode(config, &((category_encoding_options *)options)->output_mode);
    if (is(class_name, "Discretization")) return read_discretization(config, memory, options);
    if (is(class_name, "Rescaling")) return read_rescaling(config, memory, options);
    if (is(class_name, "StringLookup")) return read_string_lookup(config, memory, options);
    if (is(class_name, "Take")) return mst_keras_take_read(config, memory, options);
    const bool is_power = is(class_name, "Power"); /* an op that no layer does has no exponent */
    if (is_power && !json_is_number(json_object_get(config, "exponent")))
        return MST_FAIL(MST_UNIMPLEMENTED, "there is no such layer here");
    return MST_OK;
}

mst_status mst_keras_preprocessing_check(const mst_model_layer *layer, mst_shape source) {
    const void *o = layer->options;
    mst_output_mode mode = MST_OUTPUT_MODE_INT;
    if (layer->type == &mst_layer_type_category_encoding) {
        mode = ((const category_encoding_options *)o)->output_mode;
        if (!mode) mode = MST_OUTPUT_MODE_MULTI_HOT;
    } else if (layer->type == &mst_layer_type_discretization) {
        mode = ((const discretization_options *)o)->output_mode;
    } else if (layer->type == &mst_layer_type_string_lookup) {
        mode = ((const string_lookup_options *)o)->output_mode;
    }
    if ((mode != MST_OUTPUT_MODE_MULTI_HOT && mode != MST_OUTPUT_MODE_COUNT) || source.ndim == 2) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "output_mode = \"%s\" is taken of rows of numbers, and its source has %d "
                    "dimensions beside the batch",
                    mst_output_mode_names[mode], source.ndim - 1);
}

mst_status mst_keras_preprocessing_write(mst_model *model, const mst_model_layer *layer, json_t *config) {
    const char *class_name = layer->type->class_name;
    if (is(class_name, "Normalization")) return write_normalization(layer->name, layer->options, config);
    if (is(class_name, "Discretization")) return write_discretization(model, layer->name, layer->options, config);
    if (is(class_name, "StringLookup")) return write_string_lookup(layer->name, layer->options, config);
    if (is(class_name, "Rescaling")) return write_rescaling(layer->name, layer->options, config);
    if (is(class_name, "CategoryEncoding"))
        write_mode(config, ((const category_encoding_options *)layer->options)->output_mode);
    return MST_OK;
}

bool mst_keras_preprocessing_keeps_weights(const char *class_name) {
    return is(class_name, "Discretization");
}
