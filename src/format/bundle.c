/* Reads bundles. Opening parses the index (leveldb_table.c) into an array of entries, sorted by key as in the table,
 * and checks each entry against its data file. So a damaged index is found when a checkpoint is opened, and the
 * memory allocated for a checkpoint is bounded by the size of its files. Opening reads no tensor but the object
 * graph. A tensor is read in pieces, and the checksum of each piece is computed while the piece is in a cache.
 * Slices of partitioned variables are in bundle_slices.c, names of the object graph in bundle_names.c, writing in
 * bundle_write.c. */
#include "format/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/bundle.pb-c.h"
#include "format/bundle_inside.h"
#include "format/checksum.h"
#include "format/leveldb_table.h"
#include "format/varint.h"
#include "graph/graphdef.h"
#include "tensor/tensor_check.h"

enum { PIECE = 1 << 20, MOST_SHARDS = 99999, BIG_ENDIAN_DATA = 1 };
static const size_t most_index = (size_t)1 << 31;

/* ---- the index ---- */

typedef struct indexer {
    mst_bundle *bundle;
    int32_t num_shards; /* 0: the header, which is the first entry, has not been read */
} indexer;

static mst_status bundle_damaged(const mst_bundle *bundle, const char *key, const char *what) {
    return MST_FAIL(MST_CORRUPT, "'%s': %s of '%.200s': the checkpoint is damaged", bundle->name, what, key);
}

static mst_status take_header(indexer *x, const mst_table_entry *e) {
    const char *name = x->bundle->name;
    Muster__BundleHeader *header = e->key_size ? NULL : muster__bundle_header__unpack(NULL, e->value_size, e->value);
    if (!header) return MST_FAIL(MST_CORRUPT, "'%s': the index has no header: it is no checkpoint's", name);
    x->num_shards = header->num_shards;
    const bool big = header->endianness == BIG_ENDIAN_DATA;
    const int consumer = header->version ? header->version->min_consumer : 0;
    muster__bundle_header__free_unpacked(header, NULL);
    if (x->num_shards < 1 || x->num_shards > MOST_SHARDS)
        return MST_FAIL(MST_CORRUPT, "'%s': %d data files: the index is damaged", name, x->num_shards);
    if (big) return MST_FAIL(MST_UNIMPLEMENTED, "'%s': was written on a big-endian machine", name);
    if (consumer > 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': is of version %d of the format, 1 is known", name, consumer);
    return MST_OK;
}

/* Fills an entry, and checks it as far as the index alone allows. */
static mst_status fill_entry(const indexer *x, const Muster__BundleEntry *proto, mst_bundle_entry *entry) {
    int64_t count;
    entry->type = proto->dtype;
    if (entry->type != MST_BUNDLE_STRING) /* strings are read by mst_bundle_read_string */
        entry->dtype = mst_dtype_from_proto((Muster__DataType)proto->dtype);
    entry->shard = proto->shard_id;
    entry->offset = (uint64_t)proto->offset;
    entry->size = (uint64_t)proto->size;
    entry->crc = proto->crc32c;
    entry->sliced = proto->n_slices > 0;
    entry->slice = memchr(entry->key, '\0', entry->key_size) != NULL;
    if (mst_shape_from_proto(proto->shape, &entry->shape))
        return mst_error_prefix("'%s': '%.200s'", x->bundle->name, entry->key);
    if (entry->shard < 0 || entry->shard >= x->num_shards || proto->offset < 0 || proto->size < 0)
        return bundle_damaged(x->bundle, entry->key, "the place");
    if (!entry->dtype) return MST_OK;
    if (mst_tensor_check(entry->dtype, entry->shape, &count)) return bundle_damaged(x->bundle, entry->key, "the shape");
    if (!entry->sliced && (uint64_t)count * mst_dtype_size(entry->dtype) != entry->size)
        return bundle_damaged(x->bundle, entry->key, "the number of bytes");
    return MST_OK;
}

static mst_status take_entry(void *context, const mst_table_entry *e) {
    indexer *x = context;
    mst_bundle *b = x->bundle;
    if (!x->num_shards) return take_header(x, e);
    MST_TRY(mst_grow(&b->entry, sizeof *b->entry, b->count + 1, &b->capacity));
    mst_bundle_entry *entry = &b->entry[b->count];
    *entry = (mst_bundle_entry){.key = mst_arena_copy(&b->arena, e->key, e->key_size + 1), .key_size = e->key_size};
    if (!entry->key) return MST_NO_MEMORY("to read '%s'", b->name);
    Muster__BundleEntry *proto = muster__bundle_entry__unpack(NULL, e->value_size, e->value);
    if (!proto) return bundle_damaged(b, entry->key, "the entry");
    const mst_status status = fill_entry(x, proto, entry);
    muster__bundle_entry__free_unpacked(proto, NULL);
    if (!status) b->count++;
    return status;
}

static mst_status read_index(mst_bundle *b, const void *data, size_t size, int32_t *num_shards) {
    indexer x = {.bundle = b};
    MST_TRY(mst_table_parse(b->name, data, size, take_entry, &x));
    *num_shards = x.num_shards;
    if (!x.num_shards) return MST_FAIL(MST_CORRUPT, "'%s': the index is empty", b->name);
    return MST_OK;
}

/* Checks that each entry lies within its data file, and that all entries together are not larger than the files. So
 * reading a checkpoint takes at most twice the memory of its files (partitioned variables as a whole and in slices). */
static mst_status check_places(const mst_bundle *b) {
    uint64_t total = 0, used = 0, sliced = 0;
    for (int64_t i = 0; i < b->num_shards; i++) total += b->shard[i].size;
    for (int64_t i = 0; i < b->count; i++) {
        const mst_bundle_entry *e = &b->entry[i];
        const uint64_t holds = b->shard[e->shard].size;
        if (!e->sliced && (e->offset > holds || e->size > holds - e->offset))
            return MST_FAIL(MST_CORRUPT,
                            "'%s': '%.200s' ends at byte %llu of its data file, which has %llu: it is cut off", b->name,
                            e->key, (unsigned long long)(e->offset + e->size), (unsigned long long)holds);
        const uint64_t bytes = e->sliced ? (uint64_t)mst_shape_count(e->shape) * mst_dtype_size(e->dtype) : e->size;
        *(e->sliced ? &sliced : &used) += bytes;
        if (bytes > total || used > total || sliced > total)
            return MST_FAIL(MST_CORRUPT, "'%s': its tensors are larger than its files: the index is damaged", b->name);
    }
    return MST_OK;
}

/* ---- open and close ---- */

static mst_status bundle_create(const char *name, mst_bundle **out) {
    *out = calloc(1, sizeof **out);
    if (*out) (*out)->name = mst_arena_string(&(*out)->arena, name);
    return *out && (*out)->name ? MST_OK : MST_NO_MEMORY("to read '%s'", name);
}

static mst_status open_shards(mst_bundle *b, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        MST_TRY(mst_grow(&b->shard, sizeof *b->shard, i + 1, &b->shard_capacity));
        const char *path = mst_arena_print(&b->arena, "%s.data-%05d-of-%05d", b->name, i, count);
        if (!path) return MST_NO_MEMORY("to read '%s'", b->name);
        b->num_shards++;
        MST_TRY(mst_bytes_open(path, &b->shard[i]));
    }
    return MST_OK;
}

