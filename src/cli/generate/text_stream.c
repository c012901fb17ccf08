#include "cli/generate/text_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "tokenizer/token_ids.h"

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

/* Writes all of the text that is kept, but for the beginning of a character unless ALL. */
static void put_kept(text_stream *s, bool all) {
    const size_t size = all ? s->num_kept : whole_characters(s->kept, s->num_kept);
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)s->kept[i];
        const bool is_control = (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
        putchar(is_control && s->is_terminal ? '?' : c);
    }
    memmove(s->kept, s->kept + size, s->num_kept - size);
    s->num_kept -= size;
    fflush(stdout);
}

static mst_status keep_text(text_stream *s, const char *text, size_t size) {
    char *grown = realloc(s->kept, s->num_kept + size + 1);
    if (!grown) return MST_NO_MEMORY("for a text");
    s->kept = grown;
    memcpy(s->kept + s->num_kept, text, size);
    s->num_kept += size;
    return MST_OK;
}

/* Keeps what the ids from FIRST on add to the text. What an id stands for may depend on those before it, of which a few
 * are enough. */
static mst_status keep_ids(text_stream *s, int64_t first) {
    enum { BEFORE = 16 };
    const int64_t from = first > BEFORE ? first - BEFORE : 0;
    char *before = NULL, *text = NULL;
    size_t old = 0, size = 0;
    mst_status status = decode_ids(s->tokenizer, s->ids.id + from, first - from, &before, &old);
    if (!status) status = decode_ids(s->tokenizer, s->ids.id + from, s->ids.count - from, &text, &size);
    if (!status && size > old) status = keep_text(s, text + old, size - old);
    free(before);
    free(text);
    return status;
}

mst_status text_stream_begin(text_stream *s, const mst_token_ids *prompt) {
    s->is_terminal = isatty(STDOUT_FILENO);
    MST_TRY(mst_token_ids_append(&s->ids, prompt->id, prompt->count));
    return keep_ids(s, 0);
}

mst_status text_stream_add(text_stream *s, int32_t token) {
    MST_TRY(mst_token_ids_append(&s->ids, &token, 1));
    MST_TRY(keep_ids(s, s->ids.count - 1));
    s->has_begun = true;
    put_kept(s, false);
    return MST_OK;
}

void text_stream_end(text_stream *s) {
    if (!s->has_begun) return;
    put_kept(s, true);
    putchar('\n');
    fflush(stdout);
}

mst_status text_stream_text(const text_stream *s, const mst_token_ids *prompt, const mst_token_ids *out, char **text) {
    mst_token_ids all = {.count = 0};
    size_t size, before;
    char *first = NULL, *whole = NULL;
    mst_status status = mst_token_ids_append(&all, prompt->id, prompt->count);
    if (!status) status = mst_token_ids_append(&all, out->id, out->count);
    if (!status) status = decode_ids(s->tokenizer, prompt->id, prompt->count, &first, &before);
    if (!status) status = decode_ids(s->tokenizer, all.id, all.count, &whole, &size);
    if (!status) {
        if (before > size) before = size;
        memmove(whole, whole + before, size - before + 1);
        *text = whole;
        whole = NULL;
    }
    free(first);
    free(whole);
    free(all.id);
    return status;
}

void text_stream_free(text_stream *s) {
    free(s->ids.id);
    free(s->kept);
    s->kept = NULL;
    s->ids = (mst_token_ids){.count = 0};
}
