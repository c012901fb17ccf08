/* The interpreter of StableHLO (support/hlo_interpreter.h): blocks of elements, which are loaded into one of four C
 * types, computed, converted and stored. */
#include <math.h>
#include <string.h>

#include "support/hlo_inside.h"

typedef enum storage { FLOAT, DOUBLE, SIGNED, UNSIGNED } storage;

static storage storage_of(hlo_type type) {
    if (type == HLO_F64) return DOUBLE;
    switch (hlo_type_class(type)) {
        case HLO_IS_FLOAT: return FLOAT;
        case HLO_IS_SIGNED: return SIGNED;
        default: return UNSIGNED;
    }
}

float hlo_bf16_value(uint16_t bits) {
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static uint16_t bf16_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u); /* NaN stays one */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* Through the float towards zero whose lowest bit says that something was cut off: so it is rounded once. */
uint16_t hlo_bf16_of(double value) {
    float x = (float)value;
    uint32_t bits;
    if (isnan(value) || (double)x == value || fabs(value) < 0x1p-126) return bf16_of_float(x);
    memcpy(&bits, &x, sizeof bits);
    if (fabs((double)x) > fabs(value)) bits--;
    bits |= 1;
    memcpy(&x, &bits, sizeof x);
    return bf16_of_float(x);
}

#define LOAD(T, member)                                                          \
    for (int i = 0; i < n; i++) block->member[i] = ((const T *)data)[first + i]; \
    return

void hlo_load(hlo_block *block, hlo_type type, const void *data, int64_t first, int n) {
    switch (type) {
        case HLO_F32: memcpy(block->f32, (const float *)data + first, (size_t)n * sizeof(float)); return;
        case HLO_F64: memcpy(block->f64, (const double *)data + first, (size_t)n * sizeof(double)); return;
        case HLO_BF16:
            for (int i = 0; i < n; i++) block->f32[i] = hlo_bf16_value(((const uint16_t *)data)[first + i]);
            return;
        case HLO_I8: LOAD(int8_t, i64); /* NOLINT(bugprone-signed-char-misuse): a number, with its sign */
        case HLO_I16: LOAD(int16_t, i64);
        case HLO_I32: LOAD(int32_t, i64);
        case HLO_I64: LOAD(int64_t, i64);
        case HLO_UI16: LOAD(uint16_t, u64);
        case HLO_UI32: LOAD(uint32_t, u64);
        case HLO_UI64: LOAD(uint64_t, u64);
        case HLO_UI8:
        case HLO_I1: LOAD(uint8_t, u64);
    }
}

#define STORE(T)                                                           \
    for (int i = 0; i < n; i++) ((T *)data)[first + i] = (T)block->u64[i]; \
    return

void hlo_store(const hlo_block *block, hlo_type type, void *data, int64_t first, int n) {
    switch (type) {
        case HLO_F32: memcpy((float *)data + first, block->f32, (size_t)n * sizeof(float)); return;
        case HLO_F64: memcpy((double *)data + first, block->f64, (size_t)n * sizeof(double)); return;
        case HLO_BF16:
            for (int i = 0; i < n; i++) ((uint16_t *)data)[first + i] = bf16_of_float(block->f32[i]);
            return;
        case HLO_I8:
        case HLO_UI8: STORE(uint8_t);
        case HLO_I16:
        case HLO_UI16: STORE(uint16_t);
        case HLO_I32:
        case HLO_UI32: STORE(uint32_t);
        case HLO_I64:
        case HLO_UI64: STORE(uint64_t);
        case HLO_I1:
            for (int i = 0; i < n; i++) ((uint8_t *)data)[first + i] = block->u64[i] & 1;
            return;
    }
}

