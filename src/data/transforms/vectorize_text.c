/** Turns texts into numbers, by the rules of Keras' TextVectorization: component .component of DATASET, strings [],
 *  becomes i32 [sequence_length]. A text is standardized and split into tokens; a token's number is its place in the
 *  vocabulary, from 2 on. The vocabulary has the tokens of DATASET, the most frequent first, equally frequent ones in
 *  falling order of their bytes. 0 pads short texts; 1 stands for any token that is not in the vocabulary. An empty
 *  text is only padding. As in TensorFlow, only ASCII has lower case and punctuation: other letters stay as they are.
 *
 *  mst_dataset_class_name(dataset, component, number) is the token of a number, mst_dataset_num_classes the size of the
 *  vocabulary, for mst_embedding. mst_dataset_schema has the vocabulary and the options. With it as .schema, other data
 *  become numbers in the same way, for example for predictions with a saved model.
 *
 *  With .tokenizer the numbers are the ids of a subword tokenizer (muster/tokenizer.h) instead, with the special tokens
 *  that its file puts around a text. Short texts are padded with its token for padding, else with the one that ends a
 *  text, else with 0. mst_dataset_num_classes is the largest id plus one. The schema has the whole tokenizer.
 *
 *  All texts are read now; the result is in memory, 4 bytes for each number. OPTIONS may be NULL. Fails with
 *  MST_INVALID if the component is not strings, the number of rows is not known, a text is not UTF-8 (the message
 *  names the row), or no text has a token. */
#ifdef MST_DATASET_HEADER
typedef struct mst_text_options {
    int zero_;
    int component;
    int64_t max_tokens;      /**< limit for the size of the vocabulary, 0 and 1 included; 0: all tokens */
    int64_t sequence_length; /**< longer texts are cut to this length; 0: the length of the longest */
    mst_text_standardize standardize;
    mst_text_split split;
    bool pad_front;      /**< pad short texts in front, as Keras' pad_sequences does */
    bool truncate_front; /**< remove the beginning of long texts, as Keras' pad_sequences does */
    const char *schema;  /**< mst_dataset_schema of other texts: its vocabulary and options are used; of these options,
                          *   only .component and .keep_texts count, and .tokenizer must be the same if it is there */
    bool keep_texts;     /**< keeps the texts in memory too, for mst_dataset_relearn */
    const char *tokenizer; /**< path of a tokenizer, as mst_tokenizer_open takes it; NULL: texts become words */
} mst_text_options;
MST_API MST_CHECKED mst_status mst_dataset_vectorize_text(mst_dataset *dataset, const mst_text_options *options,
                                                          mst_dataset **out);
#endif
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/dataset.h"
#include "data/nested.h"
#include "data/schema.h"
#include "data/text/text_schema.h"
#include "data/transforms/name_files.h"
#include "data/transforms/relearn.h"
#include "tensor/tokens.h"
#include "tokenizer/tokenizer_text.h"

enum { ROWS_AT_ONCE = 256, LEAST_MAX_TOKENS = MST_TOKEN_FIRST + 1 };

typedef struct vectorize {
    mst_text_options o;
    mst_vocabulary vocabulary;
    mst_tokenizer *tokenizer; /* NULL: texts become words */
    mst_tokens tokens;
    int num_components;
    mst_tensor **component; /* components of the result */
    int32_t *token; /* entries of the vocabulary, or ids of the tokenizer, text after text; -1: not in the vocabulary */
    int64_t num_tokens, capacity;
    int64_t *end; /* [rows] where each text ends in token */
    int64_t num_rows;
    void **dst;        /* [num_components] where a batch is copied to */
    mst_string **text; /* [num_components] for strings: memory for those of a batch; else NULL */
} vectorize;

/* ---- reading ---- */

