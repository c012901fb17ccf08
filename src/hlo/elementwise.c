/* Constants, and elementwise operations. */
#include <string.h>

#include "hlo/hlo_writer.h"

/* ---- constants ---- */

enum { ELEMENTS_IN_TEXT = 16 }; /* a constant with more elements is a source of the program */

static mst_hlo begin_constant(mst_lower *l, const mst_spec *spec) {
    mst_hlo_program *p = l->program;
    mst_hlo result;
    mst_hlo_begin(l, "constant", 0, NULL, 1, spec, &result);
    mst_hlo_write(p, &p->body, " {value = dense<");
    return result;
}

static mst_hlo end_constant(mst_lower *l, const mst_spec *spec, mst_hlo result) {
    mst_hlo_program *p = l->program;
    mst_hlo_write(p, &p->body, "> : ");
    mst_hlo_write_type(p, &p->body, spec);
    mst_hlo_write(p, &p->body, "}");
    mst_hlo_end(l, "", 0, NULL, 1, &result);
    return result;
}

mst_hlo mst_hlo_fill(mst_lower *l, mst_dtype dtype, mst_shape shape, double value) {
    mst_hlo_program *p = l->program;
    const mst_spec spec = {.dtype = dtype, .shape = shape};
    const mst_hlo result = begin_constant(l, &spec);
    if (result.id && mst_shape_count(shape)) mst_hlo_write_number(p, &p->body, dtype, value);
    return end_constant(l, &spec, result);
}

mst_hlo mst_hlo_number(mst_lower *l, mst_dtype dtype, double value) {
    return mst_hlo_fill(l, dtype, MST_SCALAR, value);
}

mst_hlo mst_hlo_number_like(mst_lower *l, mst_hlo x, double value) {
    return mst_hlo_lacks(l, x) ? MST_NO_HLO : mst_hlo_number(l, mst_hlo_spec(l, x).dtype, value);
}

/* Whether DTYPE has integers, and VALUE is within its range. */
static bool is_in_range(mst_dtype dtype, int64_t value) {
    if (dtype == MST_I32) return value >= INT32_MIN && value <= INT32_MAX;
    if (dtype == MST_U8) return value >= 0 && value <= UINT8_MAX;
    if (dtype == MST_HLO_U32) return value >= 0 && value <= UINT32_MAX;
    return dtype == MST_I64 || dtype == MST_HLO_U64;
}

mst_hlo mst_hlo_integer(mst_lower *l, mst_dtype dtype, int64_t value) {
    mst_hlo_program *p = l->program;
    if (!is_in_range(dtype, value)) return mst_hlo_fail(l, "%lld is no integer of its dtype", (long long)value);
    const mst_spec spec = {.dtype = dtype, .shape = MST_SCALAR};
    const mst_hlo result = begin_constant(l, &spec);
    if (dtype == MST_HLO_U64)
        mst_hlo_write(p, &p->body, "%llu", (unsigned long long)value);
    else
        mst_hlo_write(p, &p->body, "%lld", (long long)value);
    return end_constant(l, &spec, result);
}

/* A list as a source of the program. The program owns its tensor. */
static mst_hlo long_list(mst_lower *l, mst_dtype dtype, int count, const double *value) {
    mst_tensor *tensor = NULL;
    if (mst_hlo_program_tensor(l->program, dtype, count, &tensor)) return MST_NO_HLO;
    for (int i = 0; i < count; i++) mst_tensor_set(tensor, i, value[i]);
    return mst_hlo_tensor_source(l->program, tensor);
}

mst_hlo mst_hlo_list(mst_lower *l, mst_dtype dtype, int count, const double *value) {
    mst_hlo_program *p = l->program;
    if (count < 0 || (count && !value)) return mst_hlo_fail(l, "a list of %d elements without values", count);
    if (count > ELEMENTS_IN_TEXT) return long_list(l, dtype, count, value);
    const mst_spec spec = {.dtype = dtype, .shape = MST_SHAPE(count)};
    const mst_hlo result = begin_constant(l, &spec);
    if (count) mst_hlo_write(p, &p->body, "[");
    for (int i = 0; i < count; i++) {
        if (i) mst_hlo_write(p, &p->body, ", ");
        mst_hlo_write_number(p, &p->body, dtype, value[i]);
    }
    if (count) mst_hlo_write(p, &p->body, "]");
    return end_constant(l, &spec, result);
}

