/** f16: IEEE 754's numbers of 16 bits, with 5 bits of exponent and 10 of fraction. */
#ifndef MUSTER_BASE_F16_H
#define MUSTER_BASE_F16_H

#include <stdint.h>
#include <string.h>

/** The value of X, exactly: f32 has every f16 number. */
static inline float mst_f16_value(uint16_t x) {
    enum { HALF_BIAS = 15, BIAS = 127, SPECIAL = 31 };
    const uint32_t sign = (uint32_t)(x & 0x8000u) << 16, exponent = x >> 10 & SPECIAL, fraction = x & 0x3ffu;
    if (exponent == 0) return (sign ? -0x1p-24F : 0x1p-24F) * (float)fraction; /* below 2^-14 */
    const uint32_t bits = sign | (exponent == SPECIAL ? 0xffu : exponent + BIAS - HALF_BIAS) << 23 | fraction << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