static mst_status vectorize_check(const mst_dataset *dataset, const mst_text_options *o) {
    MST_TRY(mst_dataset_want_rows(dataset, "vectorize_text"));
    if (o->component < 0 || o->component >= dataset->num_components)
        return MST_FAIL(MST_INVALID, "vectorize_text: component %d, the dataset has 0 to %d", o->component,
                        dataset->num_components - 1);
    const mst_spec texts = dataset->row[o->component];
    if (texts.dtype != MST_STRING || texts.shape.ndim)
        return MST_FAIL(MST_INVALID, "vectorize_text: component %d is %s with %d dimensions, must be one string",
                        o->component, mst_dtype_name(texts.dtype), texts.shape.ndim);
    for (int i = 0; i < dataset->num_components; i++) MST_TRY(mst_dataset_want_values(dataset, i, "vectorize_text"));
    if (dataset->cardinality < 0)
        return MST_FAIL(MST_INVALID, "vectorize_text: the number of rows is %s",
                        dataset->cardinality == MST_INFINITE ? "infinite" : "not known");
    if (o->max_tokens && o->max_tokens < LEAST_MAX_TOKENS)
        return MST_FAIL(MST_INVALID,
                        "vectorize_text: max_tokens is %lld, at least %d are needed: 0 and 1 are no tokens",
                        (long long)o->max_tokens, LEAST_MAX_TOKENS);
    if (o->sequence_length < 0 || o->sequence_length > INT32_MAX)
        return MST_FAIL(MST_INVALID, "vectorize_text: sequence_length is %lld, 0 to 2^31 - 1 are possible",
                        (long long)o->sequence_length);
    if (o->standardize < 0 || o->standardize > MST_TEXT_AS_IT_IS || o->split < 0 || o->split > MST_TEXT_SPLIT_CHARACTER)
        return MST_FAIL(MST_INVALID, "vectorize_text: standardize is %d and split %d: use MST_TEXT_...",
                        (int)o->standardize, (int)o->split);
    return MST_OK;
}

static mst_status take_ids(vectorize *v, mst_string text) {
    static const mst_encode_options as_the_file_says = {.add_special = true};
    mst_token_ids ids = {v->token, v->num_tokens, v->capacity};
    const mst_status status = mst_tokenizer_encode(v->tokenizer, text.data, text.length, &as_the_file_says, &ids);
    v->token = ids.id;
    v->num_tokens = ids.count;
    v->capacity = ids.capacity;
    v->end[v->num_rows++] = v->num_tokens;
    return status;
}

static mst_status take_text(vectorize *v, mst_string text) {
    mst_string token;
    if (v->tokenizer) return take_ids(v, text);
    MST_TRY(mst_text_check(text));
    MST_TRY(mst_tokens_begin(&v->tokens, text));
    while (mst_tokens_next(&v->tokens, &token)) {
        MST_TRY(mst_grow(&v->token, sizeof *v->token, v->num_tokens + 1, &v->capacity));
        int32_t *entry = &v->token[v->num_tokens++];
        if (v->o.schema)
            *entry = mst_vocabulary_find(&v->vocabulary, token);
        else
            MST_TRY(mst_vocabulary_count(&v->vocabulary, token, entry));
    }
    v->end[v->num_rows++] = v->num_tokens;
    return MST_OK;
}

static mst_status read_texts(vectorize *v, const mst_string *texts, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (take_text(v, texts[i])) return mst_error_prefix("text of row %lld", (long long)v->num_rows);
    return MST_OK;
}

static mst_status keep_strings(mst_tensor *to, const mst_string *from, int64_t first, int64_t n) {
    const int64_t each = mst_tensor_count(to) / mst_tensor_shape(to).dim[0];
    for (int64_t i = 0; i < n * each; i++) MST_TRY(mst_tensor_set_string(to, first * each + i, from[i]));
    return MST_OK;
}

