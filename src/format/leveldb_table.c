/* Reads and writes tables (leveldb_table.h).
 *
 * Reading checks the checksum of each block, that blocks do not overlap, and that keys increase through the whole
 * table. A key shares its beginning with the key before it, so a small damaged file could claim very long keys. `spare`
 * limits the sum of their lengths. Writing appends entries to the current block, ends the block after BLOCK_SIZE bytes,
 * and collects the index separately. The caller writes the result to a file. */
#include "format/leveldb_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/no_memory.h"
#include "format/checksum.h"
#include "format/varint.h"

enum { FOOTER = 48, TRAILER = 5, RESTART_INTERVAL = 16, BLOCK_SIZE = 262144, PLAIN = 0, SNAPPY = 1 };
/* The most bytes of a key, and the most bytes of all keys for each byte of the file. */
enum { KEY_MOST = 1 << 16, KEY_BYTES_PER_BYTE = 64 };
static const uint64_t magic = 0xdb4775248b80fb57;

static uint32_t load32(const uint8_t *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void store32(uint8_t *b, uint32_t value) {
    for (int i = 0; i < 4; i++) b[i] = (uint8_t)(value >> 8 * i);
}

/* ---- reading ---- */

typedef struct parser {
    const char *name;
    const uint8_t *data;
    size_t size;
    mst_table_take take;
    void *context;
    char *key, *last; /* room for KEY_MOST bytes and a zero */
    size_t key_size, last_size;
    uint64_t spare; /* bytes that further keys may have: in a damaged file, keys could be much longer than the file */
    bool any;       /* a key has been read, so `last` is set */
} parser;

typedef struct handle {
    uint64_t offset, size;
} handle;

static mst_status table_corrupt(const parser *p, const char *what, uint64_t at) {
    return MST_FAIL(MST_CORRUPT, "'%s': %s at byte %llu: the table is damaged or incomplete", p->name, what,
                    (unsigned long long)at);
}

static bool read_handle(const uint8_t **at, const uint8_t *end, handle *out) {
    return mst_varint_read(at, end, &out->offset) && mst_varint_read(at, end, &out->size);
}

/* Checks the checksum of a block, and finds the beginning and the end of its entries. */
static mst_status open_block(const parser *p, handle h, const uint8_t **begin, const uint8_t **end) {
    const uint64_t most = p->size - FOOTER;
    if (h.offset > most || h.size > most - h.offset || most - h.offset - h.size < TRAILER || h.size < 4)
        return table_corrupt(p, "a block that does not fit into the file", h.offset);
    const uint8_t *block = p->data + h.offset, *trailer = block + h.size;
    if (!mst_crc32c_is(load32(trailer + 1), mst_crc32c(0, block, (size_t)h.size + 1)))
        return table_corrupt(p, "a block whose check sum is wrong", h.offset);
    if (*trailer == SNAPPY)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': a block is compressed with snappy: write the table without it",
                        p->name);
    if (*trailer != PLAIN) return table_corrupt(p, "an unknown type of compression", h.offset + h.size);
    const uint64_t restarts = load32(trailer - 4);
    if (restarts > (h.size - 4) / 4) return table_corrupt(p, "restarts that do not fit into their block", h.offset);
    *begin = block;
    *end = trailer - 4 - 4 * restarts;
    return MST_OK;
}

/* Makes the next key: the first SHARED bytes of the previous one, then the UNSHARED bytes at TAIL. */
static mst_status read_key(parser *p, const uint8_t *tail, uint64_t shared, uint64_t unshared) {
    const uint64_t at = (uint64_t)(tail - p->data);
    if (shared > p->key_size || shared + unshared > KEY_MOST) return table_corrupt(p, "a key of impossible length", at);
    if (shared + unshared > p->spare) return table_corrupt(p, "keys that are many times as long as the table", at);
    p->spare -= shared + unshared;
    if (unshared) memcpy(p->key + shared, tail, (size_t)unshared);
    p->key_size = (size_t)(shared + unshared);
    p->key[p->key_size] = '\0';
    return MST_OK;
}

static mst_status read_entry(parser *p, const uint8_t **at, const uint8_t *end, mst_table_entry *out) {
    uint64_t shared, unshared, value_size;
    const uint64_t where = (uint64_t)(*at - p->data);
    if (!mst_varint_read(at, end, &shared) || !mst_varint_read(at, end, &unshared) ||
        !mst_varint_read(at, end, &value_size))
        return table_corrupt(p, "an entry that is cut off", where);
    const uint64_t left = (uint64_t)(end - *at);
    if (unshared > left || value_size > left - unshared) return table_corrupt(p, "an entry that is cut off", where);
    MST_TRY(read_key(p, *at, shared, unshared));
    *out = (mst_table_entry){
        .key = p->key, .key_size = p->key_size, .value = *at + unshared, .value_size = (size_t)value_size};
    *at += unshared + value_size;
    return MST_OK;
}

