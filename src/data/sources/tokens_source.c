/** Tokens of a long text, for models that predict the next one. The text is cut into examples of POSITIONS tokens, one
 *  after the other: component 0, i32 [positions], has the tokens of an example, component 1, i32 [positions], for each
 *  of them the token after it. So the last token of component 1 is the first of component 0 in the next example. Tokens
 *  after the last whole example are left out.
 *
 *  The name of the file at PATH says how tokens are stored:
 *
 *  - FILE.u16, FILE.u32: as unsigned integers, little-endian, without a header, as numpy's tofile writes them;
 *  - FILE.npy: a NumPy array of one dimension, of u1, u2, u4, i4 or i8, little-endian;
 *  - any other file: each byte is a token, and the vocabulary is 256.
 *
 *  With a tokenizer, the text of any other file becomes ids instead, as one text with its line ends; and the vocabulary
 *  has all ids. mst_dataset_schema then has the whole tokenizer, so that other data, with it as .schema, and generated
 *  text need no file of it. With .is_text, files .u16 and so on are text too.
 *
 *  A file of tokens is mapped, not read into memory: it must not become shorter while the dataset is there. A text that
 *  becomes ids is read into memory, at most 1 GiB. OPTIONS may be NULL. Fails with MST_NOT_FOUND or MST_IO if the file
 *  cannot be read, with MST_INVALID if it has too few tokens, or one that is negative or not below the vocabulary, with
 *  MST_CORRUPT or MST_UNIMPLEMENTED if it is not such an array, and as mst_tokenizer_open and mst_tokenizer_encode.
 *  With a vocabulary that is given, a token that is too large is an error of the batch that has it.
 */
#ifdef MST_DATASET_HEADER
typedef struct mst_tokens_options {
    int zero_;
    int64_t positions; /**< tokens of an example; default 128 */
    /** tokens are less than this; 0: 256 for bytes, all ids of a tokenizer; else one more than the largest token, for
     *  which the file is read once */
    int64_t vocabulary;
    const char *tokenizer; /**< as of mst_tokenizer_open; NULL: none */
    const char *schema;    /**< mst_dataset_schema of other tokens: its tokenizer and number of positions; NULL: none */
    bool is_text;          /**< the file is text whatever its name is */
} mst_tokens_options;
MST_API MST_CHECKED mst_status mst_dataset_from_tokens(const char *path, const mst_tokens_options *options,
                                                       mst_dataset **out);
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/argument.h"
#include "base/cannot_open.h"
#include "base/ending.h"
#include "base/no_memory.h"
#include "base/rng.h"
#include "data/cursors/counting_cursor.h"
#include "data/dataset.h"
#include "data/nested.h"
#include "data/row_hash.h"
#include "data/text/text_schema.h"
#include "format/npy.h"
#include "tokenizer/token_ids.h"

enum { DEFAULT_POSITIONS = 128, DIGITS = 12, MOST_FOUND = 1 << 24 };

typedef struct tokens {
    mst_dataset base;
    char *path;
    void *map;
    size_t map_size;
    const unsigned char *first; /* token 0 */
    int64_t count;
    int size;       /* bytes of a token */
    bool is_signed; /* tokens may be negative by mistake */
    int64_t positions, vocabulary;
    mst_token_ids ids;      /* of a text that was not mapped */
    char *schema;           /* with a tokenizer; else NULL */
    char (*digits)[DIGITS]; /* the names of the tokens: their numbers */
    const char **name;
} tokens;

static void tokens_source_destroy(mst_dataset *dataset) {
    tokens *d = (tokens *)dataset;
    if (d->map) munmap(d->map, d->map_size);
    free(d->path);
    free(d->ids.id);
    free(d->schema);
    free(d->digits);
    free(d->name);
}

static uint64_t token_bits(const tokens *d, int64_t i) {
    const unsigned char *at = d->first + i * d->size;
    uint64_t bits = 0;
    for (int k = 0; k < d->size; k++) bits |= (uint64_t)at[k] << 8 * k;
    return bits;
}

