#include "model_file/keras/preprocessing.h"

#include <stdio.h>
#include <string.h>

#include "base/no_memory.h"
#include "layer/encode.h"
#include "layer/list.h"
#include "model_file/keras/indexing.h"
#include "model_file/keras/not_taken.h"
#include "model_file/keras/number_list.h"
#include "muster/layers.h"
#include "tensor/tokens.h"

typedef mst_layer_normalization_options normalization_options;
typedef mst_layer_category_encoding_options category_encoding_options;
typedef mst_layer_discretization_options discretization_options;
typedef mst_layer_rescaling_options rescaling_options;
typedef mst_layer_string_lookup_options string_lookup_options;
typedef mst_layer_integer_lookup_options integer_lookup_options;
typedef mst_layer_text_vectorization_options text_vectorization_options;

/* KEY of CONFIG; NULL if it is null. */
static const json_t *given(const json_t *config, const char *key) {
    const json_t *value = json_object_get(config, key);
    return json_is_null(value) ? NULL : value;
}

/* ---- output modes of layers that give numbers of categories ---- */

static mst_status read_mode(const json_t *config, mst_output_mode *out) {
    const json_t *value = given(config, "output_mode");
    const char *text = json_string_value(value);
    if (!value) return MST_OK;
    if (text && strcmp(text, "binary") == 0) text = mst_output_mode_names[MST_OUTPUT_MODE_MULTI_HOT]; /* an old name */
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

/* The values that the layer NAME has learnt. In Muster they are its weight WEIGHT. */
static mst_status learnt_weight(mst_model *model, const char *name, const char *weight, mst_tensor **out) {
    char entry[600];
    snprintf(entry, sizeof entry, "%.500s/%s", name, weight);
    return mst_store_get(model->store, NULL, entry, out);
}

/* ---- Normalization ---- */

/* Reads one axis, which is a number or in a list. An empty list or null means no axis. */
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

/* Reads a mean or variance: one for each element of the axis, or one for all. Old versions of Keras also took shapes
 * that broadcast with the source: [[1], [2]]. */
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
                        "layer '%s': cannot be saved for Keras, whose Normalization has no .fill_missing: FILE.npz, "
                        "FILE.safetensors and FILE.onnx take it, or fill in the numbers that are missing",
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

static mst_status write_discretization(mst_model *model, const char *name, const discretization_options *o,
                                       json_t *config) {
    mst_tensor *boundaries = o->bin_boundaries ? mst_tensor_retain(o->bin_boundaries) : NULL;
    json_object_del(config, "trainable"); /* not an argument of Keras' layer */
    write_mode(config, o->output_mode);
    if (o->num_bins) json_object_set_new(config, "num_bins", json_integer(o->num_bins));
    json_object_set_new(config, "epsilon", json_real(o->epsilon));
    if (!boundaries && learnt_weight(model, name, "bin_boundaries", &boundaries)) boundaries = NULL;
    json_t *list = boundaries ? mst_keras_numbers_write(boundaries) : NULL; /* NULL: some are infinite */
    mst_tensor_release(boundaries);
    if (list) return json_object_set_new(config, "bin_boundaries", list) ? MST_NO_MEMORY("for a network") : MST_OK;
    return MST_FAIL(MST_INVALID, "layer '%s': has no boundaries yet: call mst_adapt before, with enough data", name);
}

/* ---- StringLookup, IntegerLookup ---- */

/* The members that the options of both lookup layers have. */
typedef struct lookup {
    bool integers;
    mst_tensor **vocabulary;
    int64_t *num_oov_indices;
    bool *no_oov;
    mst_output_mode *output_mode;
} lookup;

static lookup string_lookup_of(string_lookup_options *o) {
    return (lookup){false, &o->vocabulary, &o->num_oov_indices, &o->no_oov, &o->output_mode};
}

static lookup integer_lookup_of(integer_lookup_options *o) {
    return (lookup){true, &o->vocabulary, &o->num_oov_indices, &o->no_oov, &o->output_mode};
}

/* The default token for all tokens that are not in a vocabulary; a new reference. */
static json_t *unknown_token(bool integers) {
    return integers ? json_integer(-1) : json_string("[UNK]");
}

/* MASK in the output mode INT, in which the mask token has an index; else NULL. */
static const json_t *numbered(lookup o, const json_t *mask) {
    return *o.output_mode <= MST_OUTPUT_MODE_INT ? mask : NULL; /* INT is the default of both layers */
}

/* The number of special tokens at the beginning of LIST: MASK, if it is not NULL, then UNKNOWN, OTHERS times. Either
 * all of them are there, or 0 is returned. */
static size_t num_special(const json_t *list, const json_t *mask, const json_t *unknown, size_t others) {
    const size_t masked = mask ? 1 : 0;
    for (size_t i = 0; i < masked + others; i++)
        if (!json_equal(json_array_get(list, i), i < masked ? mask : unknown)) return 0;
    return masked + others;
}

static mst_status read_vocabulary(const json_t *list, size_t first, bool integers, mst_option_memory *memory,
                                  mst_tensor **out) {
    const size_t count = json_array_size(list);
    MST_TRY(mst_tensor_create(integers ? MST_I64 : MST_STRING, MST_SHAPE((int64_t)(count - first)), out));
    mst_status status = mst_option_memory_keep(memory, *out);
    for (size_t i = first; i < count && !status; i++) {
        const json_t *token = json_array_get(list, i);
        const mst_string string = {json_string_value(token), json_string_length(token)};
        if (integers ? !json_is_integer(token) : !json_is_string(token))
            status = mst_keras_not_taken("vocabulary", list);
        else if (integers)
            ((int64_t *)mst_tensor_data(*out))[i - first] = json_integer_value(token);
        else
            status = mst_tensor_set_string(*out, (int64_t)(i - first), string);
    }
    return status;
}

/* Reads the options that both lookup layers have. MASK is the value of mask_token; NULL: none. */
static mst_status read_lookup(const json_t *config, const json_t *mask, mst_option_memory *memory, lookup o) {
    const json_t *list = given(config, "vocabulary"), *others = given(config, "num_oov_indices");
    const json_int_t count = others ? json_integer_value(others) : 1;
    MST_TRY(read_mode(config, o.output_mode));
    if ((others && !json_is_integer(others)) || count < 0 || count > INT32_MAX)
        return mst_keras_not_taken("num_oov_indices", others);
    if (list && !json_is_array(list)) return mst_keras_not_taken("vocabulary", list);
    json_t *usual = unknown_token(o.integers), *unknown = json_object_get(config, "oov_token");
    const json_t *before = numbered(o, mask);
    const size_t first = num_special(list, before, unknown ? unknown : usual, (size_t)count);
    json_decref(usual);
    if (json_array_size(list) <= first)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it has no vocabulary: call its adapt and save the model as .keras, or give it vocabulary");
    const json_t *most = given(config, "max_tokens");
    if (first && json_is_integer(most) && json_array_size(list) > (size_t)json_integer_value(most))
        return MST_FAIL(MST_INVALID, "its vocabulary has %zu tokens, and max_tokens is %lld: the file is damaged",
                        json_array_size(list), (long long)json_integer_value(most));
    *o.no_oov = count == 0;
    *o.num_oov_indices = count;
    return read_vocabulary(list, first, o.integers, memory, o.vocabulary);
}

static mst_status read_string_lookup(const json_t *config, mst_option_memory *memory, string_lookup_options *o) {
    const json_t *mask = given(config, "mask_token");
    o->mask_token = json_string_value(mask);
    if (mask && (!json_is_string(mask) || strlen(o->mask_token) != json_string_length(mask)))
        return mst_keras_not_taken("mask_token", mask);
    return read_lookup(config, mask, memory, string_lookup_of(o));
}

static mst_status read_integer_lookup(const json_t *config, mst_option_memory *memory, integer_lookup_options *o) {
    const json_t *mask = given(config, "mask_token");
    if (mask && !json_is_integer(mask)) return mst_keras_not_taken("mask_token", mask);
    o->has_mask = mask;
    o->mask_token = json_integer_value(mask);
    return read_lookup(config, mask, memory, integer_lookup_of(o));
}

/* The tokens of a vocabulary as a list; NULL if one is not UTF-8. */
static json_t *list_of(const mst_tensor *vocabulary) {
    const bool integers = mst_tensor_dtype(vocabulary) == MST_I64;
    json_t *list = json_array();
    for (int64_t i = 0; i < mst_tensor_count(vocabulary); i++) {
        const mst_string string = integers ? (mst_string){0} : mst_tensor_get_string(vocabulary, i);
        json_t *token = integers ? json_integer(((const int64_t *)mst_tensor_data(vocabulary))[i])
                                 : json_stringn(string.data, string.length);
        if (!json_array_append_new(list, token)) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

/* Writes the options that both lookup layers have. Takes ownership of MASK, which may be NULL. */
static mst_status write_lookup(const char *name, const mst_tensor *vocabulary, json_t *mask, lookup o, json_t *config) {
    json_t *list = list_of(vocabulary), *unknown = unknown_token(o.integers);
    const size_t others = *o.no_oov ? 0 : (size_t)*o.num_oov_indices;
    const json_t *before = numbered(o, mask);
    /* Keras drops special tokens from the beginning of the list. If tokens of the vocabulary look like special ones,
     * another one is put before them for Keras to drop */
    if (num_special(list, before, unknown, others) > 0) json_array_insert(list, 0, unknown);
    json_decref(unknown);
    const int failed = json_object_set_new(config, "vocabulary", list);
    json_object_set_new(config, "num_oov_indices", json_integer((json_int_t)others));
    if (mask) json_object_set_new(config, "mask_token", mask);
    write_mode(config, *o.output_mode);
    if (!failed) return MST_OK;
    return MST_FAIL(MST_INVALID, "layer '%s': a string of its vocabulary is no UTF-8", name);
}

static mst_status fail_learnt_strings(const char *name) {
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "layer '%s': cannot be saved for Keras: the strings that it has learnt are known by their hashes "
                    "alone: give it .vocabulary",
                    name);
}

static mst_status write_string_lookup(const char *name, const string_lookup_options *options, json_t *config) {
    string_lookup_options o = *options;
    if (!o.vocabulary) return fail_learnt_strings(name);
    json_t *mask = o.mask_token ? json_string(o.mask_token) : NULL;
    if (o.mask_token && !mask) return MST_FAIL(MST_INVALID, "layer '%s': its mask_token is no UTF-8", name);
    return write_lookup(name, o.vocabulary, mask, string_lookup_of(&o), config);
}

/* Makes a vocabulary from the weights KEYS and PLACES: the integer at each place below NUM. */
static mst_status integers_in_places(const char *name, const mst_tensor *keys, const mst_tensor *places, int64_t num,
                                     mst_tensor **out) {
    const int64_t *key = mst_tensor_data(keys), *place = mst_tensor_data(places);
    int64_t most = 0;
    for (int64_t i = 0; i < mst_tensor_count(keys); i++)
        if (place[i] < num && place[i] >= most) most = place[i] + 1;
    if (most < num)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "layer '%s': cannot be saved for Keras: it has learnt %lld integers, and max_tokens is for "
                        "%lld%s",
                        name, (long long)most, (long long)num, most ? "" : ": call mst_adapt before");
    MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(num), out));
    int64_t *integer = mst_tensor_data(*out);
    for (int64_t i = 0; i < mst_tensor_count(keys); i++)
        if (place[i] >= 0 && place[i] < num) integer[place[i]] = key[i];
    return MST_OK;
}

