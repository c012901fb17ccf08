/* Opening reads only the header. It checks that the tensors, sorted by where they begin, fill the data from the first
 * byte to the last. Reading copies one tensor from its place. A tensor whose dtype Muster does not have is listed, but
 * cannot be read. Writing puts tensors with larger elements first, so that each tensor is aligned to its element
 * size. */
#include "format/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/f16.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/long_work.h"
#include "base/no_memory.h"
#include "format/byte_source.h"
#include "tensor/tensor_check.h"

enum { HEADER_MOST = 100000000, ALIGNMENT = 8 };
static const char metadata_key[] = "__metadata__", our_key[] = "muster";

static const struct {
    const char *name;
    mst_dtype dtype; /* MST_NO_DTYPE: Muster has no dtype for it */
    int size;
} dtypes[] = {
    {"F32", MST_F32, 4},      {"F64", MST_F64, 8},          {"I32", MST_I32, 4},         {"I64", MST_I64, 8},
    {"U8", MST_U8, 1},        {"BOOL", MST_BOOL, 1},        {"BF16", MST_BF16, 2},       {"F16", MST_NO_DTYPE, 2},
    {"I8", MST_NO_DTYPE, 1},  {"I16", MST_NO_DTYPE, 2},     {"U16", MST_NO_DTYPE, 2},    {"U32", MST_NO_DTYPE, 4},
    {"U64", MST_NO_DTYPE, 8}, {"F8_E4M3", MST_NO_DTYPE, 1}, {"F8_E5M2", MST_NO_DTYPE, 1}};
enum { NUM_DTYPES = sizeof dtypes / sizeof *dtypes };

typedef struct item {
    const char *name; /* points into the JSON */
    int type;         /* index in dtypes */
    mst_shape shape;
    uint64_t begin, end;
} item;

struct mst_safetensors {
    mst_bytes bytes;
    json_t *header;
    item *item; /* [count] sorted by where they begin */
    int64_t count;
    uint64_t data; /* where the data begins in the file */
};

/* ---- reading ---- */

static mst_status safetensors_corrupt(const mst_safetensors *f, const char *name, const char *what) {
    if (!name) return MST_FAIL(MST_CORRUPT, "'%s': %s: it is no safetensors file, or is damaged", f->bytes.name, what);
    return MST_FAIL(MST_CORRUPT, "'%s': %s of '%.200s': the file is damaged", f->bytes.name, what, name);
}

static mst_status read_shape(const mst_safetensors *f, item *it, const json_t *shape) {
    const size_t ndim = json_array_size(shape);
    if (!json_is_array(shape) || ndim > MST_MAX_NDIM) return safetensors_corrupt(f, it->name, "the shape");
    it->shape.ndim = (int32_t)ndim;
    for (size_t i = 0; i < ndim; i++) {
        const json_t *dim = json_array_get(shape, i);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0) return safetensors_corrupt(f, it->name, "the shape");
        it->shape.dim[i] = json_integer_value(dim);
    }
    return MST_OK;
}

static mst_status read_offsets(const mst_safetensors *f, item *it, const json_t *offsets) {
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return safetensors_corrupt(f, it->name, "the offsets");
    it->begin = (uint64_t)json_integer_value(begin);
    it->end = (uint64_t)json_integer_value(end);
    uint64_t bytes = (uint64_t)dtypes[it->type].size;
    bool overflow = false;
    for (int i = 0; i < it->shape.ndim; i++)
        overflow |= __builtin_mul_overflow(bytes, (uint64_t)it->shape.dim[i], &bytes);
    if (overflow || bytes != it->end - it->begin) return safetensors_corrupt(f, it->name, "the number of bytes");
    return MST_OK;
}

static mst_status read_item(const mst_safetensors *f, item *it, const json_t *value) {
    const char *type = json_string_value(json_object_get(value, "dtype"));
    while (type && it->type < NUM_DTYPES && strcmp(dtypes[it->type].name, type) != 0) it->type++;
    if (!type || it->type == NUM_DTYPES) return safetensors_corrupt(f, it->name, "the dtype");
    MST_TRY(read_shape(f, it, json_object_get(value, "shape")));
    return read_offsets(f, it, json_object_get(value, "data_offsets"));
}

