/** reduce_prod: dst = product of src over axes
 *
 *  src        f32, f64, i32, i64 or u8, any shape
 *  dst        src's dtype; src's dimensions without the axes, or with 1 in their place with keep_dims
 *  axes       negative ones count from the end; none: all
 *  keep_dims  dst keeps the axes, as dimensions of 1
 *
 *  The product of no elements is 1. f32 is multiplied in f64 and rounded once; integers wrap around. The gradient is
 *  correct even if elements are 0.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reduce_prod_with(mst_reduce_options options);
#define mst_reduce_prod(...) mst_reduce_prod_with(MST_NAMED_1(mst_reduce_options, src, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/reduce/reduce.h"

/* d dst / d src[i] is the product of the others. It is not computed as dst / src[i], because src[i] may be 0. */
static mst_value reduce_prod_grad(mst_grad *c, int i) {
    (void)i;
    mst_value others = mst_reduce_prod_others(c->src[0], ((const mst_reduce_options *)c->options)->axes);
    return mst_mul(others, mst_reduce_restore_dims(c, c->ddst[0]));
}

static void reduce_prod_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_convert(l, mst_reduce_lower(l, "multiply", mst_reduce_wide(l), 1), l->dst_spec[0].dtype);
}

#define A WIDE
#define START 1
#define STEP(a, x) ((a) * (A)(x))
#define COMBINE(a, b) ((a) * (b))
#define FINISH(a, n) ((T)(a))
#define MST_TEMPLATE "op/reduce/reduce_loops.inc"
#include "op/numbers.inc"

static mst_status reduce_prod_reference(const mst_kernel_args *a) {
    static const mst_reducer *const reducer[MST_NUM_DTYPES] = {MST_BY_NUMBER(reducer)};
    return mst_reduce_over_axes(a, reducer[a->src[0].dtype]);
}

static const mst_example reduce_prod_examples[] = {
    {.name = "all axes",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}}},
     .expect = {(const double[]){24}}},
    {.name = "last axis",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {-1}}, .keep_dims = true},
     .expect = {(const double[]){6, 120}}},
    {.name = "columns with zeros",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 3}, .value = (const double[]){1, 2, 3, 4, 0, 0, 2, 5, 0}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){8, 0, 0}}},
    {.name = "wraps around",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){65536, -65536, 3}}},
     .expect = {(const double[]){0}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){3}}},
     .expect = {(const double[]){3}}},
    {.name = "two axes of three",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 3, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 2, .axis = {0, 2}}}},
    {.name = "of nothing",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {0, 2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){1, 1}}},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_reduce_options){.axes = {.count = 1, .axis = {1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_reduce_prod = {
    .name = "reduce_prod",
    .tf_form = "Prod($0, @axes; keep_dims=keep_dims Tidx=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_reduce_fields,
    .options_size = sizeof(mst_reduce_options),
    .infer = mst_reduce_infer,
    .grad = reduce_prod_grad,
    .workspace = mst_reduce_workspace,
    .reference = reduce_prod_reference,
    .lower = reduce_prod_lower,
    MST_EXAMPLES(reduce_prod_examples),
};

mst_value mst_reduce_prod_with(mst_reduce_options options) {
    return mst_call(NULL, &mst_op_reduce_prod, 1, &options.src, &options);
}
