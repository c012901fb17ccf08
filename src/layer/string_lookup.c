/** string_lookup: dst = number of the string src: its place in a vocabulary, behind the numbers for all other strings
 *
 *  src              strings, [n] or [n, ...]
 *  vocabulary       strings [k], each once; without them mst_adapt learns those of the data, the most frequent first
 *                   (of equally frequent ones the last in the order of their bytes), and the layer has weights
 *  max_tokens       how many numbers there are in all, at most: those of the learnt vocabulary and of other strings.
 *                   Then there are that many columns, whatever is learnt (Keras' pad_to_max_tokens), so that a model
 *                   can be built without the data, for weights from a file
 *  num_oov_indices  numbers for strings that are not in the vocabulary, 0 and so on, by a hash of the string; default 1
 *  no_oov           there is none: such a string is an error in the run, MST_INVALID (Keras' num_oov_indices=0)
 *  output_mode      default INT, i64 like src; the others as those of category_encoding, with a column for each number
 *  name             default string_lookup, string_lookup_1, ...
 *
 *  Weights where no vocabulary is given, i64 [k], not trained: vocabulary_hashes, the hash of each string
 *  (mst_string_to_hash_bucket_fast into 2^53) in rising order, and vocabulary_places. Numbers, since checkpoints of
 *  all formats keep these; in Keras the strings are a part of the configuration. Before mst_adapt no string is in it.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_string_lookup_options {
    int zero_;
    mst_tensor *vocabulary;
    int64_t max_tokens;
    int64_t num_oov_indices;
    bool no_oov;
    mst_output_mode output_mode;
    const char *name;
    mst_tensor *adapted_hashes, *adapted_places; /**< of mst_adapt: the weights begin with them */
    int end_;
} mst_layer_string_lookup_options;
#define mst_string_lookup(...) MST_STRING_LOOKUP_(__VA_ARGS__, .end_ = 0)
#define MST_STRING_LOOKUP_(source, ...) \
    MST_LAYER(string_lookup, source, MST_NAMED(mst_layer_string_lookup_options, __VA_ARGS__))
#endif
#include <stdlib.h>
#include <string.h>

#include "base/farm_hash.h"
#include "base/no_memory.h"
#include "layer/encode.h"
#include "muster/ops.h"

enum { MOST_TOKENS = 2147483647 };
static const int64_t hashes = (int64_t)1 << 53; /* two of a million strings have the same once in 18,000 vocabularies */
static const char unknown_token[] = "[UNK]";    /* what Keras calls a string that is not there: it is not learnt */

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_string_lookup_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(TENSOR, vocabulary, "strings, each once"),
    FIELD(I64, max_tokens, 0, 0, MOST_TOKENS, "numbers in all, at most"),
    FIELD(I64, num_oov_indices, 1, 1, MOST_TOKENS, "numbers of other strings"),
    FIELD(BOOL, no_oov, "other strings are an error"),
    FIELD(ENUM, output_mode, 0, mst_output_mode_names, "what is made of the numbers"),
    FIELD(STRING, name, "of the layer"),
    FIELD(TENSOR, adapted_hashes, "the initial value of a weight"),
    FIELD(TENSOR, adapted_places, "the initial value of a weight"),
    MST_FIELD_END,
};

static int64_t num_others(const mst_layer_string_lookup_options *o) {
    return o->no_oov ? 0 : o->num_oov_indices;
}

static int64_t hash_of(mst_string token) {
    return (int64_t)(mst_farm_hash(token.data, token.length) % (uint64_t)hashes);
}

/* ---- a vocabulary ---- */

/* A token of a vocabulary. */
typedef struct token {
    int64_t hash;
    int64_t count; /* in the data; 0: the entry of a table is free */
    int64_t place;
    char *data;
    size_t length;
} token;

static int by_hash(const void *a, const void *b) {
    const token *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* The N TOKENS as two tensors of SIZE elements; behind them come places of no string. */
static mst_status make_tensors(token *tokens, int64_t n, int64_t size, mst_tensor *out[2]) {
    if (n) qsort(tokens, (size_t)n, sizeof *tokens, by_hash);
    for (int i = 0; i < 2; i++) MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(size), &out[i]));
    int64_t *hash = mst_tensor_data(out[0]), *place = mst_tensor_data(out[1]);
    for (int64_t i = 0; i < size; i++) {
        hash[i] = i < n ? tokens[i].hash : INT64_MAX;
        place[i] = i < n ? tokens[i].place : -1;
    }
    return MST_OK;
}