/* Copies numbers to their place in the result, and strings to v->text. */
static mst_status read_batch(vectorize *v, const mst_dataset *dataset, const mst_batch *batch) {
    const int64_t first = v->num_rows, n = mst_batch_size(batch);
    for (int i = 0; i < v->num_components; i++)
        v->dst[i] = v->text[i]
                        ? (void *)v->text[i]
                        : (char *)mst_tensor_data(v->component[i]) + (size_t)first * mst_dataset_row_bytes(dataset, i);
    MST_TRY(mst_batch_copy_all(batch, 0, n, v->dst));
    for (int i = 0; i < v->num_components; i++)
        if (v->text[i] && i != v->o.component) MST_TRY(keep_strings(v->component[i], v->text[i], first, n));
    return read_texts(v, v->text[v->o.component], n);
}

static mst_status make_component(vectorize *v, const mst_dataset *dataset, int i) {
    const mst_spec row = dataset->row[i];
    mst_shape shape = {.ndim = row.shape.ndim + 1, .dim = {dataset->cardinality}};
    for (int d = 0; d < row.shape.ndim; d++) shape.dim[d + 1] = row.shape.dim[d];
    if (i != v->o.component) MST_TRY(mst_tensor_create(row.dtype, shape, &v->component[i]));
    if (row.dtype != MST_STRING) return MST_OK;
    v->text[i] = malloc(ROWS_AT_ONCE * mst_dataset_row_bytes(dataset, i) + 1);
    return v->text[i] ? MST_OK : MST_NO_MEMORY("for texts");
}

static mst_status read_rows(vectorize *v, const mst_dataset *dataset, mst_iterator *iterator) {
    for (const mst_batch *batch;;) {
        MST_TRY(mst_iterator_next(iterator, &batch));
        if (!batch) return MST_OK;
        MST_TRY(read_batch(v, dataset, batch));
    }
}

static mst_status read_all(vectorize *v, mst_dataset *dataset) {
    mst_dataset *batches = NULL;
    mst_iterator *iterator = NULL;
    v->num_components = dataset->num_components;
    v->component = calloc((size_t)v->num_components, sizeof *v->component);
    v->dst = calloc((size_t)v->num_components, sizeof *v->dst);
    v->text = calloc((size_t)v->num_components, sizeof *v->text);
    v->end = malloc(((size_t)dataset->cardinality + 1) * sizeof *v->end);
    if (!v->component || !v->dst || !v->text || !v->end) return MST_NO_MEMORY("for texts");
    for (int i = 0; i < v->num_components; i++) MST_TRY(make_component(v, dataset, i));
    mst_status status = mst_dataset_batch(dataset, ROWS_AT_ONCE, false, &batches);
    if (!status) status = mst_iterator_create(batches, 0, &iterator);
    if (!status) status = read_rows(v, dataset, iterator);
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    if (status || v->o.schema || v->tokenizer || v->num_tokens) return status;
    return MST_FAIL(MST_INVALID, "vectorize_text: the texts have no tokens, so there is no vocabulary");
}

/* ---- writing ---- */

static int64_t longest(const vectorize *v) {
    int64_t most = 1;
    for (int64_t r = 0; r < v->num_rows; r++) {
        const int64_t length = v->end[r] - (r ? v->end[r - 1] : 0);
        if (length > most) most = length;
    }
    return most;
}

/* The number behind the end of a text. */
static int32_t padding_of(const vectorize *v) {
    if (!v->tokenizer) return MST_TOKEN_PADDING;
    const int64_t padding = mst_tokenizer_special(v->tokenizer, MST_SPECIAL_PADDING);
    const int64_t end = mst_tokenizer_special(v->tokenizer, MST_SPECIAL_END);
    return (int32_t)(padding >= 0 ? padding : end >= 0 ? end : 0);
}

static int32_t number_of_token(const vectorize *v, int32_t token) {
    if (v->tokenizer) return token;
    return token < 0 ? MST_TOKEN_UNKNOWN : v->vocabulary.number[token];
}

