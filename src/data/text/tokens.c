#include "data/text/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Bytes of the character of UTF-8 at TEXT, of which SIZE > 0 are left; 0: it is none. */
static int64_t character_size(const char *text, int64_t size) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)text;
    const int64_t n = byte[0] < 0x80 ? 1 : byte[0] < 0xC0 ? 0 : byte[0] < 0xE0 ? 2 : byte[0] < 0xF0 ? 3 : 4;
    if (n < 2) return n;
    if (n > size || byte[0] > 0xF4) return 0;
    uint32_t character = byte[0] & (0xFFu >> (n + 1));
    for (int64_t i = 1; i < n; i++) {
        if ((byte[i] & 0xC0) != 0x80) return 0;
        character = character << 6 | (byte[i] & 0x3F);
    }
    const bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
    return character < least[n] || character > 0x10FFFF || is_surrogate ? 0 : n;
}

mst_status mst_text_check(mst_string text) {
    const int64_t size = (int64_t)text.length;
    for (int64_t at = 0; at < size;) {
        const int64_t n = text.data[at] ? character_size(text.data + at, size - at) : 0;
        if (!n)
            return MST_FAIL(MST_INVALID, "byte %lld, 0x%02x, is not UTF-8: convert it, as by iconv -f latin1 -t utf-8",
                            (long long)at, (unsigned)(unsigned char)text.data[at]);
        at += n;
    }
    return MST_OK;
}

static bool is_punctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

static bool is_white(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

mst_status mst_tokens_begin(mst_tokens *t, mst_string text) {
    const bool lower = t->standardize == MST_TEXT_LOWER_AND_STRIP_PUNCTUATION || t->standardize == MST_TEXT_LOWER;
    const bool strip =
        t->standardize == MST_TEXT_LOWER_AND_STRIP_PUNCTUATION || t->standardize == MST_TEXT_STRIP_PUNCTUATION;
    t->size = t->at = 0;
    MST_TRY(mst_text_check(text));
    MST_TRY(mst_grow(&t->text, 1, (int64_t)text.length + 1, &t->capacity));
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.data[i];
        if (!strip || !is_punctuation(c)) t->text[t->size++] = lower && c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    return MST_OK;
}

bool mst_tokens_next(mst_tokens *t, mst_string *token) {
    const bool words = t->split == MST_TEXT_SPLIT_WHITESPACE;
    while (words && t->at < t->size && is_white(t->text[t->at])) t->at++;
    if (t->at >= t->size) return false;
    const int64_t first = t->at;
    if (words)
        while (t->at < t->size && !is_white(t->text[t->at])) t->at++;
    else
        t->at += character_size(t->text + first, t->size - first);
    *token = (mst_string){t->text + first, (size_t)(t->at - first)};
    return true;
}

void mst_tokens_free(mst_tokens *t) {
    free(t->text);
    t->text = NULL;
}
