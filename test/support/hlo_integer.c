/* Elementwise formulas for integers and truth values. They are computed in 64 bits; storing cuts to the type's. Sums,
 * differences and products are the same for signed and unsigned ones. Of truth values, addition is "or" and
 * multiplication "and". */
#include "support/hlo_inside.h"

static int64_t power_signed(int64_t base, int64_t exponent) {
    uint64_t factor = (uint64_t)base, product = 1;
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    for (; exponent; exponent >>= 1, factor *= factor)
        if (exponent & 1) product *= factor;
    return (int64_t)product;
}

static uint64_t power_unsigned(uint64_t base, uint64_t exponent) {
    uint64_t product = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) product *= base;
    return product;
}

static int64_t divide_signed(int64_t x, int64_t y) {
    return y == 0 ? -1 : y == -1 ? (int64_t) - (uint64_t)x : x / y;
}

static int64_t remainder_signed(int64_t x, int64_t y) {
    return y == 0 ? x : y == -1 ? 0 : x % y;
}

/* The bits of X that its type has */
static uint64_t own_bits(uint64_t x, int bits) {
    return bits == 64 ? x : x & (((uint64_t)1 << bits) - 1);
}

#define EACH_U(expression)                  \
    for (int i = 0; i < n; i++) {           \
        const uint64_t x = a->u64[i];       \
        a->u64[i] = (uint64_t)(expression); \
    }                                       \
    return
#define EACH_S(expression)                 \
    for (int i = 0; i < n; i++) {          \
        const int64_t x = a->i64[i];       \
        a->i64[i] = (int64_t)(expression); \
    }                                      \
    return

void hlo_integer_unary(hlo_kind kind, hlo_type type, hlo_block *a, int n) {
    const int bits = hlo_type_bits(type);
    switch (kind) {
        case HLO_ABS: EACH_S(x < 0 ? -(uint64_t)x : (uint64_t)x);
        case HLO_CLZ: EACH_U(own_bits(x, bits) ? __builtin_clzll(own_bits(x, bits)) - (64 - bits) : bits);
        case HLO_NEGATE: EACH_U(-x);
        case HLO_NOT: EACH_U(~x);
        case HLO_POPCNT: EACH_U(__builtin_popcountll(own_bits(x, bits)));
        case HLO_SIGN: EACH_S((x > 0) - (x < 0));
        default: return; /* the table of ops has no others for integers */
    }
}

#undef EACH_U
#undef EACH_S
#define EACH_U(expression)                           \
    for (int i = 0; i < n; i++) {                    \
        const uint64_t x = a->u64[i], y = b->u64[i]; \
        a->u64[i] = (uint64_t)(expression);          \
    }                                                \
    return
#define EACH_S(expression)                          \
    for (int i = 0; i < n; i++) {                   \
        const int64_t x = a->i64[i], y = b->i64[i]; \
        a->i64[i] = (int64_t)(expression);          \
    }                                               \
    return

static void signed_binary(hlo_kind kind, hlo_block *a, const hlo_block *b, int n) {
    switch (kind) {
        case HLO_DIVIDE: EACH_S(divide_signed(x, y));
        case HLO_MAXIMUM: EACH_S(x > y ? x : y);
        case HLO_MINIMUM: EACH_S(x < y ? x : y);
        case HLO_POWER: EACH_S(power_signed(x, y));
        case HLO_REMAINDER: EACH_S(remainder_signed(x, y));
        default: return; /* the others are below */
    }
}

static void unsigned_binary(hlo_kind kind, hlo_block *a, const hlo_block *b, int n) {
    switch (kind) {
        case HLO_DIVIDE: EACH_U(y ? x / y : UINT64_MAX);
        case HLO_MAXIMUM: EACH_U(x > y ? x : y);
        case HLO_MINIMUM: EACH_U(x < y ? x : y);
        case HLO_POWER: EACH_U(power_unsigned(x, y));
        case HLO_REMAINDER: EACH_U(y ? x % y : x);
        default: return;
    }
}

void hlo_integer_binary(hlo_kind kind, hlo_type type, hlo_block *a, const hlo_block *b, int n) {
    const int bits = hlo_type_bits(type);
    const uint64_t width = (uint64_t)bits; /* shifts by more, or by less than 0, leave nothing */
    const bool truth = type == HLO_I1, is_signed = hlo_type_class(type) == HLO_IS_SIGNED;
    switch (kind) {
        case HLO_ADD: EACH_U(truth ? x | y : x + y);
        case HLO_AND: EACH_U(x & y);
        case HLO_MULTIPLY: EACH_U(x * y);
        case HLO_OR: EACH_U(x | y);
        case HLO_SHIFT_LEFT: EACH_U(y < width ? x << y : 0);
        case HLO_SHIFT_RIGHT_LOGICAL: EACH_U(y < width ? own_bits(x, bits) >> y : 0);
        case HLO_SHIFT_RIGHT_ARITHMETIC:
            if (!is_signed) /* the sign is the upper bit, here too */
                for (int i = 0; i < n; i++) a->u64[i] = a->u64[i] << (64 - bits);
            if (!is_signed)
                for (int i = 0; i < n; i++) a->i64[i] >>= 64 - bits;
            EACH_S(x >> ((uint64_t)y < width ? y : bits - 1));
        case HLO_SUBTRACT: EACH_U(x - y);
        case HLO_XOR: EACH_U(x ^ y);
        default:
            if (is_signed)
                signed_binary(kind, a, b, n);
            else
                unsigned_binary(kind, a, b, n);
    }
}
