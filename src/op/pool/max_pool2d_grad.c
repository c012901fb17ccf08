/** max_pool2d_grad: the gradient of max_pool2d and of max_pool3d
 *
 *  src       as max_pool2d's or max_pool3d's
 *  gradient  of the output of the pooling
 *  dst       like src: each element gets the sum of the gradients of those windows in which it is the largest. If a
 *            window has several largest elements, its gradient goes to the first
 *
 *  Options are those of max_pool2d and max_pool3d.
 */
#include <math.h>

#include "op/list.h"
#include "op/op.h"
#include "op/pool/pool.h"

/* No gradient flows to src, because src only selects elements. */
static mst_value max_pool2d_grad_grad(mst_grad *c, int i) {
    return i == 0 ? MST_NONE : mst_pool_with_gradient(&mst_op_max_pool2d_grad_grad, c->options, c->src[0], c->ddst[0]);
}

static mst_status max_pool2d_grad_reference(const mst_kernel_args *a) {
    return mst_pool_run(a, (const mst_pool_function[]){mst_max_pool_grad_f32, mst_max_pool_grad_f64});
}

#define TIES                                                                                                   \
    (const double[]) {                                                                                         \
        1, 2, 2, -INFINITY, -INFINITY, 2, 2, 1, -INFINITY, -INFINITY, 0, NAN, 2, -INFINITY, 3, 2, NAN, 3, 3, 3 \
    }
/* the expected results of the examples in pool_grad_examples.inc */
#define OVERLAPPING 3, 0, 0, 0, 0, 5, 0, 7, 9
#define NO_WINDOW 4, 0, 0
#define THREE_AXES 0, 10, 0
static const mst_example max_pool2d_grad_examples[] = {
#include "op/pool/pool_grad_examples.inc"
    {.name = "pairs in a row, and one more; to what is no number, and to the first of equals",
     .num_src = 2,
     .src = {{.ndim = 4,
              .dim = {1, 2, 5, 1},
              .value = (const double[]){1, 2, 4, 4, 9, NAN, 0, 1, NAN, 5},
              .no_grad = true},
             {.ndim = 4, .dim = {1, 2, 2, 1}, .value = (const double[]){1, 2, 3, 4}}},
     .options = &(const mst_pool2d_options){.size = {.count = 2, .axis = {1, 2}}},
     .expect = {(const double[]){0, 1, 2, 0, 0, 3, 0, 0, 4, 0}}},
    {.name = "equals, infinities and what is no number, in windows that overlap and reach outside",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 4, 5, 1}, .value = TIES, .no_grad = true}, {.ndim = 4, .dim = {1, 4, 5, 1}}},
     .options =
         &(const mst_pool2d_options){
             .size = {.count = 1, .axis = {3}}, .strides = {.count = 1, .axis = {1}}, .padding = MST_PADDING_SAME}},
    {.name = "windows outside, and gaps between windows",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 4, 5, 1}, .value = TIES, .no_grad = true}, {.ndim = 4, .dim = {1, 4, 4, 1}}},
     .options = &(const mst_pool2d_options){.size = {.count = 2, .axis = {2, 1}},
                                            .strides = {.count = 2, .axis = {3, 2}},
                                            .pads = {.count = 4, .axis = {3, 4, 1, 1}}}},
    {.name = "long windows, side by side",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 25, 1, 3}}, {.ndim = 4, .dim = {2, 3, 1, 3}}},
     .options = &(const mst_pool2d_options){.size = {.count = 2, .axis = {9, 1}},
                                            .strides = {.count = 2, .axis = {10, 1}},
                                            .pads = {.count = 4, .axis = {2, 2, 0, 0}}}},
    {.name = "equals in a long window",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 20, 1}, .value = TIES, .no_grad = true}, {.ndim = 4, .dim = {1, 1, 2, 1}}},
     .options = &(const mst_pool2d_options){.size = {.count = 2, .axis = {1, 11}}, .padding = MST_PADDING_SAME}},
};

const mst_op mst_op_max_pool2d_grad = {
    .name = "max_pool2d_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_pool_fields,
    .options_size = sizeof(mst_pool2d_options),
    .infer = mst_pool_infer_grad,
    .grad = max_pool2d_grad_grad,
    .reference = max_pool2d_grad_reference,
    .lower = mst_max_pool_grad_lower,
    MST_EXAMPLES(max_pool2d_grad_examples),
};
