/* The interpreter of StableHLO (support/hlo_interpreter.h): elementwise ops, with their checks and the loops over
 * blocks. The formulas are in hlo_float.c and hlo_integer.c. */
#include <math.h>
#include <string.h>

#include "support/hlo_inside.h"

static int block_size(int64_t count, int64_t at) {
    return count - at < HLO_BLOCK ? (int)(count - at) : HLO_BLOCK;
}

/* One type for all operands and the result */
static bool elementwise_check(hlo_check *c, hlo_op *op) {
    for (int i = 1; i < op->num_operands; i++)
        if (!hlo_want_operand(c, i, hlo_operand_type(c, 0))) return false;
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, hlo_operand_type(c, 0));
}

static bool unary_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *type = hlo_type_of(r, op, 0);
    const void *x = hlo_data(r, op, 0);
    void *out = hlo_new_result(r, op, 0);
    hlo_block block;
    if (!out) return false;
    for (int64_t i = 0; i < type->count; i += HLO_BLOCK) {
        const int n = block_size(type->count, i);
        hlo_load(&block, type->type, x, i, n);
        hlo_unary((hlo_kind)op->row->kind, type->type, &block, n);
        hlo_store(&block, type->type, out, i, n);
    }
    return true;
}

static bool binary_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *type = hlo_type_of(r, op, 0);
    const void *x = hlo_data(r, op, 0), *y = hlo_data(r, op, 1);
    void *out = hlo_new_result(r, op, 0);
    hlo_block a, b;
    if (!out) return false;
    for (int64_t i = 0; i < type->count; i += HLO_BLOCK) {
        const int n = block_size(type->count, i);
        hlo_load(&a, type->type, x, i, n);
        hlo_load(&b, type->type, y, i, n);
        hlo_binary((hlo_kind)op->row->kind, type->type, &a, &b, n);
        hlo_store(&a, type->type, out, i, n);
    }
    return true;
}

bool hlo_is_binary(const hlo_row *row) {
    return row->run == binary_run;
}

/* ---- convert, is_finite ---- */

static bool convert_check(hlo_check *c, hlo_op *op) {
    (void)op;
    if (!hlo_want_results(c, 1)) return false;
    HLO_WANT(hlo_same_shape(hlo_operand_type(c, 0), hlo_result_type(c, 0)), "the result has another shape");
    return true;
}

static bool convert_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *from = hlo_type_of(r, op, 0), *to = hlo_type_of_result(r, op, 0);
    const void *x = hlo_data(r, op, 0);
    void *out = hlo_new_result(r, op, 0);
    hlo_block block;
    if (!out) return false;
    for (int64_t i = 0; i < from->count; i += HLO_BLOCK) {
        const int n = block_size(from->count, i);
        hlo_load(&block, from->type, x, i, n);
        if (from->type != to->type) hlo_convert(&block, from->type, to->type, n);
        hlo_store(&block, to->type, out, i, n);
    }
    return true;
}

static bool is_finite_check(hlo_check *c, hlo_op *op) {
    hlo_array type = *hlo_operand_type(c, 0);
    (void)op;
    type.type = HLO_I1;
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, &type);
}

static bool is_finite_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *type = hlo_type_of(r, op, 0);
    const void *x = hlo_data(r, op, 0);
    uint8_t *out = hlo_new_result(r, op, 0);
    hlo_block block;
    if (!out) return false;
    for (int64_t i = 0; i < type->count; i++) {
        hlo_load(&block, type->type, x, i, 1);
        if (type->type != HLO_F64) hlo_convert(&block, HLO_F32, HLO_F64, 1);
        out[i] = isfinite(block.f64[0]) != 0;
    }
    return true;
}

/* ---- compare ---- */

static bool compare_check(hlo_check *c, hlo_op *op) {
    const hlo_attribute *given = hlo_attribute_of(op, "compare_type");
    const int class = hlo_type_class(hlo_operand_type(c, 0)->type);
    const hlo_comparison own = class == HLO_IS_FLOAT ? HLO_FLOAT : class == HLO_IS_SIGNED ? HLO_SIGNED : HLO_UNSIGNED;
    const hlo_comparison type = given ? (hlo_comparison)given->integer : own;
    HLO_WANT(type == own || (type == HLO_TOTALORDER && own == HLO_FLOAT), "compare_type is not that of %s",
             hlo_type_name(hlo_operand_type(c, 0)->type));
    op->variant = (int)hlo_attribute_of(op, "comparison_direction")->integer * 4 + (int)type;
    return hlo_want_operand(c, 1, hlo_operand_type(c, 0)) && is_finite_check(c, op);
}

