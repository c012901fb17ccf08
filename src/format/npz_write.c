/* Writing NPZ: a ZIP archive of stored entries. Source: PKWARE, APPNOTE.TXT, sections 4.3 and 4.5.3; NEP 1. */
#include <inttypes.h>
#include <isa-l/crc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "format/npz.h"

enum { LOCAL_SIZE = 30, CENTRAL_SIZE = 46, END_SIZE = 22, END64_SIZE = 56, LOCATOR_SIZE = 20, EXTRA_SIZE = 28 };
enum { VERSION_ZIP64 = 45, NAME_MOST = 60000, HEADER_MOST = 512, ALIGNMENT = 64, DATE = 33 /* 1980-01-01 */ };

/* Little-endian fields, one after the other. */
typedef struct fields {
    uint8_t *at;
} fields;

static void put(fields *f, uint64_t value, int size) {
    for (int i = 0; i < size; i++) *f->at++ = (uint8_t)(value >> 8 * i);
}

typedef struct writer {
    mst_file file;
    uint8_t *directory;
    int64_t size, capacity, count;
} writer;

/* ---- one array ---- */

/* The header of NPY, which ends at a multiple of ALIGNMENT; its size, 0 where there is no such dtype. */
static size_t npy_header(const mst_tensor *tensor, char header[HEADER_MOST]) {
    static const char *const codes[MST_NUM_DTYPES] = {[MST_F32] = "<f4", [MST_F64] = "<f8", [MST_I32] = "<i4",
                                                      [MST_I64] = "<i8", [MST_U8] = "|u1",  [MST_BOOL] = "|b1"};
    enum { BEFORE_TEXT = 10 };
    char *text = header + BEFORE_TEXT;
    const mst_shape shape = mst_tensor_shape(tensor);
    const char *code = codes[mst_tensor_dtype(tensor)];
    if (!code) return 0;
    int used = sprintf(text, "{'descr': '%s', 'fortran_order': False, 'shape': (", code);
    for (int i = 0; i < shape.ndim; i++)
        used += sprintf(text + used, "%" PRId64 ",%s", shape.dim[i], i + 1 < shape.ndim ? " " : "");
    used += sprintf(text + used, "), }");
    while ((BEFORE_TEXT + used + 1) % ALIGNMENT) text[used++] = ' ';
    text[used++] = '\n';
    static const unsigned char begin[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(header, begin, sizeof begin);
    header[8] = (char)(used & 255);
    header[9] = (char)(used >> 8);
    return (size_t)(BEFORE_TEXT + used);
}

static uint32_t sum_of(uint32_t sum, const void *data, size_t size) {
    enum { MOST = 1 << 30 };
    const uint8_t *bytes = data;
    for (size_t piece; size; bytes += piece, size -= piece) {
        piece = size < MOST ? size : MOST;
        sum = crc32_gzip_refl(sum, bytes, piece);
    }
    return sum;
}

typedef struct entry {
    const char *name; /* with .npy */
    uint32_t sum;
    uint64_t size, offset;
} entry;

/* What the header of an entry and its line of the directory share, from "version needed" to the size of the extra
 * field. All sizes stand in that field, of ZIP64. */
static void put_common(fields *f, const entry *e) {
    put(f, VERSION_ZIP64, 2);
    put(f, 0, 2); /* flags */
    put(f, 0, 2); /* stored */
    put(f, 0, 2); /* time */
    put(f, DATE, 2);
    put(f, e->sum, 4);
    put(f, UINT32_MAX, 4);
    put(f, UINT32_MAX, 4);
    put(f, strlen(e->name), 2);
}

static mst_status write_local(writer *w, const entry *e) {
    uint8_t bytes[LOCAL_SIZE + EXTRA_SIZE];
    fields f = {bytes};
    put(&f, 0x04034b50, 4);
    put_common(&f, e);
    put(&f, 20, 2);
    MST_TRY(mst_file_append(&w->file, bytes, LOCAL_SIZE));
    MST_TRY(mst_file_append(&w->file, e->name, strlen(e->name)));
    f.at = bytes;
    put(&f, 1, 2); /* ZIP64 */
    put(&f, 16, 2);
    put(&f, e->size, 8);
    put(&f, e->size, 8);
    return mst_file_append(&w->file, bytes, 20);
}

static mst_status add_to_directory(writer *w, const entry *e) {
    const size_t name_size = strlen(e->name), whole = CENTRAL_SIZE + name_size + EXTRA_SIZE;
    MST_TRY(mst_grow(&w->directory, 1, w->size + (int64_t)whole, &w->capacity));
    fields f = {w->directory + w->size};
    put(&f, 0x02014b50, 4);
    put(&f, VERSION_ZIP64, 2);
    put_common(&f, e);
    put(&f, EXTRA_SIZE, 2);
    put(&f, 0, 2 + 2 + 2); /* comment, disk, internal attributes */
    put(&f, 0, 4);
    put(&f, UINT32_MAX, 4);
    memcpy(f.at, e->name, name_size);
    f.at += name_size;
    put(&f, 1, 2);
    put(&f, 24, 2);
    put(&f, e->size, 8);
    put(&f, e->size, 8);
    put(&f, e->offset, 8);
    w->size += (int64_t)whole;
    w->count++;
    return MST_OK;
}

static mst_status write_array(writer *w, const char *path, const char *name, const mst_tensor *tensor) {
    char header[HEADER_MOST], *full;
    const size_t header_size = npy_header(tensor, header);
    if (!header_size)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': '%.200s' is %s, which NumPy does not have: write safetensors", path,
                        name, mst_dtype_name(mst_tensor_dtype(tensor)));
    if (strlen(name) > NAME_MOST) return MST_FAIL(MST_INVALID, "'%s': the name '%.40s...' is too long", path, name);
    if (asprintf(&full, "%s.npy", name) < 0) return MST_NO_MEMORY("to write '%s'", path);
    const void *data = mst_tensor_data(tensor);
    const size_t size = mst_tensor_bytes(tensor);
    const entry e = {.name = full,
                     .sum = sum_of(sum_of(0, header, header_size), data, size),
                     .size = header_size + size,
                     .offset = w->file.size};
    mst_status status = write_local(w, &e);
    if (!status) status = mst_file_append(&w->file, header, header_size);
    if (!status) status = mst_file_append(&w->file, data, size);
    if (!status) status = add_to_directory(w, &e);
    free(full);
    return status;
}

