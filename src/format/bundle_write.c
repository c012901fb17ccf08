/* Writes bundles. Each tensor is appended to one data file when it is added; its name, place and checksum are kept in
 * memory. At the end the names are sorted and the index is made (leveldb_table.c). Then the data file is renamed to its
 * final name, and after it the index. A bundle exists when its index exists, so a crash between the two leaves no
 * bundle that looks complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "format/bundle.h"
#include "format/bundle.pb-c.h"
#include "format/checksum.h"
#include "format/leveldb_table.h"
#include "format/varint.h"
#include "graph/graphdef.h"

enum { PIECE = 1 << 20 /* bytes: a piece is summed, and written while it is in the cache */, KEY_MOST = 1 << 16 };

typedef struct written {
    const char *key;
    int type;
    mst_shape shape;
    uint64_t offset, size;
    uint32_t crc;
} written;

struct mst_bundle_writer {
    mst_folder folder;
    const char *index; /* name of the index in the folder */
    mst_file data;
    mst_arena arena;
    written *entry;
    int64_t count, capacity;
};

/* Begins the files of bundle NAME in w->folder. */
static mst_status bundle_write_begin(mst_bundle_writer *w, const char *name) {
    const char *data = mst_arena_print(&w->arena, "%s.data-00000-of-00001", name);
    char *prefix = mst_folder_join(&w->folder, name);
    bool taken = false;
    w->index = mst_arena_print(&w->arena, "%s.index", name);
    mst_status status = data && w->index && prefix ? mst_file_is_there(&w->folder, w->index, &taken)
                                                   : MST_NO_MEMORY("to write '%s'", name);
    if (!status && taken)
        status = MST_FAIL(MST_EXISTS, "'%s': there is such a checkpoint already: remove it, or name another", prefix);
    free(prefix);
    return status ? status : mst_file_create_in(&w->folder, data, &w->data);
}

/* Makes a writer that owns FOLDER; closes FOLDER on failure. */
static mst_status bundle_write_create(mst_folder folder, const char *name, mst_bundle_writer **out) {
    mst_bundle_writer *w = calloc(1, sizeof *w);
    if (!w) {
        mst_folder_close(&folder);
        return MST_NO_MEMORY("to write '%s'", name);
    }
    w->folder = folder;
    w->data.descriptor = -1;
    const mst_status status = bundle_write_begin(w, name);
    if (status)
        mst_bundle_writer_abandon(w);
    else
        *out = w;
    return status;
}

mst_status mst_bundle_writer_create(const char *prefix, mst_bundle_writer **out) {
    mst_folder folder;
    const char *name;
    *out = NULL;
    if (mst_folder_open_of(prefix, &folder, &name)) {
        (void)mst_error_prefix("'%s' cannot be written", prefix);
        return MST_IO;
    }
    return bundle_write_create(folder, name, out);
}

mst_status mst_bundle_writer_create_in(const mst_folder *folder, const char *name, mst_bundle_writer **out) {
    mst_folder copy;
    *out = NULL;
    MST_TRY(mst_folder_copy(folder, &copy));
    return bundle_write_create(copy, name, out);
}

void mst_bundle_writer_abandon(mst_bundle_writer *w) {
    if (!w) return;
    mst_file_abandon(&w->data);
    mst_folder_close(&w->folder);
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

static mst_status bundle_write_append(mst_bundle_writer *w, const void *data, size_t size, uint32_t *sum) {
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
    MST_TRY(bundle_write_append(w, mst_tensor_data(tensor), mst_tensor_bytes(tensor), &sum));
    end_entry(w, entry, sum);
    return MST_OK;
}

/* A string is stored as its length (a varint), the masked checksum of the length, and its bytes. The checksum of the
 * length is over the length as u32, or as u64 if it needs more bits. For the checksum of the entry, the checksum of the
 * length is continued over the stored checksum and the bytes. */
mst_status mst_bundle_writer_add_string(mst_bundle_writer *w, const char *key, const void *data, size_t size) {
    written *entry;
    uint8_t head[MST_VARINT_MOST + 4];
    const uint64_t length = size;
    MST_TRY(begin_entry(w, key, MST_BUNDLE_STRING, MST_SCALAR, &entry));
    uint32_t sum = mst_crc32c(0, &length, length > UINT32_MAX ? 8 : 4); /* little-endian, like the machine */
    const uint32_t masked = mst_crc32c_mask(sum);
    const size_t used = mst_varint_write(head, length);
    MST_TRY(mst_file_append(&w->data, head, used));
    MST_TRY(bundle_write_append(w, &masked, sizeof masked, &sum));
    MST_TRY(bundle_write_append(w, data, size, &sum));
    end_entry(w, entry, sum);
    return MST_OK;
}

/* ---- the index ---- */

static mst_status add_to_table(mst_table_writer *table, const written *entry) {
    Muster__TensorShapeProto shape = MUSTER__TENSOR_SHAPE_PROTO__INIT;
    Muster__TensorShapeProto__Dim dim[MST_MAX_NDIM], *dims[MST_MAX_NDIM];
    Muster__BundleEntry proto = MUSTER__BUNDLE_ENTRY__INIT;
    uint8_t bytes[256]; /* room for eight dimensions and five numbers, each of at most 12 bytes */
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

/* Removes the data file after the error STATUS, and returns that error. Data without an index is of no use. */
static mst_status remove_data(const mst_folder *folder, const char *path, mst_status status) {
    const char *slash = strrchr(path, '/');
    mst_failure failure;
    mst_failure_keep(&failure, status);
    (void)!mst_file_remove_in(folder, slash ? slash + 1 : path);
    return mst_failure_restore(&failure);
}

/* Renames the data file, then writes the index. In between, the data file looks like a leftover of a killed process. So
 * its lock is held until the index is there: otherwise a training that begins in the folder could remove the file. */
static mst_status commit(mst_bundle_writer *w, const mst_table_writer *table) {
    char *path = strdup(w->data.path);
    const int lock = fcntl(w->data.descriptor, F_DUPFD_CLOEXEC, 0);
    mst_status status = !path      ? MST_NO_MEMORY("for the index of a checkpoint")
                        : lock < 0 ? MST_FAIL(MST_IO, "'%s': cannot be kept open: %s", path, strerror(errno))
                                   : mst_file_commit(&w->data);
    if (!status) {
        status = mst_file_write_in(&w->folder, w->index, table->data, (size_t)table->size);
        if (status) status = remove_data(&w->folder, path, status);
    }
    if (lock >= 0) close(lock);
    free(path);
    return status;
}

mst_status mst_bundle_writer_finish(mst_bundle_writer *w) {
    mst_table_writer table = {.data = NULL};
    mst_status status = make_index(w, &table);
    if (!status) status = commit(w, &table);
    mst_table_writer_free(&table);
    mst_bundle_writer_abandon(w);
    return status;
}
