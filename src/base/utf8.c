#include "base/utf8.h"

#include <string.h>

size_t mst_utf8_size(const char *data, size_t length) {
    const unsigned char *c = (const unsigned char *)data;
    const size_t size = c[0] < 0x80                   ? 1
                        : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                        : (c[0] & 0xf0) == 0xe0       ? 3
                        : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                      : 0;
    if (size == 0 || size > length) return 0;
    for (size_t i = 1; i < size; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    /* longer than the shortest form; half of a UTF-16 pair; above U+10FFFF */
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0)) return 0;
    if ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90)) return 0;
    return size;
}

size_t mst_utf8_mark_size(const char *data, size_t length) {
    static const char mark[] = "\xef\xbb\xbf";
    const size_t size = sizeof mark - 1;
    return length >= size && memcmp(data, mark, size) == 0 ? size : 0;
}
