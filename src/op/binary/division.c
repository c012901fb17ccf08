#include "op/binary/division.h"

#include "op/elements.h"
#include "op/share.h"

/* Fails if one of elements BEGIN to END - 1 of the divisor is 0. */
static mst_status check_divisor(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_array *b = &a->src[1];
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        bool zero = b->dtype == MST_I32   ? ((const int32_t *)b->data)[i] == 0
                    : b->dtype == MST_I64 ? ((const int64_t *)b->data)[i] == 0
                                          : ((const uint8_t *)b->data)[i] == 0;
        if (zero)
            return mst_kernel_fail(a, MST_INVALID, "integer division by zero: element %lld of the divisor is 0",
                                   (long long)i);
    }
    return MST_OK;
}

mst_status mst_divide(const mst_kernel_args *a, mst_kernel_function kernel) {
    if (!mst_dtype_is_float(a->src[0].dtype) && a->dst[0].count)
        MST_TRY(mst_parallel(a, a->src[1].count, mst_grain(a->src[1].count, 1), check_divisor, mst_context_of(a)));
    return mst_share_elements(a, kernel);
}

mst_hlo mst_divisor_lower(mst_lower *l) {
    const mst_dtype dtype = l->src_spec[1].dtype;
    const mst_hlo divisor = l->src[1], one = mst_hlo_number(l, dtype, 1);
    mst_hlo is_apart = mst_hlo_compare(l, "EQ", divisor, mst_hlo_number(l, dtype, 0));
    if (mst_shape_count(l->dst_spec[0].shape))
        mst_hlo_fault(l, is_apart, MST_INVALID, "integer division by zero: an element of the divisor is 0");
    if (dtype != MST_U8) {
        const mst_hlo is_minus_one = mst_hlo_compare(l, "EQ", divisor, mst_hlo_number(l, dtype, -1));
        is_apart = mst_hlo_binary(l, "or", is_apart, is_minus_one);
    }
    return mst_hlo_select(l, is_apart, one, divisor);
}

mst_hlo mst_quotient_lower(mst_lower *l, mst_hlo divisor) {
    const mst_hlo quotient = mst_hlo_binary(l, "divide", l->src[0], divisor);
    if (l->src_spec[0].dtype == MST_U8) return quotient;
    const mst_hlo negates = mst_hlo_compare(l, "EQ", l->src[1], mst_hlo_number_like(l, l->src[1], -1));
    return mst_hlo_select(l, negates, mst_hlo_unary(l, "negate", l->src[0]), quotient);
}

mst_hlo mst_rest_is_off(mst_lower *l, mst_hlo rest, mst_hlo divisor) {
    const mst_hlo zero = mst_hlo_number_like(l, rest, 0);
    const mst_hlo signs_differ =
        mst_hlo_binary(l, "xor", mst_hlo_compare(l, "LT", rest, zero), mst_hlo_compare(l, "LT", divisor, zero));
    return mst_hlo_binary(l, "and", mst_hlo_compare(l, "NE", rest, zero), signs_differ);
}