/* The learnt vocabulary: the weights of the layer, or their initial values if the model has not been built. With a mask
 * the weights have one element more than the vocabulary. */
static mst_status learnt_integers(mst_model *model, const char *name, const integer_lookup_options *o,
                                  mst_tensor **out) {
    mst_tensor *keys = NULL, *places = NULL;
    *out = NULL;
    if (learnt_weight(model, name, "vocabulary_integers", &keys)) keys = NULL;
    if (learnt_weight(model, name, "vocabulary_places", &places)) places = NULL;
    if (!keys && o->adapted_integers) keys = mst_tensor_retain(o->adapted_integers);
    if (!places && o->adapted_places) places = mst_tensor_retain(o->adapted_places);
    const mst_status status =
        keys && places ? integers_in_places(name, keys, places, mst_tensor_count(keys) - o->has_mask, out)
                       : MST_FAIL(MST_INVALID, "layer '%s': has no vocabulary yet: call mst_adapt before", name);
    mst_tensor_release(keys);
    mst_tensor_release(places);
    return status;
}

static mst_status write_integer_lookup(mst_model *model, const char *name, const integer_lookup_options *options,
                                       json_t *config) {
    integer_lookup_options o = *options;
    mst_tensor *vocabulary = NULL;
    if (!o.vocabulary) MST_TRY(learnt_integers(model, name, &o, &vocabulary));
    const mst_status status =
        write_lookup(name, vocabulary ? vocabulary : o.vocabulary, o.has_mask ? json_integer(o.mask_token) : NULL,
                     integer_lookup_of(&o), config);
    mst_tensor_release(vocabulary);
    return status;
}

