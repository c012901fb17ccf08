/** Conversions from double to integer types that are defined for every value, unlike a C cast. */
#ifndef MUSTER_BASE_SATURATE_H
#define MUSTER_BASE_SATURATE_H

#include <math.h>
#include <stdint.h>

/** X rounded towards zero, then limited to the range of the type; 0 for NaN. */
static inline int32_t mst_saturate_i32(double x) {
    if (isnan(x)) return 0;
    return x <= -0x1p31 ? INT32_MIN : x >= 0x1p31 ? INT32_MAX : (int32_t)x;
}

static inline int64_t mst_saturate_i64(double x) {
    if (isnan(x)) return 0;
    return x <= -0x1p63 ? INT64_MIN : x >= 0x1p63 ? INT64_MAX : (int64_t)x;
}

static inline uint8_t mst_saturate_u8(double x) {
    if (isnan(x)) return 0;
    return x <= 0 ? 0 : x >= 255 ? UINT8_MAX : (uint8_t)x;
}

#endif