/* ---- the archive ---- */

static mst_status write_end(writer *w) {
    uint8_t bytes[END64_SIZE + LOCATOR_SIZE + END_SIZE];
    const uint64_t directory = w->file.size, size = (uint64_t)w->size, count = (uint64_t)w->count;
    fields f = {bytes};
    MST_TRY(mst_file_append(&w->file, w->directory, (size_t)size));
    put(&f, 0x06064b50, 4);
    put(&f, END64_SIZE - 12, 8);
    put(&f, VERSION_ZIP64, 2);
    put(&f, VERSION_ZIP64, 2);
    put(&f, 0, 8); /* disks */
    put(&f, count, 8);
    put(&f, count, 8);
    put(&f, size, 8);
    put(&f, directory, 8);
    put(&f, 0x07064b50, 4);
    put(&f, 0, 4);
    put(&f, directory + size, 8);
    put(&f, 1, 4);
    put(&f, 0x06054b50, 4);
    put(&f, 0, 4);
    put(&f, UINT16_MAX, 2);
    put(&f, UINT16_MAX, 2);
    put(&f, UINT32_MAX, 4);
    put(&f, UINT32_MAX, 4);
    put(&f, 0, 2);
    return mst_file_append(&w->file, bytes, sizeof bytes);
}

mst_status mst_npz_write(const char *path, const mst_named_tensor *tensors, int64_t count) {
    writer w = {.size = 0};
    MST_TRY(mst_file_create(path, &w.file));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < count && !status; i++) status = write_array(&w, path, tensors[i].name, tensors[i].tensor);
    if (!status) status = write_end(&w);
    free(w.directory);
    if (!status) return mst_file_commit(&w.file);
    mst_file_abandon(&w.file);
    return status;
}