/* ---- TextVectorization ---- */

/* The lookup inside: the masked token is "", and there is one index for other tokens. */
static lookup text_lookup_of(text_vectorization_options *o, int64_t *others, bool *no_oov) {
    return (lookup){false, &o->vocabulary, others, no_oov, &o->output_mode};
}

static mst_status read_name(const json_t *config, const char *key, const char *const *names, int *out) {
    const json_t *value = json_object_get(config, key);
    const char *text = json_is_null(value) ? "none" : json_string_value(value);
    if (!value) return MST_OK;
    for (int i = 0; text && names[i]; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = i;
        return MST_OK;
    }
    return mst_keras_not_taken(key, value);
}

static mst_status read_text_vectorization(const json_t *config, mst_option_memory *memory,
                                          text_vectorization_options *o) {
    const json_t *length = given(config, "output_sequence_length");
    const json_int_t count = json_integer_value(length);
    int standardize = 0, split = 0;
    int64_t others;
    bool no_oov;
    MST_TRY(read_name(config, "standardize", mst_text_standardize_names, &standardize));
    MST_TRY(read_name(config, "split", mst_text_split_names, &split));
    if (length && (!json_is_integer(length) || count < 1 || count > INT32_MAX))
        return mst_keras_not_taken("output_sequence_length", length);
    o->standardize = (mst_text_standardize)standardize;
    o->split = (mst_text_split)split;
    o->sequence_length = count;
    json_t *mask = json_string("");
    const mst_status status = read_lookup(config, mask, memory, text_lookup_of(o, &others, &no_oov));
    json_decref(mask);
    return status;
}