/* Integers in the order -NaN, -infinity, ..., -0, 0, ..., infinity, NaN */
static void order_floats(hlo_block *block, hlo_type type, int n) {
    for (int i = n - 1; i >= 0; i--) {
        int64_t bits;
        int32_t few;
        memcpy(&bits, &block->f64[i], sizeof bits);
        memcpy(&few, &block->f32[i], sizeof few);
        if (type != HLO_F64) bits = few;
        block->i64[i] = bits < 0 ? bits ^ (type == HLO_F64 ? INT64_MAX : INT32_MAX) : bits;
    }
}

#define EACH(member, operator)                                                          \
    for (int i = 0; i < n; i++) out[i] = (uint8_t)(a->member[i] operator b->member[i]); \
    return
#define COMPARE(member)                \
    switch (direction) {               \
        case HLO_EQ: EACH(member, ==); \
        case HLO_NE: EACH(member, !=); \
        case HLO_LT: EACH(member, <);  \
        case HLO_LE: EACH(member, <=); \
        case HLO_GT: EACH(member, >);  \
        case HLO_GE: EACH(member, >=); \
    }

static void compare_block(int variant, hlo_type type, hlo_block *a, hlo_block *b, uint8_t *out, int n) {
    const hlo_direction direction = (hlo_direction)(variant / 4);
    hlo_comparison comparison = (hlo_comparison)(variant % 4);
    if (comparison == HLO_TOTALORDER) {
        order_floats(a, type, n);
        order_floats(b, type, n);
        comparison = HLO_SIGNED;
    }
    if (comparison == HLO_SIGNED)
        COMPARE(i64)
    else if (comparison == HLO_UNSIGNED)
        COMPARE(u64)
    else if (type == HLO_F64)
        COMPARE(f64)
    else
        COMPARE(f32)
}

static bool compare_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *type = hlo_type_of(r, op, 0);
    const void *x = hlo_data(r, op, 0), *y = hlo_data(r, op, 1);
    uint8_t *out = hlo_new_result(r, op, 0);
    hlo_block a, b;
    if (!out) return false;
    for (int64_t i = 0; i < type->count; i += HLO_BLOCK) {
        const int n = block_size(type->count, i);
        hlo_load(&a, type->type, x, i, n);
        hlo_load(&b, type->type, y, i, n);
        compare_block(op->variant, type->type, &a, &b, out + i, n);
    }
    return true;
}

/* ---- select, clamp ---- */

static bool select_check(hlo_check *c, hlo_op *op) {
    const hlo_array *condition = hlo_operand_type(c, 0), *type = hlo_operand_type(c, 1);
    (void)op;
    HLO_WANT(condition->ndim == 0 || hlo_same_shape(condition, type),
             "operand 0 has neither the shape of operand 1 nor one element");
    return hlo_want_operand(c, 2, type) && hlo_want_results(c, 1) && hlo_want_result(c, 0, type);
}

static bool select_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *condition = hlo_type_of(r, op, 0), *type = hlo_type_of(r, op, 1);
    const uint8_t *yes = hlo_data(r, op, 0);
    const char *x = hlo_data(r, op, 1), *y = hlo_data(r, op, 2);
    const size_t size = hlo_type_size(type->type);
    if (condition->ndim == 0) {
        hlo_share(r, op->result, op->operand[*yes ? 1 : 2]);
        return true;
    }
    char *out = hlo_new_result(r, op, 0);
    if (!out) return false;
    for (int64_t i = 0; i < type->count; i++) {
        const size_t at = (size_t)i * size;
        memcpy(out + at, (yes[i] ? x : y) + at, size);
    }
    return true;
}

static bool clamp_check(hlo_check *c, hlo_op *op) {
    const hlo_array *type = hlo_operand_type(c, 1);
    (void)op;
    for (int i = 0; i < 3; i += 2) {
        const hlo_array *limit = hlo_operand_type(c, i);
        HLO_WANT(limit->type == type->type, "operand %d is of another type than operand 1", i);
        HLO_WANT(limit->ndim == 0 || hlo_same_shape(limit, type),
                 "operand %d has neither the shape of operand 1 nor one element", i);
    }
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, type);
}