static int by_place(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->begin != y->begin) return x->begin > y->begin ? 1 : -1;
    return (x->end > y->end) - (x->end < y->end);
}

static mst_status read_items(mst_safetensors *f) {
    const char *name;
    json_t *value;
    uint64_t next = 0;
    if (!json_is_object(f->header)) return safetensors_corrupt(f, NULL, "the header is no JSON object");
    f->item = calloc(json_object_size(f->header) + 1, sizeof *f->item);
    if (!f->item) return MST_NO_MEMORY("to read '%s'", f->bytes.name);
    json_object_foreach(f->header, name, value) {
        if (strcmp(name, metadata_key) == 0) continue;
        f->item[f->count].name = name;
        MST_TRY(read_item(f, &f->item[f->count], value));
        f->count++;
    }
    if (f->count) qsort(f->item, (size_t)f->count, sizeof *f->item, by_place);
    for (int64_t i = 0; i < f->count; next = f->item[i++].end)
        if (f->item[i].begin != next) return safetensors_corrupt(f, f->item[i].name, "the place");
    if (next != f->bytes.size - f->data)
        return MST_FAIL(MST_CORRUPT, "'%s': its tensors take %llu bytes, %llu are there: it is cut off, or damaged",
                        f->bytes.name, (unsigned long long)next, (unsigned long long)(f->bytes.size - f->data));
    return MST_OK;
}

static mst_status read_header(mst_safetensors *f) {
    uint64_t size = 0;
    size_t got;
    json_error_t error;
    MST_TRY(mst_bytes_read(&f->bytes, 0, &size, sizeof size, &got)); /* little-endian, like the machine */
    if (got < sizeof size || size > HEADER_MOST || size > f->bytes.size - sizeof size)
        return safetensors_corrupt(f, NULL, "the size of the header is impossible");
    char *text = malloc((size_t)size + 1);
    if (!text) return MST_NO_MEMORY("to read '%s'", f->bytes.name);
    const mst_status status = mst_bytes_read(&f->bytes, sizeof size, text, (size_t)size, &got);
    if (!status && got == size) f->header = mst_json_read(text, got, &error);
    free(text);
    MST_TRY(status);
    if (!f->header) return safetensors_corrupt(f, NULL, "the header is no JSON");
    f->data = sizeof size + size;
    return read_items(f);
}

static mst_status safetensors_finish(mst_safetensors *f, mst_status status, mst_safetensors **out) {
    if (!status) status = read_header(f);
    if (status)
        mst_safetensors_close(f);
    else
        *out = f;
    return status;
}

mst_status mst_safetensors_open(const char *path, mst_safetensors **out) {
    mst_safetensors *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return MST_NO_MEMORY("to read '%s'", path);
    return safetensors_finish(f, mst_bytes_open(path, &f->bytes), out);
}

mst_status mst_safetensors_open_inside(const mst_folder *folder, const char *path, mst_safetensors **out) {
    mst_safetensors *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return MST_NO_MEMORY("to read a file");
    return safetensors_finish(f, mst_bytes_open_inside(folder, path, &f->bytes), out);
}

mst_status mst_safetensors_parse(const char *name, const void *data, size_t size, mst_safetensors **out) {
    mst_safetensors *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return MST_NO_MEMORY("to read '%s'", name);
    return safetensors_finish(f, mst_bytes_of_memory(name, data, size, &f->bytes), out);
}

void mst_safetensors_close(mst_safetensors *file) {
    if (!file) return;
    json_decref(file->header);
    free(file->item);
    mst_bytes_close(&file->bytes);
    free(file);
}

int64_t mst_safetensors_count(const mst_safetensors *file) {
    return file->count;
}

const char *mst_safetensors_name(const mst_safetensors *file, int64_t i) {
    return file->item[i].name;
}

