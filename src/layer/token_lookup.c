#include "layer/token_lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/farm_hash.h"
#include "base/no_memory.h"
#include "muster/ops.h"

/* Of 18,000 vocabularies of a million strings each, about one has two strings with the same key. */
static const int64_t hashes = (int64_t)1 << 53;

int64_t mst_token_num_string_keys(void) {
    return hashes;
}

int64_t mst_token_key_of_string(mst_string token) {
    return (int64_t)(mst_farm_hash(token.data, token.length) % (uint64_t)hashes);
}

/* The number of indices before those of other tokens: 1 for a masked token in mode INT, else 0. */
static int64_t num_masked(const mst_token_lookup *l) {
    return l->masks && l->mode == MST_OUTPUT_MODE_INT;
}

/* The number of indices before those of the vocabulary. */
static int64_t num_before(const mst_token_lookup *l) {
    return num_masked(l) + l->num_others;
}

/* The number of tokens of the vocabulary, without the masked one. */
static int64_t num_known(const mst_token_lookup *l) {
    if (l->vocabulary) return mst_tensor_count(l->vocabulary);
    return l->keys ? mst_tensor_count(l->keys) - l->masks : l->max_tokens - num_before(l);
}

/* ---- a vocabulary ---- */

/* A token of a vocabulary. */
typedef struct token {
    int64_t key;
    int64_t count; /* of occurrences in the data; 0: the entry of the table is free */
    int64_t place;
    char *data; /* the bytes of a string; NULL: it is an integer */
    size_t length;
} token;

static int by_key(const void *a, const void *b) {
    const token *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Sorts N TOKENS, at least one, by key, and stores their keys and places in two tensors of SIZE elements. If SIZE is
 * above N, the last token is repeated. */
static mst_status make_tensors(token *tokens, int64_t n, int64_t size, mst_tensor *out[2]) {
    qsort(tokens, (size_t)n, sizeof *tokens, by_key);
    for (int i = 0; i < 2; i++) MST_TRY(mst_tensor_create(MST_I64, MST_SHAPE(size), &out[i]));
    int64_t *key = mst_tensor_data(out[0]), *place = mst_tensor_data(out[1]);
    for (int64_t i = 0; i < size; i++) {
        const token *t = &tokens[i < n ? i : n - 1];
        key[i] = t->key;
        place[i] = t->place;
    }
    return MST_OK;
}

/* Checks that TOKENS, which are in the order of their keys, are different. The masked token has the last place. */
static mst_status check_distinct(const mst_token_lookup *l, const token *tokens, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        if (tokens[i].key != tokens[i - 1].key) continue;
        const int64_t a = tokens[i - 1].place, b = tokens[i].place, first = a < b ? a : b, second = a < b ? b : a;
        if (second == mst_tensor_count(l->vocabulary))
            return MST_FAIL(MST_INVALID, "%s '%s': mask_token is in the vocabulary, at %lld", l->type, l->name,
                            (long long)first);
        return MST_FAIL(MST_INVALID, "%s '%s': %s %lld and %lld of the vocabulary are the same", l->type, l->name,
                        l->tokens, (long long)first, (long long)second);
    }
    return MST_OK;
}

static mst_status take_vocabulary(const mst_token_lookup *l, mst_tensor *out[2]) {
    const int64_t n = mst_tensor_count(l->vocabulary), all = n + l->masks;
    token *tokens = malloc((size_t)all * sizeof *tokens);
    if (!tokens) return MST_NO_MEMORY("for a vocabulary");
    for (int64_t i = 0; i < n; i++) {
        const int64_t key = l->dtype == MST_STRING ? mst_token_key_of_string(mst_tensor_get_string(l->vocabulary, i))
                                                   : ((const int64_t *)mst_tensor_data(l->vocabulary))[i];
        tokens[i] = (token){.key = key, .place = i};
    }
    if (l->masks) tokens[n] = (token){.key = l->mask_key, .place = n};
    mst_status status = make_tensors(tokens, all, all, out);
    if (!status) status = check_distinct(l, tokens, all);
    free(tokens);
    return status;
}

