/** The tokens of a text, by the rules of Keras' TextVectorization:
 *
 *      "The cat's  Mat!"  --lower case, punctuation out-->  "the cats  mat"  --split-->  "the" "cats" "mat"
 *
 *  As in TensorFlow, only ASCII has lower case and punctuation: É stays, and so do quotation marks such as “. White
 *  space is a blank, \t \n \v \f \r; other blanks, such as U+00A0, belong to their token.
 */
#ifndef MUSTER_TENSOR_TOKENS_H
#define MUSTER_TENSOR_TOKENS_H

#include <stdbool.h>

#include "muster/tensor.h"
#include "muster/text.h"

/** Names of mst_text_standardize and mst_text_split, which are those of Keras ("none": as it is). */
extern const char *const mst_text_standardize_names[], *const mst_text_split_names[];

/** MST_INVALID if TEXT is not UTF-8 or has a zero byte; the message says where. */
MST_API MST_CHECKED mst_status mst_text_check(mst_string text);

/** Whether C is white space, at which tokens end. */
static inline bool mst_text_is_white(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/** A text that is being split. Set the first two members; all others begin with 0. */
typedef struct mst_tokens {
    mst_text_standardize standardize;
    mst_text_split split;
    char *text;             /**< the standardized text; owned */
    int64_t size, capacity; /**< bytes of the text, and bytes allocated for it */
    int64_t at;             /**< where the next token is looked for */
} mst_tokens;

/** Begins with TEXT, which may be freed afterwards. It may have any bytes: one that is not UTF-8 is a character of its
 *  own. */
MST_CHECKED mst_status mst_tokens_begin(mst_tokens *tokens, mst_string text);
/** Gives the next token, which is valid until mst_tokens_begin is called again. False at the end. */
bool mst_tokens_next(mst_tokens *tokens, mst_string *token);
void mst_tokens_free(mst_tokens *tokens);

#endif