static void write_row(const vectorize *v, int64_t row, int32_t padding, int32_t *dst) {
    const int64_t first = row ? v->end[row - 1] : 0, all = v->end[row] - first, length = v->o.sequence_length;
    const int64_t n = all < length ? all : length;
    const int32_t *from = v->token ? v->token + first + (v->o.truncate_front ? all - n : 0) : NULL;
    const int64_t before = v->o.pad_front ? length - n : 0;
    for (int64_t i = 0; i < length; i++) {
        const bool is_text = from && i >= before && i - before < n;
        dst[i] = is_text ? number_of_token(v, from[i - before]) : padding;
    }
}

static mst_status write_numbers(vectorize *v) {
    mst_tensor **numbers = &v->component[v->o.component];
    if (!v->o.schema && !v->tokenizer) MST_TRY(mst_vocabulary_rank(&v->vocabulary, v->o.max_tokens, false));
    if (!v->o.sequence_length) v->o.sequence_length = longest(v);
    MST_TRY(mst_tensor_create(MST_I32, MST_SHAPE(v->num_rows, v->o.sequence_length), numbers));
    int32_t *dst = mst_tensor_data(*numbers);
    const int32_t padding = padding_of(v);
    for (int64_t r = 0; r < v->num_rows; r++) write_row(v, r, padding, dst + r * v->o.sequence_length);
    return MST_OK;
}

static void replace(mst_dataset **dataset, mst_dataset *by) {
    mst_dataset_release(*dataset);
    *dataset = by;
}

/* Gives the numbers of DATASET the names of the tokenizer's tokens; "" where there is no token. */
static mst_status name_ids(const vectorize *v, mst_dataset *dataset, mst_dataset **out) {
    const int64_t n = mst_tokenizer_num_ids(v->tokenizer);
    const char **name = malloc(((size_t)n + 1) * sizeof *name);
    if (!name) return MST_NO_MEMORY("for a vocabulary of %lld tokens", (long long)n);
    for (int64_t i = 0; i < n; i++)
        if (!(name[i] = mst_tokenizer_token(v->tokenizer, i))) name[i] = "";
    const mst_status status = mst_dataset_name_classes(dataset, v->o.component, name, n, out);
    free((void *)(uintptr_t)name);
    return status;
}

static mst_status name_numbers(const vectorize *v, const mst_dataset *from, mst_dataset **dataset) {
    mst_dataset *made;
    char *schema;
    for (int i = 0; i < v->num_components; i++) {
        int64_t n = v->vocabulary.num_names;
        const bool has_ids = v->tokenizer && i == v->o.component;
        const char *const *names = i == v->o.component ? v->vocabulary.name : mst_dataset_classes(from, i, &n);
        if (!names && !has_ids) continue;
        MST_TRY(has_ids ? name_ids(v, *dataset, &made) : mst_dataset_name_classes(*dataset, i, names, n, &made));
        replace(dataset, made);
    }
    MST_TRY(mst_text_schema_write(mst_dataset_schema(from), &v->o, &v->vocabulary, v->tokenizer, &schema));
    MST_TRY(mst_dataset_add_schema(*dataset, schema, &made));
    replace(dataset, made);
    int64_t num_paths;
    const char *const *paths = mst_dataset_file_paths(from, &num_paths);
    if (!paths) return MST_OK;
    MST_TRY(mst_dataset_name_files(*dataset, paths, num_paths, &made));
    replace(dataset, made);
    return MST_OK;
}

/* Opens the tokenizer of the options. It must be that of the schema, if there is one. */
static mst_status open_tokenizer(vectorize *v) {
    mst_tokenizer *tokenizer;
    if (!v->o.tokenizer) return MST_OK;
    if (v->o.max_tokens && !v->o.schema)
        return MST_FAIL(MST_INVALID,
                        "vectorize_text: max_tokens is %lld, and the tokenizer '%s' has as many as it has: "
                        "leave one of them out",
                        (long long)v->o.max_tokens, v->o.tokenizer);
    MST_TRY(mst_tokenizer_open(v->o.tokenizer, &tokenizer));
    if (!v->o.schema) {
        v->tokenizer = tokenizer;
        return MST_OK;
    }
    const bool same = v->tokenizer && mst_tokenizer_equal(v->tokenizer, tokenizer);
    mst_tokenizer_close(tokenizer);
    return same ? MST_OK
                : MST_FAIL(MST_INVALID, "vectorize_text: the tokenizer '%s' is not that of the training: leave it out",
                           v->o.tokenizer);
}

