/* The file names in a model cannot be trusted. A name must not lead out of the model's folder: it is opened part by
 * part. Many tensors must not all read the same bytes of a small file and fill the memory: the bytes of all tensors are
 * counted. */
#include "model_file/onnx_external.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/no_memory.h"
#include "format/byte_source.h"
#include "graph/names.h"
#include "model_file/onnx_file.h"
#include "tensor/tensor_check.h"

typedef struct external_reader {
    const mst_folder *folder;
    mst_arena arena;
    mst_names seen;      /* locations */
    uint64_t have, used; /* bytes of the files seen, and of the tensors in them */
} external_reader;

/* Where the bytes of a tensor are. */
typedef struct place {
    const char *location;
    uint64_t offset, length;
    bool has_length;
} place;

static bool read_number(const char *text, uint64_t *out) {
    enum { MOST_DIGITS = 18 };
    if (!*text || strlen(text) > MOST_DIGITS || strspn(text, "0123456789") != strlen(text)) return false;
    *out = strtoull(text, NULL, 10);
    return true;
}

static mst_status read_place(const Muster__OnnxTensor *m, place *out) {
    *out = (place){.location = NULL};
    bool has_offset = false;
    for (size_t i = 0; i < m->n_external_data; i++) {
        const char *key = m->external_data[i]->key, *value = m->external_data[i]->value;
        bool good = true;
        if (strcmp(key, "location") == 0) {
            good = !out->location && *value;
            out->location = value;
        } else if (strcmp(key, "offset") == 0) {
            good = !has_offset && read_number(value, &out->offset);
            has_offset = true;
        } else if (strcmp(key, "length") == 0) {
            good = !out->has_length && read_number(value, &out->length);
            out->has_length = true;
        } else if (strcmp(key, "checksum") != 0) {
            return MST_FAIL(MST_UNIMPLEMENTED, "its external data have '%.60s', which is not known here", key);
        }
        if (!good) return MST_FAIL(MST_CORRUPT, "its external data have '%.60s' twice, or as '%.100s'", key, value);
    }
    return out->location ? MST_OK : MST_FAIL(MST_CORRUPT, "its external data have no location");
}

/* Each file is counted once, however many tensors it has. */
static mst_status count_bytes(external_reader *r, const char *location, uint64_t file_size, uint64_t size) {
    if (mst_names_get(&r->seen, location) < 0) {
        const char *copy = mst_arena_string(&r->arena, location);
        if (!copy) return MST_NO_MEMORY("for the name of a file");
        MST_TRY(mst_names_set(&r->seen, copy, 0));
        r->have += file_size;
    }
    r->used += size;
    if (r->used <= r->have) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "with it the tensors take more bytes than their files have: the model is damaged");
}

static mst_status read_bytes(external_reader *r, Muster__OnnxTensor *m, const place *at, const mst_bytes *file) {
    mst_shape shape = {.ndim = (int32_t)m->n_dims};
    const mst_dtype dtype = mst_onnx_dtype(m->data_type);
    int64_t count;
    size_t got;
    if (!dtype || m->n_dims > MST_MAX_NDIM) return MST_OK; /* an error when the tensor is made */
    if (m->n_dims) memcpy(shape.dim, m->dims, m->n_dims * sizeof *m->dims);
    MST_TRY(mst_tensor_check(dtype, shape, &count));
    const uint64_t size = (uint64_t)count * mst_dtype_size(dtype);
    const uint64_t left = at->offset > file->size ? 0 : file->size - at->offset;
    const uint64_t length = at->has_length ? at->length : left;
    if (length != size || length > left)
        return MST_FAIL(MST_CORRUPT, "its shape needs %llu bytes, '%.100s' has %llu of it", (unsigned long long)size,
                        at->location, (unsigned long long)(length < left ? length : left));
    MST_TRY(count_bytes(r, at->location, file->size, size));
    uint8_t *data = malloc(size + 1);
    if (!data) return MST_NO_MEMORY("for %llu bytes of a model", (unsigned long long)size);
    mst_status status = mst_bytes_read(file, at->offset, data, size, &got);
    if (!status && got != size) status = MST_FAIL(MST_IO, "'%.100s' became shorter meanwhile", at->location);
    if (status) {
        free(data);
        return status;
    }
    free(m->raw_data.data);
    m->raw_data = (ProtobufCBinaryData){size, data};
    return MST_OK;
}

/* From now on M looks like a tensor whose bytes were in the model. */
static void forget_place(Muster__OnnxTensor *m) {
    for (size_t i = 0; i < m->n_external_data; i++) muster__onnx_entry__free_unpacked(m->external_data[i], NULL);
    free(m->external_data);
    m->external_data = NULL;
    m->n_external_data = 0;
    m->data_location = 0;
}

static mst_status read_tensor(external_reader *r, Muster__OnnxTensor *m) {
    enum { EXTERNAL = 1 };
    place at;
    mst_bytes file;
    if (m->data_location != EXTERNAL) return MST_OK;
    mst_status status = read_place(m, &at);
    if (!status && !r->folder)
        status =
            MST_FAIL(MST_UNIMPLEMENTED, "it is in another file, '%.100s': read the model by its path", at.location);
    if (status) return mst_error_prefix("tensor '%.100s'", m->name);
    status = mst_bytes_open_inside(r->folder, at.location, &file);
    if (!status) status = read_bytes(r, m, &at, &file);
    mst_bytes_close(&file);
    if (status) return mst_error_prefix("tensor '%.100s'", m->name);
    forget_place(m);
    return MST_OK;
}

mst_status mst_onnx_read_external(const Muster__OnnxGraph *graph, const mst_folder *folder, int64_t *bytes) {
    external_reader r = {.folder = folder};
    mst_status status = MST_OK;
    for (size_t i = 0; i < graph->n_initializer && !status; i++) status = read_tensor(&r, graph->initializer[i]);
    for (size_t i = 0; i < graph->n_node && !status; i++) {
        const Muster__OnnxNode *node = graph->node[i];
        for (size_t k = 0; k < node->n_attribute && !status; k++)
            if (node->attribute[k]->t) status = read_tensor(&r, node->attribute[k]->t);
    }
    *bytes += (int64_t)r.used;
    mst_names_free(&r.seen);
    mst_arena_free(&r.arena);
    return status;
}
