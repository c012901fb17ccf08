/** Layers that map tokens to indices by their place in a vocabulary: string_lookup for strings, integer_lookup for
 *  integers.
 *
 *  Let s be 1 if there is a masked token and the output mode is INT, else 0. The index of a token is:
 *
 *      0                          the masked token, in mode INT; in the other modes it belongs to no column
 *      s + other                  a token that is not in the vocabulary; other is below num_others
 *      s + num_others + place     a token of the vocabulary
 *
 *  A token is found by its key, an i64. The key of an integer is the integer, and the key of a string is its hash. Two
 *  tensors have the keys, in rising order, and the place of each. They are i64 [k], or [k + 1] with the masked token,
 *  whose place is k. */
#ifndef MUSTER_LAYER_TOKEN_LOOKUP_H
#define MUSTER_LAYER_TOKEN_LOOKUP_H

#include "layer/encode.h"

/** The options of such a layer. */
typedef struct mst_token_lookup {
    const char *type, *tokens; /**< "string_lookup", "strings": for errors */
    const char *name;          /**< of the layer */
    const char *keys_name;     /**< name of the weight with the keys */
    mst_dtype dtype;           /**< of the vocabulary: MST_STRING or MST_I64 */
    const mst_tensor *vocabulary;
    int64_t max_tokens, num_others;
    bool masks;
    int64_t mask_key, unknown_key; /**< keys of the masked token, and of the token that is never learnt */
    mst_output_mode mode;
    mst_tensor *keys, *places; /**< the learnt tensors; NULL before */
} mst_token_lookup;

/** The key of a string, from 0 to 2^53 - 1. */
int64_t mst_token_key_of_string(mst_string token);
/** The number of possible keys of strings. mst_string_to_hash_bucket_fast gives the same keys with so many buckets. */
int64_t mst_token_num_string_keys(void);

/** MST_INVALID in any of these cases: the vocabulary has a wrong dtype or shape; it has a token twice, or the masked
 *  token; max_tokens leaves no index for a vocabulary; both a vocabulary and max_tokens are given. */
MST_CHECKED mst_status mst_token_lookup_check(const mst_token_lookup *lookup);
/** Declares keys and places as weights if no vocabulary is given. MST_INVALID if their size is not known. */
MST_CHECKED mst_status mst_token_lookup_weights(const mst_token_lookup *lookup, mst_layer_call *call);
/** The indices of the tokens with these KEYS, i64 [n, ...], in the form of the output mode. OTHER has the shape of
 *  KEYS: for each token that is not in the vocabulary, its index from 0 to num_others - 1. If num_others is 0, OTHER is
 *  not used, and such a token is MST_INVALID in the run. */
mst_value mst_token_lookup_build(const mst_token_lookup *lookup, const mst_layer_call *call, mst_value keys,
                                 mst_value other);
/** Learns keys and places into LEARNT from all rows that NEXT gives. The most frequent token is first; among equally
 *  frequent ones, the largest, or the last in the order of bytes. MST_INVALID if the data has no tokens, or tokens of
 *  another type. */
MST_CHECKED mst_status mst_token_lookup_learn(const mst_token_lookup *lookup, mst_layer_rows next, void *context,
                                              mst_tensor *learnt[MST_MAX_LEARNT]);

#endif
