/* Translates patterns from the notation of Oniguruma to the notation of PCRE2. In Oniguruma, \s is the white space of
 * Unicode; in PCRE2 it also has U+180E. All other notation that the two understand differently is refused. */
#include "tokenizer/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

static const char white[] = "p{White_Space}", digit[] = "p{Nd}";

enum { LONGEST = sizeof white + 1 }; /* bytes that one byte can become */

/* Writes the translation of the escape \C to DST, without the backslash, and its number of bytes to *N. 0: this escape
 * is not supported. */
static void translate_escape(char c, char *dst, size_t *n) {
    const char *word = c == 's' || c == 'S' ? white : c == 'd' || c == 'D' ? digit : NULL;
    *n = 0;
    if (word) {
        *n = strlen(word);
        memcpy(dst, word, *n);
        if (c == 'S' || c == 'D') dst[0] = 'P';
    } else if (strchr("rntfvpP", c) || !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) {
        dst[(*n)++] = c; /* the same in both, such as \p{L} and \. */
    }
}

/* Whether text[AT + 1] belongs to the property that begins at FIRST: \p{L}, or \pL. */
static bool property_goes_on(const char *text, size_t size, size_t first, size_t at) {
    if ((text[first + 1] != 'p' && text[first + 1] != 'P') || at + 1 >= size) return false;
    return at == first + 1 || (text[first + 2] == '{' && text[at] != '}');
}

/* Whether Oniguruma and PCRE2 understand the character at AT, outside of a character class, in the same way. */
static bool is_alike(const char *text, size_t size, size_t at) {
    const size_t left = size - at;
    switch (text[at]) {
        case '(':
            if (left < 2 || text[at + 1] != '?') return true;
            return left > 2 &&
                   (strchr(":=!>", text[at + 2]) != NULL || (left > 3 && memcmp(text + at + 2, "i:", 2) == 0));
        case '}': return left < 2 || text[at + 1] != '+'; /* {1,3}+ repeats the repetition in Oniguruma */
        case '^':
        case '$':
        case '\0': return false;
        default: return true;
    }
}

mst_status mst_pattern_translate(const char *text, size_t size, char **out) {
    bool in_class = false;
    size_t length = 0, n;
    *out = NULL;
    if (size > (1 << 20)) return MST_FAIL(MST_UNIMPLEMENTED, "the pattern has more than 2^20 bytes");
    char *dst = malloc(size * LONGEST + 1);
    if (!dst) return MST_NO_MEMORY("for a pattern");
    for (size_t at = 0; at < size; at++) {
        const char c = text[at];
        const size_t first = at;
        bool taken = true;
        dst[length++] = c;
        if (c == '\\') {
            n = 0;
            if (at + 1 < size) translate_escape(text[++at], dst + length, &n);
            taken = n > 0;
            length += n;
            while (taken && property_goes_on(text, size, first, at)) dst[length++] = text[++at];
        } else if (in_class) {
            taken = c && c != '[' && !(c == '&' && at + 1 < size && text[at + 1] == '&');
            in_class = c != ']';
        } else if (c == '[') {
            in_class = true;
            if (at + 1 < size && text[at + 1] == '^') dst[length++] = text[++at];
            taken = at + 1 < size && text[at + 1] != ']';
        } else {
            taken = is_alike(text, size, at);
        }
        if (taken) continue;
        free(dst);
        return MST_FAIL(MST_UNIMPLEMENTED, "the pattern has '%.*s' before byte %zu, which is not taken",
                        (int)(at + 1 - first), text + first, at + 1);
    }
    dst[length] = '\0';
    *out = dst;
    return MST_OK;
}