static mst_status write_text_vectorization(const char *name, const text_vectorization_options *options,
                                           json_t *config) {
    text_vectorization_options o = *options;
    int64_t others = 1;
    bool no_oov = false;
    if (!o.vocabulary) return fail_learnt_strings(name);
    MST_TRY(write_lookup(name, o.vocabulary, json_string(""), text_lookup_of(&o, &others, &no_oov), config));
    json_object_del(config, "num_oov_indices"); /* not arguments of this layer */
    json_object_del(config, "mask_token");
    json_object_set_new(config, "ngrams", json_null()); /* its from_config wants this member */
    json_object_set_new(config, "split", json_string(mst_text_split_names[o.split]));
    json_object_set_new(
        config, "standardize",
        o.standardize == MST_TEXT_AS_IT_IS ? json_null() : json_string(mst_text_standardize_names[o.standardize]));
    const bool has_length = o.sequence_length && o.output_mode <= MST_OUTPUT_MODE_INT; /* Keras takes it in this mode */
    json_object_set_new(config, "output_sequence_length", has_length ? json_integer(o.sequence_length) : json_null());
    return MST_OK;
}

/* ---- Rescaling ---- */

/* Reads a number into AT, or several numbers into TENSOR. */
static mst_status read_factor(const json_t *config, const char *key, mst_option_memory *memory, float *at,
                              mst_tensor **tensor) {
    const json_t *value = given(config, key), *numbers = mst_keras_numbers_in(value);
    if (!value) return MST_OK;
    if (!numbers) return mst_keras_not_taken(key, value);
    if (json_is_number(numbers)) {
        const float number = (float)json_number_value(numbers);
        *at = number == 0 ? (float)MST_ZERO : number; /* 0 would mean the default */
        return MST_OK;
    }
    MST_TRY(mst_keras_numbers_read(value, tensor));
    return mst_option_memory_keep(memory, *tensor);
}

static mst_status read_rescaling(const json_t *config, mst_option_memory *memory, rescaling_options *o) {
    MST_TRY(read_factor(config, "scale", memory, &o->scale, &o->scales));
    return read_factor(config, "offset", memory, &o->offset, &o->offsets);
}

/* A number that was given as 0 is -0 (graph/field.h), and `+ 0.0` makes it 0 again. */
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
    if (is(class_name, "IntegerLookup")) return read_integer_lookup(config, memory, options);
    if (is(class_name, "TextVectorization")) return read_text_vectorization(config, memory, options);
    if (is(class_name, "Take")) return mst_keras_take_read(config, memory, options);
    const bool is_power = is(class_name, "Power"); /* an op without an equal layer has no exponent */
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
    } else if (layer->type == &mst_layer_type_integer_lookup) {
        mode = ((const integer_lookup_options *)o)->output_mode;
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
    if (is(class_name, "IntegerLookup")) return write_integer_lookup(model, layer->name, layer->options, config);
    if (is(class_name, "TextVectorization")) return write_text_vectorization(layer->name, layer->options, config);
    if (is(class_name, "Rescaling")) return write_rescaling(layer->name, layer->options, config);
    if (is(class_name, "CategoryEncoding"))
        write_mode(config, ((const category_encoding_options *)layer->options)->output_mode);
    return MST_OK;
}

bool mst_keras_preprocessing_keeps_weights(const char *class_name) {
    return is(class_name, "Discretization") || is(class_name, "IntegerLookup");
}