/* Checks that each key is greater than the one before, through the whole table. */
static mst_status check_order(parser *p, uint64_t at) {
    const size_t common = p->key_size < p->last_size ? p->key_size : p->last_size;
    const int order = p->any ? memcmp(p->last, p->key, common) : -1;
    if (order > 0 || (order == 0 && p->key_size <= p->last_size)) return table_corrupt(p, "keys out of order", at);
    p->any = true;
    memcpy(p->last, p->key, p->key_size);
    p->last_size = p->key_size;
    return MST_OK;
}

static mst_status parse_block(parser *p, handle h) {
    const uint8_t *at, *end;
    MST_TRY(open_block(p, h, &at, &end));
    p->key_size = 0;
    while (at < end) {
        mst_table_entry entry;
        const uint64_t where = (uint64_t)(at - p->data);
        MST_TRY(read_entry(p, &at, end, &entry));
        MST_TRY(check_order(p, where));
        MST_TRY(p->take(p->context, &entry));
    }
    return MST_OK;
}

/* Parses all blocks of the index. Blocks must not overlap, so that no byte is read twice. */
static mst_status parse_blocks(parser *p, handle index) {
    const uint8_t *at, *end;
    uint64_t next = 0;
    MST_TRY(open_block(p, index, &at, &end));
    while (at < end) {
        mst_table_entry entry;
        handle h;
        const uint64_t where = (uint64_t)(at - p->data);
        p->key_size = 0;
        MST_TRY(read_entry(p, &at, end, &entry));
        const uint8_t *value = entry.value;
        if (!read_handle(&value, entry.value + entry.value_size, &h))
            return table_corrupt(p, "no handle of a block", where);
        if (h.offset < next) return table_corrupt(p, "blocks that overlap", where);
        MST_TRY(parse_block(p, h));
        next = h.offset + h.size + TRAILER;
    }
    return MST_OK;
}

static mst_status table_parse(parser *p) {
    handle metaindex, index;
    if (p->size < FOOTER) return table_corrupt(p, "no footer: the file ends", p->size);
    const uint8_t *footer = p->data + p->size - FOOTER, *end = footer + FOOTER - 8;
    if ((load32(end) | (uint64_t)load32(end + 4) << 32) != magic)
        return table_corrupt(p, "no footer: other bytes than the magic number", p->size - 8);
    if (!read_handle(&footer, end, &metaindex) || !read_handle(&footer, end, &index))
        return table_corrupt(p, "no handles in the footer", p->size - FOOTER);
    return parse_blocks(p, index);
}

mst_status mst_table_parse(const char *name, const void *data, size_t size, mst_table_take take, void *context) {
    parser p = {.name = name, .data = data, .size = size, .take = take, .context = context};
    p.spare = (uint64_t)size * KEY_BYTES_PER_BYTE;
    p.key = malloc(KEY_MOST + 1);
    p.last = malloc(KEY_MOST + 1);
    const mst_status status = p.key && p.last ? table_parse(&p) : MST_NO_MEMORY("to read '%s'", name);
    free(p.key);
    free(p.last);
    return status;
}

/* ---- writing ---- */

static mst_status table_append(uint8_t **data, int64_t *size, int64_t *capacity, const void *bytes, size_t count) {
    MST_TRY(mst_grow(data, 1, *size + (int64_t)count, capacity));
    if (count) memcpy(*data + *size, bytes, count);
    *size += (int64_t)count;
    return MST_OK;
}

static mst_status table_put(mst_table_writer *w, const void *bytes, size_t count) {
    return table_append(&w->data, &w->size, &w->capacity, bytes, count);
}

static mst_status put32(mst_table_writer *w, uint32_t value) {
    uint8_t bytes[4];
    store32(bytes, value);
    return table_put(w, bytes, sizeof bytes);
}

/* Appends the trailer to the block that began at BEGIN. */
static mst_status put_trailer(mst_table_writer *w, int64_t begin) {
    const uint8_t type = PLAIN;
    MST_TRY(table_put(w, &type, 1));
    return put32(w, mst_crc32c_mask(mst_crc32c(0, w->data + begin, (size_t)(w->size - begin))));
}

static size_t write_handle(uint8_t *dst, int64_t offset, int64_t size) {
    const size_t used = mst_varint_write(dst, (uint64_t)offset);
    return used + mst_varint_write(dst + used, (uint64_t)size);
}

