#include "format/byte_order.h"

#include <endian.h>
#include <string.h>

void mst_swap_big_endian(void *data, int64_t count, size_t size) {
    char *bytes = data;
    for (int64_t i = 0; size == 4 && i < count; i++) {
        uint32_t word;
        memcpy(&word, bytes + 4 * i, sizeof word);
        word = be32toh(word);
        memcpy(bytes + 4 * i, &word, sizeof word);
    }
    for (int64_t i = 0; size == 8 && i < count; i++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * i, sizeof word);
        word = be64toh(word);
        memcpy(bytes + 8 * i, &word, sizeof word);
    }
}
