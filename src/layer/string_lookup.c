/** string_lookup: dst = index of the string src: its place in a vocabulary, after the indices for all other strings
 *
 *  src              strings, [n] or [n, ...]
 *  vocabulary       strings [k], all different. Without it, mst_adapt learns the vocabulary from the data, and the
 *                   layer has weights. The most frequent string is first; among equally frequent ones, the last in the
 *                   order of their bytes
 *  max_tokens       the largest number of indices: those of the learnt vocabulary and those of other strings. Then
 *                   there are always that many columns (Keras' pad_to_max_tokens), so that a model whose weights come
 *                   from a file can be built without the data
 *  num_oov_indices  number of indices for strings that are not in the vocabulary, chosen by a hash; default 1
 *  no_oov           there are no such indices: such a string is an error in the run, MST_INVALID (in Keras,
 *                   num_oov_indices=0)
 *  mask_token       a string that is not in the vocabulary, such as "". In mode INT its index is 0, before all others;
 *                   in the other modes it belongs to no column. Default NULL: none
 *  output_mode      default INT, i64 like src; the others are those of category_encoding, with a column for each index
 *  name             default string_lookup, string_lookup_1, ...
 *
 *  Weights if no vocabulary is given: vocabulary_hashes, the hashes of the strings (mst_string_to_hash_bucket_fast into
 *  2^53 buckets) in rising order, and vocabulary_places, the place of each. Both are i64 [k], or [k + 1] with
 *  mask_token, and are not trained. They are numbers, since checkpoints of all formats can keep these; in Keras the
 *  strings belong to the configuration. Before mst_adapt the vocabulary is empty.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_string_lookup_options {
    int zero_;
    mst_tensor *vocabulary;
    int64_t max_tokens;
    int64_t num_oov_indices;
    bool no_oov;
    const char *mask_token;
    mst_output_mode output_mode;
    const char *name;
    mst_tensor *adapted_hashes, *adapted_places; /**< set by mst_adapt: the initial values of the weights */
    int end_;
} mst_layer_string_lookup_options;
#define mst_string_lookup(...) MST_STRING_LOOKUP_(__VA_ARGS__, .end_ = 0)
#define MST_STRING_LOOKUP_(source, ...) \
    MST_LAYER(string_lookup, source, MST_NAMED(mst_layer_string_lookup_options, __VA_ARGS__))
#endif
#include "layer/token_lookup.h"
#include "muster/ops.h"

enum { MOST_TOKENS = 2147483647 };
static const char unknown_token[] = "[UNK]"; /* Keras' name for unknown strings; it is never learnt */

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_string_lookup_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(TENSOR, vocabulary, "strings, each once"),
    FIELD(I64, max_tokens, 0, 0, MOST_TOKENS, "numbers in all, at most"),
    FIELD(I64, num_oov_indices, 1, 1, MOST_TOKENS, "numbers of other strings"),
    FIELD(BOOL, no_oov, "other strings are an error"),
    FIELD(STRING, mask_token, "the string that marks a missing value"),
    FIELD(ENUM, output_mode, 0, mst_output_mode_names, "form of the output"),
    FIELD(STRING, name, "of the layer"),
    FIELD(TENSOR, adapted_hashes, "the initial value of a weight"),
    FIELD(TENSOR, adapted_places, "the initial value of a weight"),
    MST_FIELD_END,
};

static mst_token_lookup lookup_of(const mst_layer_string_lookup_options *o, const char *name) {
    return (mst_token_lookup){
        .type = "string_lookup",
        .tokens = "strings",
        .name = name,
        .keys_name = "vocabulary_hashes",
        .dtype = MST_STRING,
        .vocabulary = o->vocabulary,
        .max_tokens = o->max_tokens,
        .num_others = o->no_oov ? 0 : o->num_oov_indices,
        .masks = o->mask_token,
        .mask_key = o->mask_token ? mst_token_key_of_string(mst_string_of(o->mask_token)) : 0,
        .unknown_key = mst_token_key_of_string(mst_string_of(unknown_token)),
        .mode = o->output_mode ? o->output_mode : MST_OUTPUT_MODE_INT,
        .keys = o->adapted_hashes,
        .places = o->adapted_places,
    };
}

static mst_status string_lookup_check(const void *options, const char *name) {
    const mst_token_lookup lookup = lookup_of(options, name);
    return mst_token_lookup_check(&lookup);
}

static mst_status string_lookup_weights(mst_layer_call *call) {
    const mst_token_lookup lookup = lookup_of(call->options, call->name);
    return mst_token_lookup_weights(&lookup, call);
}

static mst_value string_lookup_build(const mst_layer_call *call) {
    const mst_token_lookup lookup = lookup_of(call->options, call->name);
    const mst_value hash = mst_string_to_hash_bucket_fast(call->src[0], mst_token_num_string_keys());
    const mst_value other =
        lookup.num_others > 1 ? mst_string_to_hash_bucket_fast(call->src[0], lookup.num_others) : mst_zeros_like(hash);
    return mst_token_lookup_build(&lookup, call, hash, other);
}

static mst_status string_lookup_adapt(void *options, const char *name, mst_layer_rows next, void *context,
                                      mst_tensor *learnt[MST_MAX_LEARNT]) {
    mst_layer_string_lookup_options *o = options;
    const mst_token_lookup lookup = lookup_of(o, name);
    const mst_status status = mst_token_lookup_learn(&lookup, next, context, learnt);
    o->adapted_hashes = learnt[0];
    o->adapted_places = learnt[1];
    return status;
}

const mst_layer_type mst_layer_type_string_lookup = {
    .name = "string_lookup",
    .class_name = "StringLookup",
    .options_size = sizeof(mst_layer_string_lookup_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = string_lookup_check,
    .weights = string_lookup_weights,
    .build = string_lookup_build,
    .adapt = string_lookup_adapt,
};
