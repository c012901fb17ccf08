#include "cli/generate/text_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"

/* The text of N ids; of bytes themselves if there is no tokenizer. */
static mst_status decode_ids(const mst_tokenizer *tokenizer, const int32_t *ids, int64_t n, char **text, size_t *size) {
    const mst_decode_options raw = {.raw_bytes = true};
    if (tokenizer) return mst_tokenizer_decode(tokenizer, ids, n, &raw, text, size);
    if (!(*text = malloc((size_t)n + 1))) return MST_NO_MEMORY("for a text");
    for (int64_t i = 0; i < n; i++) (*text)[i] = (char)ids[i];
    (*text)[n] = '\0';
    *size = (size_t)n;
    return MST_OK;
}

/* SIZE less the bytes at the end of TEXT that begin a character of UTF-8 and do not end it. */
static size_t whole_characters(const char *text, size_t size) {
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        const unsigned char c = (unsigned char)text[size - back];
        if (c < 0x80) return size;
        if (c < 0xc0) continue;
        const size_t needed = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        return needed > back ? size - back : size;
    }
    return size;
}

static void put_text(const text_stream *s, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool is_control = (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
        putchar(is_control && s->is_terminal ? '?' : c);
    }
    fflush(stdout);
}

/* Writes what is new in the text of all ids. ALL: also the beginning of a character. */
static mst_status write_new(text_stream *s, bool all) {
    char *text;
    size_t size;
    MST_TRY(decode_ids(s->tokenizer, s->ids.id, s->ids.count, &text, &size));
    const size_t end = all ? size : whole_characters(text, size);
    if (end > s->written) {
        put_text(s, text + s->written, end - s->written);
        s->written = end;
    }
    free(text);
    return MST_OK;
}

static mst_status add_ids(text_stream *s, const int32_t *id, int64_t n) {
    if (s->ids.count + n > s->ids.capacity) {
        const int64_t capacity = 2 * (s->ids.count + n);
        int32_t *grown = realloc(s->ids.id, (size_t)capacity * sizeof *grown);
        if (!grown) return MST_NO_MEMORY("for a text");
        s->ids.id = grown;
        s->ids.capacity = capacity;
    }
    memcpy(s->ids.id + s->ids.count, id, (size_t)n * sizeof *id);
    s->ids.count += n;
    return MST_OK;
}

mst_status text_stream_begin(text_stream *s, const mst_token_ids *prompt) {
    s->is_terminal = isatty(STDOUT_FILENO);
    return add_ids(s, prompt->id, prompt->count);
}

mst_status text_stream_add(text_stream *s, int32_t token) {
    MST_TRY(add_ids(s, &token, 1));
    return write_new(s, false);
}

void text_stream_end(text_stream *s) {
    if (!s->written) return;
    (void)!write_new(s, true);
    putchar('\n');
    fflush(stdout);
}

mst_status text_stream_text(const text_stream *s, const mst_token_ids *prompt, const mst_token_ids *out, char **text) {
    text_stream all = {.tokenizer = s->tokenizer};
    size_t size, before;
    char *first = NULL, *whole = NULL;
    mst_status status = add_ids(&all, prompt->id, prompt->count);
    if (!status) status = add_ids(&all, out->id, out->count);
    if (!status) status = decode_ids(s->tokenizer, prompt->id, prompt->count, &first, &before);
    if (!status) status = decode_ids(s->tokenizer, all.ids.id, all.ids.count, &whole, &size);
    if (!status) {
        if (before > size) before = size;
        memmove(whole, whole + before, size - before + 1);
        *text = whole;
        whole = NULL;
    }
    free(first);
    free(whole);
    text_stream_free(&all);
    return status;
}

void text_stream_free(text_stream *s) {
    free(s->ids.id);
    s->ids = (mst_token_ids){.count = 0};
}
