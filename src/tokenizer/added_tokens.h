/** Tokens that are found in a text before it is cut into words, such as <|endoftext|>. */
#ifndef MUSTER_TOKENIZER_ADDED_TOKENS_H
#define MUSTER_TOKENIZER_ADDED_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/tensor.h"

typedef struct mst_added_token {
    mst_string text; /**< belongs to the table of tokens; not empty */
    int32_t id;
    bool special;                 /**< it is left out of decoded text, and of mst_encode_options.plain */
    bool strip_left, strip_right; /**< white space on this side becomes part of it */
    bool is_late;                 /**< it is looked for in what the others leave ("normalized") */
} mst_added_token;

/** Zero-initialised is empty. */
typedef struct mst_added_tokens {
    mst_added_token *token; /**< in the order of their bytes; those that are late come last */
    int64_t count, num_early;
    bool begins[2][256]; /**< whether one that is early, or one that is late, begins with this byte */
} mst_added_tokens;

/** Where a token was found. */
typedef struct mst_added_match {
    const mst_added_token *token; /**< NULL: there is none */
    size_t first, end;            /**< bytes of the text, with white space that belongs to it */
} mst_added_match;

/** Puts COUNT tokens in order, which become TOKENS' own. */
void mst_added_tokens_order(mst_added_tokens *tokens, mst_added_token *token, int64_t count);
/** Finds the first token, of those that begin there the longest, at byte AT of TEXT or behind it. LATE chooses among
 *  which tokens, PLAIN leaves special ones out. */
mst_added_match mst_added_tokens_next(const mst_added_tokens *tokens, bool late, bool plain, const char *text,
                                      size_t size, size_t at);
void mst_added_tokens_free(mst_added_tokens *tokens);

#endif