static mst_status take_vocabulary(const mst_tensor *vocabulary, const char *name, mst_tensor *out[2]) {
    const int64_t n = mst_tensor_count(vocabulary);
    token *tokens = malloc((size_t)n * sizeof *tokens);
    if (!tokens) return MST_NO_MEMORY("for a vocabulary");
    for (int64_t i = 0; i < n; i++)
        tokens[i] = (token){.hash = hash_of(mst_tensor_get_string(vocabulary, i)), .place = i};
    mst_status status = make_tensors(tokens, n, n, out);
    for (int64_t i = 1; i < n && !status; i++)
        if (tokens[i].hash == tokens[i - 1].hash)
            status = MST_FAIL(MST_INVALID, "string_lookup '%s': strings %lld and %lld of the vocabulary are the same",
                              name, (long long)tokens[i - 1].place, (long long)tokens[i].place);
    free(tokens);
    return status;
}

static mst_status string_lookup_check(const void *options, const char *name) {
    const mst_layer_string_lookup_options *o = options;
    const mst_tensor *given = o->vocabulary;
    mst_tensor *made[2] = {NULL, NULL};
    if (o->max_tokens && o->max_tokens <= num_others(o))
        return MST_FAIL(MST_INVALID, "string_lookup '%s': max_tokens is %lld, must be above num_oov_indices", name,
                        (long long)o->max_tokens);
    if (!given) return MST_OK;
    if (o->max_tokens) return MST_FAIL(MST_INVALID, "string_lookup '%s': give either a vocabulary or max_tokens", name);
    if (mst_tensor_dtype(given) != MST_STRING || mst_tensor_shape(given).ndim != 1 || mst_tensor_count(given) < 1)
        return MST_FAIL(MST_INVALID, "string_lookup '%s': the vocabulary must be string [k]", name);
    const mst_status status = take_vocabulary(given, name, made);
    for (int i = 0; i < 2; i++) mst_tensor_release(made[i]);
    return status;
}

/* ---- graph ---- */

static mst_status string_lookup_weights(mst_layer_call *call) {
    const mst_layer_string_lookup_options *o = call->options;
    if (o->vocabulary) return MST_OK;
    if (!o->adapted_hashes && !o->max_tokens)
        return MST_FAIL(MST_INVALID,
                        "string_lookup '%s': has no vocabulary: call mst_adapt before, or give vocabulary or "
                        "max_tokens",
                        call->name);
    const int64_t n = o->adapted_hashes ? mst_tensor_count(o->adapted_hashes) : o->max_tokens - num_others(o);
    mst_layer_weight(
        call, .name = "vocabulary_hashes", .shape = MST_SHAPE(n), .dtype = MST_I64,
        .initializer = o->adapted_hashes ? mst_tensor_initializer(o->adapted_hashes) : mst_zeros_initializer(),
        .not_trainable = true);
    mst_layer_weight(
        call, .name = "vocabulary_places", .shape = MST_SHAPE(n), .dtype = MST_I64,
        .initializer = o->adapted_places ? mst_tensor_initializer(o->adapted_places) : mst_constant_initializer(-1),
        .not_trainable = true);
    return MST_OK;
}

/* The hashes and places of a vocabulary that was given. */
static mst_status make_constants(const mst_layer_call *call, const mst_layer_string_lookup_options *o,
                                 mst_value out[2]) {
    mst_tensor *made[2] = {NULL, NULL};
    const mst_status status = take_vocabulary(o->vocabulary, call->name, made);
    for (int i = 0; i < 2; i++) {
        if (!status) out[i] = mst_constant(call->graph, made[i]);
        mst_tensor_release(made[i]);
    }
    return status;
}

static mst_value string_lookup_build(const mst_layer_call *call) {
    const mst_layer_string_lookup_options *o = call->options;
    const int64_t others = num_others(o);
    mst_value known[2] = {call->weight[0], call->weight[1]};
    if (o->vocabulary && make_constants(call, o, known)) return mst_layer_fail(call);
    const mst_value hash = mst_string_to_hash_bucket_fast(call->src[0], hashes);
    mst_value number = mst_lookup(hash, known[0], known[1], .found = o->no_oov);
    if (others) {
        const mst_value other =
            others == 1 ? mst_zeros_like(hash) : mst_string_to_hash_bucket_fast(call->src[0], others);
        const mst_value found = mst_greater_equal(number, mst_zeros_like(number));
        number = mst_select(found, mst_add(number, mst_scalar(call->graph, MST_I64, (double)others)), other);
    }
    return mst_layer_encode(number, o->output_mode ? o->output_mode : MST_OUTPUT_MODE_INT,
                            mst_value_spec(known[0]).shape.dim[0] + others);
}