/* Completes the opening of B. STATUS is the result of opening the index and the data files. If it is MST_OK, checks the
 * places of all entries, and reads the names. *OUT becomes B; after any failure B is closed. */
static mst_status complete(mst_bundle *b, mst_status status, mst_bundle **out) {
    if (!status) status = check_places(b);
    if (!status) status = mst_bundle_read_names(b);
    if (status)
        mst_bundle_close(b);
    else
        *out = b;
    return status;
}

mst_status mst_bundle_open(const char *prefix, mst_bundle **out) {
    mst_bundle *b;
    void *data = NULL;
    size_t size;
    int32_t num_shards = 0;
    *out = NULL;
    mst_status status = bundle_create(prefix, &b);
    const char *path = status ? NULL : mst_arena_print(&b->arena, "%s.index", prefix);
    if (!status) status = path ? mst_file_read(path, most_index, &data, &size) : MST_NO_MEMORY("to read '%s'", prefix);
    if (!status) status = read_index(b, data, size, &num_shards);
    free(data);
    if (!status) status = open_shards(b, num_shards);
    return complete(b, status, out);
}

mst_status mst_bundle_parse(const char *name, const void *index, size_t index_size, const void *data, size_t data_size,
                            mst_bundle **out) {
    mst_bundle *b;
    int32_t num_shards = 0;
    *out = NULL;
    mst_status status = bundle_create(name, &b);
    if (!status) status = read_index(b, index, index_size, &num_shards);
    if (!status && num_shards != 1) status = MST_FAIL(MST_NOT_FOUND, "'%s': there is one data file", name);
    if (!status) status = mst_grow(&b->shard, sizeof *b->shard, 1, &b->shard_capacity);
    if (!status) {
        b->num_shards = 1;
        status = mst_bytes_of_memory(name, data, data_size, &b->shard[0]);
    }
    return complete(b, status, out);
}

