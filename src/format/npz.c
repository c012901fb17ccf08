#include "format/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/byte_order.h"
#include "format/npy.h"
#include "format/zip_read.h"

struct mst_npz {
    mst_bytes bytes;
    mst_zip zip;
};

static const char suffix[] = ".npy";

enum { SUFFIX_SIZE = 4, HEADER_MAX = 1 << 20, NAME_MAX_SHOWN = 300 };

/* Removes ".npy" from the end of names, so that the names are those given to numpy.savez. Also removes "./" from the
 * beginning, which other programs write. "x", "x.npy" and "./x.npy" then become the same name: it is an error if an
 * archive has two of them. */
static mst_status strip_names(mst_zip *zip) {
    for (int64_t i = 0; i < zip->num_entries; i++) {
        char *name = zip->entry[i].name, *own = name;
        while (strncmp(own, "./", 2) == 0) own += 2;
        size_t size = strlen(own);
        memmove(name, own, size + 1);
        if (size > SUFFIX_SIZE && strcmp(name + size - SUFFIX_SIZE, suffix) == 0) name[size - SUFFIX_SIZE] = '\0';
    }
    return mst_zip_check_names(zip);
}

static bool is_npy(const mst_bytes *bytes) {
    static const char magic[] = "\x93NUMPY";
    char head[sizeof magic - 1];
    size_t got;
    return !mst_bytes_read(bytes, 0, head, sizeof head, &got) && got == sizeof head && memcmp(head, magic, got) == 0;
}

static mst_status npz_finish(mst_npz *npz, mst_status status, mst_npz **out) {
    if (!status && is_npy(&npz->bytes))
        status = MST_FAIL(MST_INVALID,
                          "'%s': is one array without a name (.npy), an archive is due: write it with "
                          "numpy.savez('FILE.npz', x=array)",
                          npz->bytes.name);
    if (!status) status = mst_zip_open(&npz->bytes, &npz->zip);
    if (!status) status = strip_names(&npz->zip);
    if (status)
        mst_npz_close(npz);
    else
        *out = npz;
    return status;
}

mst_status mst_npz_open(const char *path, mst_npz **out) {
    mst_npz *npz = calloc(1, sizeof *npz);
    *out = NULL;
    if (!npz) return MST_NO_MEMORY("to read '%s'", path);
    return npz_finish(npz, mst_bytes_open(path, &npz->bytes), out);
}

mst_status mst_npz_parse(const char *name, const void *data, size_t size, mst_npz **out) {
    mst_npz *npz = calloc(1, sizeof *npz);
    *out = NULL;
    if (!npz) return MST_NO_MEMORY("to read '%s'", name);
    return npz_finish(npz, mst_bytes_of_memory(name, data, size, &npz->bytes), out);
}

void mst_npz_close(mst_npz *npz) {
    if (!npz) return;
    mst_zip_free(&npz->zip);
    mst_bytes_close(&npz->bytes);
    free(npz);
}

int64_t mst_npz_num_arrays(const mst_npz *npz) {
    return npz->zip.num_entries;
}

const char *mst_npz_name(const mst_npz *npz, int64_t i) {
    return npz->zip.entry[i].name;
}

bool mst_npz_has(const mst_npz *npz, const char *name) {
    return mst_zip_find(&npz->zip, name) != NULL;
}

const char *mst_npz_other_case(const mst_npz *npz, const char *name) {
    for (int64_t i = 0; i < npz->zip.num_entries; i++) {
        const char *other = npz->zip.entry[i].name;
        if (strcmp(other, name) != 0 && strcasecmp(other, name) == 0) return other;
    }
    return NULL;
}

