/** l2_loss: dst = sum(src^2) / 2
 *
 *  src  f32 or f64, any shape
 *  dst  src's dtype, scalar
 *
 *  f32 is squared and summed in f64 and rounded once.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_l2_loss(mst_value src);
#endif
#include "op/op.h"
#include "op/reduce.h"

static mst_status infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = {.ndim = 0}};
    return MST_OK;
}

static mst_value grad(mst_grad *c, int i) {
    (void)i;
    return mst_mul(c->src[0], c->ddst[0]);
}

MST_FOLD_ROW(squares_f32, float, double, 0, mst_add_square_f32, mst_join)
MST_FOLD_ROW(squares_f64, double, double, 0, mst_add_square_f64, mst_join)

double mst_sum_squares(const mst_array *src) {
    return src->dtype == MST_F32 ? squares_f32_row(src->data, src->count) : squares_f64_row(src->data, src->count);
}

static mst_status reference(const mst_kernel_args *a) {
    const double loss = mst_sum_squares(&a->src[0]) / 2;
    if (a->dst[0].dtype == MST_F32)
        *(float *)a->dst[0].data = (float)loss;
    else
        *(double *)a->dst[0].data = loss;
    return MST_OK;
}

static const mst_example examples[] = {
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
    .tf_name = "L2Loss",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .infer = infer,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_l2_loss(mst_value src) {
    return mst_call(NULL, &mst_op_l2_loss, 1, &src, NULL);
}
