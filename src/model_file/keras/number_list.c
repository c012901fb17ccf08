#include "model_file/keras/number_list.h"

#include <string.h>

/* The lists of numbers in VALUE, an array object of Keras. */
static const json_t *lists_of(const json_t *value) {
    static const char *const names[] = {"__numpy__", "__tensor__"};
    const char *name = json_string_value(json_object_get(value, "class_name"));
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return json_object_get(json_object_get(value, "config"), "value");
    return value;
}

/* The shape of VALUE according to its first elements. */
static bool find_shape(const json_t *value, mst_shape *out) {
    *out = (mst_shape){0};
    for (; json_is_array(value); value = json_array_get(value, 0)) {
        if (json_array_size(value) < 1 || out->ndim == MST_MAX_NDIM) return false;
        out->dim[out->ndim++] = (int64_t)json_array_size(value);
    }
    return json_is_number(value);
}

static bool fits(const json_t *value, const mst_shape *shape, int depth) {
    if (depth == shape->ndim) return json_is_number(value);
    if (!json_is_array(value) || (int64_t)json_array_size(value) != shape->dim[depth]) return false;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!fits(json_array_get(value, i), shape, depth + 1)) return false;
    return true;
}

const json_t *mst_keras_numbers_in(const json_t *value) {
    mst_shape shape;
    const json_t *lists = lists_of(value);
    return find_shape(lists, &shape) && fits(lists, &shape, 0) ? lists : NULL;
}

static float *fill_numbers(const json_t *value, float *dst) {
    if (!json_is_array(value)) {
        *dst = (float)json_number_value(value);
        return dst + 1;
    }
    for (size_t i = 0; i < json_array_size(value); i++) dst = fill_numbers(json_array_get(value, i), dst);
    return dst;
}

mst_status mst_keras_numbers_read(const json_t *value, mst_tensor **out) {
    mst_shape shape;
    const json_t *lists = mst_keras_numbers_in(value);
    *out = NULL;
    if (!lists || !find_shape(lists, &shape)) return MST_FAIL(MST_CORRUPT, "a list of numbers is damaged");
    MST_TRY(mst_tensor_create(MST_F32, shape, out));
    fill_numbers(lists, mst_tensor_data(*out));
    return MST_OK;
}

static json_t *write_from(const mst_tensor *tensor, int depth, int64_t *at) {
    const mst_shape shape = mst_tensor_shape(tensor);
    if (depth == shape.ndim) return json_real(mst_tensor_get(tensor, (*at)++));
    json_t *list = json_array();
    for (int64_t i = 0; list && i < shape.dim[depth]; i++)
        if (json_array_append_new(list, write_from(tensor, depth + 1, at))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *mst_keras_numbers_write(const mst_tensor *tensor) {
    int64_t at = 0;
    return write_from(tensor, 0, &at);
}
