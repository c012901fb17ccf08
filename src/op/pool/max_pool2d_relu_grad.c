/** max_pool2d_relu_grad: relu_grad(max_pool2d_grad(src, gradient), src), for a pooling of the output of relu
 *
 *  src       as max_pool2d_grad's: the output of relu
 *  gradient  as max_pool2d_grad's
 *  dst       as max_pool2d_grad's, but 0 where src is not above 0
 *
 *  Options are those of max_pool2d_grad. The plan makes this op, after differentiation, so it has no gradient.
 */
#include <math.h>

#include "op/op.h"
#include "op/pool/pool.h"

static mst_status max_pool2d_relu_grad_reference(const mst_kernel_args *a) {
    return mst_pool_run(a, (const mst_pool_function[]){mst_max_pool_relu_grad_f32, mst_max_pool_relu_grad_f64});
}

static const mst_example max_pool2d_relu_grad_examples[] = {
    {.name = "windows that overlap",
     .num_src = 2,
     .src = {{
                 .ndim = 4,
                 .dim = {1, 3, 3, 1},
                 .value = (const double[]){0, 0, 3, 0, 0, 6, 1, 8, 9},
             },
             {.ndim = 4, .dim = {1, 2, 2, 1}, .value = (const double[]){3, 5, 7, 9}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}, .strides = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){0, 0, 0, 0, 0, 5, 0, 7, 9}}},
    {.name = "pairs in a row, and one more; not to what is no number",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 2, 5, 1}, .value = (const double[]){0, 2, 4, 4, 9, NAN, 5, 0, 0, 5}},
             {.ndim = 4, .dim = {1, 2, 2, 1}, .value = (const double[]){1, 2, 3, 4}}},
     .options = &(const mst_pool2d_options){.size = {.count = 2, .axis = {1, 2}}},
     .expect = {(const double[]){0, 1, 2, 0, 0, 0, 0, 0, 0, 0}}},
    {.name = "many channels",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {3, 1, 7, 300}}, {.ndim = 4, .dim = {3, 1, 3, 300}}},
     .options = &(const mst_pool2d_options){.size = {.count = 2, .axis = {1, 2}}}},
    {.name = "three axes",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {1, 3, 1, 1, 1}, .value = (const double[]){0, 0, 2}},
             {.ndim = 5, .dim = {1, 2, 1, 1, 1}, .value = (const double[]){4, 5}}},
     .options =
         &(const mst_pool2d_options){.size = {.count = 3, .axis = {2, 1, 1}}, .strides = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){0, 0, 5}}},
    {.name = "a gradient of another shape",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 3, 3, 1}}, {.ndim = 4, .dim = {1, 2, 1, 1}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_max_pool2d_relu_grad = {
    .name = "max_pool2d_relu_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_pool_fields,
    .options_size = sizeof(mst_pool2d_options),
    .infer = mst_pool_infer_grad,
    .reference = max_pool2d_relu_grad_reference,
    MST_EXAMPLES(max_pool2d_relu_grad_examples),
};
