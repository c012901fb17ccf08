/** bf16: the upper half of an f32. */
#ifndef MUSTER_BASE_BF16_H
#define MUSTER_BASE_BF16_H

#include <stdint.h>
#include <string.h>

/** The bf16 nearest to X; of two equally near ones the even one. NaN stays NaN. */
static inline uint16_t mst_bf16_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* a NaN: one bit is set, since without the lower half it might be an infinity */
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float mst_bf16_value(uint16_t x) {
    const uint32_t bits = (uint32_t)x << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
