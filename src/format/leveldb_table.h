/** Tables of sorted keys with values: the format of LevelDB's files and of the index of a TensorFlow checkpoint.
 *
 *      file    block ... | block without entries | index block | footer
 *      block   entries | offsets of restarts, u32 each | their number, u32 || type of compression, u8 | CRC, u32
 *      entry   shared | unshared | value size (varints) | the unshared end of the key | value
 *      footer  handles of the last two blocks, padded to 40 bytes | magic number, u64
 *
 *  A key begins with the first `shared` bytes of the key before; at a restart, which is each 16th entry, shared is 0.
 *  The index block has an entry for each block of entries: a key not below the last key of that block, and the block's
 *  handle. A handle is the offset and the size of a block, as varints; the size does not count the five bytes that
 *  follow the block. The CRC is the masked CRC-32C of the block and the type.
 *  Source: tensorflow/core/lib/io/format.h, block_builder.cc, table_builder.cc.
 */
#ifndef MUSTER_FORMAT_LEVELDB_TABLE_H
#define MUSTER_FORMAT_LEVELDB_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_table_entry {
    const char *key; /**< followed by a zero byte, which key_size does not count; the key may contain zero bytes too */
    size_t key_size;
    const uint8_t *value;
    size_t value_size;
} mst_table_entry;

/** Called with one entry, whose memory is valid only during the call. */
typedef mst_status (*mst_table_take)(void *context, const mst_table_entry *entry);

/** Calls TAKE with all entries of the table in SIZE bytes at DATA, in the order of their keys. MST_CORRUPT, with NAME
 *  and the byte in its message, if a checksum, an offset or the order of keys is wrong; MST_UNIMPLEMENTED if a block is
 *  compressed. */
MST_CHECKED mst_status mst_table_parse(const char *name, const void *data, size_t size, mst_table_take take,
                                       void *context);

/** A table that is being made in memory. Zero-initialised is empty. */
typedef struct mst_table_writer {
    uint8_t *data;
    int64_t size, capacity;
    uint8_t *index; /**< entries of the index block */
    int64_t index_size, index_capacity;
    uint32_t *restart; /**< offsets of the restarts in the current block */
    int64_t num_restarts, restart_capacity, num_blocks;
    int64_t block; /**< where the current block begins */
    int64_t block_entries;
    char *key; /**< the last key */
    size_t key_size;
} mst_table_writer;

/** Adds an entry; its key must be greater than the key of the entry before. */
MST_CHECKED mst_status mst_table_add(mst_table_writer *writer, const char *key, size_t key_size, const void *value,
                                     size_t value_size);
/** Ends the table; its bytes are writer->data, writer->size of them. */
MST_CHECKED mst_status mst_table_finish(mst_table_writer *writer);
void mst_table_writer_free(mst_table_writer *writer);

#endif
