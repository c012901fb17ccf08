/** Texts as lists of word numbers, with labels, from a NumPy archive: the data that keras.datasets.reuters.load_data
 *  and imdb.load_data return for their files, by default with the same options. Component 0 is i32 [-1], for each text
 *  a row of its own length (mst_dataset_pad_sequences, mst_dataset_padded_batch), component 1 its label, i64 [].
 *
 *  The archive has either arrays x and y, or x_train, y_train, x_test and y_test. Texts are shuffled by NumPy's
 *  RandomState(seed). If there are only x and y, the train part is the first part of the shuffled texts, and the test
 *  part the rest.
 *
 *  An array of texts has objects as elements, which are lists of integers. They are read from their pickle without
 *  executing any of it. 3 is added to every number, and each text begins with 1. Then numbers below skip_top, and from
 *  num_words on, become 2. So 0 is left for padding.
 *
 *  Fails as mst_dataset_from_npz does, with MST_UNIMPLEMENTED if a pickle has anything else, with MST_INVALID if the
 *  numbers of texts and labels differ, if a word number is negative or too large, or if no text is left. OPTIONS may be
 *  NULL. */
#ifdef MST_DATASET_HEADER
typedef struct mst_word_ids_options {
    int zero_;
    bool test;          /**< the test part; else the train part */
    int64_t num_words;  /**< 0: the largest number in the train and the test part; as in Keras, that number itself
                         *   becomes 2 then */
    int64_t skip_top;   /**< applies after 3 was added, as in Keras */
    int64_t max_length; /**< texts with at least this many numbers, including the 1 at their beginning, are left
                             out: Keras' maxlen; 0: no limit */
    double test_split;  /**< fraction of x and y that is the test part; 0: 0.2 */
    int64_t seed;       /**< 0: 113 */
} mst_word_ids_options;
MST_API MST_CHECKED mst_status mst_dataset_from_word_ids(const char *path, const mst_word_ids_options *options,
                                                         mst_dataset **out);
#endif
#include "data/sources/word_ids_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "base/rng.h"
#include "data/cursors/counting_cursor.h"
#include "data/dataset.h"
#include "data/nested.h"
#include "data/row_hash.h"
#include "data/text/numpy_random.h"
#include "format/npz.h"

enum { START = 1, UNKNOWN = 2, INDEX_FROM = 3, DEFAULT_SEED = 113 };
static const double default_test_split = 0.2;

typedef struct word_ids {
    mst_dataset base;
    int32_t *word;
    int64_t *end; /* where each text ends in word */
    int64_t *label;
    int64_t num_words, longest;
} word_ids;

/* The texts of one pair of arrays, shuffled. */
typedef struct texts {
    mst_integer_lists x, y;
    int64_t *order; /* the texts in their shuffled order, without those that are too long */
    int64_t n;
} texts;

/* ---- the dataset ---- */

static mst_status word_ids_values(const mst_dataset *source, mst_cursor *base, int64_t row, void *const *dst,
                                  mst_array *out) {
    const word_ids *d = (const word_ids *)source;
    (void)base;
    if (row < 0 || row >= source->cardinality)
        return MST_FAIL(MST_INTERNAL, "word_ids: there is no text %lld", (long long)row);
    if (dst[1]) *(int64_t *)dst[1] = d->label[row];
    if (!out) return MST_OK;
    const int64_t first = row ? d->end[row - 1] : 0, n = d->end[row] - first;
    out[0].data = mst_map_alloc((size_t)n * sizeof *d->word);
    if (!out[0].data) return mst_error()->code;
    memcpy(out[0].data, d->word + first, (size_t)n * sizeof *d->word);
    out[0].count = out[0].shape.dim[0] = n;
    return MST_OK;
}

static void word_ids_destroy(mst_dataset *dataset) {
    word_ids *d = (word_ids *)dataset;
    free(d->word);
    free(d->end);
    free(d->label);
}

/* The settings include a hash of the first texts and their labels. */
static void word_ids_settings(const mst_dataset *dataset, char *text, size_t size) {
    const word_ids *d = (const word_ids *)dataset;
    const int64_t n = dataset->cardinality < MST_HASHED_ROWS ? dataset->cardinality : MST_HASHED_ROWS;
    uint64_t hash = 0;
    for (int64_t i = 0; n > 0 && i < d->end[n - 1]; i++) hash = mst_rng_mix(hash, (uint64_t)d->word[i]);
    for (int64_t i = 0; i < n; i++) hash = mst_rng_mix(hash, (uint64_t)d->label[i]);
    snprintf(text, size, "num_words %lld, first texts of hash %016llx", (long long)d->num_words,
             (unsigned long long)hash);
}

