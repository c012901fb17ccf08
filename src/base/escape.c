#include "base/escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Control characters above ASCII, which terminals obey too. */
static bool is_upper_control(const unsigned char *c) {
    return c[0] == 0xc2 && c[1] < 0xa0;
}

size_t mst_escape(const char *data, size_t length, char text[MST_ESCAPE_TEXT]) {
    const unsigned char *bytes = (const unsigned char *)data, c = bytes[0];
    const size_t found = mst_utf8_size(data, length), size = found == 2 && is_upper_control(bytes) ? 0 : found;
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
