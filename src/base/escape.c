#include "base/escape.h"

#include <stdio.h>
#include <string.h>

/* Bytes of the character of UTF-8 that begins at C and has more than one byte; 0 where there is none. Not in its
 * shortest form, or half of a pair of UTF-16, it is none (RFC 3629). */
static size_t character(const unsigned char *c, size_t length) {
    const size_t size = c[0] >= 0xc2 && c[0] < 0xe0   ? 2
                        : (c[0] & 0xf0) == 0xe0       ? 3
                        : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                      : 0;
    if (size == 0 || size > length) return 0;
    for (size_t i = 1; i < size; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0)) return 0;
    if (c[0] == 0xc2 && c[1] < 0xa0) return 0; /* control characters, which terminals obey */
    if ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90)) return 0;
    return size;
}

size_t mst_escape(const char *data, size_t length, char text[MST_ESCAPE_TEXT]) {
    const unsigned char *bytes = (const unsigned char *)data, c = bytes[0];
    const size_t size = c < 0x80 ? 1 : character(bytes, length);
    if (c == '\\' || c == '\'')
        snprintf(text, MST_ESCAPE_TEXT, "\\%c", c);
    else if (c == '\n' || c == '\t' || c == '\r')
        snprintf(text, MST_ESCAPE_TEXT, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    else if (size == 0 || c < ' ' || c == 0x7f)
        snprintf(text, MST_ESCAPE_TEXT, "\\x%02x", c);
    else
        memcpy(text, data, size), text[size] = '\0';
    return size ? size : 1;
}

void mst_make_plain(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

const char *mst_escape_line(const char *data, size_t length, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    while (length && used + MST_ESCAPE_TEXT + sizeof "..." <= size) {
        char one[MST_ESCAPE_TEXT];
        const size_t taken = mst_escape(data, length, one);
        const char *shown = *data == '\'' || *data == '\\' ? one + 1 : one;
        const size_t bytes = strlen(shown);
        memcpy(text + used, shown, bytes + 1);
        used += bytes;
        data += taken;
        length -= taken;
    }
    snprintf(text + used, size - used, "%s", length ? "..." : "");
    return text;
}