static void write_element(mst_hlo_program *p, const mst_tensor *tensor, int64_t i) {
    if (mst_tensor_dtype(tensor) == MST_I64)
        mst_hlo_write(p, &p->body, "%lld", (long long)((const int64_t *)mst_tensor_data(tensor))[i]);
    else
        mst_hlo_write_number(p, &p->body, mst_tensor_dtype(tensor), mst_tensor_get(tensor, i));
}

mst_hlo mst_hlo_tensor(mst_lower *l, mst_tensor *tensor) {
    mst_hlo_program *p = l->program;
    const int64_t count = mst_tensor_count(tensor);
    if (count > ELEMENTS_IN_TEXT) return mst_hlo_tensor_source(p, tensor);
    const mst_spec flat = {.dtype = mst_tensor_dtype(tensor), .shape = MST_SHAPE(count)};
    const mst_hlo result = begin_constant(l, &flat);
    for (int64_t i = 0; i < count; i++) {
        mst_hlo_write(p, &p->body, i ? ", " : "[");
        write_element(p, tensor, i);
    }
    if (count) mst_hlo_write(p, &p->body, "]");
    return mst_hlo_reshape(l, end_constant(l, &flat, result), mst_tensor_shape(tensor));
}

mst_hlo mst_hlo_iota(mst_lower *l, mst_dtype dtype, mst_shape shape, int axis) {
    mst_hlo_attributes a = {.size = 0};
    if (!mst_hlo_is_axis(l, shape.ndim, &axis)) return MST_NO_HLO;
    mst_hlo_attribute(&a, "iota_dimension = %d : i64", axis);
    mst_hlo result;
    mst_hlo_call(l, "iota", mst_hlo_attributes_end(&a), 0, NULL, 1, &(mst_spec){.dtype = dtype, .shape = shape},
                 &result);
    return result;
}

/* ---- operations ---- */

bool mst_hlo_common_shape(mst_lower *l, int count, const mst_hlo *x, mst_shape *shape) {
    *shape = MST_SCALAR;
    for (int i = 0; i < count; i++) {
        if (mst_hlo_lacks(l, x[i])) return false;
        const mst_shape other = mst_hlo_spec(l, x[i]).shape;
        const mst_shape shorter = other.ndim < shape->ndim ? other : *shape;
        if (other.ndim >= shape->ndim) *shape = other;
        for (int k = 1; k <= shorter.ndim; k++) {
            int64_t *dim = &shape->dim[shape->ndim - k];
            const int64_t also = shorter.dim[shorter.ndim - k];
            if (*dim == 1) *dim = also;
            if (also != 1 && also != *dim) {
                mst_hlo_fail(l, "dimensions %lld and %lld do not broadcast", (long long)*dim, (long long)also);
                return false;
            }
        }
    }
    return true;
}

mst_hlo mst_hlo_unary(mst_lower *l, const char *operation, mst_hlo x) {
    const mst_spec spec = mst_hlo_spec(l, x);
    mst_hlo result;
    mst_hlo_call(l, operation, "", 1, &x, 1, &spec, &result);
    return result;
}

/* Sets SRC [2] to A and B, broadcast to a common shape; false if there is none. */
static bool broadcast_both(mst_lower *l, mst_hlo a, mst_hlo b, mst_hlo *src) {
    mst_shape shape;
    if (!mst_hlo_common_shape(l, 2, (const mst_hlo[]){a, b}, &shape)) return false;
    if (mst_hlo_spec(l, a).dtype != mst_hlo_spec(l, b).dtype) {
        mst_hlo_fail(l, "operands of two dtypes");
        return false;
    }
    src[0] = mst_hlo_broadcast(l, a, shape);
    src[1] = mst_hlo_broadcast(l, b, shape);
    return true;
}

