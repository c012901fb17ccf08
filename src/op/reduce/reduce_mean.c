/** reduce_mean: dst = (sum of src over axes) / (number of elements summed)
 *
 *  src        f32, f64, i32, i64 or u8, any shape
 *  dst        src's dtype; src's dimensions without the axes, or with 1 in their place with keep_dims
 *  axes       negative ones count from the end; none: all
 *  keep_dims  dst keeps the axes, as dimensions of 1
 *
 *  The mean of no elements is NaN, for integers 0. f32 is summed and divided in f64 and rounded once; means of integers
 *  are rounded towards 0.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reduce_mean_with(mst_reduce_options options);
#define mst_reduce_mean(...) mst_reduce_mean_with(MST_NAMED_1(mst_reduce_options, src, __VA_ARGS__))
#endif
#include <math.h>

#include "op/op.h"
#include "op/reduce/reduce.h"

/* d mean / d src = 1/n. The gradient is divided before it is broadcast, while it has few elements. */
static mst_value reduce_mean_grad(mst_grad *c, int i) {
    (void)i;
    mst_value share = mst_div(c->ddst[0], mst_reduce_count(c));
    return mst_broadcast_like(mst_reduce_restore_dims(c, share), c->src[0]);
}

static void reduce_mean_lower(mst_lower *l) {
    const mst_spec src = l->src_spec[0];
    const mst_dtype dtype = mst_dtype_is_float(src.dtype) ? MST_F64 : MST_I64;
    const mst_axes axes = mst_reduce_axes(&((const mst_reduce_options *)l->options)->axes, src.shape.ndim);
    double n = 1;
    for (int k = 0; k < axes.count; k++) n *= (double)src.shape.dim[axes.axis[k]];
    if (n == 0 && dtype == MST_I64) n = 1; /* 0 / 0 is NaN for floats, and 0 for integers */
    const mst_hlo sum = mst_reduce_lower(l, "add", mst_hlo_convert(l, l->src[0], dtype), 0);
    l->dst[0] = mst_hlo_convert(l, mst_hlo_binary(l, "divide", sum, mst_hlo_number(l, dtype, n)), src.dtype);
}

static inline double mean_of_double(double sum, int64_t n) {
    return sum / (double)n;
}

static inline int64_t mean_of_uint64_t(uint64_t sum, int64_t n) {
    return n ? (int64_t)sum / n : 0;
}

#define A WIDE
#define START 0
#define STEP(a, x) ((a) + (A)(x))
#define COMBINE(a, b) ((a) + (b))
#define MEAN(a, n) _Generic((a), double : mean_of_double, uint64_t : mean_of_uint64_t)(a, n)
#define FINISH(a, n) ((T)MEAN(a, n))
#define MST_TEMPLATE "op/reduce/reduce_loops.inc"
#include "op/numbers.inc"

static mst_status reduce_mean_reference(const mst_kernel_args *a) {
    static const mst_reducer *const reducer[MST_NUM_DTYPES] = {MST_BY_NUMBER(reducer)};
    return mst_reduce_over_axes(a, reducer[a->src[0].dtype]);
}

static const mst_example reduce_mean_examples[] = {
    {.name = "all axes",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 9}}},
     .expect = {(const double[]){4}}},
    {.name = "last axis",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 9}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {-1}}, .keep_dims = true},
     .expect = {(const double[]){2, 6}}},
    {.name = "column means",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 5, 6, 9}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){3, 4, 6}}},
    {.name = "integers divide towards 0",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){-1, -2, 3, 4}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){-1, 3}}},
    {.name = "of large bytes",
     .num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {3}, .value = (const double[]){255, 254, 253}}},
     .expect = {(const double[]){254}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){3}}},
     .expect = {(const double[]){3}}},
    {.name = "two axes of three",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 3, 4}}},
     .options = &(const mst_reduce_options){.axes = {.count = 2, .axis = {0, 2}}}},
    {.name = "of no numbers",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {0, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){NAN, NAN}}},
    {.name = "of no integers",
     .num_src = 1,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {0}}},
     .expect = {(const double[]){0}}},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {-3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_reduce_mean = {
    .name = "reduce_mean",
    .tf_form = "Mean($0, @axes; keep_dims=keep_dims Tidx=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_reduce_fields,
    .options_size = sizeof(mst_reduce_options),
    .infer = mst_reduce_infer,
    .grad = reduce_mean_grad,
    .workspace = mst_reduce_workspace,
    .reference = reduce_mean_reference,
    .lower = reduce_mean_lower,
    MST_EXAMPLES(reduce_mean_examples),
};

mst_value mst_reduce_mean_with(mst_reduce_options options) {
    return mst_call(NULL, &mst_op_reduce_mean, 1, &options.src, &options);
}