static const mst_dataset_type type = {.name = "from_word_ids",
                                      .destroy = word_ids_destroy,
                                      .open = mst_counting_cursor_open,
                                      .values = word_ids_values,
                                      .settings = word_ids_settings};

/* ---- reading ---- */

static int64_t text_length(const texts *t, int64_t text) {
    return t->x.end[text] - (text ? t->x.end[text - 1] : 0);
}

static mst_status check_texts(const char *path, const char *x, const char *y, const texts *t) {
    if (t->x.flat)
        return MST_FAIL(MST_INVALID, "'%s': array '%s' is of integers, texts are lists of these: npz:FILE reads arrays",
                        path, x);
    if (t->x.num_lists != t->y.num_lists || (t->y.num_lists && !t->y.flat))
        return MST_FAIL(MST_INVALID, "'%s': array '%s' has %lld texts, so '%s' must have as many integers, it has %lld",
                        path, x, (long long)t->x.num_lists, y, (long long)t->y.num_lists);
    for (int64_t i = 0, at = 0; i < t->x.num_lists; i++)
        for (; at < t->x.end[i]; at++)
            if (t->x.integer[at] < 0 || t->x.integer[at] > INT32_MAX - INDEX_FROM)
                return MST_FAIL(MST_INVALID,
                                "'%s': text %lld of array '%s' has the number %lld: 0 to 2^31 - 4 are possible", path,
                                (long long)i, x, (long long)t->x.integer[at]);
    return t->x.num_lists <= UINT32_MAX ? MST_OK : MST_FAIL(MST_UNIMPLEMENTED, "'%s': has too many texts", path);
}

/* Shuffles the texts with RANDOM, and leaves out those that are too long. */
static mst_status shuffle_texts(texts *t, int64_t max_length, mst_numpy_random *random) {
    int64_t n = 0;
    t->order = malloc(((size_t)t->x.num_lists + 1) * sizeof *t->order);
    if (!t->order) return MST_NO_MEMORY("for texts");
    for (int64_t i = 0; i < t->x.num_lists; i++) t->order[i] = i;
    mst_numpy_random_shuffle(random, t->order, t->x.num_lists);
    for (int64_t i = 0; i < t->x.num_lists; i++)
        if (!max_length || text_length(t, t->order[i]) + 1 < max_length) t->order[n++] = t->order[i];
    t->n = n;
    return MST_OK;
}

static mst_status read_texts(const char *path, const mst_npz *npz, const char *x, const char *y, int64_t max_length,
                             mst_numpy_random *random, texts *out) {
    MST_TRY(mst_npz_read_lists(npz, x, &out->x));
    MST_TRY(mst_npz_read_lists(npz, y, &out->y));
    MST_TRY(check_texts(path, x, y, out));
    return shuffle_texts(out, max_length, random);
}

static void texts_free(texts *t) {
    mst_integer_lists_free(&t->x);
    mst_integer_lists_free(&t->y);
    free(t->order);
}

/* ---- rows ---- */

static void find_largest(const texts *t, int64_t *largest) {
    for (int64_t i = 0; i < t->n; i++) {
        const int64_t end = t->x.end[t->order[i]];
        for (int64_t k = end - text_length(t, t->order[i]); k < end; k++)
            if (t->x.integer[k] + INDEX_FROM > *largest) *largest = t->x.integer[k] + INDEX_FROM;
    }
}

static int32_t as_word(const mst_word_ids_options *o, int64_t number) {
    return number >= o->skip_top && number < o->num_words ? (int32_t)number : UNKNOWN;
}

/* Makes rows of the texts FIRST to END - 1 in shuffled order. */
static mst_status make_rows(word_ids *d, const mst_word_ids_options *o, const texts *t, int64_t first, int64_t end) {
    int64_t words = 0, n = 0;
    for (int64_t i = first; i < end; i++) words += text_length(t, t->order[i]) + 1;
    d->word = malloc(((size_t)words + 1) * sizeof *d->word);
    d->end = malloc((size_t)(end - first) * sizeof *d->end);
    d->label = malloc((size_t)(end - first) * sizeof *d->label);
    if (!d->word || !d->end || !d->label) return MST_NO_MEMORY("for texts");
    for (int64_t i = first; i < end; i++) {
        const int64_t text = t->order[i], length = text_length(t, text);
        const int64_t *from = t->x.integer + t->x.end[text] - length;
        d->word[n++] = as_word(o, START);
        for (int64_t k = 0; k < length; k++) d->word[n++] = as_word(o, from[k] + INDEX_FROM);
        d->end[i - first] = n;
        d->label[i - first] = t->y.integer[t->y.end[text] - 1];
    }
    d->base.cardinality = end - first;
    return MST_OK;
}

