/** text_vectorization: dst = indices of the tokens of the text src, padded with 0
 *
 *      dst[i] = 0            after the last token
 *               1            token i is not in the vocabulary
 *               2 + place    token i is in the vocabulary, at this place, counted from 0
 *
 *  src              strings, [n] or [n, 1]: texts in UTF-8
 *  vocabulary       strings [k], all different, none of them empty. Without it, mst_adapt learns the vocabulary from
 *                   the data, and the layer has weights. The most frequent token is first; among equally frequent
 *                   ones, the last in the order of their bytes
 *  max_tokens       the largest number of indices, 0 and 1 included
 *  sequence_length  tokens of a text; shorter texts are padded, longer ones are cut. Default 300. (Without a length
 *                   Keras' layer pads to the longest text of each batch; shapes here depend on no values)
 *  standardize      default MST_TEXT_LOWER_AND_STRIP_PUNCTUATION
 *  split            default MST_TEXT_SPLIT_WHITESPACE
 *  output_mode      default INT: dst is i64 [n, sequence_length]. MULTI_HOT and COUNT: f32 [n, indices], without a
 *                   column for 0, of the first sequence_length tokens
 *  name             default text_vectorization, text_vectorization_1, ...
 *
 *  Weights if no vocabulary is given: those of string_lookup. As Keras' TextVectorization. mst_dataset_vectorize_text
 *  does the same to the texts of a dataset.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_text_vectorization_options {
    int zero_;
    mst_tensor *vocabulary;
    int64_t max_tokens;
    int64_t sequence_length;
    mst_text_standardize standardize;
    mst_text_split split;
    mst_output_mode output_mode;
    const char *name;
    mst_tensor *adapted_hashes, *adapted_places; /**< set by mst_adapt: the initial values of the weights */
    int end_;
} mst_layer_text_vectorization_options;
#define mst_text_vectorization(...) MST_TEXT_VECTORIZATION_(__VA_ARGS__, .end_ = 0)
#define MST_TEXT_VECTORIZATION_(source, ...) \
    MST_LAYER(text_vectorization, source, MST_NAMED(mst_layer_text_vectorization_options, __VA_ARGS__))
#endif
#include "layer/token_lookup.h"
#include "muster/ops.h"
#include "tensor/tokens.h"

enum { MOST_TOKENS = 2147483647, LENGTH = 300 };

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_text_vectorization_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(TENSOR, vocabulary, "strings, each once"),
    FIELD(I64, max_tokens, 0, 0, MOST_TOKENS, "indices in all, at most"),
    FIELD(I64, sequence_length, 0, 0, MOST_TOKENS, "tokens of a text"),
    FIELD(ENUM, standardize, 0, mst_text_standardize_names, "what becomes of a text before it is split"),
    FIELD(ENUM, split, 0, mst_text_split_names, "what tokens are"),
    FIELD(ENUM, output_mode, 0, mst_output_mode_names, "form of the output"),
    FIELD(STRING, name, "of the layer"),
    FIELD(TENSOR, adapted_hashes, "the initial value of a weight"),
    FIELD(TENSOR, adapted_places, "the initial value of a weight"),
    MST_FIELD_END,
};

static mst_token_lookup lookup_of(const mst_layer_text_vectorization_options *o, const char *name) {
    return (mst_token_lookup){
        .type = "text_vectorization",
        .tokens = "tokens",
        .name = name,
        .keys_name = "vocabulary_hashes",
        .dtype = MST_STRING,
        .vocabulary = o->vocabulary,
        .max_tokens = o->max_tokens,
        .num_others = 1,
        .masks = true,
        .mask_key = mst_token_key_of_string(mst_string_of("")),
        .unknown_key = mst_token_key_of_string(mst_string_of("[UNK]")),
        .mode = o->output_mode ? o->output_mode : MST_OUTPUT_MODE_INT,
        .keys = o->adapted_hashes,
        .places = o->adapted_places,
    };
}

