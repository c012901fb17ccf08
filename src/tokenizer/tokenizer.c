#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/argument.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "base/utf8.h"
#include "tokenizer/bpe_tokenizer.h"
#include "tokenizer/piece_tokenizer.h"

/* ---- special tokens ---- */

/* The usual names of each special token. The first name that is in the vocabulary is used. */
static const char *const names[MST_NUM_SPECIAL][6] = {
    [MST_SPECIAL_BEGIN] = {"<|begin_of_text|>", "<s>", "<|startoftext|>", "<|endoftext|>"},
    [MST_SPECIAL_END] = {"<|end_of_text|>", "</s>", "<|endoftext|>"},
    [MST_SPECIAL_PADDING] = {"<pad>", "<|pad|>", "[PAD]", "<|finetune_right_pad_id|>"},
    [MST_SPECIAL_UNKNOWN] = {"<unk>", "[UNK]"}};
/* The member of tokenizer_config.json that names each special token. */
static const char *const members[MST_NUM_SPECIAL] = {"bos_token", "eos_token", "pad_token", "unk_token"};

static void find_special(mst_tokenizer *t) {
    for (int i = 0; i < MST_NUM_SPECIAL; i++) {
        t->special[i] = -1;
        for (int k = 0; names[i][k] && t->special[i] < 0; k++) t->special[i] = t->type->find(t, names[i][k]);
    }
}

/* Sets the special tokens that a configuration names. A name is a string, or an object with the member "content". */
static mst_status take_named(mst_tokenizer *t, const json_t *config) {
    for (int i = 0; i < MST_NUM_SPECIAL; i++) {
        const json_t *member = json_object_get(config, members[i]);
        const char *name = json_string_value(json_is_object(member) ? json_object_get(member, "content") : member);
        if (!member) continue;
        t->special[i] = name ? t->type->find(t, name) : -1;
        if (name && t->special[i] < 0)
            return MST_FAIL(MST_CORRUPT, "%s: %s '%.80s' is not in the vocabulary", mst_tokenizer_config_name,
                            members[i], name);
    }
    return MST_OK;
}

static mst_status read_config(mst_tokenizer *t, const mst_tokenizer_file *config) {
    json_error_t error;
    json_t *json = mst_json_read(config->data, config->size, &error);
    if (!json) return MST_FAIL(MST_CORRUPT, "%s: is no JSON: line %d: %s", config->name, error.line, error.text);
    const mst_status status = take_named(t, json);
    const json_t *begin = json_object_get(json, "add_bos_token"), *end = json_object_get(json, "add_eos_token");
    if (json_is_boolean(begin)) t->adds_begin = json_is_true(begin);
    if (json_is_boolean(end)) t->adds_end = json_is_true(end);
    json_decref(json);
    return status;
}

/* ---- making ---- */

static mst_status make_bpe(const mst_tokenizer_files *files, mst_tokenizer **out) {
    const mst_tokenizer_file *whole = mst_tokenizer_files_find(files, mst_tokenizer_json_name);
    const mst_tokenizer_file *vocab = mst_tokenizer_files_find(files, mst_tokenizer_vocab_name);
    const mst_tokenizer_file *merges = mst_tokenizer_files_find(files, mst_tokenizer_merges_name);
    mst_bpe_tokenizer *t;
    if (!whole && !(vocab && merges)) return MST_FAIL(MST_NOT_FOUND, "there is no file of a tokenizer");
    MST_TRY(mst_bpe_tokenizer_create(&t));
    *out = &t->base;
    return whole ? mst_bpe_read_json(t, whole) : mst_bpe_read_vocab(t, vocab, merges);
}

mst_status mst_tokenizer_make(mst_tokenizer_files *files, mst_tokenizer **out) {
    const mst_tokenizer_file *config = mst_tokenizer_files_find(files, mst_tokenizer_config_name);
    const mst_tokenizer_file *model = mst_tokenizer_files_find(files, mst_tokenizer_model_name);
    mst_tokenizer *t = NULL;
    *out = NULL;
    mst_status status = model ? mst_piece_tokenizer_create(model, &t) : make_bpe(files, &t);
    if (!status && model)
        t->adds_begin = true;
    else if (!status)
        find_special(t);
    if (!status && config) status = read_config(t, config);
    if (status) {
        status = mst_error_prefix("tokenizer '%s'", files->path);
        if (t) t->type->free(t);
        mst_tokenizer_files_free(files);
        return status;
    }
    t->files = *files;
    *files = (mst_tokenizer_files){.num_files = 0};
    *out = t;
    return MST_OK;
}

mst_status mst_tokenizer_open(const char *path, mst_tokenizer **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    mst_tokenizer_files files;
    *out = NULL;
    const mst_status status = mst_tokenizer_files_read(path, &files);
    if (status) mst_tokenizer_files_free(&files);
    return status ? status : mst_tokenizer_make(&files, out);
}

void mst_tokenizer_close(mst_tokenizer *t) {
    if (!t) return;
    mst_tokenizer_files_free(&t->files);
    t->type->free(t);
}

