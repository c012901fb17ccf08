#include "tokenizer/white_space.h"

#include <string.h>

/* White space beyond ASCII: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000. */
static const char *const wide[] = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
                                   "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
                                   "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
                                   "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
enum { NUM_WIDE = sizeof wide / sizeof *wide };

/* The number of bytes of the first character of TEXT, of SIZE > 0 bytes, if it is white space; else 0. */
static size_t one(const char *text, size_t size) {
    if (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r')) return 1;
    for (int i = 0; i < NUM_WIDE; i++) {
        const size_t n = strlen(wide[i]);
        if (n <= size && memcmp(text, wide[i], n) == 0) return n;
    }
    return 0;
}

size_t mst_white_space_before(const char *text, size_t size) {
    size_t at = 0;
    for (size_t n; at < size && (n = one(text + at, size - at)); at += n) continue;
    return at;
}

size_t mst_white_space_behind(const char *text, size_t size) {
    size_t first = size;
    while (first > 0) {
        size_t at = first - 1;
        while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) at--;
        if (!one(text + at, first - at)) break;
        first = at;
    }
    return size - first;
}