/* Adds the current block of SIZE bytes to the index. Each entry of the index is a restart, so it has its whole key. */
static mst_status add_to_index(mst_table_writer *w, int64_t size) {
    uint8_t head[3 * MST_VARINT_MOST], value[2 * MST_VARINT_MOST];
    const size_t value_size = write_handle(value, w->block, size);
    head[0] = 0;
    size_t head_size = 1 + mst_varint_write(head + 1, w->key_size);
    head_size += mst_varint_write(head + head_size, value_size);
    MST_TRY(table_append(&w->index, &w->index_size, &w->index_capacity, head, head_size));
    MST_TRY(table_append(&w->index, &w->index_size, &w->index_capacity, w->key, w->key_size));
    return table_append(&w->index, &w->index_size, &w->index_capacity, value, value_size);
}

static mst_status end_block(mst_table_writer *w) {
    if (w->block_entries == 0) return MST_OK;
    for (int64_t i = 0; i < w->num_restarts; i++) MST_TRY(put32(w, w->restart[i]));
    MST_TRY(put32(w, (uint32_t)w->num_restarts));
    const int64_t size = w->size - w->block;
    MST_TRY(put_trailer(w, w->block));
    MST_TRY(add_to_index(w, size));
    w->block = w->size;
    w->block_entries = w->num_restarts = 0;
    w->num_blocks++;
    return MST_OK;
}

static mst_status keep_key(mst_table_writer *w, const char *key, size_t key_size) {
    char *copy = realloc(w->key, key_size + 1);
    if (!copy) return MST_NO_MEMORY("for a table");
    memcpy(copy, key, key_size);
    w->key = copy;
    w->key_size = key_size;
    return MST_OK;
}

static mst_status put_entry(mst_table_writer *w, const char *key, size_t key_size, const void *value,
                            size_t value_size) {
    size_t shared = 0;
    uint8_t head[3 * MST_VARINT_MOST];
    if (w->block_entries % RESTART_INTERVAL == 0) {
        MST_TRY(mst_grow(&w->restart, sizeof *w->restart, w->num_restarts + 1, &w->restart_capacity));
        w->restart[w->num_restarts++] = (uint32_t)(w->size - w->block);
    } else {
        while (shared < key_size && shared < w->key_size && key[shared] == w->key[shared]) shared++;
    }
    size_t head_size = mst_varint_write(head, shared);
    head_size += mst_varint_write(head + head_size, key_size - shared);
    head_size += mst_varint_write(head + head_size, value_size);
    MST_TRY(table_put(w, head, head_size));
    MST_TRY(table_put(w, key + shared, key_size - shared));
    return table_put(w, value, value_size);
}

mst_status mst_table_add(mst_table_writer *w, const char *key, size_t key_size, const void *value, size_t value_size) {
    if (key_size > KEY_MOST)
        return MST_FAIL(MST_INVALID, "a name of %zu bytes, at most %d are possible in a table", key_size, KEY_MOST);
    MST_TRY(put_entry(w, key, key_size, value, value_size));
    w->block_entries++;
    MST_TRY(keep_key(w, key, key_size));
    return w->size - w->block >= BLOCK_SIZE ? end_block(w) : MST_OK;
}

/* Appends the restarts of the index, and their number. Each entry of the index is a restart. The offsets of the entries
 * are found by reading the entries again. A block without entries has one restart, at offset 0. */
static mst_status put_index_restarts(mst_table_writer *w) {
    const uint8_t *at = w->index, *end = w->index + w->index_size;
    while (at < end) {
        uint64_t shared, key_size, value_size;
        MST_TRY(put32(w, (uint32_t)(at - w->index)));
        if (!mst_varint_read(&at, end, &shared) || !mst_varint_read(&at, end, &key_size) ||
            !mst_varint_read(&at, end, &value_size))
            return MST_FAIL(MST_INTERNAL, "the index of a table is damaged");
        at += key_size + value_size;
    }
    if (w->num_blocks == 0) MST_TRY(put32(w, 0));
    return put32(w, w->num_blocks ? (uint32_t)w->num_blocks : 1);
}

mst_status mst_table_finish(mst_table_writer *w) {
    uint8_t footer[FOOTER] = {0};
    MST_TRY(end_block(w));
    const int64_t metaindex = w->size; /* the block without entries: one restart, at 0 */
    MST_TRY(put32(w, 0));
    MST_TRY(put32(w, 1));
    MST_TRY(put_trailer(w, metaindex));
    const int64_t index = w->size;
    MST_TRY(table_put(w, w->index, (size_t)w->index_size));
    MST_TRY(put_index_restarts(w));
    const int64_t index_size = w->size - index;
    MST_TRY(put_trailer(w, index));
    const size_t used = write_handle(footer, metaindex, 8);
    write_handle(footer + used, index, index_size);
    store32(footer + FOOTER - 8, (uint32_t)magic);
    store32(footer + FOOTER - 4, (uint32_t)(magic >> 32));
    return table_put(w, footer, sizeof footer);
}

void mst_table_writer_free(mst_table_writer *w) {
    free(w->data);
    free(w->index);
    free(w->restart);
    free(w->key);
    *w = (mst_table_writer){.data = NULL};
}
