/** The choice of the next token of a text: drawn by the tokens' probabilities, or the likeliest token. */
#ifndef MUSTER_TRAIN_NEXT_TOKEN_H
#define MUSTER_TRAIN_NEXT_TOKEN_H

#include "muster/generate.h"

/** A token and its logit. */
typedef struct mst_candidate {
    double logit;
    int32_t token;
} mst_candidate;

/** Sets *OUT to a token, chosen by LOGITS, [count]. Defaults are filled in in OPTIONS. NUMBER counts the new tokens,
 *  from 0: the seed and NUMBER decide which token is drawn. CANDIDATES has room for COUNT. MST_INVALID if a
 *  logit is NaN, or no logit is finite. */
MST_CHECKED mst_status mst_next_token(const float *logits, int64_t count, const mst_generate_options *options,
                                      uint64_t number, mst_candidate *candidates, int32_t *out);

#endif
