/** What the C programs of the parity tests read from JSON: numbers, tensors, options by their tables of fields.
 *
 *  TENSOR is {"dtype": "f32", "shape": [2], "values": [...]}. NaN and infinities are strings, "nan", "inf", "-inf";
 *  a value of dtype "string" is the list of its bytes. */
#ifndef MUSTER_TEST_PARITY_JSON_CASE_H
#define MUSTER_TEST_PARITY_JSON_CASE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/schedule.h"

/* ---- JSON ------------------------------------------------------------------------------------------ */

static inline double number(const json_t *j, double absent) {
    if (json_is_string(j)) return strtod(json_string_value(j), NULL);
    return json_is_number(j) ? json_number_value(j) : json_is_boolean(j) ? json_is_true(j) : absent;
}

static inline json_t *as_json(double value) {
    if (isfinite(value)) return json_real(value);
    return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static inline json_t *values(const mst_tensor *tensor) {
    json_t *list = json_array();
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++)
        json_array_append_new(list, as_json(mst_tensor_get(tensor, i)));
    return list;
}

static inline mst_shape shape_of(const json_t *list) {
    mst_shape shape = {.ndim = (int32_t)json_array_size(list)};
    for (int i = 0; i < shape.ndim; i++) shape.dim[i] = json_integer_value(json_array_get(list, (size_t)i));
    return shape;
}

static inline mst_dtype dtype_of(const json_t *j) {
    const char *name = json_string_value(json_object_get(j, "dtype"));
    return name ? mst_dtype_from_name(name) : MST_F32;
}

static inline mst_status set_element(mst_tensor *tensor, int64_t i, const json_t *j) {
    char bytes[256];
    const size_t size = json_array_size(j);
    if (!json_is_array(j)) mst_tensor_set(tensor, i, number(j, 0));
    if (!json_is_array(j)) return MST_OK;
    if (size > sizeof bytes) return MST_FAIL(MST_INVALID, "a string has %zu bytes", size);
    for (size_t k = 0; k < size; k++) bytes[k] = (char)json_integer_value(json_array_get(j, k));
    return mst_tensor_set_string(tensor, i, (mst_string){bytes, size});
}

static inline mst_status tensor_of(const json_t *j, mst_tensor **out) {
    const json_t *list = json_object_get(j, "values");
    MST_TRY(mst_tensor_create(dtype_of(j), shape_of(json_object_get(j, "shape")), out));
    if (json_array_size(list) != (size_t)mst_tensor_count(*out))
        return MST_FAIL(MST_INVALID, "a tensor has %zu values", json_array_size(list));
    for (size_t i = 0; i < json_array_size(list); i++) MST_TRY(set_element(*out, (int64_t)i, json_array_get(list, i)));
    return MST_OK;
}

/* ---- options by their tables ------------------------------------------------------------------------- */

static inline int enumerator(const mst_field *field, const json_t *given) {
    for (int i = 0; json_is_string(given) && field->names[i]; i++)
        if (strcmp(field->names[i], json_string_value(given)) == 0) return i;
    return (int)number(given, -1);
}

static inline void set_field(const mst_field *field, void *at, const json_t *given) {
    double value = number(given, 0);
    switch ((int)field->type) {
        case MST_FIELD_TYPE_BOOL: *(bool *)at = value != 0; break;
        case MST_FIELD_TYPE_I32: *(int32_t *)at = (int32_t)value; break;
        case MST_FIELD_TYPE_I64: *(int64_t *)at = (int64_t)value; break;
        case MST_FIELD_TYPE_F32: *(float *)at = (float)value; break;
        case MST_FIELD_TYPE_F64: *(double *)at = value; break;
        case MST_FIELD_TYPE_ENUM: *(int *)at = enumerator(field, given); break;
        case MST_FIELD_TYPE_STRING: *(const char **)at = json_string_value(given); break;
        case MST_FIELD_TYPE_SHAPE: *(mst_shape *)at = shape_of(given); break;
        case MST_FIELD_TYPE_DTYPE: *(mst_dtype *)at = mst_dtype_from_name(json_string_value(given)); break;
        case MST_FIELD_TYPE_AXES:
            for (size_t i = 0; i < json_array_size(given); i++)
                ((mst_axes *)at)->axis[((mst_axes *)at)->count++] = (int32_t)number(json_array_get(given, i), 0);
            break;
        default: break;
    }
}

static inline mst_status set_fields(const mst_field *fields, void *options, json_t *given) {
    const char *name;
    json_t *value;
    json_object_foreach(given, name, value) {
        const mst_field *field = fields;
        while (field && field->name && strcmp(field->name, name) != 0) field++;
        if (!field || !field->name) return MST_FAIL(MST_INVALID, "there is no option '%s'", name);
        set_field(field, (char *)options + field->offset, value);
    }
    return MST_OK;
}

/* GIVEN without the members boundary and value, which no table has. */
static inline mst_status schedule_of(json_t *given, mst_schedule *out) {
    json_t *boundaries = json_object_get(given, "boundary"), *rates = json_object_get(given, "value");
    *out = (mst_schedule){0};
    for (size_t i = 0; i < json_array_size(boundaries) && i < MST_SCHEDULE_PIECES; i++)
        out->boundary[i] = (int64_t)number(json_array_get(boundaries, i), 0);
    for (size_t i = 0; i < json_array_size(rates) && i < MST_SCHEDULE_PIECES; i++)
        out->value[out->num_pieces++] = number(json_array_get(rates, i), 0);
    json_t *rest = json_copy(given);
    json_object_del(rest, "boundary");
    json_object_del(rest, "value");
    mst_status status = set_fields(mst_schedule_fields, out, rest);
    json_decref(rest);
    return status;
}

static inline mst_status optimizer_of(json_t *given, mst_optimizer *out) {
    json_t *rest = json_copy(given), *schedule = json_object_get(given, "schedule");
    *out = (mst_optimizer){0};
    mst_status status = schedule ? schedule_of(schedule, &out->schedule) : MST_OK;
    json_object_del(rest, "schedule");
    if (!status) status = set_fields(mst_optimizer_fields, out, rest);
    *out = mst_optimizer_named(json_string_value(json_object_get(given, "rule")), *out);
    json_decref(rest);
    return status;
}

#endif
