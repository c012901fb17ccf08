/* The file names in a model cannot be trusted. A name must not lead out of the model's folder, so its path is opened
 * part by part. Many tensors could read the same bytes of a small file and fill the memory, so the bytes of all tensors
 * are counted. */
#include "model_file/onnx/onnx_external.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/byte_count.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "device/device.h"
#include "format/byte_source.h"
#include "graph/names.h"
#include "model_file/onnx/onnx_file.h"
#include "tensor/tensor_check.h"

enum { SHOWN = 128 };

typedef struct external_reader {
    const mst_folder *folder;
    mst_arena arena;
    mst_names seen;      /* the locations of these files */
    uint64_t have, used; /* bytes of the files seen, and of the tensors in them */
} external_reader;

/* The place of the bytes of a tensor. */
typedef struct place {
    const char *location;
    char shown[SHOWN]; /* LOCATION in printable form */
    uint64_t offset, length;
    bool has_offset, has_length;
} place;

static bool read_number(const ProtobufCBinaryData *text, uint64_t *out) {
    enum { MOST_DIGITS = 18 };
    if (!text->len || text->len > MOST_DIGITS) return false;
    *out = 0;
    for (size_t i = 0; i < text->len; i++) {
        if (text->data[i] < '0' || text->data[i] > '9') return false;
        *out = 10 * *out + (uint64_t)(text->data[i] - '0');
    }
    return true;
}

static mst_status read_location(external_reader *r, const ProtobufCBinaryData *value, place *out) {
    const char *text = value->len ? (const char *)value->data : "";
    mst_escape_line(text, value->len, out->shown, sizeof out->shown);
    if (!value->len || memchr(text, 0, value->len))
        return MST_FAIL(MST_CORRUPT, "its data is in the file '%s', which is no name of a file: save the model again",
                        out->shown);
    char *copy = mst_arena_alloc(&r->arena, value->len + 1);
    if (!copy) return MST_NO_MEMORY("for the name of a file");
    memcpy(copy, text, value->len);
    copy[value->len] = 0;
    out->location = copy;
    return MST_OK;
}

static mst_status read_entry(external_reader *r, const Muster__OnnxEntry *entry, place *out) {
    char key[SHOWN], shown[SHOWN];
    const bool is_location = strcmp(entry->key, "location") == 0, is_offset = strcmp(entry->key, "offset") == 0;
    const bool is_length = strcmp(entry->key, "length") == 0;
    if (strcmp(entry->key, "checksum") == 0) return MST_OK;
    mst_escape_line(entry->key, strlen(entry->key), key, sizeof key);
    if (!is_location && !is_offset && !is_length)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its external data has the entry '%s', which is not known here: save the model as one file, or "
                        "with the entries location, offset and length alone",
                        key);
    if (is_location ? out->location != NULL : is_offset ? out->has_offset : out->has_length)
        return MST_FAIL(MST_CORRUPT, "its external data has the entry '%s' twice: save the model again", key);
    if (is_location) return read_location(r, &entry->value, out);
    *(is_offset ? &out->has_offset : &out->has_length) = true;
    if (read_number(&entry->value, is_offset ? &out->offset : &out->length)) return MST_OK;
    mst_escape_line((const char *)entry->value.data, entry->value.len, shown, sizeof shown);
    return MST_FAIL(MST_CORRUPT, "the %s of its external data is '%s', not a number of bytes: save the model again",
                    key, shown);
}

static mst_status read_place(external_reader *r, const Muster__OnnxTensor *m, place *out) {
    *out = (place){.location = NULL};
    for (size_t i = 0; i < m->n_external_data; i++) MST_TRY(read_entry(r, m->external_data[i], out));
    if (out->location) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "its data is in a file beside the model that is not named: save the model again");
}

/* Adds the bytes of a file and of a tensor in it to the counts. A file is counted once, even if it has many tensors. */
static mst_status count_bytes(external_reader *r, const char *location, uint64_t file_size, uint64_t size) {
    char used[MST_BYTES_TEXT], have[MST_BYTES_TEXT];
    if (mst_names_get(&r->seen, location) < 0) {
        MST_TRY(mst_names_set(&r->seen, location, 0));
        r->have += file_size;
    }
    r->used += size;
    if (r->used <= r->have) return MST_OK;
    return MST_FAIL(MST_CORRUPT,
                    "up to this one the tensors take %s, more than the files beside the model have (%s): several "
                    "take the same bytes: save the model again",
                    mst_bytes_print((int64_t)r->used, used, sizeof used),
                    mst_bytes_print((int64_t)r->have, have, sizeof have));
}

/* The bytes that the shape of M needs. *KNOWN is false if the tensor cannot be made, which is reported later. */
static mst_status needed_bytes(const Muster__OnnxTensor *m, bool *known, uint64_t *out) {
    mst_shape shape = {.ndim = (int32_t)m->n_dims};
    const mst_dtype dtype = mst_onnx_dtype(m->data_type);
    int64_t count;
    *known = dtype && m->n_dims <= MST_MAX_NDIM;
    if (!*known) return MST_OK;
    if (m->n_dims) memcpy(shape.dim, m->dims, m->n_dims * sizeof *m->dims);
    MST_TRY(mst_tensor_check(dtype, shape, &count));
    *out = (uint64_t)count * mst_dtype_size(dtype);
    return MST_OK;
}

