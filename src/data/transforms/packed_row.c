/* Packs the components of a row into one string of bytes, and unpacks them again (packed_row.h). Both are map stages
 * over the rows, so they run on the threads that copy a batch. Unpacking does not trust lengths: each must fit in the
 * remaining bytes before memory is allocated for it. */
#include "data/transforms/packed_row.h"

#include <endian.h>
#include <string.h>

enum { NUMBER = 8 }; /* size of a length in bytes */

typedef struct packing {
    mst_dataset base;
    mst_row_stage stage;
} packing;

bool mst_packed_rows_have_one_size(const mst_dataset *dataset) {
    for (int i = 0; i < dataset->num_components; i++)
        if (dataset->row[i].dtype == MST_STRING || mst_shape_count(dataset->row[i].shape) < 0) return false;
    return true;
}

/* ---- pack ---- */

static size_t packed_bytes(const mst_spec *spec, const mst_array *array) {
    const mst_string *string = array->data;
    size_t bytes = 0;
    for (int j = 0; j < spec->shape.ndim; j++) bytes += spec->shape.dim[j] < 0 ? NUMBER : 0;
    if (spec->dtype != MST_STRING) return bytes + (size_t)array->count * mst_dtype_size(spec->dtype);
    for (int64_t k = 0; k < array->count; k++) bytes += NUMBER + string[k].length;
    return bytes;
}

static char *packed_row_put(char *to, const void *data, size_t size) {
    if (size) memcpy(to, data, size);
    return to + size;
}

static char *put_number(char *to, uint64_t number) {
    number = htole64(number);
    return packed_row_put(to, &number, NUMBER);
}

static char *put_component(char *to, const mst_spec *spec, const mst_array *array) {
    const mst_string *string = array->data;
    for (int j = 0; j < spec->shape.ndim; j++)
        if (spec->shape.dim[j] < 0) to = put_number(to, (uint64_t)array->shape.dim[j]);
    if (spec->dtype != MST_STRING)
        return packed_row_put(to, array->data, (size_t)array->count * mst_dtype_size(spec->dtype));
    for (int64_t k = 0; k < array->count; k++) {
        to = put_number(to, string[k].length);
        to = packed_row_put(to, string[k].data, string[k].length);
    }
    return to;
}

/* Packs a row. CONTEXT is the dataset of the rows. */
static mst_status pack(const mst_array *in, mst_array *out, void *context) {
    const mst_dataset *rows = context;
    size_t bytes = 0;
    for (int i = 0; i < rows->num_components; i++) bytes += packed_bytes(&rows->row[i], &in[i]);
    char *data = mst_map_alloc(bytes), *to = data;
    if (!data) return MST_OUT_OF_MEMORY;
    for (int i = 0; i < rows->num_components; i++) to = put_component(to, &rows->row[i], &in[i]);
    *(mst_string *)out[0].data = (mst_string){data, bytes};
    return MST_OK;
}

/* ---- unpack ---- */

/* The part of a packed row that is not unpacked yet. */
typedef struct rest {
    const char *at;
    size_t size;
} rest;

/* Takes the next SIZE bytes; NULL if there are fewer. */
static const void *packed_row_take(rest *r, uint64_t size) {
    const char *data = r->at;
    if (size > r->size) return NULL;
    r->at += size;
    r->size -= (size_t)size;
    return data;
}

static bool take_number(rest *r, uint64_t *number) {
    const void *data = packed_row_take(r, NUMBER);
    if (!data) return false;
    memcpy(number, data, NUMBER);
    *number = le64toh(*number);
    return true;
}

static bool take_strings(rest *r, mst_string *string, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        uint64_t length;
        if (!take_number(r, &length) || !(string[k].data = packed_row_take(r, length))) return false;
        string[k].length = (size_t)length;
    }
    return true;
}

static mst_status packed_row_damaged(void) {
    return MST_FAIL(MST_CORRUPT, "the row is damaged, its parts do not add up: remove the file");
}

static mst_status take_component(rest *r, const mst_spec *spec, mst_array *out) {
    const size_t size = mst_dtype_size(spec->dtype), least = spec->dtype == MST_STRING ? NUMBER : size;
    mst_shape shape = spec->shape;
    for (int j = 0; j < shape.ndim; j++) {
        uint64_t length;
        if (shape.dim[j] >= 0) continue;
        if (!take_number(r, &length) || length > INT64_MAX) return packed_row_damaged();
        shape.dim[j] = (int64_t)length;
    }
    const int64_t count = mst_shape_count(shape);
    if ((uint64_t)count > r->size / least) return packed_row_damaged(); /* checked before memory is allocated */
    if (mst_shape_count(spec->shape) < 0) {
        *out = (mst_array){
            .data = mst_map_alloc((size_t)count * size), .count = count, .dtype = spec->dtype, .shape = shape};
        if (!out->data) return MST_OUT_OF_MEMORY;
    }
    if (spec->dtype == MST_STRING) return take_strings(r, out->data, count) ? MST_OK : packed_row_damaged();
    const void *data = packed_row_take(r, (size_t)count * size);
    if (count) memcpy(out->data, data, (size_t)count * size);
    return MST_OK;
}

/* Unpacks a row. CONTEXT is the dataset that is made. */
static mst_status unpack(const mst_array *in, mst_array *out, void *context) {
    const mst_dataset *rows = context;
    const mst_string *string = in[0].data;
    rest r = {in[0].data, (size_t)in[0].count};
    if (in[0].dtype == MST_STRING) r = (rest){string->data, string->length};
    for (int i = 0; i < rows->num_components; i++) MST_TRY(take_component(&r, &rows->row[i], &out[i]));
    return r.size ? packed_row_damaged() : MST_OK;
}

/* ---- datasets ---- */

static mst_status packed_row_make(const mst_dataset_type *type, mst_dataset *upstream, const mst_spec *row,
                                  int num_components, mst_map_function map, mst_dataset **out) {
    packing *d;
    MST_TRY(mst_dataset_derive_rows(type, sizeof *d, upstream, row, num_components, &d));
    d->stage = (mst_row_stage){.map = map, .context = map == pack ? upstream : &d->base};
    d->base.stage = &d->stage;
    *out = &d->base;
    return MST_OK;
}

mst_status mst_dataset_pack(mst_dataset *dataset, mst_dataset **out) {
    static const mst_dataset_type type = {.name = "pack", .keeps_rows = true};
    return packed_row_make(&type, dataset, &(mst_spec){.dtype = MST_STRING}, 1, pack, out);
}

mst_status mst_dataset_unpack(const mst_dataset_type *type, mst_dataset *packed, const mst_dataset *like,
                              mst_dataset **out) {
    return packed_row_make(type, packed, like->row, like->num_components, unpack, out);
}