/* ---- what it learns ---- */

/* Tokens by their hash; of the entries at most half are taken. */
typedef struct token_table {
    token *entry;
    size_t capacity, n;
} token_table;

static token *find_entry(const token_table *t, int64_t hash) {
    size_t i = (size_t)hash & (t->capacity - 1);
    while (t->entry[i].count && t->entry[i].hash != hash) i = (i + 1) & (t->capacity - 1);
    return &t->entry[i];
}

static mst_status grow_table(token_table *t) {
    token_table larger = {.capacity = t->capacity ? 2 * t->capacity : 1024, .n = t->n};
    larger.entry = calloc(larger.capacity, sizeof *larger.entry);
    if (!larger.entry) return MST_NO_MEMORY("for a vocabulary of %zu strings", t->n);
    for (size_t i = 0; i < t->capacity; i++)
        if (t->entry[i].count) *find_entry(&larger, t->entry[i].hash) = t->entry[i];
    free(t->entry);
    *t = larger;
    return MST_OK;
}

static mst_status count_token(token_table *t, mst_string string) {
    if (2 * t->n >= t->capacity) MST_TRY(grow_table(t));
    token *entry = find_entry(t, hash_of(string));
    if (entry->count++) return MST_OK;
    entry->hash = hash_of(string);
    entry->length = string.length;
    t->n++;
    if (!(entry->data = malloc(string.length + 1))) return MST_NO_MEMORY("for a vocabulary of %zu strings", t->n);
    if (string.length) memcpy(entry->data, string.data, string.length);
    return MST_OK;
}

static mst_status count_rows(token_table *t, const mst_tensor *rows, const char *name) {
    if (mst_tensor_dtype(rows) != MST_STRING)
        return MST_FAIL(MST_INVALID, "string_lookup '%s': the data is %s, must be string", name,
                        mst_dtype_name(mst_tensor_dtype(rows)));
    for (int64_t i = 0; i < mst_tensor_count(rows); i++) {
        const mst_string string = mst_tensor_get_string(rows, i);
        if (!mst_string_equal(string, mst_string_of(unknown_token))) MST_TRY(count_token(t, string));
    }
    return MST_OK;
}

/* The most frequent first, of equally frequent ones that whose bytes come last. Free entries are at the end. */
static int by_count(const void *a, const void *b) {
    const token *x = a, *y = b;
    if (x->count != y->count) return (x->count < y->count) - (x->count > y->count);
    if (!x->count) return 0;
    const size_t common = x->length < y->length ? x->length : y->length;
    const int order = common ? memcmp(x->data, y->data, common) : 0;
    return order ? -order : (x->length < y->length) - (x->length > y->length);
}

static mst_status string_lookup_adapt(void *options, const char *name, mst_layer_rows next, void *context,
                                      mst_tensor *learnt[MST_MAX_LEARNT]) {
    mst_layer_string_lookup_options *o = options;
    token_table t = {0};
    mst_tensor *rows;
    mst_status status = MST_OK;
    if (o->vocabulary)
        return MST_FAIL(MST_INVALID, "string_lookup '%s': the vocabulary is given, so it learns nothing", name);
    while (!status && !(status = next(context, &rows)) && rows) {
        status = count_rows(&t, rows, name);
        mst_tensor_release(rows);
    }
    if (!status && !t.n) status = MST_FAIL(MST_INVALID, "string_lookup '%s': the data has no strings", name);
    if (!status) {
        const int64_t most = o->max_tokens ? o->max_tokens - num_others(o) : (int64_t)t.n;
        const int64_t n = (int64_t)t.n < most ? (int64_t)t.n : most;
        qsort(t.entry, t.capacity, sizeof *t.entry, by_count);
        for (int64_t i = 0; i < n; i++) t.entry[i].place = i;
        status = make_tensors(t.entry, n, most, learnt);
    }
    for (size_t i = 0; i < t.capacity; i++) free(t.entry[i].data);
    free(t.entry);
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
