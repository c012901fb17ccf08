/** avg_pool2d_grad: the gradient of avg_pool2d and of avg_pool3d
 *
 *  src       as avg_pool2d's or avg_pool3d's; only its shape is used
 *  gradient  of the output of the pooling
 *  dst       like src
 *
 *  Options are those of avg_pool2d and avg_pool3d.
 */
#include "op/list.h"
#include "op/op.h"
#include "op/pool/pool.h"

static mst_value avg_pool2d_grad_grad(mst_grad *c, int i) {
    const bool is_deep = mst_value_spec(c->ddst[0]).shape.ndim == MST_CONV3D_NDIM;
    return i == 0 ? MST_NONE
                  : mst_pool_again(is_deep ? &mst_op_avg_pool3d : &mst_op_avg_pool2d, c->options, c->ddst[0]);
}

static mst_status avg_pool2d_grad_reference(const mst_kernel_args *a) {
    return mst_pool_run(a, (const mst_pool_function[]){mst_avg_pool_grad_f32, mst_avg_pool_grad_f64});
}

/* the expected results of the examples */
#define OVERLAPPING 0.75, 2, 1.25, 2.5, 6, 3.5, 1.75, 4, 2.25
#define NO_WINDOW 2, 2, 0
#define THREE_AXES 2, 5, 3
static const mst_example avg_pool2d_grad_examples[] = {
#include "op/pool/pool_grad_examples.inc"
};

const mst_op mst_op_avg_pool2d_grad = {
    .name = "avg_pool2d_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .shape_only = 1,
    .fields = mst_pool_fields,
    .options_size = sizeof(mst_pool2d_options),
    .infer = mst_pool_infer_grad,
    .grad = avg_pool2d_grad_grad,
    .reference = avg_pool2d_grad_reference,
    .lower = mst_avg_pool_grad_lower,
    MST_EXAMPLES(avg_pool2d_grad_examples),
};