/* Checks that the file has the bytes of the tensor. As in ONNX Runtime, if no length is given, the tensor has the bytes
 * that its shape needs, and more bytes may follow. */
static mst_status check_bytes(external_reader *r, Muster__OnnxTensor *m, const place *at, const mst_bytes *file) {
    uint64_t size;
    bool known;
    MST_TRY(needed_bytes(m, &known, &size));
    if (!known) return MST_OK;
    const uint64_t left = at->offset > file->size ? 0 : file->size - at->offset;
    const uint64_t length = at->has_length ? at->length : size;
    if (length == size && length <= left) return count_bytes(r, at->location, file->size, size);
    return MST_FAIL(MST_CORRUPT,
                    "its shape needs %llu bytes, and '%s' has %llu for it from byte %llu on: the file is cut off or "
                    "belongs to another model: copy both files again",
                    (unsigned long long)size, at->shown, (unsigned long long)(length < left ? length : left),
                    (unsigned long long)at->offset);
}

/* Makes M look like a tensor whose bytes were in the model. */
static void forget_place(Muster__OnnxTensor *m) {
    for (size_t i = 0; i < m->n_external_data; i++) muster__onnx_entry__free_unpacked(m->external_data[i], NULL);
    free(m->external_data);
    m->external_data = NULL;
    m->n_external_data = 0;
    m->data_location = 0;
}

static mst_status read_bytes(external_reader *r, Muster__OnnxTensor *m, const place *at, const mst_bytes *file) {
    uint64_t size;
    size_t got;
    bool known;
    (void)r;
    MST_TRY(needed_bytes(m, &known, &size));
    if (!known) return MST_OK;
    uint8_t *data = malloc(size + 1);
    if (!data) return MST_NO_MEMORY("for %llu bytes of a model", (unsigned long long)size);
    mst_status status = mst_bytes_read(file, at->offset, data, size, &got);
    if (!status && got != size) status = MST_FAIL(MST_IO, "the file '%s' became shorter while it was read", at->shown);
    if (status) {
        free(data);
        return status;
    }
    free(m->raw_data.data);
    m->raw_data = (ProtobufCBinaryData){size, data};
    forget_place(m);
    return MST_OK;
}

typedef mst_status (*tensor_function)(external_reader *r, Muster__OnnxTensor *m, const place *at,
                                      const mst_bytes *file);

static mst_status call_for_tensor(external_reader *r, Muster__OnnxTensor *m, tensor_function function) {
    enum { EXTERNAL = 1 };
    place at;
    mst_bytes file;
    if (m->data_location != EXTERNAL) return MST_OK;
    mst_status status = read_place(r, m, &at);
    if (!status && !r->folder)
        status =
            MST_FAIL(MST_UNIMPLEMENTED,
                     "its data is in another file, '%s', and a model in memory has no folder: read the model by its "
                     "path",
                     at.shown);
    if (status) return mst_error_prefix("tensor '%.100s'", m->name);
    status = mst_bytes_open_inside(r->folder, at.location, &file);
    if (!status) status = function(r, m, &at, &file);
    mst_bytes_close(&file);
    return status ? mst_error_prefix("tensor '%.100s'", m->name) : MST_OK;
}

static mst_status for_each_tensor(external_reader *r, const Muster__OnnxGraph *graph, tensor_function function) {
    for (size_t i = 0; i < graph->n_initializer; i++) MST_TRY(call_for_tensor(r, graph->initializer[i], function));
    for (size_t i = 0; i < graph->n_node; i++) {
        const Muster__OnnxNode *node = graph->node[i];
        for (size_t k = 0; k < node->n_attribute; k++)
            if (node->attribute[k]->t) MST_TRY(call_for_tensor(r, node->attribute[k]->t, function));
    }
    return MST_OK;
}

static mst_status for_each_graph(external_reader *r, const mst_onnx_file *file, tensor_function function) {
    MST_TRY(for_each_tensor(r, file->graph, function));
    for (int64_t i = 0; i < file->num_inner; i++) MST_TRY(for_each_tensor(r, file->inner[i].graph, function));
    return MST_OK;
}

/* Checks all lengths before the first byte is read: a sparse file can have terabytes that take no room on disk. */
static mst_status read_all(external_reader *r, const mst_onnx_file *file) {
    MST_TRY(for_each_graph(r, file, check_bytes));
    if (!r->used) return MST_OK;
    MST_TRY(mst_host_check((int64_t)r->used, "the tensors in the files beside the model", "take a smaller model"));
    return for_each_graph(r, file, read_bytes);
}

mst_status mst_onnx_read_external(const mst_onnx_file *file, const mst_folder *folder, int64_t *bytes) {
    external_reader r = {.folder = folder};
    const mst_status status = read_all(&r, file);
    *bytes += (int64_t)r.used;
    mst_names_free(&r.seen);
    mst_arena_free(&r.arena);
    return status;
}