void mst_bundle_close(mst_bundle *bundle) {
    if (!bundle) return;
    for (int64_t i = 0; i < bundle->num_shards; i++) mst_bytes_close(&bundle->shard[i]);
    free(bundle->shard);
    free(bundle->entry);
    free(bundle->object_name);
    mst_names_free(&bundle->names);
    mst_arena_free(&bundle->arena);
    free(bundle);
}

/* ---- look up ---- */

/* Source: tensorflow/core/framework/types.proto. */
const char *mst_bundle_type_name(int type, char text[MST_BUNDLE_TYPE_TEXT]) {
    static const char *const names[] = {
        [1] = "float32",  [2] = "float64",   [3] = "int32",    [4] = "uint8",    [5] = "int16",   [6] = "int8",
        [7] = "string",   [8] = "complex64", [9] = "int64",    [10] = "bool",    [11] = "qint8",  [12] = "quint8",
        [13] = "qint32",  [14] = "bfloat16", [15] = "qint16",  [16] = "quint16", [17] = "uint16", [18] = "complex128",
        [19] = "float16", [20] = "resource", [21] = "variant", [22] = "uint32",  [23] = "uint64"};
    const bool known = type > 0 && type < (int)(sizeof names / sizeof *names);
    if (known)
        snprintf(text, MST_BUNDLE_TYPE_TEXT, "%s", names[type]);
    else
        snprintf(text, MST_BUNDLE_TYPE_TEXT, "dtype %d", type);
    return text;
}

int64_t mst_bundle_count(const mst_bundle *bundle) {
    return bundle->count;
}

int64_t mst_bundle_num_shards(const mst_bundle *bundle) {
    return bundle->num_shards;
}

const mst_bundle_entry *mst_bundle_at(const mst_bundle *bundle, int64_t i) {
    return &bundle->entry[i];
}

const char *mst_bundle_object_name(const mst_bundle *bundle, int64_t i) {
    return bundle->object_name ? bundle->object_name[i] : NULL;
}