mst_status mst_token_lookup_check(const mst_token_lookup *l) {
    const mst_tensor *given = l->vocabulary;
    mst_tensor *made[2] = {NULL, NULL};
    if (l->max_tokens && l->max_tokens <= num_before(l))
        return MST_FAIL(MST_INVALID, "%s '%s': max_tokens is %lld, must be above num_oov_indices%s", l->type, l->name,
                        (long long)l->max_tokens, num_masked(l) ? " + 1, for mask_token" : "");
    if (!given) return MST_OK;
    if (l->max_tokens)
        return MST_FAIL(MST_INVALID, "%s '%s': give either a vocabulary or max_tokens", l->type, l->name);
    if (mst_tensor_dtype(given) != l->dtype || mst_tensor_shape(given).ndim != 1 || mst_tensor_count(given) < 1)
        return MST_FAIL(MST_INVALID, "%s '%s': the vocabulary must be %s [k]", l->type, l->name,
                        mst_dtype_name(l->dtype));
    const mst_status status = take_vocabulary(l, made);
    for (int i = 0; i < 2; i++) mst_tensor_release(made[i]);
    return status;
}

/* ---- graph ---- */

mst_status mst_token_lookup_weights(const mst_token_lookup *l, mst_layer_call *call) {
    if (l->vocabulary) return MST_OK;
    if (!l->keys && !l->max_tokens)
        return MST_FAIL(MST_INVALID,
                        "%s '%s': has no vocabulary: call mst_adapt before, or give vocabulary or max_tokens", l->type,
                        l->name);
    const int64_t n = num_known(l) + l->masks;
    mst_layer_weight(call, .name = l->keys_name, .shape = MST_SHAPE(n), .dtype = MST_I64,
                     .initializer = l->keys ? mst_tensor_initializer(l->keys) : mst_zeros_initializer(),
                     .not_trainable = true);
    mst_layer_weight(call, .name = "vocabulary_places", .shape = MST_SHAPE(n), .dtype = MST_I64,
                     .initializer = l->places ? mst_tensor_initializer(l->places) : mst_constant_initializer(-1),
                     .not_trainable = true);
    return MST_OK;
}

/* Makes constants of the keys and places of a given vocabulary. */
static mst_status make_constants(const mst_token_lookup *l, const mst_layer_call *call, mst_value out[2]) {
    mst_tensor *made[2] = {NULL, NULL};
    const mst_status status = take_vocabulary(l, made);
    for (int i = 0; i < 2; i++) {
        if (!status) out[i] = mst_constant(call->graph, made[i]);
        mst_tensor_release(made[i]);
    }
    return status;
}

static mst_value whole(const mst_layer_call *call, int64_t number) {
    return mst_scalar(call->graph, MST_I64, (double)number);
}

mst_value mst_token_lookup_build(const mst_token_lookup *l, const mst_layer_call *call, mst_value keys,
                                 mst_value other) {
    const int64_t masked = num_masked(l), before = num_before(l), known = num_known(l);
    mst_value table[2] = {call->weight[0], call->weight[1]};
    if (l->vocabulary && make_constants(l, call, table)) return mst_layer_fail(call);
    const mst_value place = mst_lookup(keys, table[0], table[1], .found = l->num_others == 0);
    mst_value number = before ? mst_add(place, whole(call, before)) : place;
    if (l->num_others) {
        const mst_value found = mst_greater_equal(place, mst_zeros_like(place));
        number = mst_select(found, number, masked ? mst_add(other, whole(call, masked)) : other);
    }
    if (masked) number = mst_select(mst_equal(place, whole(call, known)), mst_zeros_like(number), number);
    return mst_layer_encode(number, l->mode, known + l->num_others);
}

/* ---- what it learns ---- */

/* A hash table of tokens, indexed by key. At most half of its entries are used. */
typedef struct token_table {
    token *entry;
    size_t capacity, n;
} token_table;

static token *find_entry(const token_table *t, int64_t key) {
    static const uint64_t spread = 0x9E3779B97F4A7C15; /* 2^64 / the golden ratio: spreads neighbouring keys */
    size_t i = (size_t)(((uint64_t)key * spread) >> 32) & (t->capacity - 1);
    while (t->entry[i].count && t->entry[i].key != key) i = (i + 1) & (t->capacity - 1);
    return &t->entry[i];
}

static mst_status grow_table(token_table *t) {
    token_table larger = {.capacity = t->capacity ? 2 * t->capacity : 1024, .n = t->n};
    larger.entry = calloc(larger.capacity, sizeof *larger.entry);
    if (!larger.entry) return MST_NO_MEMORY("for a vocabulary of %zu tokens", t->n);
    for (size_t i = 0; i < t->capacity; i++)
        if (t->entry[i].count) *find_entry(&larger, t->entry[i].key) = t->entry[i];
    free(t->entry);
    *t = larger;
    return MST_OK;
}

