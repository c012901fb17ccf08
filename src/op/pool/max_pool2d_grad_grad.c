/** max_pool2d_grad_grad: the gradient of max_pool2d_grad: for each window, the element of gradient at the place where
 *  src is largest
 *
 *  src       as max_pool2d's or max_pool3d's
 *  gradient  like src
 *  dst       like the output of the pooling; 0 if a window lies outside src
 *
 *  Options are those of max_pool2d and max_pool3d.
 */
#include <math.h>

#include "op/list.h"
#include "op/op.h"
#include "op/pool/pool.h"

static mst_status max_pool2d_grad_grad_infer(mst_infer *c) {
    mst_shape shape;
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_same_shape(c, 0, 1, &shape));
    return mst_pool_infer_any(c);
}

static mst_value max_pool2d_grad_grad_grad(mst_grad *c, int i) {
    return i == 0 ? MST_NONE : mst_pool_with_gradient(&mst_op_max_pool2d_grad, c->options, c->src[0], c->ddst[0]);
}

static mst_status max_pool2d_grad_grad_reference(const mst_kernel_args *a) {
    return mst_pool_run(a, (const mst_pool_function[]){mst_max_pool_pick_f32, mst_max_pool_pick_f64});
}

static const mst_example max_pool2d_grad_grad_examples[] = {
    {.name = "windows that overlap",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 3, 3, 1}, .value = (const double[]){7, 2, 3, 4, 5, 6, 1, 8, 8}, .no_grad = true},
             {.ndim = 4, .dim = {1, 3, 3, 1}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}, .strides = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){1, 6, 8, 8}}},
    {.name = "same",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 5, 6, 5}}, {.ndim = 4, .dim = {2, 5, 6, 5}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {3}}, .padding = MST_PADDING_SAME}},
    {.name = "equals and what is no number, in windows that overlap and reach outside",
     .num_src = 2,
     .src = {{.ndim = 4,
              .dim = {1, 3, 4, 1},
              .value = (const double[]){1, 2, 2, -INFINITY, 2, 2, NAN, -INFINITY, 0, 2, NAN, -INFINITY},
              .no_grad = true},
             {.ndim = 4, .dim = {1, 3, 4, 1}}},
     .options =
         &(const mst_pool2d_options){
             .size = {.count = 1, .axis = {3}}, .strides = {.count = 1, .axis = {1}}, .padding = MST_PADDING_SAME}},
    {.name = "windows of one pixel",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 2, 2, 300}}, {.ndim = 4, .dim = {2, 2, 2, 300}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {1}}}},
    {.name = "three axes",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {2, 3, 4, 5, 3}}, {.ndim = 5, .dim = {2, 3, 4, 5, 3}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}, .padding = MST_PADDING_SAME}},
    {.name = "shapes differ",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 3, 3, 1}}, {.ndim = 4, .dim = {1, 2, 2, 1}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_max_pool2d_grad_grad = {
    .name = "max_pool2d_grad_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_pool_fields,
    .options_size = sizeof(mst_pool2d_options),
    .infer = max_pool2d_grad_grad_infer,
    .grad = max_pool2d_grad_grad_grad,
    .reference = max_pool2d_grad_grad_reference,
    .lower = mst_max_pool_pick_lower,
    MST_EXAMPLES(max_pool2d_grad_grad_examples),
};
