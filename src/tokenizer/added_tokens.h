/** Tokens that are found in a text before it is cut into words, such as <|endoftext|>. */
#ifndef MUSTER_TOKENIZER_ADDED_TOKENS_H
#define MUSTER_TOKENIZER_ADDED_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/tensor.h"

typedef struct mst_added_token {
    mst_string text; /**< belongs to the table of tokens; not empty */
    int32_t id;
    bool special;                 /**< not written by decoding; not found in texts with mst_encode_options.plain */
    bool strip_left, strip_right; /**< white space on this side becomes part of it */
    bool is_late;                 /**< it is searched for only between the tokens that are not late ("normalized") */
} mst_added_token;

/** Zero-initialised is empty. */
typedef struct mst_added_tokens {
    mst_added_token *token; /**< [count]: num_early tokens that are not late, then late ones; both sorted by bytes */
    int64_t count, num_early;
    bool begins[2][256]; /**< [is_late][byte]: some such token begins with this byte */
} mst_added_tokens;

/** Where a token was found. */
typedef struct mst_added_match {
    const mst_added_token *token; /**< NULL: there is none */
    size_t first, end;            /**< its bytes in the text are FIRST to END - 1, with the white space that it takes */
} mst_added_match;

/** Sorts the COUNT elements of TOKEN, and gives the array to TOKENS, which owns it from now on. */
void mst_added_tokens_order(mst_added_tokens *tokens, mst_added_token *token, int64_t count);
/** Finds the first token in TEXT from byte AT on; of several tokens that begin at one byte, the longest. Searches for
 *  late tokens only (LATE), or for the others only. PLAIN: special tokens are not found. */
mst_added_match mst_added_tokens_next(const mst_added_tokens *tokens, bool late, bool plain, const char *text,
                                      size_t size, size_t at);
void mst_added_tokens_free(mst_added_tokens *tokens);

#endif
