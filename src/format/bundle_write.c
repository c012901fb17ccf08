/* Writing a bundle: the data as it comes, the index when all names are known. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "format/bundle.h"
#include "format/bundle.pb-c.h"
#include "format/checksum.h"
#include "format/table.h"
#include "format/varint.h"
#include "graph/graphdef.h"

enum { PIECE = 1 << 20 /* summed up and written while it is in the cache */, KEY_MOST = 1 << 16 };

typedef struct written {
    const char *key;
    int type;
    mst_shape shape;
    uint64_t offset, size;
    uint32_t crc;
} written;

struct mst_bundle_writer {
    char *index_path;
    mst_file data;
    mst_arena arena;
    written *entry;
    int64_t count, capacity;
};

mst_status mst_bundle_writer_create(const char *prefix, mst_bundle_writer **out) {
    *out = NULL;
    mst_bundle_writer *w = calloc(1, sizeof *w);
    if (!w) return MST_NO_MEMORY("to write '%s'", prefix);
    w->data.descriptor = -1;
    w->index_path = mst_arena_print(&w->arena, "%s.index", prefix);
    const char *data_path = mst_arena_print(&w->arena, "%s.data-00000-of-00001", prefix);
    mst_status status = MST_OK;
    if (!w->index_path || !data_path)
        status = MST_NO_MEMORY("to write '%s'", prefix);
    else if (access(w->index_path, F_OK) == 0)
        status = MST_FAIL(MST_EXISTS, "'%s': there is such a checkpoint already: remove it, or name another", prefix);
    else
        status = mst_file_create(data_path, &w->data);
    if (status)
        mst_bundle_writer_abandon(w);
    else
        *out = w;
    return status;
}

void mst_bundle_writer_abandon(mst_bundle_writer *w) {
    if (!w) return;
    mst_file_abandon(&w->data);
    free(w->entry);
    mst_arena_free(&w->arena);
    free(w);
}

static mst_status begin_entry(mst_bundle_writer *w, const char *key, int type, mst_shape shape, written **out) {
    const size_t size = strlen(key);
    if (size == 0 || size > KEY_MOST)
        return MST_FAIL(MST_INVALID, "a checkpoint: '%.40s' has %zu bytes, a name has 1 to %d", key, size, KEY_MOST);
    MST_TRY(mst_grow(&w->entry, sizeof *w->entry, w->count + 1, &w->capacity));
    written *entry = &w->entry[w->count];
    *entry = (written){.type = type, .shape = shape, .offset = w->data.size};
    if (!(entry->key = mst_arena_string(&w->arena, key))) return MST_NO_MEMORY("for the index of a checkpoint");
    *out = entry;
    return MST_OK;
}

static mst_status append(mst_bundle_writer *w, const void *data, size_t size, uint32_t *sum) {
    const char *bytes = data;
    for (size_t piece; size; bytes += piece, size -= piece) {
        piece = size < PIECE ? size : PIECE;
        *sum = mst_crc32c(*sum, bytes, piece);
        MST_TRY(mst_file_append(&w->data, bytes, piece));
    }
    return MST_OK;
}

static void end_entry(mst_bundle_writer *w, written *entry, uint32_t sum) {
    entry->size = w->data.size - entry->offset;
    entry->crc = mst_crc32c_mask(sum);
    w->count++;
}

mst_status mst_bundle_writer_add(mst_bundle_writer *w, const char *key, const mst_tensor *tensor) {
    written *entry;
    uint32_t sum = 0;
    const int type = (int)mst_dtype_to_proto(mst_tensor_dtype(tensor));
    MST_TRY(begin_entry(w, key, type, mst_tensor_shape(tensor), &entry));
    MST_TRY(append(w, mst_tensor_data(tensor), mst_tensor_bytes(tensor), &sum));
    end_entry(w, entry, sum);
    return MST_OK;
}

/* A string tensor: the lengths as varints, the masked sum of the lengths as u32 (or as u64 where they are longer), the
 * bytes. The entry's sum goes on from that of the lengths, over the stored sum and the bytes. */