static int compare_keys(const char *a, size_t a_size, const char *b, size_t b_size) {
    const int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

int64_t mst_bundle_find_key(const mst_bundle *bundle, const char *key, size_t size) {
    int64_t low = 0, high = bundle->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const mst_bundle_entry *e = &bundle->entry[middle];
        const int order = compare_keys(key, size, e->key, e->key_size);
        if (order == 0) return middle;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

int64_t mst_bundle_find(const mst_bundle *bundle, const char *name) {
    const int64_t i = mst_bundle_find_key(bundle, name, strlen(name));
    return i >= 0 || !bundle->object_name ? i : mst_names_get(&bundle->names, name);
}

/* ---- tensors ---- */

static mst_status wrong_sum(const mst_bundle *b, const mst_bundle_entry *e) {
    return MST_FAIL(MST_CORRUPT, "'%s': the check sum of '%.200s' does not match its data: the checkpoint is damaged",
                    b->name, e->key);
}

/* Reads SIZE bytes at OFFSET of the entry's data, and continues the checksum *SUM over them. */
static mst_status read_piecewise(const mst_bundle *b, const mst_bundle_entry *e, uint64_t offset, void *dst,
                                 size_t size, uint32_t *sum) {
    char *bytes = dst;
    for (size_t piece; size; bytes += piece, offset += piece, size -= piece) {
        size_t got;
        piece = size < PIECE ? size : PIECE;
        MST_TRY(mst_bytes_read(&b->shard[e->shard], e->offset + offset, bytes, piece, &got));
        if (got < piece) return bundle_damaged(b, e->key, "the end");
        *sum = mst_crc32c(*sum, bytes, piece);
    }
    return MST_OK;
}

static mst_status read_bytes(const mst_bundle *b, const mst_bundle_entry *e, mst_tensor *tensor) {
    uint32_t sum = 0;
    uint8_t *data = mst_tensor_data(tensor);
    MST_TRY(read_piecewise(b, e, 0, data, (size_t)e->size, &sum));
    if (!mst_crc32c_is(e->crc, sum)) return wrong_sum(b, e);
    for (uint64_t i = 0; e->dtype == MST_BOOL && i < e->size; i++) data[i] = data[i] != 0;
    return MST_OK;
}

mst_status mst_bundle_read(const mst_bundle *bundle, int64_t i, mst_tensor **out) {
    const mst_bundle_entry *e = &bundle->entry[i];
    *out = NULL;
    if (!e->dtype)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "'%s': '%.200s' is of TensorFlow's dtype number %d, which Muster does not have", bundle->name,
                        e->key, e->type);
    MST_TRY(mst_tensor_create_untouched(e->dtype, e->shape, out));
    const mst_status status = e->sliced ? mst_bundle_read_slices(bundle, i, *out) : read_bytes(bundle, e, *out);
    if (status) {
        mst_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

/* ---- strings: lengths as varints, the masked checksum of the lengths, the bytes; see bundle_write.c ---- */

/* Reads the lengths of COUNT strings. For string ELEMENT, place[0] becomes its offset in the bytes of all strings, and
 * place[1] its length. The checksum *SUM is continued over the lengths. False: they do not fit the bytes at *AT. */
static bool read_lengths(const uint8_t **at, const uint8_t *end, int64_t count, int64_t element, uint64_t place[2],
                         uint32_t *sum) {
    uint64_t total = 0, length;
    for (int64_t i = 0; i < count; i++) {
        if (!mst_varint_read(at, end, &length) || length > (uint64_t)(end - *at)) return false;
        *sum = mst_crc32c(*sum, &length, length > UINT32_MAX ? 8 : 4);
        if (i == element) {
            place[0] = total;
            place[1] = length;
        }
        total += length;
    }
    return (uint64_t)(end - *at) >= 4 && total == (uint64_t)(end - *at) - 4;
}

static mst_status find_string(const mst_bundle *b, const mst_bundle_entry *e, const uint8_t *data, int64_t count,
                              int64_t element, char **out, size_t *size) {
    const uint8_t *at = data, *end = data + e->size;
    uint64_t place[2] = {0, 0};
    uint32_t sum = 0, stored;
    if (!read_lengths(&at, end, count, element, place, &sum))
        return bundle_damaged(b, e->key, "the lengths of the strings");
    memcpy(&stored, at, sizeof stored);
    if (!mst_crc32c_is(stored, sum)) return wrong_sum(b, e);
    if (!mst_crc32c_is(e->crc, mst_crc32c(sum, at, (size_t)(end - at)))) return wrong_sum(b, e);
    char *text = malloc((size_t)place[1] + 1);
    if (!text) return MST_NO_MEMORY("to read '%s'", b->name);
    memcpy(text, at + 4 + place[0], (size_t)place[1]);
    text[place[1]] = '\0';
    *out = text;
    *size = (size_t)place[1];
    return MST_OK;
}

mst_status mst_bundle_read_string(const mst_bundle *bundle, int64_t i, int64_t element, char **out, size_t *size) {
    const mst_bundle_entry *e = &bundle->entry[i];
    const int64_t count = mst_shape_count(e->shape);
    uint32_t sum = 0;
    *out = NULL;
    if (e->type != MST_BUNDLE_STRING || e->sliced)
        return MST_FAIL(MST_INVALID, "'%s': '%.200s' does not hold strings", bundle->name, e->key);
    if (element < 0 || element >= count)
        return MST_FAIL(MST_INVALID, "'%s': '%.200s' has %lld strings", bundle->name, e->key, (long long)count);
    if ((uint64_t)count > e->size) return bundle_damaged(bundle, e->key, "the shape");
    uint8_t *data = malloc((size_t)e->size + 1);
    if (!data) return MST_NO_MEMORY("to read '%s'", bundle->name);
    mst_status status = read_piecewise(bundle, e, 0, data, (size_t)e->size, &sum);
    if (!status) status = find_string(bundle, e, data, count, element, out, size);
    free(data);
    return status;
}

/* ---- removing ---- */

static mst_status remove_data(const mst_folder *folder, const char *name) {
    mst_status status = MST_OK;
    const size_t size = strlen(name);
    DIR *list = mst_folder_list(folder);
    if (!list) return MST_FAIL(MST_IO, "'%s' cannot be read: %s", folder->path, strerror(errno));
    for (const struct dirent *item; !status && (item = readdir(list));)
        if (strncmp(item->d_name, name, size) == 0 && strncmp(item->d_name + size, ".data-", 6) == 0)
            status = mst_file_remove_in(folder, item->d_name);
    closedir(list);
    return status;
}

/* Removes the index first: without the index, no program looks for the data. */
mst_status mst_bundle_remove(const mst_folder *folder, const char *name) {
    char *index;
    if (asprintf(&index, "%s.index", name) < 0) return MST_NO_MEMORY("for a name");
    const mst_status status = mst_file_remove_in(folder, index);
    free(index);
    return status ? status : remove_data(folder, name);
}
