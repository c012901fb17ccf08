/** The tokens of a text, by the rules of Keras' TextVectorization:
 *
 *      "The cat's  Mat!"  --lower case, punctuation out-->  "the cats  mat"  --split-->  "the" "cats" "mat"
 *
 *  As in TensorFlow, lower case and punctuation are matters of ASCII: É stays, and so do quotation marks such as “.
 *  White space is a blank, \t \n \v \f \r; a blank of other kinds, such as U+00A0, belongs to its token.
 */
#ifndef MUSTER_DATA_TEXT_TOKENS_H
#define MUSTER_DATA_TEXT_TOKENS_H

#include <stdbool.h>

#include "muster/dataset.h"

/** MST_INVALID if TEXT is not UTF-8 or has a zero byte: the message says where. */
MST_API MST_CHECKED mst_status mst_text_check(mst_string text);

/** Whether tokens end at C. */
static inline bool mst_text_is_white(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/** Zero-initialised but for the first two members. */
typedef struct mst_tokens {
    mst_text_standardize standardize;
    mst_text_split split;
    char *text; /**< what is split, made of the text; owned */
    int64_t size, at, capacity;
} mst_tokens;

/** Begins with TEXT, which may be freed then. Fails as mst_text_check does. */
MST_CHECKED mst_status mst_tokens_begin(mst_tokens *tokens, mst_string text);
/** The next token, valid until the next text; false at the end. */
bool mst_tokens_next(mst_tokens *tokens, mst_string *token);
void mst_tokens_free(mst_tokens *tokens);

#endif