/* Token I; -1 if it is negative, or more than i32 holds. */
static int32_t token_at(const tokens *d, int64_t i) {
    const uint64_t bits = token_bits(d, i);
    return bits <= INT32_MAX ? (int32_t)bits : -1;
}

static mst_status fail_of_token(const tokens *d, int64_t i) {
    const uint64_t bits = token_bits(d, i);
    const int64_t value = d->is_signed && d->size == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;
    return MST_FAIL(MST_INVALID, "'%s': token %lld is %lld, must be 0 to %lld", d->path, (long long)i, (long long)value,
                    (long long)(d->vocabulary ? d->vocabulary : INT32_MAX) - 1);
}

static mst_status tokens_source_values(const mst_dataset *source, mst_cursor *base, int64_t row, void *const *dst,
                                       mst_array *out) {
    const tokens *d = (const tokens *)source;
    (void)base, (void)out;
    if (row < 0 || row >= source->cardinality)
        return MST_FAIL(MST_INTERNAL, "tokens: there is no example %lld", (long long)row);
    for (int component = 0; component < 2; component++) {
        int32_t *to = dst[component];
        for (int64_t i = 0; to && i < d->positions; i++) {
            const int64_t at = row * d->positions + component + i;
            to[i] = token_at(d, at);
            if (to[i] < 0 || to[i] >= d->vocabulary) return fail_of_token(d, at);
        }
    }
    return MST_OK;
}

static const char *const *tokens_source_classes(const mst_dataset *dataset, int component, int64_t *n) {
    const tokens *d = (const tokens *)dataset;
    (void)component; /* both are tokens */
    *n = d->vocabulary;
    return d->name;
}

static void tokens_source_settings(const mst_dataset *dataset, char *text, size_t size) {
    const tokens *d = (const tokens *)dataset;
    snprintf(text, size, "%lld positions, vocabulary %lld, tokenizer %016llx", (long long)d->positions,
             (long long)d->vocabulary, d->schema ? (unsigned long long)mst_rng_hash_name(d->schema) : 0ULL);
}

static const char *tokens_source_schema(const mst_dataset *dataset) {
    return ((const tokens *)dataset)->schema;
}

static uint64_t tokens_source_contents(const mst_dataset *dataset) {
    const char *path = ((const tokens *)dataset)->path;
    return mst_hash_files(&path, 1);
}

static const mst_dataset_type type = {.name = "from_tokens",
                                      .destroy = tokens_source_destroy,
                                      .open = mst_counting_cursor_open,
                                      .values = tokens_source_values,
                                      .classes = tokens_source_classes,
                                      .schema = tokens_source_schema,
                                      .settings = tokens_source_settings,
                                      .contents = tokens_source_contents};

/* ---- opening ---- */