/* X towards zero, the nearest number of the type where there is none, 0 for NaN */
static int64_t signed_of(double x, int bits) {
    const double limit = ldexp(1, bits - 1);
    if (isnan(x)) return 0;
    if (x >= limit) return (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
    if (x <= -limit) return bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
    return (int64_t)x;
}

static uint64_t unsigned_of(double x, int bits) {
    if (!(x > 0)) return 0;
    if (x >= ldexp(1, bits)) return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return (uint64_t)x;
}

/* A double that rounds to bf16 as the integer of this size does */
static double nearly(uint64_t size) {
    return (double)(size >> 53 && size & 0x7ff ? (size & ~(uint64_t)0x7ff) | 0x800 : size);
}

static float bf16_integer(uint64_t size, bool minus) {
    const double value = nearly(size);
    return hlo_bf16_value(hlo_bf16_of(minus ? -value : value));
}

static void to_float(hlo_block *block, storage from, bool bf16, int n) {
    for (int i = 0; i < n; i++) { /* forward: a float is never behind what it comes from */
        if (from == FLOAT)
            block->f32[i] = bf16 ? hlo_bf16_value(bf16_of_float(block->f32[i])) : block->f32[i];
        else if (from == DOUBLE)
            block->f32[i] = bf16 ? hlo_bf16_value(hlo_bf16_of(block->f64[i])) : (float)block->f64[i];
        else if (from == SIGNED) {
            const int64_t x = block->i64[i];
            block->f32[i] = bf16 ? bf16_integer(x < 0 ? -(uint64_t)x : (uint64_t)x, x < 0) : (float)x;
        } else
            block->f32[i] = bf16 ? bf16_integer(block->u64[i], false) : (float)block->u64[i];
    }
}

static void to_double(hlo_block *block, storage from, int n) {
    for (int i = n - 1; i >= 0; i--) { /* backward, as floats are in the way */
        if (from == FLOAT)
            block->f64[i] = (double)block->f32[i];
        else if (from == SIGNED)
            block->f64[i] = (double)block->i64[i];
        else if (from == UNSIGNED)
            block->f64[i] = (double)block->u64[i];
    }
}

static void float_to_integer(hlo_block *block, storage from, hlo_type to, int n) {
    const int bits = hlo_type_bits(to);
    const bool is_signed = hlo_type_class(to) == HLO_IS_SIGNED;
    for (int i = n - 1; i >= 0; i--) {
        const double x = from == FLOAT ? (double)block->f32[i] : block->f64[i];
        if (to == HLO_I1)
            block->u64[i] = x != 0;
        else if (is_signed)
            block->i64[i] = signed_of(x, bits);
        else
            block->u64[i] = unsigned_of(x, bits);
    }
}

void hlo_convert(hlo_block *block, hlo_type from, hlo_type to, int n) {
    const storage have = storage_of(from);
    if (to == HLO_F32 || to == HLO_BF16)
        to_float(block, have, to == HLO_BF16, n);
    else if (to == HLO_F64)
        to_double(block, have, n);
    else if (have == FLOAT || have == DOUBLE)
        float_to_integer(block, have, to, n);
    else if (to == HLO_I1)
        for (int i = 0; i < n; i++) block->u64[i] = block->u64[i] != 0;
    else { /* to the bits of the type, and from them with its sign */
        uint64_t bits[HLO_BLOCK];
        hlo_store(block, to, bits, 0, n);
        hlo_load(block, to, bits, 0, n);
    }
}

int64_t hlo_read_integer(hlo_type type, const void *data, int64_t i) {
    hlo_block block;
    hlo_load(&block, type, data, i, 1);
    if (hlo_type_class(type) == HLO_IS_UNSIGNED && block.u64[0] > INT64_MAX) return INT64_MAX;
    return block.i64[0];
}

void hlo_unary(hlo_kind kind, hlo_type type, hlo_block *a, int n) {
    switch (storage_of(type)) {
        case FLOAT: hlo_float_unary(kind, a->f32, n); return;
        case DOUBLE: hlo_double_unary(kind, a->f64, n); return;
        default: hlo_integer_unary(kind, type, a, n);
    }
}

void hlo_binary(hlo_kind kind, hlo_type type, hlo_block *a, const hlo_block *b, int n) {
    switch (storage_of(type)) {
        case FLOAT: hlo_float_binary(kind, a->f32, b->f32, n); return;
        case DOUBLE: hlo_double_binary(kind, a->f64, b->f64, n); return;
        default: hlo_integer_binary(kind, type, a, b, n);
    }
}
