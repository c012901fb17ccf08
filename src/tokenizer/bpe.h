/** Byte pair encoding: merges neighbours in one word. */
#ifndef MUSTER_TOKENIZER_BPE_H
#define MUSTER_TOKENIZER_BPE_H

#include "muster/tokenizer.h"
#include "tokenizer/token_table.h"

typedef struct mst_bpe_merge {
    uint64_t pair; /**< left id << 32 | right id; UINT64_MAX: this slot is free. It becomes the token `merged` */
    uint32_t rank;
    int32_t merged;
} mst_bpe_merge;

/** Zero-initialised is empty. */
typedef struct mst_bpe {
    mst_token_table tokens;
    mst_bpe_merge *merge; /**< hash table */
    size_t num_slots;
    int32_t byte_id[256]; /**< -1: the vocabulary has no token for this byte */
    int32_t unknown_id;   /**< the token for such bytes; -1: they are an error */
    bool whole_words;     /**< a word that is itself a token becomes this token, without merges (ignore_merges) */
} mst_bpe;

/** Sets `byte_id`; to be called after all tokens were added. */
void mst_bpe_find_bytes(mst_bpe *bpe);
/** Makes room for COUNT merges. */
MST_CHECKED mst_status mst_bpe_make_merges(mst_bpe *bpe, int64_t count);
/** Adds the merge of tokens LEFT and RIGHT. A pair that was added before gets the new rank. MST_CORRUPT if LEFT, RIGHT
 *  or the two joined are not in the vocabulary. */
MST_CHECKED mst_status mst_bpe_add_merge(mst_bpe *bpe, uint32_t rank, mst_string left, mst_string right);
void mst_bpe_free(mst_bpe *bpe);

/** One byte or more of a word. */
typedef struct mst_bpe_symbol {
    int32_t id;             /**< -1: it has become part of the one before it */
    int32_t previous, next; /**< neighbours; -1: there is none */
    uint32_t rank;          /**< of the merge with the next symbol; UINT32_MAX: they cannot be merged */
    int32_t merged;         /**< id of the token that this merge gives */
} mst_bpe_symbol;

/** Memory of one encoding. Zero-initialised is empty. */
typedef struct mst_bpe_scratch {
    mst_bpe_symbol *symbol;
    uint64_t *heap; /**< of possible merges: rank << 32 | index of the left symbol; the smallest is the first */
    char *text;     /**< a word in the characters of the file (byte_level.h) */
    int64_t symbol_capacity, heap_capacity, heap_count, text_capacity;
} mst_bpe_scratch;

/** Appends the ids of a word of SIZE bytes, below 2^30. */
MST_CHECKED mst_status mst_bpe_encode(const mst_bpe *bpe, mst_bpe_scratch *scratch, const char *word, size_t size,
                                      mst_token_ids *ids);
void mst_bpe_scratch_free(mst_bpe_scratch *scratch);

#endif