static mst_status map_open(tokens *d, int file) {
    struct stat s;
    if (fstat(file, &s)) return MST_FAIL(MST_IO, "'%s': %s", d->path, strerror(errno));
    MST_TRY(mst_want_regular_file(d->path, &s));
    if (s.st_size == 0)
        return MST_FAIL(MST_INVALID, "'%s': is empty: a file of tokens is due: check the path", d->path);
    d->map_size = (size_t)s.st_size;
    void *map = mmap(NULL, d->map_size, PROT_READ, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return MST_FAIL(MST_IO, "'%s': cannot be mapped: %s", d->path, strerror(errno));
    d->map = map;
    return MST_OK;
}

static mst_status map_file(tokens *d) {
    const int file = open(d->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a named pipe is refused, not waited for */
    if (file < 0) return mst_cannot_open(d->path, "file");
    const mst_status status = map_open(d, file);
    close(file);
    return status;
}

/* Types of tokens as NumPy writes them. `instead` replaces a type in the header before mst_npy_parse reads it, since
 * that does not support all of them. Both texts have the same length. */
static const struct {
    const char *descr, *instead;
    int size;
    bool is_signed;
} kinds[] = {{"'|u1'", "'|u1'", 1, false},
             {"'<u2'", "'<i4'", 2, false},
             {"'<u4'", "'<i4'", 4, false},
             {"'<i4'", "'<i4'", 4, true},
             {"'<i8'", "'<i8'", 8, true}};

static mst_status parse_npy_text(tokens *d, char *text, size_t size, size_t header) {
    mst_npy npy;
    char *descr = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !descr; i++) {
        if (!(descr = strstr(text, kinds[i].descr))) continue;
        memcpy(descr, kinds[i].instead, strlen(kinds[i].instead));
        d->size = kinds[i].size;
        d->is_signed = kinds[i].is_signed;
    }
    MST_TRY(mst_npy_parse(d->path, text, size, &npy));
    if (!descr || npy.shape.ndim != 1)
        return MST_FAIL(MST_INVALID,
                        "'%s': tokens are an array of one dimension of u1, u2, u4, i4 or i8, little-endian", d->path);
    d->count = npy.shape.dim[0];
    if ((d->map_size - header) / (size_t)d->size != (size_t)d->count || (d->map_size - header) % (size_t)d->size)
        return MST_FAIL(MST_CORRUPT, "'%s': has %zu bytes of elements, its header says %lld elements of %d", d->path,
                        d->map_size - header, (long long)d->count, d->size);
    d->first = (const unsigned char *)d->map + header;
    return MST_OK;
}

static mst_status open_npy(tokens *d) {
    const unsigned char *bytes = d->map;
    int length_size;
    size_t length = 0;
    if (d->map_size < MST_NPY_PREFIX + 4) return MST_FAIL(MST_CORRUPT, "'%s': is cut off", d->path);
    MST_TRY(mst_npy_prefix(d->path, bytes, &length_size));
    for (int k = 0; k < length_size; k++) length |= (size_t)bytes[MST_NPY_PREFIX + k] << 8 * k;
    const size_t header = MST_NPY_PREFIX + (size_t)length_size + length;
    if (length > d->map_size || header > d->map_size) return MST_FAIL(MST_CORRUPT, "'%s': is cut off", d->path);
    char *text = malloc(length + 1);
    if (!text) return MST_NO_MEMORY("for the header of an array");
    memcpy(text, bytes + MST_NPY_PREFIX + length_size, length);
    text[length] = '\0';
    const mst_status status = parse_npy_text(d, text, length, header);
    free(text);
    return status;
}

/* Reads the file as one text. Its ids are i32, which are little-endian too: Muster runs on no other machine. */
static mst_status encode_file(tokens *d, const mst_tokenizer *tokenizer) {
    int64_t size;
    MST_TRY(mst_token_ids_of_file(tokenizer, d->path, &d->ids, &size));
    d->first = (const unsigned char *)d->ids.id;
    d->count = d->ids.count;
    d->size = sizeof *d->ids.id;
    return MST_OK;
}

static bool has_tokens(const char *path) {
    return mst_ends_in(path, ".u16") || mst_ends_in(path, ".u32") || mst_ends_in(path, ".npy");
}

static mst_status find_tokens(tokens *d, const mst_tokens_options *o, const mst_tokenizer *tokenizer) {
    if (tokenizer && (o->is_text || !has_tokens(d->path))) return encode_file(d, tokenizer);
    MST_TRY(map_file(d));
    d->size = 1;
    if (!o->is_text && mst_ends_in(d->path, ".npy")) return open_npy(d);
    if (!o->is_text) d->size = mst_ends_in(d->path, ".u16") ? 2 : mst_ends_in(d->path, ".u32") ? 4 : 1;
    if (d->map_size % (size_t)d->size)
        return MST_FAIL(MST_CORRUPT, "'%s': has %zu bytes, which are no whole number of tokens of %d bytes", d->path,
                        d->map_size, d->size);
    d->first = d->map;
    d->count = (int64_t)(d->map_size / (size_t)d->size);
    return MST_OK;
}

/* The size of the vocabulary if the file does not give it: one more than the largest token. A size above MOST_FOUND is
 * probably a mistake, such as 16-bit tokens that are read as 32-bit ones. */
static mst_status count_tokens(tokens *d) {
    int64_t largest = 0;
    for (int64_t i = 0; i < d->count; i++) {
        const int32_t token = token_at(d, i);
        if (token < 0 || token == INT32_MAX) return fail_of_token(d, i);
        if (token >= MOST_FOUND)
            return MST_FAIL(MST_INVALID,
                            "'%s': token %lld is %d: if there is so large a vocabulary, give it by --max-tokens or "
                            ".vocabulary; else the tokens are of another number of bytes than the name says",
                            d->path, (long long)i, (int)token);
        if (token > largest) largest = token;
    }
    d->vocabulary = largest + 1;
    return MST_OK;
}

static mst_status find_vocabulary(tokens *d) {
    enum { BYTES = 256 };
    if (!d->vocabulary && d->size == 1 && !mst_ends_in(d->path, ".npy")) d->vocabulary = BYTES;
    if (!d->vocabulary) MST_TRY(count_tokens(d));
    d->digits = malloc(((size_t)d->vocabulary + 1) * sizeof *d->digits);
    d->name = malloc(((size_t)d->vocabulary + 1) * sizeof *d->name);
    if (!d->digits || !d->name) return MST_NO_MEMORY("for the names of tokens");
    for (int64_t i = 0; i < d->vocabulary; i++) {
        snprintf(d->digits[i], DIGITS, "%d", (int32_t)i);
        d->name[i] = d->digits[i];
    }
    return MST_OK;
}

/* Opens the tokenizer of the options, if there is one, and keeps its text. */
static mst_status take_tokenizer(tokens *d, const mst_tokens_options *o, mst_tokenizer **out) {
    mst_text_options text = {.component = 0};
    mst_vocabulary words = {0};
    if (o->tokenizer) {
        MST_TRY(mst_tokenizer_open(o->tokenizer, out));
    } else if (mst_text_schema_is(o->schema)) {
        const mst_status status = mst_text_schema_read(o->schema, &text, &words, out);
        mst_vocabulary_free(&words);
        MST_TRY(status);
    }
    if (text.sequence_length && !o->positions) d->positions = text.sequence_length;
    text.sequence_length = d->positions;
    if (!*out) return MST_OK;
    if (!d->vocabulary) d->vocabulary = mst_tokenizer_num_ids(*out);
    return mst_text_schema_write(NULL, &text, NULL, *out, &d->schema);
}

static mst_status open_tokens(tokens *d, const mst_tokens_options *o) {
    mst_tokenizer *tokenizer = NULL;
    mst_status status = take_tokenizer(d, o, &tokenizer);
    if (!status) status = find_tokens(d, o, tokenizer);
    mst_tokenizer_close(tokenizer);
    return status;
}

static mst_status tokens_source_open(tokens *d, const char *path, const mst_tokens_options *o) {
    d->positions = o->positions ? o->positions : DEFAULT_POSITIONS;
    d->vocabulary = o->vocabulary;
    if (d->positions < 1 || d->positions > INT32_MAX || d->vocabulary < 0 || d->vocabulary > INT32_MAX)
        return MST_FAIL(MST_INVALID, "from_tokens: positions %lld and vocabulary %lld must be 0 to 2147483647",
                        (long long)o->positions, (long long)o->vocabulary);
    if (!(d->path = strdup(path))) return MST_NO_MEMORY("for a path");
    MST_TRY(open_tokens(d, o));
    if (d->count <= d->positions)
        return MST_FAIL(MST_INVALID, "'%s': has %lld tokens: examples of %lld need at least %lld", path,
                        (long long)d->count, (long long)d->positions, (long long)d->positions + 1);
    MST_TRY(find_vocabulary(d));
    d->base.cardinality = (d->count - 1) / d->positions;
    for (int i = 0; i < 2; i++) d->base.row[i] = (mst_spec){MST_I32, MST_SHAPE(d->positions)};
    return MST_OK;
}

mst_status mst_dataset_from_tokens(const char *path, const mst_tokens_options *options, mst_dataset **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    tokens *d;
    *out = NULL;
    MST_TRY(mst_dataset_alloc(&type, sizeof *d, 2, &d));
    const mst_status status = tokens_source_open(d, path, options ? options : &(mst_tokens_options){.zero_ = 0});
    if (status) {
        mst_dataset_release(&d->base);
        return status;
    }
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_from_tokens(const char *path, const mst_tokens_options *options) {
    MST_DATASET_OPEN(mst_dataset_from_tokens(path, options, &out));
}
