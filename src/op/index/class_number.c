/** class_number: dst = src converted to i64; all elements of src must be integers
 *
 *  src  f32 or f64, any shape: numbers of classes
 *  dst  i64, like src
 *
 *  A fraction, NaN or infinity makes the run fail, with an error that names the row and the value. The op cast would
 *  turn it into a number of a class.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_class_number(mst_value src);
#endif
#include <math.h>

#include "op/op.h"
#include "op/share.h"

static mst_status class_number_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    c->dst[0] = (mst_spec){.dtype = MST_I64, .shape = c->src[0].shape};
    return MST_OK;
}

static void class_number_lower(mst_lower *l) {
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_hlo x = l->src[0], limit = mst_hlo_number(l, dtype, 0x1p53);
    const mst_hlo is_small = mst_hlo_compare(l, "LT", mst_hlo_unary(l, "abs", x), limit);
    const mst_hlo is_whole = mst_hlo_compare(l, "EQ", x, mst_hlo_unary(l, "floor", x));
    const mst_hlo is_class = mst_hlo_binary(l, "and", is_small, is_whole);
    mst_hlo_fault(l, mst_hlo_unary(l, "not", is_class), MST_INVALID, "a label is no whole number, as classes are");
    l->dst[0] = mst_hlo_convert(l, mst_hlo_select(l, is_class, x, mst_hlo_number(l, dtype, 0)), MST_I64);
}

static double value_at(const mst_array *array, int64_t i) {
    return array->dtype == MST_F32 ? (double)((const float *)array->data)[i] : ((const double *)array->data)[i];
}

static mst_status class_number_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    int64_t *dst = a->dst[0].data;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        const double value = value_at(&a->src[0], i);
        if (!(fabs(value) < 0x1p53) || value != trunc(value))
            return mst_kernel_fail(a, MST_INVALID, "label %.9g of row %lld is no whole number, as classes are", value,
                                   (long long)i);
        dst[i] = (int64_t)value;
    }
    return MST_OK;
}

static mst_status class_number_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->src[0].count, mst_grain(a->src[0].count, 1), class_number_run, mst_context_of(a));
}

static const mst_example class_number_examples[] = {
    {.name = "f32",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {4}, .value = (const double[]){0, 2, -1, 7}}},
     .expect = {(const double[]){0, 2, -1, 7}}},
    {.name = "f64, a column",
     .num_src = 1,
     .src = {{.dtype = MST_F64, .ndim = 2, .dim = {2, 1}, .value = (const double[]){3, 1e9}}},
     .expect = {(const double[]){3, 1e9}}},
    {.name = "fraction",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){1, 0.5}}},
     .fails = MST_INVALID},
    {.name = "no number",
     .num_src = 1,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {1}, .value = (const double[]){NAN}}},
     .fails = MST_INVALID},
    {.name = "integers are class numbers already",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {1}, .value = (const double[]){1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_class_number = {
    .name = "class_number",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .infer = class_number_infer,
    .reference = class_number_reference,
    .lower = class_number_lower,
    MST_EXAMPLES(class_number_examples),
};

mst_value mst_class_number(mst_value src) {
    return mst_call(NULL, &mst_op_class_number, 1, &src, NULL);
}
