#include "model_file/keras/indexing.h"

#include <string.h>

#include "model_file/keras/number_list.h"

enum { MOST_INDICES = 1000000 };

static bool are_indices(const json_t *value) {
    const json_int_t number = json_integer_value(value);
    if (json_is_integer(value)) return number >= -INT32_MAX && number <= INT32_MAX;
    if (!json_is_array(value) || json_array_size(value) < 1) return false;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (json_is_array(json_array_get(value, i)) || !are_indices(json_array_get(value, i))) return false;
    return true;
}

json_t *mst_keras_take_config(const json_t *layer, const json_t *call) {
    const json_t *axis = json_object_get(json_object_get(layer, "config"), "axis");
    const json_t *indices = mst_keras_numbers_in(json_array_get(json_object_get(call, "args"), 1));
    if (!json_is_integer(axis) || json_integer_value(axis) == 0 || !are_indices(indices)) return NULL;
    return json_pack("{s:O, s:O}", "axis", axis, "indices", indices);
}

/* ---- x[..] ---- */

static bool has_class(const json_t *value, const char *name) {
    const char *class_name = json_string_value(json_object_get(value, "class_name"));
    return class_name && strcmp(class_name, name) == 0;
}

/* One end of a slice of an axis of LENGTH elements, by Python's rules: at least LEAST and at most MOST. If VALUE is not
 * an integer, the end is OTHER. */
static int64_t slice_end(const json_t *value, int64_t length, int64_t least, int64_t most, int64_t other) {
    json_int_t at = json_integer_value(value);
    if (!json_is_integer(value)) return other;
    if (at < 0) at += length;
    return at < least ? least : at > most ? most : at;
}

/* The indices of a slice; NULL: it is empty. */
static json_t *slice_indices(const json_t *slice, int64_t length) {
    const json_t *config = json_object_get(slice, "config"), *given = json_object_get(config, "step");
    const int64_t step = json_is_integer(given) ? json_integer_value(given) : 1;
    const bool up = step > 0;
    const int64_t least = up ? 0 : -1, most = up ? length : length - 1;
    const int64_t start = slice_end(json_object_get(config, "start"), length, least, most, up ? 0 : length - 1);
    const int64_t stop = slice_end(json_object_get(config, "stop"), length, least, most, up ? length : -1);
    if (step == 0 || step > MOST_INDICES || step < -MOST_INDICES) return NULL;
    json_t *list = json_array();
    for (int64_t i = start; up ? i < stop : i > stop; i += step) json_array_append_new(list, json_integer(i));
    if (json_array_size(list) > 0) return list;
    json_decref(list);
    return NULL;
}

static bool is_whole(const json_t *part) {
    const json_t *config = json_object_get(part, "config");
    return has_class(part, "__slice__") && json_is_null(json_object_get(config, "start")) &&
           json_is_null(json_object_get(config, "stop")) && json_is_null(json_object_get(config, "step"));
}

/* For x[KEY], where x has NDIM axes: the axis of which KEY takes only a part. *PART becomes the index or slice of this
 * axis. 0 if there is no such axis, if there are several, or if it is axis 0. */
static int find_part(const json_t *key, int ndim, const json_t **part) {
    int axis = 0, found = 0;
    size_t i;
    const json_t *value;
    json_array_foreach(key, i, value) {
        if (has_class(value, "__ellipsis__")) {
            axis = ndim - (int)(json_array_size(key) - i - 1); /* what follows is for the last axes */
            continue;
        }
        if (!is_whole(value) && (found || axis == 0)) return 0;
        if (!is_whole(value)) found = axis, *part = value;
        axis++;
    }
    return found;
}

json_t *mst_keras_indexing_config(const json_t *tensor, const json_t *call) {
    const json_t *shape = json_object_get(json_object_get(tensor, "config"), "shape"), *part = NULL;
    const json_t *key = json_array_get(json_object_get(call, "args"), 1);
    const int ndim = (int)json_array_size(shape);
    if (!json_is_array(key) || (int)json_array_size(key) > ndim + 1) return NULL;
    const int axis = find_part(key, ndim, &part);
    const int64_t length = json_integer_value(json_array_get(shape, (size_t)axis));
    if (axis < 1 || axis >= ndim || length < 1 || length > MOST_INDICES) return NULL;
    if (has_class(part, "__slice__")) {
        json_t *list = slice_indices(part, length);
        return list ? json_pack("{s:i, s:o}", "axis", axis, "indices", list) : NULL;
    }
    const int64_t index = json_integer_value(part) + (json_integer_value(part) < 0 ? length : 0);
    if (!json_is_integer(part) || index < 0 || index >= length) return NULL;
    return json_pack("{s:i, s:I}", "axis", axis, "indices", (json_int_t)index);
}

/* ---- the layer ---- */

mst_status mst_keras_take_read(const json_t *config, mst_option_memory *memory, mst_layer_take_options *options) {
    const json_t *indices = json_object_get(config, "indices");
    const int64_t count = json_is_array(indices) ? (int64_t)json_array_size(indices) : 1;
    if (!are_indices(indices)) return MST_FAIL(MST_UNIMPLEMENTED, "there is no such layer here");
    MST_TRY(mst_tensor_create(MST_I64, json_is_array(indices) ? MST_SHAPE(count) : MST_SCALAR, &options->indices));
    int64_t *to = mst_tensor_data(options->indices);
    for (int64_t i = 0; i < count; i++)
        to[i] = json_integer_value(json_is_array(indices) ? json_array_get(indices, (size_t)i) : indices);
    return mst_option_memory_keep(memory, options->indices);
}

json_t *mst_keras_take_indices(const mst_layer_take_options *options) {
    const mst_tensor *indices = options->indices;
    if (mst_tensor_shape(indices).ndim == 0) return json_integer((json_int_t)mst_tensor_get(indices, 0));
    json_t *list = json_array();
    for (int64_t i = 0; i < mst_tensor_count(indices); i++)
        json_array_append_new(list, json_integer((json_int_t)mst_tensor_get(indices, i)));
    return list;
}
