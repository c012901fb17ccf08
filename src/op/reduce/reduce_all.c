/** reduce_all: dst = whether all elements of src along axes are true
 *
 *  src        bool, any shape
 *  dst        bool; src's dimensions without the axes, or with 1 in their place with keep_dims
 *  axes       negative ones count from the end; none: all
 *  keep_dims  dst keeps the axes, as dimensions of 1
 *
 *  Of nothing it is true. It has no gradient.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reduce_all_with(mst_reduce_options options);
#define mst_reduce_all(...) mst_reduce_all_with(MST_NAMED_1(mst_reduce_options, src, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/reduce/reduce.h"

#define T uint8_t
#define A T
#define START 1
#define STEP(a, x) ((A)((a) & (x)))
#define COMBINE STEP
#define FINISH(a, n) (a)
#define MST_NAME(name) name
#include "op/reduce/reduce_loops.inc"

static mst_status reference(const mst_kernel_args *a) {
    return mst_reduce_over_axes(a, &reducer);
}

static const mst_example examples[] = {
    {.name = "all axes",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 1, 1, 0, 1, 0}}},
     .expect = {(const double[]){0}}},
    {.name = "last axis",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 2}, .value = (const double[]){1, 1, 1, 0, 0, 0}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {-1}}, .keep_dims = true},
     .expect = {(const double[]){1, 0, 0}}},
    {.name = "columns",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 1, 0, 0, 1, 0}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){0, 1, 0}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){1}}},
     .expect = {(const double[]){1}}},
    {.name = "of nothing", .num_src = 1, .src = {{.ndim = 1, .dim = {0}}}, .expect = {(const double[]){1}}},
    {.name = "numbers", .num_src = 1, .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_reduce_all = {
    .name = "reduce_all",
    .tf_form = "All($0, @axes; keep_dims=keep_dims Tidx=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_BOOL),
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_reduce_fields,
    .options_size = sizeof(mst_reduce_options),
    .infer = mst_reduce_infer,
    .workspace = mst_reduce_workspace,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_reduce_all_with(mst_reduce_options options) {
    return mst_call(NULL, &mst_op_reduce_all, 1, &options.src, &options);
}
