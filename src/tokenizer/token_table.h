/** The tokens of a vocabulary by id, and their ids by token. */
#ifndef MUSTER_TOKENIZER_TOKEN_TABLE_H
#define MUSTER_TOKENIZER_TOKEN_TABLE_H

#include "base/arena.h"
#include "muster/tensor.h"

/** Zero-initialised is empty. */
typedef struct mst_token_table {
    mst_arena arena;
    mst_string *token; /**< [num_ids] ends with a zero byte; data NULL: there is no token of this id */
    int64_t num_ids;
    int64_t count; /**< number of tokens in the table */
    int32_t *slot; /**< hash table: id + 1; 0: free */
    size_t num_slots;
} mst_token_table;

/** Makes room for COUNT tokens with ids below NUM_IDS in TABLE, which is empty. MST_CORRUPT if NUM_IDS is too large for
 *  so few tokens. */
MST_CHECKED mst_status mst_token_table_make(mst_token_table *table, int64_t count, int64_t num_ids);
/** Adds a token; the table must have room for it. MST_CORRUPT if the table already has the id or the token. */
MST_CHECKED mst_status mst_token_table_add(mst_token_table *table, int64_t id, const char *token, size_t size);
/** The id of a token; -1: there is none. */
int64_t mst_token_table_find(const mst_token_table *table, const char *token, size_t size);
void mst_token_table_free(mst_token_table *table);

#endif