bool mst_safetensors_has(const mst_safetensors *file, const char *name) {
    return strcmp(name, metadata_key) != 0 && json_object_get(file->header, name);
}

int64_t mst_safetensors_find(const mst_safetensors *file, const char *name) {
    if (!mst_safetensors_has(file, name)) return -1;
    for (int64_t i = 0; i < file->count; i++)
        if (strcmp(file->item[i].name, name) == 0) return i;
    return -1;
}

mst_shape mst_safetensors_shape(const mst_safetensors *file, int64_t i) {
    return file->item[i].shape;
}

const char *mst_safetensors_metadata(const mst_safetensors *file, const char *key) {
    return json_string_value(json_object_get(json_object_get(file->header, metadata_key), key));
}

/* Reads SIZE bytes at OFFSET of the tensor IT. */
static mst_status read_data(const mst_safetensors *file, const item *it, uint64_t offset, void *data, size_t size) {
    size_t got = 0;
    MST_TRY(mst_bytes_read(&file->bytes, file->data + it->begin + offset, data, size, &got));
    return got == size ? MST_OK : safetensors_corrupt(file, it->name, "the end");
}

mst_status mst_safetensors_read(const mst_safetensors *file, int64_t i, mst_tensor **out) {
    const item *it = &file->item[i];
    const size_t size = (size_t)(it->end - it->begin);
    *out = NULL;
    if (!dtypes[it->type].dtype)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': '%.200s' is of dtype %s, which Muster does not have",
                        file->bytes.name, it->name, dtypes[it->type].name);
    MST_TRY(mst_tensor_create_untouched(dtypes[it->type].dtype, it->shape, out));
    uint8_t *data = mst_tensor_data(*out);
    const mst_status status = read_data(file, it, 0, data, size);
    for (size_t k = 0; !status && dtypes[it->type].dtype == MST_BOOL && k < size; k++) data[k] = data[k] != 0;
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

/* Reads the COUNT numbers of IT, which are F16 or BF16, piece by piece, and converts them to f32. */
static mst_status read_halves(const mst_safetensors *file, const item *it, float *dst, int64_t count) {
    enum { PIECE = 4096 };
    const bool is_bf16 = dtypes[it->type].dtype == MST_BF16;
    uint16_t piece[PIECE];
    for (int64_t done = 0; done < count;) {
        const int64_t n = count - done < PIECE ? count - done : PIECE;
        MST_TRY(read_data(file, it, (uint64_t)done * sizeof *piece, piece, (size_t)n * sizeof *piece));
        for (int64_t i = 0; i < n; i++) dst[done + i] = is_bf16 ? mst_bf16_value(piece[i]) : mst_f16_value(piece[i]);
        done += n;
    }
    return MST_OK;
}

