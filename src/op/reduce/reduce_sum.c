/** reduce_sum: dst = sum of src over axes
 *
 *  src        f32, f64, i32, i64 or u8, any shape
 *  dst        src's dtype; src's dimensions without the axes, or with 1 in their place with keep_dims
 *  axes       negative ones count from the end; none: all
 *  keep_dims  dst keeps the axes, as dimensions of 1
 *
 *  The sum of no elements is 0. f32 is summed in f64 and rounded once; the order of the sum depends only on the shape.
 *  Integers wrap around.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reduce_sum_with(mst_reduce_options options);
#define mst_reduce_sum(...) mst_reduce_sum_with(MST_NAMED_1(mst_reduce_options, src, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/reduce/reduce.h"

static mst_value reduce_sum_grad(mst_grad *c, int i) {
    (void)i;
    return mst_broadcast_like(mst_reduce_restore_dims(c, c->ddst[0]), c->src[0]);
}

static void reduce_sum_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_convert(l, mst_reduce_lower(l, "add", mst_reduce_wide(l), 0), l->dst_spec[0].dtype);
}

static mst_status reduce_sum_reference(const mst_kernel_args *a) {
    const mst_reduce_loops r = mst_reduce_loops_over(a->src[0].shape, &((const mst_reduce_options *)a->options)->axes);
    return mst_reduce_sums(a, &r);
}

static const mst_example reduce_sum_examples[] = {
    {.name = "all axes",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .expect = {(const double[]){21}}},
    {.name = "last axis",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {-1}}},
     .expect = {(const double[]){6, 15}}},
    {.name = "column sums",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {5, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}, .keep_dims = true},
     .expect = {(const double[]){25, 30}}},
    {.name = "middle axis",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 2, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){4, 6, 12, 14}}},
    {.name = "outer axes",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 2, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}}},
     .options = &(const mst_reduce_options){.axes = {.count = 2, .axis = {2, 0}}},
     .expect = {(const double[]){14, 22}}},
    {.name = "wraps around",
     .num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {2}, .value = (const double[]){200, 100}}},
     .expect = {(const double[]){44}}},
    {.name = "small beside large",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {4}, .value = (const double[]){16777216, 1, 1, -16777216}}},
     .expect = {(const double[]){2}}},
    {.name = "long rows", .num_src = 1, .src = {{.ndim = 2, .dim = {2, 300}}}},
    {.name = "long rows, last axis",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 2, 133}}},
     .options = &(const mst_reduce_options){.axes = {.count = 2, .axis = {0, 2}}, .keep_dims = true}},
    {.name = "wide columns",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 3, 300}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){3}}},
     .expect = {(const double[]){3}}},
    {.name = "of nothing",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {0, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){0, 0}}},
    {.name = "to nothing",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {0, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {1}}}},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {2}}},
     .fails = MST_INVALID},
    {.name = "axis twice",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 2, .axis = {1, -1}}},
     .fails = MST_INVALID},
    {.name = "bool", .num_src = 1, .src = {{.dtype = MST_BOOL, .ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
};

const mst_op mst_op_reduce_sum = {
    .name = "reduce_sum",
    .tf_form = "Sum($0, @axes; keep_dims=keep_dims Tidx=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_reduce_fields,
    .options_size = sizeof(mst_reduce_options),
    .infer = mst_reduce_infer,
    .grad = reduce_sum_grad,
    .workspace = mst_reduce_workspace,
    .reference = reduce_sum_reference,
    .lower = reduce_sum_lower,
    MST_EXAMPLES(reduce_sum_examples),
};

mst_value mst_reduce_sum_with(mst_reduce_options options) {
    return mst_call(NULL, &mst_op_reduce_sum, 1, &options.src, &options);
}
