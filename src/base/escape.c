#include "base/escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Characters that control a terminal or an editor: U+0000 to U+001F, U+007F to U+009F; the line and paragraph
 * separators U+2028 and U+2029; and those that change the direction of text, so that a name looks like another one:
 * U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 (Unicode's Bidi_Control). */
static bool is_obeyed(const char *data, size_t size) {
    const unsigned char *c = (const unsigned char *)data;
    if (size == 1) return c[0] < ' ' || c[0] == 0x7f;
    if (size == 2) return (c[0] == 0xc2 && c[1] < 0xa0) || (c[0] == 0xd8 && c[1] == 0x9c);
    if (size != 3 || c[0] != 0xe2) return false;
    return (c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae))) ||
           (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

size_t mst_obeyed_size(const char *data, size_t length) {
    const size_t size = mst_utf8_size(data, length);
    return is_obeyed(data, size) ? size : 0;
}

/* The number of bytes of the character at DATA; 0 if there is no valid character, or one that may not be printed. */
static size_t shown_size(const char *data, size_t length) {
    const size_t size = mst_utf8_size(data, length);
    return is_obeyed(data, size) ? 0 : size;
}

size_t mst_escape(const char *data, size_t length, char text[MST_ESCAPE_TEXT]) {
    const unsigned char c = (unsigned char)data[0];
    const size_t size = shown_size(data, length);
    if (c == '\\' || c == '\'')
        snprintf(text, MST_ESCAPE_TEXT, "\\%c", c);
    else if (c == '\n' || c == '\t' || c == '\r')
        snprintf(text, MST_ESCAPE_TEXT, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    else if (size == 0)
        snprintf(text, MST_ESCAPE_TEXT, "\\x%02x", c);
    else
        memcpy(text, data, size), text[size] = '\0';
    return size ? size : 1;
}

/* Writes to TEXT only if there is something to replace: TEXT may be a constant, such as protobuf's empty string. */
void mst_make_plain(char *text) {
    char *to = text;
    for (size_t left = strlen(text), taken; left; text += taken, left -= taken) {
        const size_t found = mst_utf8_size(text, left), size = shown_size(text, left);
        taken = found ? found : 1;
        if (!size)
            *to = '?';
        else if (to != text)
            memmove(to, text, size);
        to += size ? size : 1;
    }
    if (to != text) *to = '\0';
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