mst_status mst_safetensors_read_f32(const mst_safetensors *file, int64_t i, mst_tensor **out) {
    const item *it = &file->item[i];
    const char *dtype = dtypes[it->type].name;
    if (strcmp(dtype, "F32") == 0) return mst_safetensors_read(file, i, out);
    *out = NULL;
    if (strcmp(dtype, "F16") != 0 && strcmp(dtype, "BF16") != 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': '%.200s' is of dtype %s, and F32, F16 or BF16 is due",
                        file->bytes.name, it->name, dtype);
    MST_TRY(mst_tensor_create_untouched(MST_F32, it->shape, out));
    const mst_status status = read_halves(file, it, mst_tensor_data(*out), mst_tensor_count(*out));
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

/* ---- writing ---- */

static const char *name_of(mst_dtype dtype) {
    for (int i = 0; i < NUM_DTYPES; i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].name;
    return "";
}

/* Adds T to the header. Its data begins at *OFFSET, which becomes the end of the data. Returns -1 if there is no
 * memory, or if the name is not UTF-8. */
static int add_tensor(json_t *header, const mst_named_tensor *t, uint64_t *offset) {
    const mst_shape shape = mst_tensor_shape(t->tensor);
    const uint64_t end = *offset + mst_tensor_bytes(t->tensor);
    json_t *dims = json_array();
    for (int i = 0; i < shape.ndim; i++) json_array_append_new(dims, json_integer(shape.dim[i]));
    json_t *value = json_pack("{s:s, s:o, s:[I, I]}", "dtype", name_of(mst_tensor_dtype(t->tensor)), "shape", dims,
                              "data_offsets", (json_int_t)*offset, (json_int_t)end);
    *offset = end;
    return json_object_set_new(header, t->name, value);
}

/* Makes the beginning of the file: the size of the header, and the header, padded with spaces so that the data is
 * aligned. The caller frees the result; NULL on failure. */
static char *make_header(const mst_named_tensor *const *order, int64_t count, const char *key, const char *metadata,
                         size_t *size) {
    json_t *header = json_object();
    uint64_t offset = 0;
    int failed = metadata ? json_object_set_new(header, metadata_key, json_pack("{s:s}", key, metadata)) : 0;
    for (int64_t i = 0; i < count && !failed; i++) failed = add_tensor(header, order[i], &offset);
    const size_t length = failed ? 0 : json_dumpb(header, NULL, 0, JSON_COMPACT);
    const uint64_t padded = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *bytes = length ? malloc(sizeof padded + (size_t)padded) : NULL;
    if (bytes) {
        memcpy(bytes, &padded, sizeof padded);
        json_dumpb(header, bytes + sizeof padded, length, JSON_COMPACT);
        memset(bytes + sizeof padded + length, ' ', (size_t)padded - length);
    }
    json_decref(header);
    *size = sizeof padded + (size_t)padded;
    return bytes;
}

/* Orders tensors with larger elements first, so that each tensor is aligned to its element size; then by name. */
static int by_alignment(const void *a, const void *b) {
    const mst_named_tensor *x = *(const mst_named_tensor *const *)a, *y = *(const mst_named_tensor *const *)b;
    const size_t size_x = mst_dtype_size(mst_tensor_dtype(x->tensor)),
                 size_y = mst_dtype_size(mst_tensor_dtype(y->tensor));
    if (size_x != size_y) return size_x > size_y ? -1 : 1;
    return strcmp(x->name, y->name);
}

static mst_status append_in_order(mst_file *file, const char *header, size_t size, const mst_named_tensor *const *order,
                                  int64_t count) {
    uint64_t total = size;
    for (int64_t i = 0; i < count; i++) total += mst_tensor_bytes(order[i]->tensor);
    mst_long_work_begin(MST_LONG_WORK_WRITING, file->path, NULL, total);
    mst_status status = mst_file_append(file, header, size);
    for (int64_t i = 0; i < count && !status; i++)
        status = mst_file_append(file, mst_tensor_data(order[i]->tensor), mst_tensor_bytes(order[i]->tensor));
    mst_long_work_end();
    return status;
}

mst_status mst_safetensors_append(mst_file *file, const mst_named_tensor *tensors, int64_t count, const char *key,
                                  const char *metadata) {
    size_t size;
    const mst_named_tensor **order = calloc((size_t)count + 1, sizeof *order);
    if (!order) return MST_NO_MEMORY("to write '%s'", file->path);
    for (int64_t i = 0; i < count; i++) order[i] = &tensors[i];
    if (count) qsort(order, (size_t)count, sizeof *order, by_alignment);
    char *header = make_header(order, count, key, metadata, &size);
    const mst_status status =
        header ? append_in_order(file, header, size, order, count)
               : MST_FAIL(MST_INVALID, "'%s' cannot be written: a name is no UTF-8, or memory is out", file->path);
    free(header);
    free(order);
    return status;
}

mst_status mst_safetensors_write(const char *path, const mst_named_tensor *tensors, int64_t count,
                                 const char *metadata) {
    mst_file file;
    MST_TRY(mst_file_create(path, &file));
    const mst_status status = mst_safetensors_append(&file, tensors, count, our_key, metadata);
    if (!status) return mst_file_commit(&file);
    mst_file_abandon(&file);
    return status;
}
