#include "support/varied_rows.h"

#include <stdio.h>
#include <string.h>

#include "support/pipeline.h"
#include "support/test.h"

enum { NUMBERS, BYTE, TEXT, LIST, TEXTS, TABLE, PAIR, BYTES, COMPONENTS };

static const mst_spec specs[COMPONENTS] = {
    [NUMBERS] = {MST_I64, {1, {2}}}, [BYTE] = {MST_U8, {0, {0}}},       [TEXT] = {MST_STRING, {0, {0}}},
    [LIST] = {MST_I64, {1, {-1}}},   [TEXTS] = {MST_STRING, {1, {-1}}}, [TABLE] = {MST_F32, {2, {2, -1}}},
    [PAIR] = {MST_STRING, {1, {2}}}, [BYTES] = {MST_U8, {1, {-1}}},
};

/* "row 7, 2": part 2 of row 7; every third is empty. */
static mst_status make_text(int64_t row, int64_t part, mst_string *out) {
    enum { SIZE = 48 };
    char *text = mst_map_alloc(SIZE);
    if (!text) return MST_OUT_OF_MEMORY;
    const int length = snprintf(text, SIZE, "row %lld, %lld", (long long)row, (long long)part);
    *out = (mst_string){text, (row + part) % 3 ? (size_t)length : 0};
    return MST_OK;
}

static mst_status set_length(mst_array *out, int64_t length) {
    out->shape.dim[out->shape.ndim - 1] = length;
    out->count = mst_shape_count(out->shape);
    out->data = mst_map_alloc((size_t)out->count * mst_dtype_size(out->dtype));
    return out->data ? MST_OK : MST_OUT_OF_MEMORY;
}

static mst_status write_components(int64_t row, mst_array *out) {
    MST_TRY(set_length(&out[LIST], row % 5));
    MST_TRY(set_length(&out[TEXTS], row % 3));
    MST_TRY(set_length(&out[TABLE], row % 4));
    MST_TRY(set_length(&out[BYTES], row % 7));
    for (int64_t i = 0; i < out[LIST].count; i++) ((int64_t *)out[LIST].data)[i] = row - i;
    for (int64_t i = 0; i < out[TABLE].count; i++) ((float *)out[TABLE].data)[i] = (float)(row + i) / 2;
    for (int64_t i = 0; i < out[BYTES].count; i++) ((uint8_t *)out[BYTES].data)[i] = (uint8_t)(row * i);
    for (int64_t i = 0; i < out[TEXTS].count; i++) MST_TRY(make_text(row, i, (mst_string *)out[TEXTS].data + i));
    for (int64_t i = 0; i < 2; i++) MST_TRY(make_text(row, 2 + i, (mst_string *)out[PAIR].data + i));
    return make_text(row, 4, out[TEXT].data);
}

static void copy_numbers(const mst_array *in, mst_array *out) {
    memcpy(out[NUMBERS].data, in[NUMBERS].data, 16);
    memcpy(out[BYTE].data, in[BYTE].data, 1);
}

static mst_status vary(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    copy_numbers(in, out);
    return write_components(*(const int64_t *)in[NUMBERS].data / 10, out);
}

static bool are_same(const mst_array *a, const mst_array *b) {
    if (a->dtype != b->dtype || a->count != b->count || !mst_shape_equal(a->shape, b->shape)) return false;
    const mst_string *left = a->data, *right = b->data;
    if (a->dtype != MST_STRING)
        return !a->count || !memcmp(a->data, b->data, (size_t)a->count * mst_dtype_size(a->dtype));
    for (int64_t i = 0; i < a->count; i++)
        if (!mst_string_equal(left[i], right[i])) return false;
    return true;
}

static mst_status check(const mst_array *in, mst_array *out, void *context) {
    const int64_t row = *(const int64_t *)in[NUMBERS].data / 10;
    mst_array wanted[COMPONENTS];
    mst_string text[3];
    (void)context;
    for (int i = 0; i < COMPONENTS; i++) wanted[i] = (mst_array){.dtype = specs[i].dtype, .shape = specs[i].shape};
    wanted[TEXT].data = text;
    wanted[TEXT].count = 1;
    wanted[PAIR].data = text + 1;
    wanted[PAIR].count = 2;
    MST_TRY(write_components(row, wanted));
    for (int i = TEXT; i < COMPONENTS; i++)
        if (!are_same(&in[i], &wanted[i]))
            return MST_FAIL(MST_INTERNAL, "component %d of row %lld is another", i, (long long)row);
    copy_numbers(in, out);
    return MST_OK;
}

mst_dataset *varied_rows(mst_dataset *dataset) {
    THEN(dataset, mst_dataset_map(dataset, vary, NULL, specs, COMPONENTS, &made));
    return dataset;
}

mst_dataset *varied_rows_checked(mst_dataset *dataset) {
    THEN(dataset, mst_dataset_map(dataset, check, NULL, specs, TEXT, &made));
    return dataset;
}
