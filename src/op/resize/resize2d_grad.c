/** resize2d_grad: the gradient of resize2d with respect to its source
 *
 *  src       as resize2d's; only its shape is used
 *  gradient  of the output of resize2d
 *  dst       like src
 *
 *  Options are those of resize2d.
 */
#include "op/list.h"
#include "op/op.h"
#include "op/resize/resize.h"
#include "op/share.h"

static mst_status resize2d_grad_infer(mst_infer *c) {
    mst_shape dst = {0};
    int64_t unified;
    MST_TRY(mst_resize_infer(c, &dst));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_want_ndim(c, 1, 4));
    for (int i = 0; i < 4; i++)
        MST_TRY(mst_infer_same_dim(c, dst.dim[i], c->src[1].shape.dim[i], "dimensions of the output and its gradient",
                                   &unified));
    c->dst[0] = c->src[0];
    return MST_OK;
}

static size_t resize2d_grad_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return mst_resize_workspace(c->src[1].shape.dim[1], c->src[1].shape.dim[2]);
}

/* The op is linear in the gradient, and its transpose is resize2d. */
static mst_value resize2d_grad_grad(mst_grad *c, int i) {
    return i == 0 ? MST_NONE : mst_call(NULL, &mst_op_resize2d, 1, &c->ddst[0], c->options);
}

#define MST_TEMPLATE "op/resize/resize_grad_rows.inc"
#include "base/floats.inc"

/* Computes rows BEGIN to END - 1 of dst, numbered over all pictures. */
static mst_status resize2d_grad_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    (void)thread;
    if (((const mst_resize2d_options *)a->options)->interpolation == MST_INTERPOLATION_AREA)
        (a->dst[0].dtype == MST_F32 ? resize_area_grad_rows_f32 : resize_area_grad_rows_f64)(a, begin, end);
    else
        (a->dst[0].dtype == MST_F32 ? resize_grad_rows_f32 : resize_grad_rows_f64)(a, begin, end);
    return MST_OK;
}

static mst_status resize2d_grad_reference(const mst_kernel_args *a) {
    const int64_t *dim = a->dst[0].shape.dim, rows = dim[0] * dim[1];
    if (a->dst[0].count == 0) return MST_OK;
    mst_resize_find_all(a->options, &dim[1], &a->src[1].shape.dim[1], a->workspace);
    return mst_parallel(a, rows, mst_grain(rows, 4 * a->src[1].count / rows + dim[2] * dim[3]), resize2d_grad_run,
                        mst_context_of(a));
}

#include "op/resize/resize_examples.inc"

static const mst_example resize2d_grad_examples[] = {
    {.name = "twice",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 1}}, PICTURE(2, 4, 1, 2, 3, 4, 5, 6, 7, 8)},
     .options = OPTIONS(2, 4, .interpolation = MST_INTERPOLATION_NEAREST),
     .expect = {(const double[]){14, 22}}},
    {.name = "bilinear",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 1}}, PICTURE(1, 4, 1, 4, 8, 16)},
     .options = OPTIONS(1, 4, .interpolation = MST_INTERPOLATION_BILINEAR),
     .expect = {(const double[]){1 + 3 + 2, 1 + 6 + 16}}},
    {.name = "what no pixel is made of",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 4, 1}}, PICTURE(1, 2, 1, 2)},
     .options = OPTIONS(1, 2, .align_corners = true),
     .expect = {(const double[]){1, 0, 0, 2}}},
    {.name = "area",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 3, 1}}, PICTURE(1, 2, 3, 6)},
     .options = OPTIONS(1, 2, .interpolation = MST_INTERPOLATION_AREA),
     .expect = {(const double[]){2, 3, 4}}},
    {.name = "area, channels",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 7, 5, 3}}, {.ndim = 4, .dim = {2, 3, 4, 3}}},
     .options = OPTIONS(3, 4, .interpolation = MST_INTERPOLATION_AREA, .align_corners = true)},
    {.name = "twice and three times, channels",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 3, 4, 3}}, {.ndim = 4, .dim = {2, 6, 12, 3}}},
     .options = OPTIONS(6, 12, .interpolation = MST_INTERPOLATION_NEAREST)},
    {.name = "bilinear, smaller and larger",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 7, 2, 3}}, {.ndim = 4, .dim = {2, 3, 9, 3}}},
     .options = OPTIONS(3, 9, .interpolation = MST_INTERPOLATION_BILINEAR)},
    {.name = "channels",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 3, 4, 3}}, {.ndim = 4, .dim = {2, 5, 3, 3}}},
     .options = OPTIONS(5, 3, .interpolation = MST_INTERPOLATION_BILINEAR, .align_corners = true)},
    {.name = "a gradient of another shape",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 4, 1}}, {.ndim = 4, .dim = {1, 1, 4, 1}}},
     .options = OPTIONS(1, 2, .align_corners = true),
     .fails = MST_INVALID},
};

const mst_op mst_op_resize2d_grad = {
    .name = "resize2d_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .shape_only = 1,
    .fields = mst_resize_fields,
    .options_size = sizeof(mst_resize2d_options),
    .infer = resize2d_grad_infer,
    .grad = resize2d_grad_grad,
    .workspace = resize2d_grad_workspace,
    .reference = resize2d_grad_reference,
    .lower = mst_resize_grad_lower,
    MST_EXAMPLES(resize2d_grad_examples),
};