/* A block of operand I, which may be one element for all */
static void load_limit(hlo_run_state *r, const hlo_op *op, int i, hlo_block *block, int64_t first, int n) {
    const hlo_array *type = hlo_type_of(r, op, i);
    if (type->ndim) {
        hlo_load(block, type->type, hlo_data(r, op, i), first, n);
        return;
    }
    for (int k = 0; k < n; k++) {
        hlo_block one;
        hlo_load(&one, type->type, hlo_data(r, op, i), 0, 1);
        if (type->type == HLO_F32 || type->type == HLO_BF16)
            block->f32[k] = one.f32[0];
        else
            block->u64[k] = one.u64[0];
    }
}

static bool clamp_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *type = hlo_type_of(r, op, 1);
    const void *x = hlo_data(r, op, 1);
    void *out = hlo_new_result(r, op, 0);
    hlo_block block, limit;
    if (!out) return false;
    for (int64_t i = 0; i < type->count; i += HLO_BLOCK) {
        const int n = block_size(type->count, i);
        hlo_load(&block, type->type, x, i, n);
        load_limit(r, op, 0, &limit, i, n);
        hlo_binary(HLO_MAXIMUM, type->type, &block, &limit, n);
        load_limit(r, op, 2, &limit, i, n);
        hlo_binary(HLO_MINIMUM, type->type, &block, &limit, n);
        hlo_store(&block, type->type, out, i, n);
    }
    return true;
}

/* ---- reduce_precision ---- */

static bool reduce_precision_check(hlo_check *c, hlo_op *op) {
    const int64_t exponent = hlo_attribute_of(op, "exponent_bits")->integer;
    const int64_t mantissa = hlo_attribute_of(op, "mantissa_bits")->integer;
    HLO_WANT(exponent >= 1 && exponent <= INT32_MAX, "exponent_bits is not 1 or more");
    HLO_WANT(mantissa >= 0 && mantissa <= INT32_MAX, "mantissa_bits is below 0");
    return elementwise_check(c, op);
}

/* The bits of a float with MANTISSA bits of fraction and EXPONENT of exponent, rounded to fewer: to even, to infinity
 * above the largest number left, to 0 below the smallest normal one. */
static uint64_t with_fewer_bits(uint64_t bits, int mantissa, int exponent, int64_t fewer_mantissa,
                                int64_t fewer_exponent) {
    const uint64_t one = 1, exponents = ((one << exponent) - 1) << mantissa, sign = one << (mantissa + exponent);
    const int bias = (1 << (exponent - 1)) - 1;
    if ((bits & (sign - 1)) > exponents) return bits; /* NaN */
    if (fewer_mantissa < mantissa) {
        const int cut = mantissa - (int)fewer_mantissa;
        bits += (one << (cut - 1)) - 1 + (bits >> cut & 1);
        bits &= ~((one << cut) - 1);
    }
    if (fewer_exponent < exponent) {
        const int fewer_bias = (1 << (fewer_exponent - 1)) - 1, own = (int)((bits & exponents) >> mantissa);
        if (own > bias + fewer_bias) return (bits & sign) | exponents;
        if (own <= bias - fewer_bias) return bits & sign;
    }
    return bits;
}

static bool reduce_precision_run(hlo_run_state *r, const hlo_op *op) {
    const int64_t exponent = hlo_attribute_of(op, "exponent_bits")->integer;
    const int64_t mantissa = hlo_attribute_of(op, "mantissa_bits")->integer;
    const hlo_array *type = hlo_type_of(r, op, 0);
    const void *x = hlo_data(r, op, 0);
    void *out = hlo_new_result(r, op, 0);
    if (!out) return false;
    for (int64_t i = 0; i < type->count; i++) {
        hlo_block block;
        uint64_t bits;
        uint32_t few;
        hlo_load(&block, type->type, x, i, 1);
        memcpy(&bits, &block.f64[0], sizeof bits);
        memcpy(&few, &block.f32[0], sizeof few);
        if (type->type == HLO_F64)
            bits = with_fewer_bits(bits, 52, 11, mantissa, exponent);
        else /* the bits that bf16 has less are 0 */
            few = (uint32_t)with_fewer_bits(few, 23, 8, mantissa, exponent);
        if (type->type == HLO_F64)
            memcpy(&block.f64[0], &bits, sizeof bits);
        else
            memcpy(&block.f32[0], &few, sizeof few);
        hlo_store(&block, type->type, out, i, 1);
    }
    return true;
}

