/** text_to_hashes: dst[i, j] = hash(token j of src[i]), and after the last token the hash of the empty string
 *
 *  src          strings, any shape: texts in UTF-8. A byte that is not UTF-8 is a character of its own
 *  length       tokens of a text, 1 or more; further ones are left out
 *  standardize  what becomes of a text before it is split; default MST_TEXT_LOWER_AND_STRIP_PUNCTUATION
 *  split        default MST_TEXT_SPLIT_WHITESPACE
 *  dst          i64, src's shape and then length
 *
 *  Tokens are those of Keras' TextVectorization (muster/text.h), and hash(x) is string_to_hash_bucket_fast of x into
 *  2^53 buckets. No token is empty.
 */
#ifdef MST_OP_HEADER
typedef struct mst_text_to_hashes_options {
    int zero_;
    mst_value src;
    int64_t length;
    mst_text_standardize standardize;
    mst_text_split split;
} mst_text_to_hashes_options;
MST_API mst_value mst_text_to_hashes_with(mst_text_to_hashes_options options);
#define mst_text_to_hashes(...) mst_text_to_hashes_with(MST_NAMED_1(mst_text_to_hashes_options, src, __VA_ARGS__))
#endif
#include "base/farm_hash.h"
#include "op/op.h"
#include "op/share.h"
#include "tensor/tokens.h"

static const uint64_t buckets = (uint64_t)1 << 53;

#define FIELD(kind, ...) MST_FIELD_##kind(mst_text_to_hashes_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I64, length, 0, 1, INT32_MAX, "tokens of a text"),
    FIELD(ENUM, standardize, 0, mst_text_standardize_names, "what becomes of a text before it is split"),
    FIELD(ENUM, split, 0, mst_text_split_names, "what tokens are"),
    MST_FIELD_END,
};

static mst_status text_to_hashes_infer(mst_infer *c) {
    const mst_text_to_hashes_options *o = c->options;
    mst_shape shape = c->src[0].shape;
    MST_TRY(mst_infer_want_dtype(c, 0, MST_STRING));
    if (shape.ndim == MST_MAX_NDIM) return mst_infer_fail(c, "the texts have %d dimensions already", shape.ndim);
    shape.dim[shape.ndim++] = o->length;
    c->dst[0] = (mst_spec){.dtype = MST_I64, .shape = shape};
    return MST_OK;
}

static int64_t hash_of(mst_string token) {
    return (int64_t)(mst_farm_hash(token.data, token.length) % buckets);
}

static mst_status hash_text(const mst_text_to_hashes_options *o, mst_tokens *tokens, mst_string text, int64_t *dst) {
    int64_t count = 0;
    mst_string token;
    MST_TRY(mst_tokens_begin(tokens, text));
    while (count < o->length && mst_tokens_next(tokens, &token)) dst[count++] = hash_of(token);
    const int64_t pad = hash_of((mst_string){"", 0});
    while (count < o->length) dst[count++] = pad;
    return MST_OK;
}

static mst_status hash_texts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_text_to_hashes_options *o = a->options;
    const mst_string *src = a->src[0].data;
    int64_t *dst = a->dst[0].data;
    mst_tokens tokens = {.standardize = o->standardize, .split = o->split};
    mst_status status = MST_OK;
    (void)thread;
    for (int64_t i = begin; i < end && !status; i++) status = hash_text(o, &tokens, src[i], dst + i * o->length);
    mst_tokens_free(&tokens);
    return status;
}

static mst_status text_to_hashes_reference(const mst_kernel_args *a) {
    enum { ELEMENTS = 1000 /* for mst_grain: simple elements that take as long as a text of some words */ };
    const int64_t n = a->src[0].count;
    return mst_parallel(a, n, mst_grain(n, ELEMENTS), hash_texts, mst_context_of(a));
}

static const mst_example text_to_hashes_examples[] = {
    {.name = "any strings",
     .num_src = 1,
     .src = {{.dtype = MST_STRING, .ndim = 1, .dim = {5}}},
     .options = &(const mst_text_to_hashes_options){.length = 3}},
    {.name = "characters of a scalar",
     .num_src = 1,
     .src = {{.dtype = MST_STRING, .ndim = 0}},
     .options =
         &(const mst_text_to_hashes_options){
             .length = 9, .standardize = MST_TEXT_AS_IT_IS, .split = MST_TEXT_SPLIT_CHARACTER}},
    {.name = "none",
     .num_src = 1,
     .src = {{.dtype = MST_STRING, .ndim = 1, .dim = {0}}},
     .options = &(const mst_text_to_hashes_options){.length = 4}},
    {.name = "no length", .num_src = 1, .src = {{.dtype = MST_STRING, .ndim = 1, .dim = {1}}}, .fails = MST_INVALID},
};

const mst_op mst_op_text_to_hashes = {
    .name = "text_to_hashes",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_STRING),
    .fields = fields,
    .options_size = sizeof(mst_text_to_hashes_options),
    .infer = text_to_hashes_infer,
    .reference = text_to_hashes_reference,
    MST_EXAMPLES(text_to_hashes_examples),
};

mst_value mst_text_to_hashes_with(mst_text_to_hashes_options o) {
    return mst_call(NULL, &mst_op_text_to_hashes, 1, (mst_value[]){o.src}, &o);
}
