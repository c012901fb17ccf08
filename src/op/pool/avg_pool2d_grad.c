/** avg_pool2d_grad: the gradient of avg_pool2d and of avg_pool3d
 *
 *  src       as theirs; of it only the shape counts
 *  gradient  of its output
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

static const mst_example avg_pool2d_grad_examples[] = {
    {.name = "windows that overlap",
     .num_src = 2,
     .src = {{
                 .ndim = 4,
                 .dim = {1, 3, 3, 1},
             },
             {.ndim = 4, .dim = {1, 2, 2, 1}, .value = (const double[]){3, 5, 7, 9}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}, .strides = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){0.75, 2, 1.25, 2.5, 6, 3.5, 1.75, 4, 2.25}}},
    {.name = "what no window has is 0",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 1, 3, 1}, .value = (const double[]){2, 2, 7}, .no_grad = true},
             {.ndim = 4, .dim = {1, 1, 1, 1}, .value = (const double[]){4}}},
     .options = &(const mst_pool2d_options){.size = {.count = 2, .axis = {1, 2}}},
     .expect = {(const double[]){2, 2, 0}}},
    {.name = "same",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {2, 5, 6, 5}}, {.ndim = 4, .dim = {2, 3, 6, 5}}},
     .options =
         &(const mst_pool2d_options){
             .size = {.count = 1, .axis = {3}}, .strides = {.count = 2, .axis = {2, 1}}, .padding = MST_PADDING_SAME}},
    {.name = "many channels",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 4, 2, 300}}, {.ndim = 4, .dim = {1, 2, 1, 300}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}}},
    {.name = "three axes, windows that overlap",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {1, 3, 1, 1, 1}}, {.ndim = 5, .dim = {1, 2, 1, 1, 1}, .value = (const double[]){4, 6}}},
     .options =
         &(const mst_pool2d_options){.size = {.count = 3, .axis = {2, 1, 1}}, .strides = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){2, 5, 3}}},
    {.name = "three axes, same",
     .num_src = 2,
     .src = {{.ndim = 5, .dim = {2, 3, 4, 5, 3}}, {.ndim = 5, .dim = {2, 2, 2, 3, 3}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}, .padding = MST_PADDING_SAME}},
    {.name = "a gradient of another shape",
     .num_src = 2,
     .src = {{.ndim = 4, .dim = {1, 3, 3, 1}}, {.ndim = 4, .dim = {1, 2, 1, 1}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}},
     .fails = MST_INVALID},
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
    MST_EXAMPLES(avg_pool2d_grad_examples),
};