static mst_status vectorize_make(vectorize *v, mst_dataset *dataset, mst_dataset **out) {
    if (v->o.schema) MST_TRY(mst_text_schema_read(v->o.schema, &v->o, &v->vocabulary, &v->tokenizer));
    MST_TRY(open_tokenizer(v));
    MST_TRY(vectorize_check(dataset, &v->o));
    v->tokens.standardize = v->o.standardize;
    v->tokens.split = v->o.split;
    MST_TRY(read_all(v, dataset));
    MST_TRY(write_numbers(v));
    MST_TRY(mst_dataset_from_tensors(v->component, v->num_components, out));
    const mst_status status = name_numbers(v, dataset, out);
    if (!status) return MST_OK;
    mst_dataset_release(*out);
    *out = NULL;
    return status;
}

/* ---- the numbers with their texts ---- */

typedef struct with_texts {
    mst_dataset base;
    mst_dataset *texts;
    mst_text_options o;
    char *schema, *tokenizer; /* those of `o`; NULL: there is none */
} with_texts;

static void with_texts_destroy(mst_dataset *dataset) {
    const with_texts *d = (const with_texts *)dataset;
    mst_dataset_release(d->texts);
    free(d->schema);
    free(d->tokenizer);
}

static const mst_dataset_type with_texts_type = {
    .name = "with_texts", .destroy = with_texts_destroy, .keeps_rows = true};

mst_dataset *mst_vectorize_texts(const mst_dataset *dataset, const mst_text_options **o) {
    if (dataset->type != &with_texts_type) return NULL;
    *o = &((const with_texts *)dataset)->o;
    return ((const with_texts *)dataset)->texts;
}

/* Adds TEXTS and the options O to *NUMBERS. */
static mst_status add_texts(mst_dataset *texts, const mst_text_options *o, mst_dataset **numbers) {
    with_texts *d;
    MST_TRY(mst_dataset_derive(&with_texts_type, sizeof *d, *numbers, &d));
    d->texts = mst_dataset_retain(texts);
    d->o = *o;
    if (o->schema) d->o.schema = d->schema = strdup(o->schema);
    if (o->tokenizer) d->o.tokenizer = d->tokenizer = strdup(o->tokenizer);
    replace(numbers, &d->base);
    const bool copied = (!o->schema || d->schema) && (!o->tokenizer || d->tokenizer);
    return copied ? MST_OK : MST_NO_MEMORY("for the options of texts");
}

mst_status mst_dataset_vectorize_text(mst_dataset *dataset, const mst_text_options *options, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    vectorize v = {.num_rows = 0};
    *out = NULL;
    if (options) v.o = *options;
    mst_status status = vectorize_make(&v, dataset, out);
    if (!status && options && options->keep_texts && (status = add_texts(dataset, options, out))) replace(out, NULL);
    for (int i = 0; v.component && i < v.num_components; i++) mst_tensor_release(v.component[i]);
    for (int i = 0; v.text && i < v.num_components; i++) free(v.text[i]);
    free(v.component);
    free(v.dst);
    free(v.text);
    free(v.end);
    free(v.token);
    mst_tokens_free(&v.tokens);
    mst_tokenizer_close(v.tokenizer);
    mst_vocabulary_free(&v.vocabulary);
    return status;
}

mst_dataset *mst_data_vectorize_text_with(mst_dataset *dataset, const mst_text_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_vectorize_text(dataset, options, &out));
}