/* ---- the table ---- */

#define UNARY(name, kind, classes) \
    { name, kind, 1, 0, classes, "", elementwise_check, unary_run }
#define BINARY(name, kind, classes) \
    { name, kind, 2, 0, classes, "", elementwise_check, binary_run }

const hlo_row hlo_elementwise_rows[] = {
    UNARY("abs", HLO_ABS, HLO_IS_FLOAT | HLO_IS_SIGNED),
    UNARY("cbrt", HLO_CBRT, HLO_IS_FLOAT),
    UNARY("ceil", HLO_CEIL, HLO_IS_FLOAT),
    UNARY("cosine", HLO_COSINE, HLO_IS_FLOAT),
    UNARY("count_leading_zeros", HLO_CLZ, HLO_IS_INTEGER),
    UNARY("exponential", HLO_EXP, HLO_IS_FLOAT),
    UNARY("exponential_minus_one", HLO_EXPM1, HLO_IS_FLOAT),
    UNARY("floor", HLO_FLOOR, HLO_IS_FLOAT),
    UNARY("log", HLO_LOG, HLO_IS_FLOAT),
    UNARY("log_plus_one", HLO_LOG1P, HLO_IS_FLOAT),
    UNARY("logistic", HLO_LOGISTIC, HLO_IS_FLOAT),
    UNARY("negate", HLO_NEGATE, HLO_IS_NUMBER),
    UNARY("not", HLO_NOT, HLO_IS_BITS),
    UNARY("popcnt", HLO_POPCNT, HLO_IS_INTEGER),
    UNARY("round_nearest_afz", HLO_ROUND_AFZ, HLO_IS_FLOAT),
    UNARY("round_nearest_even", HLO_ROUND_EVEN, HLO_IS_FLOAT),
    UNARY("rsqrt", HLO_RSQRT, HLO_IS_FLOAT),
    UNARY("sign", HLO_SIGN, HLO_IS_FLOAT | HLO_IS_SIGNED),
    UNARY("sine", HLO_SINE, HLO_IS_FLOAT),
    UNARY("sqrt", HLO_SQRT, HLO_IS_FLOAT),
    UNARY("tan", HLO_TAN, HLO_IS_FLOAT),
    UNARY("tanh", HLO_TANH, HLO_IS_FLOAT),
    BINARY("add", HLO_ADD, HLO_IS_ANY),
    BINARY("and", HLO_AND, HLO_IS_BITS),
    BINARY("atan2", HLO_ATAN2, HLO_IS_FLOAT),
    BINARY("divide", HLO_DIVIDE, HLO_IS_NUMBER),
    BINARY("maximum", HLO_MAXIMUM, HLO_IS_ANY),
    BINARY("minimum", HLO_MINIMUM, HLO_IS_ANY),
    BINARY("multiply", HLO_MULTIPLY, HLO_IS_ANY),
    BINARY("or", HLO_OR, HLO_IS_BITS),
    BINARY("power", HLO_POWER, HLO_IS_NUMBER),
    BINARY("remainder", HLO_REMAINDER, HLO_IS_NUMBER),
    BINARY("shift_left", HLO_SHIFT_LEFT, HLO_IS_INTEGER),
    BINARY("shift_right_arithmetic", HLO_SHIFT_RIGHT_ARITHMETIC, HLO_IS_INTEGER),
    BINARY("shift_right_logical", HLO_SHIFT_RIGHT_LOGICAL, HLO_IS_INTEGER),
    BINARY("subtract", HLO_SUBTRACT, HLO_IS_NUMBER),
    BINARY("xor", HLO_XOR, HLO_IS_BITS),
    {"clamp", 0, 3, 0, HLO_IS_ANY, "", clamp_check, clamp_run},
    {"compare", 0, 2, 0, HLO_IS_ANY, "comparison_direction compare_type?", compare_check, compare_run},
    {"convert", 0, 1, 0, HLO_IS_ANY, "", convert_check, convert_run},
    {"is_finite", 0, 1, 0, HLO_IS_FLOAT, "", is_finite_check, is_finite_run},
    {"reduce_precision", 0, 1, 0, HLO_IS_FLOAT, "exponent_bits mantissa_bits", reduce_precision_check,
     reduce_precision_run},
    {"select", 0, 3, 0, HLO_IS_BOOL, "", select_check, select_run},
    {0},
};
