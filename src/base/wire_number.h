/** Numbers in messages: little-endian, with a given number of bytes. */
#ifndef MUSTER_BASE_WIRE_NUMBER_H
#define MUSTER_BASE_WIRE_NUMBER_H

#include <stdint.h>

/** Writes the low BYTES bytes of VALUE at AT; returns the place after them. */
static inline unsigned char *mst_put_number(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *at++ = (unsigned char)(value >> 8 * i);
    return at;
}

/** Reads a number of BYTES bytes at *AT, and moves *AT after them. */
static inline uint64_t mst_get_number(const unsigned char **at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t) * (*at)++ << 8 * i;
    return value;
}

#endif
