/** The different tokens of texts, and their numbers:
 *
 *      0   padding after a text, or before it; its name is ""
 *      1   every token that is not in the vocabulary; its name is "[UNK]"
 *      2   the most frequent token, and so on; equally frequent ones in falling order of their bytes, as in Keras
 */
#ifndef MUSTER_DATA_TEXT_VOCABULARY_H
#define MUSTER_DATA_TEXT_VOCABULARY_H

#include "base/arena.h"
#include "muster/dataset.h"

enum { MST_TOKEN_PADDING, MST_TOKEN_UNKNOWN, MST_TOKEN_FIRST };

typedef struct mst_vocabulary_entry mst_vocabulary_entry;

/** Zero-initialised is empty. */
typedef struct mst_vocabulary {
    mst_arena arena; /**< the bytes of the tokens */
    mst_vocabulary_entry *entry;
    int64_t num_entries, capacity;
    int32_t *slot; /**< hash table: index of the entry + 1; 0: free */
    size_t num_slots;
    int32_t *number;   /**< [num_entries] number of each entry, set by mst_vocabulary_rank */
    const char **name; /**< [num_names] name of each number, set by the same */
    int64_t num_names;
} mst_vocabulary;

/** Counts TOKEN. *ENTRY identifies it until it has a number. */
MST_CHECKED mst_status mst_vocabulary_count(mst_vocabulary *vocabulary, mst_string token, int32_t *entry);
/** The entry of TOKEN; -1: there is none. */
int32_t mst_vocabulary_find(const mst_vocabulary *vocabulary, mst_string token);
/** Numbers the tokens, with numbers below MAX_TOKENS (0: no limit). The order is by how often they were counted, or
 *  with KEEP_ORDER that in which they came. Tokens without a number count as unknown. */
MST_CHECKED mst_status mst_vocabulary_rank(mst_vocabulary *vocabulary, int64_t max_tokens, bool keep_order);
void mst_vocabulary_free(mst_vocabulary *vocabulary);

#endif