static mst_status missing(const mst_npz *npz, const char *name) {
    char list[NAME_MAX_SHOWN] = "";
    size_t used = 0;
    for (int64_t i = 0; i < npz->zip.num_entries && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", npz->zip.entry[i].name);
    return MST_FAIL(MST_NOT_FOUND, "'%s': has no array '%s': it has %s", npz->bytes.name, name, *list ? list : "none");
}

static mst_status read_header(mst_zip_reader *reader, const char *label, bool any, mst_npy *header) {
    unsigned char prefix[MST_NPY_PREFIX], length[4] = {0};
    int length_size;
    MST_TRY(mst_zip_reader_read(reader, prefix, sizeof prefix));
    MST_TRY(mst_npy_prefix(label, prefix, &length_size));
    MST_TRY(mst_zip_reader_read(reader, length, (size_t)length_size));
    size_t size = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
    if (size > HEADER_MAX)
        return MST_FAIL(MST_CORRUPT, "'%s': an NPY header of %zu bytes: the array is damaged, save it again", label,
                        size);
    char *text = malloc(size + 1);
    if (!text) return MST_NO_MEMORY("to read '%s'", label);
    mst_status status = mst_zip_reader_read(reader, text, size);
    if (!status) status = any ? mst_npy_parse_any(label, text, size, header) : mst_npy_parse(label, text, size, header);
    free(text);
    return status;
}

static mst_status check_size(const mst_zip_reader *reader, const char *label, const mst_npy *header, size_t *size) {
    char text[MST_SHAPE_TEXT];
    const bool longer = reader->done > reader->entry->size; /* longer than the directory of the archive says */
    uint64_t total = mst_dtype_size(header->dtype), holds = longer ? 0 : reader->entry->size - reader->done;
    bool overflow = longer;
    for (int i = 0; i < header->shape.ndim; i++)
        overflow |= __builtin_mul_overflow(total, (uint64_t)header->shape.dim[i], &total);
    *size = (size_t)total;
    if (!overflow && total == holds) return MST_OK;
    return MST_FAIL(MST_CORRUPT,
                    "'%s': %s%s does not take the %llu bytes that are there: the array is damaged, save it again",
                    label, mst_dtype_name(header->dtype), mst_shape_print(header->shape, text, sizeof text),
                    (unsigned long long)holds);
}

static mst_status read_array(mst_zip_reader *reader, const char *label, mst_tensor **out) {
    mst_npy header;
    size_t size;
    MST_TRY(read_header(reader, label, false, &header));
    MST_TRY(check_size(reader, label, &header, &size));
    if (mst_tensor_create(header.dtype, header.shape, out)) return mst_error_prefix("reading '%s'", label);
    uint8_t *data = mst_tensor_data(*out);
    MST_TRY(mst_zip_reader_read(reader, data, size));
    MST_TRY(mst_zip_reader_finish(reader));
    if (header.big_endian) mst_swap_big_endian(data, mst_tensor_count(*out), mst_dtype_size(header.dtype));
    for (size_t i = 0; header.dtype == MST_BOOL && i < size; i++) data[i] = data[i] != 0;
    return MST_OK;
}

mst_status mst_npz_read(const mst_npz *npz, const char *name, mst_tensor **out) {
    mst_zip_reader reader;
    char label[512];
    *out = NULL;
    const mst_zip_entry *entry = mst_zip_find(&npz->zip, name);
    if (!entry) return missing(npz, name);
    snprintf(label, sizeof label, "%s' array '%s", npz->bytes.name, name);
    mst_status status = mst_zip_reader_open(&npz->zip, entry, &reader);
    if (!status) status = read_array(&reader, label, out);
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    mst_zip_reader_close(&reader);
    return status;
}

/* ---- lists ---- */

/* Makes a list of each integer of TENSOR: an array of integers, not of Python objects. */
static mst_status lists_of_tensor(const char *label, const mst_tensor *tensor, mst_integer_lists *out) {
    const mst_dtype dtype = mst_tensor_dtype(tensor);
    const int64_t n = mst_tensor_count(tensor);
    if (mst_tensor_shape(tensor).ndim != 1 || mst_dtype_is_float(dtype))
        return MST_FAIL(MST_INVALID, "'%s': must have one dimension, of integers or of lists of these", label);
    out->integer = malloc(((size_t)n + 1) * sizeof *out->integer);
    out->end = malloc(((size_t)n + 1) * sizeof *out->end);
    if (!out->integer || !out->end) return MST_NO_MEMORY("to read '%s'", label);
    const void *data = mst_tensor_data(tensor);
    for (int64_t i = 0; i < n; i++) {
        out->integer[i] = dtype == MST_I64   ? ((const int64_t *)data)[i]
                          : dtype == MST_I32 ? ((const int32_t *)data)[i]
                                             : ((const uint8_t *)data)[i];
        out->end[i] = i + 1;
    }
    out->num_lists = n;
    out->flat = true;
    return MST_OK;
}

static mst_status read_pickle(mst_zip_reader *reader, const char *label, mst_integer_lists *out) {
    mst_npy header;
    MST_TRY(read_header(reader, label, true, &header));
    const size_t size = reader->entry->size > reader->done ? (size_t)(reader->entry->size - reader->done) : 0;
    void *data = malloc(size + 1);
    if (!data) return MST_NO_MEMORY("to read '%s'", label);
    mst_status status = mst_zip_reader_read(reader, data, size);
    if (!status) status = mst_zip_reader_finish(reader);
    if (!status) status = mst_pickle_read(label, data, size, out);
    free(data);
    if (!status && (header.shape.ndim != 1 || header.shape.dim[0] != out->num_lists))
        status =
            MST_FAIL(MST_CORRUPT, "'%s': its header and its pickle are of different lengths: save it again", label);
    return status;
}

enum { LABEL_SIZE = 512 };

/* Writes to LABEL how messages refer to an array. Messages put quotes around the label, so its first and its last quote
 * are left out. */
static const char *label_of(const mst_npz *npz, const char *name, char label[LABEL_SIZE]) {
    snprintf(label, LABEL_SIZE, "%s' array '%s", npz->bytes.name, name);
    return label;
}

mst_status mst_npz_has_objects(const mst_npz *npz, const char *name, bool *out) {
    mst_zip_reader reader;
    mst_npy header;
    char label[LABEL_SIZE];
    const mst_zip_entry *entry = mst_zip_find(&npz->zip, name);
    *out = false;
    if (!entry) return missing(npz, name);
    mst_status status = mst_zip_reader_open(&npz->zip, entry, &reader);
    if (!status) status = read_header(&reader, label_of(npz, name, label), true, &header);
    mst_zip_reader_close(&reader);
    *out = !status && !header.dtype;
    return status;
}

mst_status mst_npz_read_lists(const mst_npz *npz, const char *name, mst_integer_lists *out) {
    mst_zip_reader reader;
    mst_tensor *tensor = NULL;
    char label[LABEL_SIZE];
    bool objects;
    *out = (mst_integer_lists){.num_lists = 0};
    MST_TRY(mst_npz_has_objects(npz, name, &objects));
    const mst_zip_entry *entry = mst_zip_find(&npz->zip, name);
    label_of(npz, name, label);
    mst_status status;
    if (objects) {
        status = mst_zip_reader_open(&npz->zip, entry, &reader);
        if (!status) status = read_pickle(&reader, label, out);
        mst_zip_reader_close(&reader);
    } else {
        status = mst_npz_read(npz, name, &tensor);
        if (!status) status = lists_of_tensor(label, tensor, out);
        mst_tensor_release(tensor);
    }
    if (status) mst_integer_lists_free(out);
    return status;
}
