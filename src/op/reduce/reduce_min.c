/** reduce_min: dst = the smallest element of src along axes
 *
 *  src        f32, f64, i32, i64 or u8, any shape
 *  dst        src's dtype; src's dimensions without the axes, or with 1 in their place with keep_dims
 *  axes       negative ones count from the end; none: all
 *  keep_dims  dst keeps the axes, as dimensions of 1
 *
 *  A NaN among the elements makes the result NaN. Of nothing it is inf, for integers the greatest of their dtype. The
 *  gradient goes in equal shares to all elements that are the smallest.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reduce_min_with(mst_reduce_options options);
#define mst_reduce_min(...) mst_reduce_min_with(MST_NAMED_1(mst_reduce_options, src, __VA_ARGS__))
#endif
#include <math.h>

#include "op/op.h"
#include "op/reduce/reduce.h"

/* an accumulator that is NaN stays NaN, as nothing is < NaN */
#define A T
#define START HIGHEST
#define STEP(best, x) ((x) < (best) || IS_NAN(x) ? (x) : (best))
#define COMBINE STEP
#define FINISH(best, n) (best)
#define MST_TEMPLATE "op/reduce/reduce_loops.inc"
#include "op/numbers.inc"

static mst_status reference(const mst_kernel_args *a) {
    static const mst_reducer *const reducer[MST_NUM_DTYPES] = {MST_BY_NUMBER(reducer)};
    return mst_reduce_over_axes(a, reducer[a->src[0].dtype]);
}

static const mst_example examples[] = {
    {.name = "all axes",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){4, 2, 9, 1, 5, 3}}},
     .expect = {(const double[]){1}}},
    {.name = "last axis",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){4, 2, 9, 1, 5, 3}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {-1}}, .keep_dims = true},
     .expect = {(const double[]){2, 1}}},
    {.name = "columns",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){4, 2, 9, 1, 5, 3}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){1, 2, 3}}},
    {.name = "negative",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){-4, -2, -9}}},
     .expect = {(const double[]){-9}}},
    {.name = "NaN",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){NAN, 2, 1, 3}, .no_grad = true}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){NAN, 1}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){3}}},
     .expect = {(const double[]){3}}},
    {.name = "long rows", .num_src = 1, .src = {{.ndim = 2, .dim = {2, 150}}}},
    {.name = "two axes of three",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 3, 4}}},
     .options = &(const mst_reduce_options){.axes = {.count = 2, .axis = {0, 2}}}},
    {.name = "of no numbers",
     .num_src = 1,
     .src = {{.dtype = MST_F64, .ndim = 2, .dim = {0, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){INFINITY, INFINITY}}},
    {.name = "of no integers",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {0}}},
     .expect = {(const double[]){INT32_MAX}}},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_reduce_min = {
    .name = "reduce_min",
    .tf_form = "Min($0, @axes; keep_dims=keep_dims Tidx=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_reduce_fields,
    .options_size = sizeof(mst_reduce_options),
    .infer = mst_reduce_infer,
    .grad = mst_reduce_extreme_grad,
    .workspace = mst_reduce_workspace,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_reduce_min_with(mst_reduce_options options) {
    return mst_call(NULL, &mst_op_reduce_min, 1, &options.src, &options);
}
