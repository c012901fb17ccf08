/** Layers that number tokens by their place in a vocabulary: string_lookup of strings, integer_lookup of integers.
 *
 *  The number of a token is, with s = 1 if a token is masked and the output mode is INT, else 0,
 *
 *      0                          the masked token, in mode INT; in the other modes it counts for no column
 *      s + other                  a token that is not in the vocabulary; other is below num_others
 *      s + num_others + place     a token of the vocabulary
 *
 *  A token is found by its key, an i64: an integer is its own key, and that of a string is its hash. Keys in rising
 *  order and the place of each are two tensors, i64 [k], or [k + 1] with the masked token, whose place is k. */
#ifndef MUSTER_LAYER_TOKEN_LOOKUP_H
#define MUSTER_LAYER_TOKEN_LOOKUP_H

#include "layer/encode.h"

/** What the options of such a layer say. */
typedef struct mst_token_lookup {
    const char *type, *tokens; /**< "string_lookup", "strings": for errors */
    const char *name;          /**< of the layer */
    const char *keys_name;     /**< of the weight that has the keys */
    mst_dtype dtype;           /**< of the vocabulary: MST_STRING or MST_I64 */
    const mst_tensor *vocabulary;
    int64_t max_tokens, num_others;
    bool masks;
    int64_t mask_key, unknown_key; /**< of the masked token, and of one that is never learnt */
    mst_output_mode mode;
    mst_tensor *keys, *places; /**< learnt; NULL before */
} mst_token_lookup;

/** The key of a string, from 0 to 2^53 - 1. */
int64_t mst_token_key_of_string(mst_string token);
/** How many keys of strings there are: buckets of mst_string_to_hash_bucket_fast, which gives the same keys. */
int64_t mst_token_num_string_keys(void);

/** MST_INVALID if the vocabulary is of another dtype or shape, has a token twice or the masked token, if
 *  max_tokens leaves no number for a vocabulary, and if both are given. */
MST_CHECKED mst_status mst_token_lookup_check(const mst_token_lookup *lookup);
/** Declares keys and places as weights if no vocabulary is given. MST_INVALID if their size is not known. */
MST_CHECKED mst_status mst_token_lookup_weights(const mst_token_lookup *lookup, mst_layer_call *call);
/** The numbers of tokens with these KEYS, i64 [n, ...], as the mode says. OTHER, like KEYS: the number of each among
 *  the other tokens if it is not in the vocabulary. It is not used if num_others is 0: then such a token is MST_INVALID
 *  in the run. */
mst_value mst_token_lookup_build(const mst_token_lookup *lookup, const mst_layer_call *call, mst_value keys,
                                 mst_value other);
/** Learns keys and places into LEARNT from all rows that NEXT gives: the most frequent token first, of equally frequent
 *  ones the largest, or the last in the order of their bytes. MST_INVALID if the data has no tokens, or others. */
MST_CHECKED mst_status mst_token_lookup_learn(const mst_token_lookup *lookup, mst_layer_rows next, void *context,
                                              mst_tensor *learnt[MST_MAX_LEARNT]);

#endif