static mst_status text_vectorization_check(const void *options, const char *name) {
    const mst_layer_text_vectorization_options *o = options;
    const mst_token_lookup lookup = lookup_of(o, name);
    if (lookup.mode == MST_OUTPUT_MODE_ONE_HOT)
        return MST_FAIL(MST_INVALID,
                        "text_vectorization '%s': output_mode one_hot is for one token: take int, "
                        "multi_hot or count",
                        name);
    return mst_token_lookup_check(&lookup);
}

static mst_status text_vectorization_weights(mst_layer_call *call) {
    const mst_token_lookup lookup = lookup_of(call->options, call->name);
    return mst_token_lookup_weights(&lookup, call);
}

static mst_value text_vectorization_build(const mst_layer_call *call) {
    const mst_layer_text_vectorization_options *o = call->options;
    const mst_token_lookup lookup = lookup_of(o, call->name);
    const mst_shape shape = mst_value_spec(call->src[0]).shape;
    const int64_t length = o->sequence_length ? o->sequence_length : LENGTH;
    mst_value hashes =
        mst_text_to_hashes(call->src[0], .length = length, .standardize = o->standardize, .split = o->split);
    if (shape.ndim == 2 && shape.dim[1] == 1) hashes = mst_squeeze(hashes, .axes = MST_AXES(1));
    return mst_token_lookup_build(&lookup, call, hashes, mst_zeros_like(hashes));
}

/* ---- what it learns ---- */

/* The tokens of the rows that NEXT gives. */
typedef struct token_rows {
    const mst_layer_text_vectorization_options *options;
    mst_layer_rows next;
    void *context;
} token_rows;

/* OUT becomes the tokens of TEXTS, one after the other. */
static mst_status split_texts(mst_tokens *tokens, const mst_tensor *texts, mst_tensor **out) {
    mst_string token;
    int64_t count = 0;
    for (int64_t i = 0; i < mst_tensor_count(texts); i++) {
        MST_TRY(mst_tokens_begin(tokens, mst_tensor_get_string(texts, i)));
        while (mst_tokens_next(tokens, &token)) count++;
    }
    MST_TRY(mst_tensor_create(MST_STRING, MST_SHAPE(count), out));
    count = 0;
    for (int64_t i = 0; i < mst_tensor_count(texts); i++) {
        MST_TRY(mst_tokens_begin(tokens, mst_tensor_get_string(texts, i)));
        while (mst_tokens_next(tokens, &token)) MST_TRY(mst_tensor_set_string(*out, count++, token));
    }
    return MST_OK;
}

static mst_status next_tokens(void *context, mst_tensor **out) {
    const token_rows *rows = context;
    mst_tokens tokens = {.standardize = rows->options->standardize, .split = rows->options->split};
    mst_tensor *texts;
    *out = NULL;
    MST_TRY(rows->next(rows->context, &texts));
    if (!texts) return MST_OK;
    mst_status status = mst_tensor_dtype(texts) == MST_STRING ? split_texts(&tokens, texts, out)
                                                              : MST_FAIL(MST_INVALID, "the data is %s, must be string",
                                                                         mst_dtype_name(mst_tensor_dtype(texts)));
    mst_tokens_free(&tokens);
    mst_tensor_release(texts);
    if (!status) return MST_OK;
    mst_tensor_release(*out);
    *out = NULL;
    return status;
}

static mst_status text_vectorization_adapt(void *options, const char *name, mst_layer_rows next, void *context,
                                           mst_tensor *learnt[MST_MAX_LEARNT]) {
    mst_layer_text_vectorization_options *o = options;
    const mst_token_lookup lookup = lookup_of(o, name);
    token_rows rows = {o, next, context};
    if (mst_token_lookup_learn(&lookup, next_tokens, &rows, learnt))
        return mst_error_prefix("text_vectorization '%s'", name);
    o->adapted_hashes = learnt[0];
    o->adapted_places = learnt[1];
    return MST_OK;
}

const mst_layer_type mst_layer_type_text_vectorization = {
    .name = "text_vectorization",
    .class_name = "TextVectorization",
    .options_size = sizeof(mst_layer_text_vectorization_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = text_vectorization_check,
    .weights = text_vectorization_weights,
    .build = text_vectorization_build,
    .adapt = text_vectorization_adapt,
};
