/** integer_lookup: dst = index of the integer src: its place in a vocabulary, after the indices for other integers
 *
 *  src              integers, [n] or [n, ...]; a float is truncated to a whole number
 *  vocabulary       i64 [k], all different. Without it, mst_adapt learns the vocabulary from the data, and the layer
 *                   has weights. The most frequent integer is first; among equally frequent ones, the largest. -1 is
 *                   never learnt, as in Keras
 *  max_tokens       the largest number of indices, as in string_lookup
 *  num_oov_indices  number of indices for integers that are not in the vocabulary: src modulo this; default 1
 *  no_oov           there are no such indices: such an integer is an error in the run, MST_INVALID (in Keras,
 *                   num_oov_indices=0)
 *  has_mask         there is a mask_token, which is not in the vocabulary. In mode INT its index is 0, before all
 *                   others; in the other modes it belongs to no column
 *  mask_token       default 0
 *  output_mode      default INT, i64 like src; the others are those of category_encoding, with a column for each index
 *  name             default integer_lookup, integer_lookup_1, ...
 *
 *  Weights if no vocabulary is given: vocabulary_integers, in rising order, and vocabulary_places, the place of each.
 *  Both are i64 [k], or [k + 1] with has_mask, and are not trained. Before mst_adapt the vocabulary is empty.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_integer_lookup_options {
    int zero_;
    mst_tensor *vocabulary;
    int64_t max_tokens;
    int64_t num_oov_indices;
    bool no_oov;
    bool has_mask;
    int64_t mask_token;
    mst_output_mode output_mode;
    const char *name;
    mst_tensor *adapted_integers, *adapted_places; /**< set by mst_adapt: the initial values of the weights */
    int end_;
} mst_layer_integer_lookup_options;
#define mst_integer_lookup(...) MST_INTEGER_LOOKUP_(__VA_ARGS__, .end_ = 0)
#define MST_INTEGER_LOOKUP_(source, ...) \
    MST_LAYER(integer_lookup, source, MST_NAMED(mst_layer_integer_lookup_options, __VA_ARGS__))
#endif
#include "layer/token_lookup.h"
#include "muster/ops.h"

enum { MOST_TOKENS = 2147483647, UNKNOWN = -1 };

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_integer_lookup_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(TENSOR, vocabulary, "integers, each once"),
    FIELD(I64, max_tokens, 0, 0, MOST_TOKENS, "largest number of indices"),
    FIELD(I64, num_oov_indices, 1, 1, MOST_TOKENS, "number of indices for other integers"),
    FIELD(BOOL, no_oov, "other integers are an error"),
    FIELD(BOOL, has_mask, "mask_token marks a missing value"),
    FIELD(I64, mask_token, 0, -0x1p63, 0x1p63, "the integer that marks a missing value"),
    FIELD(ENUM, output_mode, 0, mst_output_mode_names, "form of the output"),
    FIELD(STRING, name, "of the layer"),
    FIELD(TENSOR, adapted_integers, "the initial value of a weight"),
    FIELD(TENSOR, adapted_places, "the initial value of a weight"),
    MST_FIELD_END,
};

static mst_token_lookup lookup_of(const mst_layer_integer_lookup_options *o, const char *name) {
    return (mst_token_lookup){
        .type = "integer_lookup",
        .tokens = "integers",
        .name = name,
        .keys_name = "vocabulary_integers",
        .dtype = MST_I64,
        .vocabulary = o->vocabulary,
        .max_tokens = o->max_tokens,
        .num_others = o->no_oov ? 0 : o->num_oov_indices,
        .masks = o->has_mask,
        .mask_key = o->mask_token,
        .unknown_key = UNKNOWN,
        .mode = o->output_mode ? o->output_mode : MST_OUTPUT_MODE_INT,
        .keys = o->adapted_integers,
        .places = o->adapted_places,
    };
}

static mst_status integer_lookup_check(const void *options, const char *name) {
    const mst_layer_integer_lookup_options *o = options;
    const mst_token_lookup lookup = lookup_of(o, name);
    if (o->mask_token && !o->has_mask)
        return MST_FAIL(MST_INVALID, "integer_lookup '%s': mask_token is given without .has_mask = true", name);
    return mst_token_lookup_check(&lookup);
}

static mst_status integer_lookup_weights(mst_layer_call *call) {
    const mst_token_lookup lookup = lookup_of(call->options, call->name);
    return mst_token_lookup_weights(&lookup, call);
}

static mst_value integer_lookup_build(const mst_layer_call *call) {
    const mst_token_lookup lookup = lookup_of(call->options, call->name);
    const mst_value src = call->src[0], key = mst_value_spec(src).dtype == MST_I64 ? src : mst_cast(src, MST_I64);
    const mst_value other = lookup.num_others > 1
                                ? mst_mod(key, mst_scalar(call->graph, MST_I64, (double)lookup.num_others))
                                : mst_zeros_like(key);
    return mst_token_lookup_build(&lookup, call, key, other);
}

static mst_status integer_lookup_adapt(void *options, const char *name, mst_layer_rows next, void *context,
                                       mst_tensor *learnt[MST_MAX_LEARNT]) {
    mst_layer_integer_lookup_options *o = options;
    const mst_token_lookup lookup = lookup_of(o, name);
    const mst_status status = mst_token_lookup_learn(&lookup, next, context, learnt);
    o->adapted_integers = learnt[0];
    o->adapted_places = learnt[1];
    return status;
}

const mst_layer_type mst_layer_type_integer_lookup = {
    .name = "integer_lookup",
    .class_name = "IntegerLookup",
    .options_size = sizeof(mst_layer_integer_lookup_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = integer_lookup_check,
    .weights = integer_lookup_weights,
    .build = integer_lookup_build,
    .adapt = integer_lookup_adapt,
};
