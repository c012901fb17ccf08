#include "tensor/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

const char *const mst_text_standardize_names[] = {"lower_and_strip_punctuation", "lower", "strip_punctuation", "none",
                                                  NULL};
const char *const mst_text_split_names[] = {"whitespace", "character", NULL};

static bool is_utf16(mst_string text) {
    return text.length >= 2 && (memcmp(text.data, "\xff\xfe", 2) == 0 || memcmp(text.data, "\xfe\xff", 2) == 0);
}

mst_status mst_text_check(mst_string text) {
    if (is_utf16(text))
        return MST_FAIL(MST_INVALID, "is UTF-16 by its first two bytes: convert it, as by iconv -f utf-16 -t utf-8");
    for (size_t at = 0; at < text.length;) {
        if (!text.data[at])
            return MST_FAIL(MST_INVALID, "byte %zu is 0, which no text has: is it a text? take the byte out", at);
        const size_t n = mst_utf8_size(text.data + at, text.length - at);
        if (!n)
            return MST_FAIL(MST_INVALID, "byte %zu, 0x%02x, is not UTF-8: convert it, as by iconv -f latin1 -t utf-8",
                            at, (unsigned)(unsigned char)text.data[at]);
        at += n;
    }
    return MST_OK;
}

static bool is_punctuation(char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

mst_status mst_tokens_begin(mst_tokens *t, mst_string text) {
    const bool lower = t->standardize == MST_TEXT_LOWER_AND_STRIP_PUNCTUATION || t->standardize == MST_TEXT_LOWER;
    const bool strip =
        t->standardize == MST_TEXT_LOWER_AND_STRIP_PUNCTUATION || t->standardize == MST_TEXT_STRIP_PUNCTUATION;
    t->size = t->at = 0;
    MST_TRY(mst_grow(&t->text, 1, (int64_t)text.length + 1, &t->capacity));
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.data[i];
        if (!strip || !is_punctuation(c)) t->text[t->size++] = lower && c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    return MST_OK;
}

bool mst_tokens_next(mst_tokens *t, mst_string *token) {
    const bool words = t->split == MST_TEXT_SPLIT_WHITESPACE;
    while (words && t->at < t->size && mst_text_is_white(t->text[t->at])) t->at++;
    if (t->at >= t->size) return false;
    const int64_t first = t->at;
    if (words)
        while (t->at < t->size && !mst_text_is_white(t->text[t->at])) t->at++;
    else {
        const size_t size = mst_utf8_size(t->text + first, (size_t)(t->size - first));
        t->at += size ? (int64_t)size : 1;
    }
    *token = (mst_string){t->text + first, (size_t)(t->at - first)};
    return true;
}

void mst_tokens_free(mst_tokens *t) {
    free(t->text);
    t->text = NULL;
}
