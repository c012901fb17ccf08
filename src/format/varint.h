/** Variable-length integers: seven bits per byte, the lowest bits first. The highest bit is set in all bytes but the
 *  last. */
#ifndef MUSTER_FORMAT_VARINT_H
#define MUSTER_FORMAT_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MST_VARINT_MOST = 10 };

/** Reads a varint at *AT and moves *AT past it. False if the bytes end within it, or if it has more than 64 bits. */
static inline bool mst_varint_read(const uint8_t **at, const uint8_t *end, uint64_t *out) {
    *out = 0;
    for (int shift = 0; shift < 64 && *at < end; shift += 7) {
        const uint8_t byte = *(*at)++;
        if (shift == 63 && byte > 1) return false;
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

/** Writes VALUE at DST. Returns the number of bytes, at most MST_VARINT_MOST. */
static inline size_t mst_varint_write(uint8_t *dst, uint64_t value) {
    size_t size = 0;
    for (; value > 127; value >>= 7) dst[size++] = (uint8_t)(value | 128);
    dst[size++] = (uint8_t)value;
    return size;
}

#endif
