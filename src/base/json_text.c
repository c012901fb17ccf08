#include "base/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

json_t *mst_json_read(const char *text, size_t size, json_error_t *error) {
    return json_loadb(text, size, JSON_REJECT_DUPLICATES, error);
}

json_t *mst_json_read_string(const char *text, json_error_t *error) {
    return json_loads(text, JSON_REJECT_DUPLICATES, error);
}

json_t *mst_json_read_value(const char *text, json_error_t *error) {
    return json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, error);
}

/* The code point of a character of SIZE bytes, at most three. */
static unsigned code_of(const char *data, size_t size) {
    const unsigned char *c = (const unsigned char *)data;
    if (size == 1) return c[0];
    if (size == 2) return (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
    return (c[0] & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
}

/* Characters that a terminal obeys (base/escape.h) occur only in strings of JSON, and each has at most three bytes. */
char *mst_json_line(const json_t *value, size_t flags) {
    enum { CODE = sizeof "\\u009b" - 1 };
    char *text = value ? json_dumps(value, flags) : NULL;
    size_t left = text ? strlen(text) : 0, found = 0;
    for (size_t i = 0; i < left; i++) found += mst_obeyed_size(text + i, left - i) > 0;
    if (!found) return text;
    char *line = malloc(left + found * CODE + 1), *to = line;
    for (const char *from = text; line && left;) {
        const size_t size = mst_obeyed_size(from, left), taken = size ? size : 1;
        if (size)
            to += sprintf(to, "\\u%04x", code_of(from, size));
        else
            *to++ = *from;
        from += taken;
        left -= taken;
    }
    if (line) *to = '\0';
    free(text);
    return line;
}