mst_status mst_bundle_writer_add_string(mst_bundle_writer *w, const char *key, const void *data, size_t size) {
    written *entry;
    uint8_t head[MST_VARINT_MOST + 4];
    const uint64_t length = size;
    MST_TRY(begin_entry(w, key, MST_BUNDLE_STRING, MST_SCALAR, &entry));
    uint32_t sum = mst_crc32c(0, &length, length > UINT32_MAX ? 8 : 4); /* little-endian, as the machine is */
    const uint32_t masked = mst_crc32c_mask(sum);
    const size_t used = mst_varint_write(head, length);
    MST_TRY(mst_file_append(&w->data, head, used));
    MST_TRY(append(w, &masked, sizeof masked, &sum));
    MST_TRY(append(w, data, size, &sum));
    end_entry(w, entry, sum);
    return MST_OK;
}

/* ---- the index ---- */

static mst_status add_to_table(mst_table_writer *table, const written *entry) {
    Muster__TensorShapeProto shape = MUSTER__TENSOR_SHAPE_PROTO__INIT;
    Muster__TensorShapeProto__Dim dim[MST_MAX_NDIM], *dims[MST_MAX_NDIM];
    Muster__BundleEntry proto = MUSTER__BUNDLE_ENTRY__INIT;
    uint8_t bytes[256]; /* eight dimensions and five numbers of at most 12 bytes */
    for (int i = 0; i < entry->shape.ndim; i++) {
        dim[i] = (Muster__TensorShapeProto__Dim)MUSTER__TENSOR_SHAPE_PROTO__DIM__INIT;
        dim[i].size = entry->shape.dim[i];
        dims[i] = &dim[i];
    }
    shape.n_dim = (size_t)entry->shape.ndim;
    shape.dim = dims;
    proto.dtype = entry->type;
    proto.shape = &shape;
    proto.offset = (int64_t)entry->offset;
    proto.size = (int64_t)entry->size;
    proto.crc32c = entry->crc;
    return mst_table_add(table, entry->key, strlen(entry->key), bytes, muster__bundle_entry__pack(&proto, bytes));
}

static mst_status add_header(mst_table_writer *table) {
    Muster__BundleVersion version = MUSTER__BUNDLE_VERSION__INIT;
    Muster__BundleHeader header = MUSTER__BUNDLE_HEADER__INIT;
    uint8_t bytes[64];
    version.producer = 1;
    header.num_shards = 1;
    header.version = &version;
    return mst_table_add(table, "", 0, bytes, muster__bundle_header__pack(&header, bytes));
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const written *)a)->key,
                  ((const written *)b)->key); /* compares unsigned bytes, as the table does */
}

static mst_status make_index(mst_bundle_writer *w, mst_table_writer *table) {
    if (w->count) qsort(w->entry, (size_t)w->count, sizeof *w->entry, by_key);
    MST_TRY(add_header(table));
    for (int64_t i = 0; i < w->count; i++) {
        if (i && strcmp(w->entry[i].key, w->entry[i - 1].key) == 0)
            return MST_FAIL(MST_EXISTS, "a checkpoint: there is a '%s' already", w->entry[i].key);
        MST_TRY(add_to_table(table, &w->entry[i]));
    }
    return mst_table_finish(table);
}

/* Nobody finds the data without its index. The error STATUS stays. */
static mst_status remove_data(const char *path, mst_status status) {
    mst_failure failure;
    mst_failure_keep(&failure, status);
    (void)!mst_file_remove(path);
    return mst_failure_restore(&failure);
}

mst_status mst_bundle_writer_finish(mst_bundle_writer *w) {
    mst_table_writer table = {.data = NULL};
    char *data_path = strdup(w->data.path);
    mst_status status = data_path ? make_index(w, &table) : MST_NO_MEMORY("for the index of a checkpoint");
    if (!status) status = mst_file_commit(&w->data);
    if (!status) {
        status = mst_file_write(w->index_path, table.data, (size_t)table.size);
        if (status) status = remove_data(data_path, status);
    }
    mst_table_writer_free(&table);
    free(data_path);
    mst_bundle_writer_abandon(w);
    return status;
}
