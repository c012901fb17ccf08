/** Tables: sorted keys with values, the format of LevelDB's files and of the index of a TensorFlow checkpoint.
 *
 *      file    block ... | block without entries | index block | footer
 *      block   entries | offsets of restarts, u32 each | their number, u32 || type of compression, u8 | CRC, u32
 *      entry   shared | unshared | value size (varints) | the unshared end of the key | value
 *      footer  handles of the last two blocks, padded to 40 bytes | magic number, u64
 *
 *  A key begins with the first `shared` bytes of the key before; at a restart, each 16th entry, shared is 0. The index
 *  block has, for each block of entries, a key not below its last, and its handle: offset and size without the five
 *  bytes that follow it, as varints. The CRC is CRC-32C of the block and the type, masked.
 *  Source: tensorflow/core/lib/io/format.h, block_builder.cc, table_builder.cc.
 */
#ifndef MUSTER_FORMAT_LEVELDB_TABLE_H
#define MUSTER_FORMAT_LEVELDB_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_table_entry {
    const char *key; /**< followed by a 0, which key_size does not count; the key may contain zeros too */
    size_t key_size;
    const uint8_t *value;
    size_t value_size;
} mst_table_entry;

/** Takes one entry, whose memory is valid during the call only. */
typedef mst_status (*mst_table_take)(void *context, const mst_table_entry *entry);

/** Gives all entries of the table of SIZE bytes at DATA, in the order of their keys, to TAKE. MST_CORRUPT, naming NAME
 *  and the byte, where a check sum, an order or an offset is wrong; MST_UNIMPLEMENTED where a block is compressed. */
MST_CHECKED mst_status mst_table_parse(const char *name, const void *data, size_t size, mst_table_take take,
                                       void *context);

/** A table that is being made, in memory. Zero-initialised is empty. */
typedef struct mst_table_writer {
    uint8_t *data;
    int64_t size, capacity;
    uint8_t *index; /**< entries of the index block */
    int64_t index_size, index_capacity;
    uint32_t *restart; /**< of the block, then of the index */
    int64_t num_restarts, restart_capacity, num_blocks;
    int64_t block; /**< where the block begins */
    int64_t block_entries;
    char *key; /**< the last one */
    size_t key_size;
} mst_table_writer;

/** Adds an entry; its key must be above the last. */
MST_CHECKED mst_status mst_table_add(mst_table_writer *writer, const char *key, size_t key_size, const void *value,
                                     size_t value_size);
/** Ends the table: its bytes are writer->data, writer->size. */
MST_CHECKED mst_status mst_table_finish(mst_table_writer *writer);
void mst_table_writer_free(mst_table_writer *writer);

#endif