/* ---- encoding ---- */

static mst_status check_text(const char *text, size_t size) {
    if (size > MST_TOKENIZER_MOST_BYTES)
        return MST_FAIL(MST_INVALID, "tokenizer: a text has %zu bytes, at most 2^30 are possible: cut it", size);
    for (size_t at = 0, n; at < size; at += n)
        if (!(n = mst_utf8_size(text + at, size - at)))
            return MST_FAIL(
                MST_INVALID,
                "tokenizer: byte %zu of the text, 0x%02x, is not UTF-8: convert it, as by iconv -f latin1 -t "
                "utf-8",
                at, (unsigned)(unsigned char)text[at]);
    return MST_OK;
}

mst_status mst_tokenizer_encode(const mst_tokenizer *t, const char *text, size_t size,
                                const mst_encode_options *options, mst_token_ids *ids) {
    static const mst_encode_options defaults;
    if (MST_IS_NULL(t) || (size && MST_IS_NULL(text)) || MST_IS_NULL(ids)) return MST_INVALID;
    const int64_t before = ids->count;
    MST_TRY(check_text(text, size));
    const mst_status status = t->type->encode(t, text, size, options ? options : &defaults, ids);
    if (status) ids->count = before;
    return status ? mst_error_prefix("tokenizer '%s'", t->files.path) : MST_OK;
}

/* ---- decoding ---- */

/* TEXT does not begin with a complete character. Returns the number of bytes, at least 1, of the longest valid
 * beginning of a character there. */
static size_t broken_size(const char *text, size_t size) {
    const unsigned char *c = (const unsigned char *)text;
    const size_t due = c[0] >= 0xf0 && c[0] < 0xf5   ? 4
                       : (c[0] & 0xf0) == 0xe0       ? 3
                       : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                                                     : 1;
    if (due == 1 || size < 2) return 1;
    const unsigned least = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
    const unsigned most = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;
    if (c[1] < least || c[1] > most) return 1;
    size_t n = 2;
    while (n < due && n < size && (c[n] & 0xc0) == 0x80) n++;
    return n;
}

/* Copies TEXT to DST with U+FFFD in place of bytes that are not UTF-8. Returns the number of bytes of the result. DST
 * must have room for them; NULL: nothing is written. */
static size_t replace_broken(const char *text, size_t size, char *dst) {
    size_t length = 0;
    for (size_t at = 0; at < size;) {
        const size_t n = mst_utf8_size(text + at, size - at), written = n ? n : 3;
        if (dst) memcpy(dst + length, n ? text + at : "\xef\xbf\xbd", written);
        length += written;
        at += n ? n : broken_size(text + at, size - at);
    }
    return length;
}

mst_status mst_tokenizer_decode(const mst_tokenizer *t, const int32_t *ids, int64_t n,
                                const mst_decode_options *options, char **text, size_t *size) {
    static const mst_decode_options defaults;
    if (MST_IS_NULL(t) || (n > 0 && MST_IS_NULL(ids)) || MST_IS_NULL(text) || MST_IS_NULL(size)) return MST_INVALID;
    const int64_t num_ids = t->type->num_ids(t);
    *text = NULL;
    if (!options) options = &defaults;
    for (int64_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= num_ids || !t->type->token(t, ids[i]))
            return MST_FAIL(MST_INVALID, "tokenizer '%s': there is no token of id %d, which is number %lld here",
                            t->files.path, ids[i], (long long)i);
    char *raw, *whole;
    size_t raw_size;
    MST_TRY(t->type->decode(t, ids, n, options, &raw, &raw_size));
    *size = options->raw_bytes ? raw_size : replace_broken(raw, raw_size, NULL);
    whole = malloc(*size + 1);
    if (whole && options->raw_bytes) memcpy(whole, raw, raw_size);
    if (whole && !options->raw_bytes) replace_broken(raw, raw_size, whole);
    if (whole) whole[*size] = '\0';
    free(raw);
    *text = whole;
    return whole ? MST_OK : MST_NO_MEMORY("for a text");
}

/* ---- tokens ---- */

int64_t mst_tokenizer_num_ids(const mst_tokenizer *t) {
    return MST_IS_NULL(t) ? 0 : t->type->num_ids(t);
}

const char *mst_tokenizer_token(const mst_tokenizer *t, int64_t id) {
    if (MST_IS_NULL(t)) return NULL;
    return id >= 0 && id < t->type->num_ids(t) ? t->type->token(t, id) : NULL;
}

int64_t mst_tokenizer_find(const mst_tokenizer *t, const char *token) {
    return MST_IS_NULL(t) || MST_IS_NULL(token) ? -1 : t->type->find(t, token);
}

int64_t mst_tokenizer_special(const mst_tokenizer *t, mst_special_token token) {
    return MST_IS_NULL(t) || (int)token < 0 || token >= MST_NUM_SPECIAL ? -1 : t->special[token];
}
