/** Which token comes next: drawn by its probability, or the likeliest. */
#ifndef MUSTER_TRAIN_NEXT_TOKEN_H
#define MUSTER_TRAIN_NEXT_TOKEN_H

#include "muster/generate.h"

/** A token and its logit. */
typedef struct mst_candidate {
    double logit;
    int32_t token;
} mst_candidate;

/** Chooses a token by its LOGITS, [count]. OPTIONS have their defaults. NUMBER is the number of the token in the text,
 *  which with the seed decides what is drawn. CANDIDATES has room for COUNT. MST_INVALID if a logit is NaN, or none is
 *  finite. */
MST_CHECKED mst_status mst_next_token(const float *logits, int64_t count, const mst_generate_options *options,
                                      uint64_t number, mst_candidate *candidates, int32_t *out);

#endif
