#include "cli/convert_tokens.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/number_text.h"
#include "muster/data.h"
#include "muster/tokenizer.h"
#include "tokenizer/token_ids.h"

static const char lines_kind[] = "lines:", texts_kind[] = "texts:", tokens_kind[] = "tokens:";
enum { BATCH = 256, HEADER_SIZE = 128, U16_IDS = 1 << 16 };

/* The ids, and the bytes of the texts that they are of. */
typedef struct stream {
    const mst_tokenizer *tokenizer;
    mst_token_ids ids;
    int64_t num_bytes;
} stream;

static const char *after(const char *spec, const char *kind) {
    const size_t size = strlen(kind);
    return strncmp(spec, kind, size) == 0 ? spec + size : NULL;
}

bool convert_tokens_is(const char *to) {
    return after(to, tokens_kind) != NULL;
}

/* ---- reading ---- */

/* Adds a text of the dataset, and the token that ends a text. */
static mst_status add_row(stream *s, mst_string text) {
    const int32_t end = (int32_t)mst_tokenizer_special(s->tokenizer, MST_SPECIAL_END);
    s->num_bytes += (int64_t)text.length;
    MST_TRY(mst_tokenizer_encode(s->tokenizer, text.data, text.length, NULL, &s->ids));
    return mst_token_ids_append(&s->ids, &end, 1);
}

static mst_status read_batches(stream *s, mst_iterator *iterator) {
    for (const mst_batch *batch;;) {
        mst_tensor *texts;
        MST_TRY(mst_iterator_next(iterator, &batch));
        if (!batch) return MST_OK;
        MST_TRY(mst_batch_tensor(batch, 0, &texts));
        mst_status status = MST_OK;
        for (int64_t i = 0; i < mst_tensor_count(texts) && !status; i++)
            status = add_row(s, mst_tensor_get_string(texts, i));
        mst_tensor_release(texts);
        MST_TRY(status);
    }
}

static mst_status read_texts(stream *s, const char *path) {
    mst_dataset *texts, *batches = NULL;
    mst_iterator *iterator = NULL;
    if (mst_tokenizer_special(s->tokenizer, MST_SPECIAL_END) < 0)
        return MST_FAIL(MST_INVALID,
                        "'%s': the tokenizer has no token that ends a text, and would stand between these: take "
                        "lines:FILE, which is one text",
                        path);
    MST_TRY(mst_dataset_from_texts(path, NULL, &texts));
    mst_status status = mst_dataset_batch(texts, BATCH, false, &batches);
    if (!status) status = mst_iterator_create(batches, 0, &iterator);
    if (!status) status = read_batches(s, iterator);
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    mst_dataset_release(texts);
    return status;
}

/* ---- writing ---- */

/* The header of NumPy's array of N unsigned integers of SIZE bytes; returns its own size, a multiple of 64. */
static size_t npy_header(char header[HEADER_SIZE], int size, int64_t n) {
    enum { PREFIX = 10 };
    memset(header, ' ', HEADER_SIZE);
    memcpy(header, "\x93NUMPY\x01\0", 8);
    const int length = snprintf(header + PREFIX, HEADER_SIZE - PREFIX,
                                "{'descr': '<u%d', 'fortran_order': False, 'shape': (%" PRId64 ",), }", size, n);
    header[PREFIX + length] = ' ';
    const size_t whole = ((size_t)(PREFIX + length) / 64 + 1) * 64;
    header[8] = (char)(whole - PREFIX);
    header[9] = 0;
    header[whole - 1] = '\n';
    return whole;
}

/* Makes N little-endian numbers of SIZE bytes, 2 or 4, of the ids, in their memory. */
static void pack_ids(int32_t *id, int64_t n, int size) {
    uint8_t *to = (uint8_t *)id;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t value = (uint32_t)id[i];
        for (int k = 0; k < size; k++) *to++ = (uint8_t)(value >> 8 * k);
    }
}

/* The bytes of an id in the file PATH; 0 if its name does not say so. */
static int size_of_ids(const char *path, int64_t num_ids) {
    if (mst_ends_in(path, ".u16")) return 2;
    if (mst_ends_in(path, ".u32")) return 4;
    return !mst_ends_in(path, ".npy") ? 0 : num_ids <= U16_IDS ? 2 : 4;
}

static mst_status write_stream(stream *s, const char *path, int size) {
    char header[HEADER_SIZE];
    const size_t header_size = mst_ends_in(path, ".npy") ? npy_header(header, size, s->ids.count) : 0;
    pack_ids(s->ids.id, s->ids.count, size);
    const mst_file_part parts[] = {{header, header_size}, {s->ids.id, (size_t)s->ids.count * (size_t)size}};
    return mst_file_write_parts(path, parts, 2);
}

/* ---- the command ---- */

static mst_status check_target(const char *path, int64_t num_ids, bool overwrite) {
    const int size = size_of_ids(path, num_ids);
    if (!size) return MST_FAIL(MST_INVALID, "'%s': must end in .u16, .u32 or .npy", path);
    if (size == 2 && num_ids > U16_IDS)
        return MST_FAIL(MST_INVALID, "'%s': the tokenizer has %" PRId64 " ids, 16 bits have 65,536: take .u32", path,
                        num_ids);
    if (!overwrite && access(path, F_OK) == 0)
        return MST_FAIL(MST_EXISTS, "'%s': is there already: take another name, or say --overwrite", path);
    return MST_OK;
}

static mst_status convert(stream *s, const char *from, const char *path, bool overwrite) {
    const int64_t num_ids = mst_tokenizer_num_ids(s->tokenizer);
    const char *lines = after(from, lines_kind), *texts = after(from, texts_kind);
    MST_TRY(check_target(path, num_ids, overwrite));
    if (!lines && !texts)
        return MST_FAIL(MST_INVALID, "'%s': tokens are made of lines:FILE, one text, or of texts:PATH", from);
    MST_TRY(lines ? mst_token_ids_of_file(s->tokenizer, lines, &s->ids, &s->num_bytes) : read_texts(s, texts));
    return write_stream(s, path, size_of_ids(path, num_ids));
}

int convert_tokens(const char *from, const char *to, const char *path, bool overwrite) {
    mst_tokenizer *tokenizer;
    char count[NUMBER_TEXT], ids[NUMBER_TEXT];
    if (!path) return command_fail(EXIT_USAGE, "convert: tokens need a tokenizer: say --tokenizer PATH");
    if (mst_tokenizer_open(path, &tokenizer)) return command_fail_library(EXIT_FAILED, NULL);
    stream s = {.tokenizer = tokenizer};
    const mst_status status = convert(&s, from, after(to, tokens_kind), overwrite);
    const int code = status ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
    if (!status)
        command_print("%s from %s: %s tokens of %s, for %.2f bytes of text each", to, from,
                      number_text(s.ids.count, count), number_text(mst_tokenizer_num_ids(tokenizer), ids),
                      s.ids.count ? (double)s.num_bytes / (double)s.ids.count : 0.);
    free(s.ids.id);
    mst_tokenizer_close(tokenizer);
    return code;
}
