#include "tokenizer/byte_level.h"

/* The bytes that do not stand for themselves are 0 to 32, 127 to 160, and 173. In this order, U+0100 and the following
 * characters stand for them. */
enum { FIRST = 256, BEFORE_DELETE = 33, BEFORE_HYPHEN = 33 + 34, NUM_OTHERS = 33 + 34 + 1, DELETE = 127, HYPHEN = 173 };

static bool is_itself(unsigned byte) {
    return (byte > ' ' && byte < DELETE) || (byte > 160 && byte != HYPHEN);
}

static unsigned character_of(unsigned byte) {
    if (is_itself(byte)) return byte;
    if (byte <= ' ') return FIRST + byte;
    return byte == HYPHEN ? FIRST + BEFORE_HYPHEN : FIRST + BEFORE_DELETE + byte - DELETE;
}

/* The byte for which CHARACTER stands; -1: none. */
static int byte_of(unsigned character) {
    if (character < FIRST) return is_itself(character) ? (int)character : -1;
    const unsigned i = character - FIRST;
    if (i >= NUM_OTHERS) return -1;
    return i < BEFORE_DELETE ? (int)i : i < BEFORE_HYPHEN ? (int)(i - BEFORE_DELETE + DELETE) : HYPHEN;
}

size_t mst_byte_level_write(const uint8_t *bytes, size_t size, char *dst) {
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned c = character_of(bytes[i]);
        if (c >= 0x80) dst[n++] = (char)(0xc0 | c >> 6);
        dst[n++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
    }
    return n;
}

bool mst_byte_level_read(const char *text, size_t size, char *dst, size_t *n) {
    *n = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned c = (unsigned char)text[i];
        if (c >= 0xe0) return false;
        if (c >= 0xc0 && i + 1 < size) c = (c & 0x1f) << 6 | ((unsigned char)text[++i] & 0x3f);
        const int byte = byte_of(c);
        if (byte < 0) return false;
        dst[(*n)++] = (char)byte;
    }
    return true;
}
