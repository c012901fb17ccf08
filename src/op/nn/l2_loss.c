/** l2_loss: dst = sum(src^2) / 2
 *
 *  src  f32 or f64, any shape
 *  dst  src's dtype, scalar
 *
 *  f32 is squared and summed in f64 and rounded once. The order of the sum depends only on the number of elements.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_l2_loss(mst_value src);
#endif
#include "op/op.h"
#include "op/reduce/sum_squares.h"

static mst_status l2_loss_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = {.ndim = 0}};
    return MST_OK;
}

static mst_value l2_loss_grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->src[0], c->ddst[0]);
}

static void l2_loss_lower(mst_lower *l) {
    const mst_hlo x = mst_hlo_convert(l, l->src[0], MST_F64);
    const mst_hlo sum = mst_hlo_reduce_whole(l, "add", mst_hlo_binary(l, "multiply", x, x), 0);
    const mst_hlo half = mst_hlo_binary(l, "multiply", sum, mst_hlo_number(l, MST_F64, 0.5));
    l->dst[0] = mst_hlo_convert(l, half, l->dst_spec[0].dtype);
}

static mst_status l2_loss_reference(const mst_kernel_args *a) {
    double squares;
    MST_TRY(mst_sum_squares(a, &squares));
    if (a->dst[0].dtype == MST_F32)
        *(float *)a->dst[0].data = (float)(squares / 2);
    else
        *(double *)a->dst[0].data = squares / 2;
    return MST_OK;
}

static const mst_example l2_loss_examples[] = {
    {.name = "matrix",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, -2, 3, 4}}},
     .expect = {(const double[]){15}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){3}}},
     .expect = {(const double[]){4.5}}},
    {.name = "long", .num_src = 1, .src = {{.ndim = 1, .dim = {300}}}},
    {.name = "of nothing", .num_src = 1, .src = {{.ndim = 2, .dim = {0, 2}}}, .expect = {(const double[]){0}}},
    {.name = "integers", .num_src = 1, .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
};

const mst_op mst_op_l2_loss = {
    .name = "l2_loss",
    .tf_form = "L2Loss($0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .infer = l2_loss_infer,
    .grad = l2_loss_grad,
    .workspace = mst_sum_squares_workspace,
    .reference = l2_loss_reference,
    .lower = l2_loss_lower,
    MST_EXAMPLES(l2_loss_examples),
};

mst_value mst_l2_loss(mst_value src) {
    return mst_call(NULL, &mst_op_l2_loss, 1, &src, NULL);
}
