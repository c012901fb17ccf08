/** range: dst[i] = start + i * delta, for all i whose value is before limit
 *
 *  dst           dtype f32, f64, i32, i64 or u8, one dimension of max(0, ceil((limit - start) / delta)) elements
 *  start, limit  dst has start, but not limit
 *  delta         may be negative; 0 means 1
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_range(mst_graph *graph, mst_dtype dtype, double start, double limit, double delta);
#endif
#include <math.h>

#include "base/argument.h"
#include "op/op.h"
#include "op/shape/strided.h"
#include "op/share.h"

typedef struct range_options {
    int zero_;
    mst_dtype dtype;
    double start;
    double limit;
    double delta;
} range_options;

static const mst_field range_fields[] = {
    MST_FIELD_DTYPE(range_options, dtype, MST_F32, "of the result"),
    MST_FIELD_F64(range_options, start, 0, 0, 0, "first element"),
    MST_FIELD_F64(range_options, limit, 0, 0, 0, "end, not an element"),
    MST_FIELD_F64(range_options, delta, 1, 0, 0, "step"),
    MST_FIELD_END,
};

static mst_status range_infer(mst_infer *c) {
    const range_options *o = c->options;
    const double count = ceil((o->limit - o->start) / o->delta);
    if (!(MST_NUMBERS & MST_DTYPE_BIT(o->dtype)))
        return mst_infer_fail(c, "dtype is %s, must be a number", mst_dtype_name(o->dtype));
    if (!(count < 0x1p53) || !isfinite(o->start) || !isfinite(o->delta))
        return mst_infer_fail(c, "from %g to %g by %g is too long or no number", o->start, o->limit, o->delta);
    c->dst[0] = (mst_spec){.dtype = o->dtype, .shape = {.ndim = 1, .dim = {count > 0 ? (int64_t)count : 0}}};
    if (count <= 0) return MST_OK;
    MST_TRY(mst_infer_storable(c, o->start, o->dtype, "start"));
    return mst_infer_storable(c, o->start + (count - 1) * o->delta, o->dtype, "the last element");
}

/* Whole numbers are computed as integers. Others are computed in f64 as in the kernel. The optimization barrier keeps
 * compilers from fusing the product and the sum into one operation, which would round differently. */
static void range_lower(mst_lower *l) {
    const range_options *o = l->options;
    const mst_spec dst = l->dst_spec[0];
    const double last = o->start + (double)(dst.shape.dim[0] - 1) * o->delta, limit = 0x1p53;
    const bool is_whole = trunc(o->start) == o->start && trunc(o->delta) == o->delta && fabs(o->start) < limit &&
                          fabs(o->delta) < limit && fabs(last) < limit;
    const double most = fmax(fmax(fabs(o->start), fabs(o->delta)), fabs(last));
    const mst_dtype dtype = !is_whole ? MST_F64 : most <= INT32_MAX ? MST_I32 : MST_I64;
    const mst_hlo place = mst_hlo_iota(l, dtype, dst.shape, 0);
    mst_hlo product = mst_hlo_binary(l, "multiply", place, mst_hlo_number(l, dtype, o->delta));
    if (!is_whole) product = mst_hlo_barrier(l, product);
    const mst_hlo sum = mst_hlo_binary(l, "add", product, mst_hlo_number(l, dtype, o->start));
    l->dst[0] = mst_hlo_convert(l, sum, dst.dtype);
}

#define COUNT_UP(T)                                                                           \
    do {                                                                                      \
        T *data = a->dst[0].data;                                                             \
        for (int64_t i = begin; i < end; i++) data[i] = (T)(o->start + (double)i * o->delta); \
    } while (0)

/* Computes elements BEGIN to END - 1. */
static mst_status count_up(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const range_options *o = a->options;
    (void)thread;
    switch (a->dst[0].dtype) {
        case MST_F32: COUNT_UP(float); break;
        case MST_F64: COUNT_UP(double); break;
        case MST_I32: COUNT_UP(int32_t); break;
        case MST_I64: COUNT_UP(int64_t); break;
        default: COUNT_UP(uint8_t); break;
    }
    return MST_OK;
}

static mst_status range_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_grain(a->dst[0].count, 1), count_up, mst_context_of(a));
}

static const mst_example range_examples[] = {
    {.name = "up",
     .options = &(const range_options){.dtype = MST_I32, .start = 1, .limit = 4},
     .expect = {(const double[]){1, 2, 3}}},
    {.name = "down",
     .options = &(const range_options){.dtype = MST_I64, .start = 3, .limit = -2, .delta = -2},
     .expect = {(const double[]){3, 1, -1}}},
    {.name = "fractions",
     .options = &(const range_options){.dtype = MST_F32, .limit = 1, .delta = 0.25},
     .expect = {(const double[]){0, 0.25, 0.5, 0.75}}},
    {.name = "from minus 0",
     .options = &(const range_options){.dtype = MST_F32, .start = -0.0, .limit = 2, .delta = 1},
     .expect = {(const double[]){0, 1}}},
    {.name = "bytes",
     .options = &(const range_options){.dtype = MST_U8, .limit = 256, .delta = 85},
     .expect = {(const double[]){0, 85, 170, 255}}},
    {.name = "one", .options = &(const range_options){.dtype = MST_F64, .limit = 0.5}, .expect = {(const double[]){0}}},
    {.name = "none", .options = &(const range_options){.dtype = MST_I64, .start = 2, .limit = 1}},
    {.name = "as bool", .options = &(const range_options){.dtype = MST_BOOL, .limit = 1}, .fails = MST_INVALID},
    {.name = "out of range", .options = &(const range_options){.dtype = MST_U8, .limit = 257}, .fails = MST_INVALID},
    {.name = "without end",
     .options = &(const range_options){.dtype = MST_F64, .limit = INFINITY},
     .fails = MST_INVALID},
};

const mst_op mst_op_range = {
    .name = "range",
    .tf_form = "Range(start:dtype, limit:dtype, delta:dtype; Tidx=dtype|i32)",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .fields = range_fields,
    .options_size = sizeof(range_options),
    .infer = range_infer,
    .reference = range_reference,
    .lower = range_lower,
    MST_EXAMPLES(range_examples),
};

mst_value mst_range(mst_graph *graph, mst_dtype dtype, double start, double limit, double delta) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    return mst_call(graph, &mst_op_range, 0, NULL,
                    &(range_options){.dtype = dtype, .start = start, .limit = limit, .delta = delta});
}
