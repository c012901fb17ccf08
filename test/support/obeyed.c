#include "support/obeyed.h"

#include <stdint.h>

/* NOLINTBEGIN(misc-misleading-bidirectional): such names are what the tests are about */
const char *const obeyed_names[] = {
    "a\033[31mb",    "a\302\23331mb", "a\u202eb",         "a\u2066b", "a\nb",
    "a\rb",          "a\u2028b",      "a\u2029b",         "a\x7f",    "a\u061c\u200e\u200f",
    "a\x9b\xe2\x80", "a\xc3",         "\302\205\302\220", 0};
/* NOLINTEND(misc-misleading-bidirectional) */

/* The number of the character at TEXT of UTF-8, and its bytes; -1: none begins there. */
static int32_t character_at(const unsigned char *c, size_t left, size_t *size) {
    *size = c[0] < 0x80 ? 1 : c[0] < 0xc0 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf8 ? 4 : 0;
    if (!*size || *size > left) return -1;
    int32_t number = *size == 1 ? c[0] : c[0] & (0x7f >> *size);
    for (size_t i = 1; i < *size; i++) {
        if ((c[i] & 0xc0) != 0x80) return -1;
        number = number << 6 | (c[i] & 0x3f);
    }
    return number;
}

bool has_obeyed(const char *text, size_t size, bool lines) {
    for (size_t i = 0, bytes; i < size; i += bytes) {
        const int32_t c = character_at((const unsigned char *)text + i, size - i, &bytes);
        if (c < ' ' && !(lines && c == '\n')) return true;
        if ((c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
            (c >= 0x2066 && c <= 0x2069))
            return true;
    }
    return false;
}