/* Counts one occurrence of the token KEY. STRING is NULL if the token is an integer, which is its own key. */
static mst_status count_token(const mst_token_lookup *l, token_table *t, int64_t key, const mst_string *string) {
    if (key == l->unknown_key || (l->masks && key == l->mask_key)) return MST_OK;
    if (2 * t->n >= t->capacity) MST_TRY(grow_table(t));
    token *entry = find_entry(t, key);
    if (entry->count++) return MST_OK;
    entry->key = key;
    t->n++;
    if (!string) return MST_OK;
    entry->length = string->length;
    if (!(entry->data = malloc(string->length + 1))) return MST_NO_MEMORY("for a vocabulary of %zu tokens", t->n);
    if (string->length) memcpy(entry->data, string->data, string->length);
    return MST_OK;
}

static mst_status count_strings(const mst_token_lookup *l, token_table *t, const mst_tensor *rows) {
    for (int64_t i = 0; i < mst_tensor_count(rows); i++) {
        const mst_string string = mst_tensor_get_string(rows, i);
        MST_TRY(count_token(l, t, mst_token_key_of_string(string), &string));
    }
    return MST_OK;
}

/* Counts the integers in ROWS. Floats are truncated to whole numbers; those that do not fit in 64 bits are skipped. */
static mst_status count_integers(const mst_token_lookup *l, token_table *t, const mst_tensor *rows) {
    const int64_t *data = mst_tensor_dtype(rows) == MST_I64 ? mst_tensor_data(rows) : NULL;
    for (int64_t i = 0; i < mst_tensor_count(rows); i++) {
        const double number = data ? 0 : mst_tensor_get(rows, i);
        if (fabs(number) < 0x1p63) MST_TRY(count_token(l, t, data ? data[i] : (int64_t)number, NULL));
    }
    return MST_OK;
}

static mst_status count_rows(const mst_token_lookup *l, token_table *t, const mst_tensor *rows) {
    const mst_dtype dtype = mst_tensor_dtype(rows);
    if ((dtype == MST_STRING) != (l->dtype == MST_STRING))
        return MST_FAIL(MST_INVALID, "%s '%s': the data is %s, must be %s", l->type, l->name, mst_dtype_name(dtype),
                        l->dtype == MST_STRING ? "string" : "numbers");
    return dtype == MST_STRING ? count_strings(l, t, rows) : count_integers(l, t, rows);
}

/* The order of tokens, for qsort: the most frequent first; among equally frequent ones, the largest. Free entries are
 * at the end. */
static int by_count(const void *a, const void *b) {
    const token *x = a, *y = b;
    if (x->count != y->count) return (x->count < y->count) - (x->count > y->count);
    if (!x->count) return 0;
    if (!x->data || !y->data) return by_key(b, a);
    const size_t common = x->length < y->length ? x->length : y->length;
    const int order = common ? memcmp(x->data, y->data, common) : 0;
    return order ? -order : (x->length < y->length) - (x->length > y->length);
}

/* Makes the learnt tensors. The entry after the learnt tokens becomes the masked token. There always is such an entry,
 * since at most half of the entries are used. */
static mst_status make_learnt(const mst_token_lookup *l, token_table *t, mst_tensor *learnt[MST_MAX_LEARNT]) {
    const int64_t most = l->max_tokens ? l->max_tokens - num_before(l) : (int64_t)t->n;
    const int64_t n = (int64_t)t->n < most ? (int64_t)t->n : most;
    qsort(t->entry, t->capacity, sizeof *t->entry, by_count);
    for (int64_t i = 0; i < n; i++) t->entry[i].place = i;
    if (l->masks) {
        free(t->entry[n].data); /* of a token for which no index is left */
        t->entry[n] = (token){.key = l->mask_key, .place = most};
    }
    return make_tensors(t->entry, n + l->masks, most + l->masks, learnt);
}

mst_status mst_token_lookup_learn(const mst_token_lookup *l, mst_layer_rows next, void *context,
                                  mst_tensor *learnt[MST_MAX_LEARNT]) {
    token_table t = {0};
    mst_tensor *rows;
    mst_status status = MST_OK;
    if (l->vocabulary)
        return MST_FAIL(MST_INVALID, "%s '%s': the vocabulary is given, so it learns nothing", l->type, l->name);
    while (!status && !(status = next(context, &rows)) && rows) {
        status = count_rows(l, &t, rows);
        mst_tensor_release(rows);
    }
    if (!status && !t.n) status = MST_FAIL(MST_INVALID, "%s '%s': the data has no %s", l->type, l->name, l->tokens);
    if (!status) status = make_learnt(l, &t, learnt);
    for (size_t i = 0; i < t.capacity; i++) free(t.entry[i].data);
    free(t.entry);
    return status;
}