mst_hlo mst_hlo_binary(mst_lower *l, const char *operation, mst_hlo a, mst_hlo b) {
    mst_hlo src[2], result;
    if (!broadcast_both(l, a, b, src)) return MST_NO_HLO;
    const mst_spec spec = mst_hlo_spec(l, src[0]);
    mst_hlo_call(l, operation, "", 2, src, 1, &spec, &result);
    return result;
}

mst_hlo mst_hlo_compare(mst_lower *l, const char *direction, mst_hlo a, mst_hlo b) {
    static const char *const directions[] = {"EQ", "NE", "LT", "LE", "GT", "GE", NULL};
    mst_hlo src[2], result;
    if (!mst_hlo_is_among(l, "comparison", direction, directions) || !broadcast_both(l, a, b, src)) return MST_NO_HLO;
    mst_spec spec = mst_hlo_spec(l, src[0]);
    const bool is_float = mst_dtype_is_float(spec.dtype);
    const bool is_signed = spec.dtype == MST_I32 || spec.dtype == MST_I64;
    mst_hlo_attributes t = {.size = 0};
    mst_hlo_attribute(&t, "compare_type = #stablehlo<comparison_type %s>",
                      is_float    ? "FLOAT"
                      : is_signed ? "SIGNED"
                                  : "UNSIGNED");
    mst_hlo_attribute(&t, "comparison_direction = #stablehlo<comparison_direction %s>", direction);
    spec.dtype = MST_BOOL;
    mst_hlo_call(l, "compare", mst_hlo_attributes_end(&t), 2, src, 1, &spec, &result);
    return result;
}

mst_hlo mst_hlo_select(mst_lower *l, mst_hlo mask, mst_hlo a, mst_hlo b) {
    mst_hlo src[3] = {mask, a, b}, result;
    mst_shape shape;
    if (!mst_hlo_common_shape(l, 3, src, &shape)) return MST_NO_HLO;
    const mst_dtype dtype = mst_hlo_spec(l, a).dtype;
    if (mst_hlo_spec(l, mask).dtype != MST_BOOL || dtype != mst_hlo_spec(l, b).dtype)
        return mst_hlo_fail(l, "select wants bools and two values of one dtype");
    for (int i = 0; i < 3; i++) src[i] = mst_hlo_broadcast(l, src[i], shape);
    mst_hlo_call(l, "select", "", 3, src, 1, &(mst_spec){.dtype = dtype, .shape = shape}, &result);
    return result;
}

mst_hlo mst_hlo_convert(mst_lower *l, mst_hlo x, mst_dtype dtype) {
    mst_spec spec = mst_hlo_spec(l, x);
    if (spec.dtype == dtype) return x;
    spec.dtype = dtype;
    mst_hlo result;
    mst_hlo_call(l, "convert", "", 1, &x, 1, &spec, &result);
    return result;
}

static size_t element_size(mst_dtype dtype) {
    return dtype == MST_HLO_U32 ? sizeof(uint32_t) : dtype == MST_HLO_U64 ? sizeof(uint64_t) : mst_dtype_size(dtype);
}

mst_hlo mst_hlo_bits(mst_lower *l, mst_hlo x, mst_dtype dtype) {
    mst_spec spec = mst_hlo_spec(l, x);
    if (mst_hlo_lacks(l, x)) return MST_NO_HLO;
    if (element_size(spec.dtype) != element_size(dtype)) return mst_hlo_fail(l, "bits as elements of another size");
    spec.dtype = dtype;
    mst_hlo result;
    mst_hlo_call(l, "bitcast_convert", "", 1, &x, 1, &spec, &result);
    return result;
}

mst_hlo mst_hlo_clamp(mst_lower *l, mst_hlo low, mst_hlo x, mst_hlo high) {
    return mst_hlo_binary(l, "minimum", mst_hlo_binary(l, "maximum", x, low), high);
}

mst_hlo mst_hlo_barrier(mst_lower *l, mst_hlo x) {
    return mst_hlo_unary(l, "optimization_barrier", x);
}