static int64_t longest_of(const texts *t) {
    int64_t longest = 1;
    for (int64_t i = 0; i < t->n; i++)
        if (text_length(t, t->order[i]) + 1 > longest) longest = text_length(t, t->order[i]) + 1;
    return longest;
}

/* Takes the part that the options ask for. PARTS are x and y alone, or the train and the test part. */
static mst_status take_part(word_ids *d, const char *path, mst_word_ids_options *o, const texts *parts, int num_parts) {
    int64_t largest = START;
    for (int i = 0; i < num_parts; i++) find_largest(&parts[i], &largest);
    if (!o->num_words) o->num_words = largest;
    const texts *t = &parts[num_parts > 1 && o->test];
    const int64_t split = (int64_t)((double)t->n * (1 - o->test_split));
    const int64_t first = num_parts == 1 && o->test ? split : 0, end = num_parts == 1 && !o->test ? split : t->n;
    if (first >= end)
        return MST_FAIL(MST_INVALID, "'%s': no text is left for the %s part", path, o->test ? "test" : "train");
    d->num_words = o->num_words > UNKNOWN ? o->num_words : UNKNOWN + 1;
    for (int i = 0; i < num_parts; i++)
        if (longest_of(&parts[i]) > d->longest) d->longest = longest_of(&parts[i]);
    d->base.row[0] = (mst_spec){MST_I32, MST_SHAPE(-1)};
    d->base.row[1] = (mst_spec){MST_I64, MST_SCALAR};
    return make_rows(d, o, t, first, end);
}

static mst_status word_ids_read(word_ids *d, const char *path, mst_word_ids_options *o) {
    static const char *const names[2][2] = {{"x_train", "y_train"}, {"x_test", "y_test"}};
    mst_numpy_random random;
    texts parts[2] = {{.n = 0}, {.n = 0}};
    mst_npz *npz;
    MST_TRY(mst_npz_open(path, &npz));
    const int num_parts = mst_npz_has(npz, names[0][0]) ? 2 : 1;
    mst_status status = MST_OK;
    mst_numpy_random_seed(&random, (uint32_t)o->seed);
    for (int i = 0; i < num_parts && !status; i++)
        status = read_texts(path, npz, num_parts > 1 ? names[i][0] : "x", num_parts > 1 ? names[i][1] : "y",
                            o->max_length, &random, &parts[i]);
    mst_npz_close(npz);
    if (!status) status = take_part(d, path, o, parts, num_parts);
    texts_free(&parts[0]);
    texts_free(&parts[1]);
    return status;
}

static mst_status word_ids_check(mst_word_ids_options *o) {
    if (o->test_split == 0) o->test_split = default_test_split;
    if (!o->seed) o->seed = DEFAULT_SEED;
    if (o->num_words < 0 || o->num_words > INT32_MAX || o->skip_top < 0 || o->max_length < 0)
        return MST_FAIL(MST_INVALID,
                        "from_word_ids: num_words, skip_top and max_length cannot be negative, num_words 2^31");
    if (o->seed < 0 || o->seed > UINT32_MAX)
        return MST_FAIL(MST_INVALID, "from_word_ids: seed is %lld, 0 to 2^32 - 1 are possible", (long long)o->seed);
    if (o->test_split > 0 && o->test_split < 1) return MST_OK;
    return MST_FAIL(MST_INVALID, "from_word_ids: test_split is %g, must be between 0 and 1", o->test_split);
}

mst_status mst_dataset_from_word_ids(const char *path, const mst_word_ids_options *options, mst_dataset **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    mst_word_ids_options o = options ? *options : (mst_word_ids_options){.zero_ = 0};
    word_ids *d;
    *out = NULL;
    MST_TRY(word_ids_check(&o));
    MST_TRY(mst_dataset_alloc(&type, sizeof *d, 2, &d));
    const mst_status status = word_ids_read(d, path, &o);
    if (status)
        mst_dataset_release(&d->base);
    else
        *out = &d->base;
    return status;
}

mst_dataset *mst_data_from_word_ids(const char *path, const mst_word_ids_options *options) {
    MST_DATASET_OPEN(mst_dataset_from_word_ids(path, options, &out));
}

int64_t mst_word_ids_num_words(const mst_dataset *dataset) {
    return ((const word_ids *)dataset)->num_words;
}

int64_t mst_word_ids_longest(const mst_dataset *dataset) {
    return ((const word_ids *)dataset)->longest;
}
