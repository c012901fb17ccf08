/** The tokenizer of byte-level BPE. It finds the added tokens in a text, cuts the text between them into words by
 *  patterns, and merges the bytes of each word. */
#ifndef MUSTER_TOKENIZER_BPE_TOKENIZER_H
#define MUSTER_TOKENIZER_BPE_TOKENIZER_H

#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe.h"
#include "tokenizer/pattern.h"
#include "tokenizer/tokenizer.h"

enum { MST_BPE_MOST_STEPS = 8, MST_BPE_MOST_AROUND = 16 };

/** A pattern that cuts a piece of text into smaller pieces: its matches, and the text between them. */
typedef struct mst_bpe_step {
    mst_pattern *pattern;
    bool matches_only; /**< the text between matches is dropped */
} mst_bpe_step;

typedef struct mst_bpe_tokenizer {
    mst_tokenizer base;
    mst_bpe bpe;
    mst_added_tokens added;
    uint8_t *kind; /**< [num_ids] mst_bpe_kind */
    bool prefix_space;
    const mst_pattern_library *patterns;
    mst_bpe_step step[MST_BPE_MOST_STEPS];
    int num_steps;
    int32_t before[MST_BPE_MOST_AROUND], behind[MST_BPE_MOST_AROUND]; /**< ids around a text, with add_special */
    int num_before, num_behind;
} mst_bpe_tokenizer;

/** Kinds of tokens: of the model's vocabulary; added; added and special. */
enum { MST_BPE_PLAIN = 0, MST_BPE_ADDED, MST_BPE_SPECIAL };

/** The pattern that cuts text into words for GPT-2. */
extern const char mst_bpe_gpt2_pattern[];

/** Makes a tokenizer without tokens. */
MST_CHECKED mst_status mst_bpe_tokenizer_create(mst_bpe_tokenizer **out);
/** Adds a step with PATTERN, which is in the notation of Oniguruma. */
MST_CHECKED mst_status mst_bpe_tokenizer_add_step(mst_bpe_tokenizer *t, const char *pattern, size_t size,
                                                  bool matches_only);
/** Adds COUNT added tokens. T owns the array ADDED from now on, also after a failure. Their texts belong to T's table
 *  of tokens. */
MST_CHECKED mst_status mst_bpe_tokenizer_add_tokens(mst_bpe_tokenizer *t, mst_added_token *added, int64_t count);

/** Fills T from the text of tokenizer.json. */
MST_CHECKED mst_status mst_bpe_read_json(mst_bpe_tokenizer *t, const mst_tokenizer_file *file);
/** Fills T from vocab.json and merges.txt. */
MST_CHECKED mst_status mst_bpe_read_vocab(mst_bpe_tokenizer *t, const mst_tokenizer_file *vocab,
                                          const mst_tokenizer_file *merges);

#endif
