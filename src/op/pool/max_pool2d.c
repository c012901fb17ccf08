/** max_pool2d: dst[n, y, x, c] = the largest of src[n, y s - top + i, x s - left + j, c] in a window
 *
 *  src      f32 or f64, [n, height, width, channels]
 *  size     rows and columns of a window
 *  strides  s, default size
 *  padding  as in conv2d; what lies around src is not counted
 *  pads     as in conv2d
 *  dst      src's dtype, [n, rows, columns, channels]
 *
 *  NaN stays NaN. A window that lies outside gives minus infinity. The gradient goes to the first of equal elements.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_max_pool2d_with(mst_pool2d_options options);
#define mst_max_pool2d(...) mst_max_pool2d_with(MST_NAMED_2(mst_pool2d_options, src, size, __VA_ARGS__))
#endif
#include <math.h>

#include "op/list.h"
#include "op/op.h"
#include "op/pool/pool.h"

static mst_value max_pool2d_grad(mst_grad *c, int i) {
    (void)i;
    return mst_pool_with_gradient(&mst_op_max_pool2d_grad, c->options, c->src[0], c->ddst[0]);
}

static mst_status max_pool2d_reference(const mst_kernel_args *a) {
    return mst_pool_run(a, (const mst_pool_function[]){mst_max_pool_f32, mst_max_pool_f64});
}

#define SRC                                                         \
    {                                                               \
        .ndim = 4, .dim = {1, 3, 3, 1}, .value = (const double[]) { \
            7, 2, 3, 4, 5, 6, 1, 8, 9                               \
        }                                                           \
    }

static const mst_example max_pool2d_examples[] = {
    {.name = "valid, windows that overlap",
     .num_src = 1,
     .src = {SRC},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}, .strides = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){7, 6, 8, 9}}},
    {.name = "same",
     .num_src = 1,
     .src = {SRC},
     .options =
         &(const mst_pool2d_options){
             .size = {.count = 1, .axis = {2}}, .strides = {.count = 1, .axis = {1}}, .padding = MST_PADDING_SAME},
     .expect = {(const double[]){7, 6, 6, 8, 9, 9, 8, 9, 9}}},
    {.name = "strides are the size, same",
     .num_src = 1,
     .src = {SRC},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}, .padding = MST_PADDING_SAME},
     .expect = {(const double[]){7, 6, 8, 9}}},
    {.name = "pads",
     .num_src = 1,
     .src = {SRC},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}},
                                            .strides = {.count = 1, .axis = {1}},
                                            .pads = {.count = 4, .axis = {1, 0, 1, 0}}},
     .expect = {(const double[]){7, 7, 3, 7, 7, 6, 4, 8, 9}}},
    {.name = "channels, two sizes and strides",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {2, 5, 6, 5}}},
     .options =
         &(const mst_pool2d_options){.size = {.count = 2, .axis = {2, 3}}, .strides = {.count = 2, .axis = {3, 1}}}},
    {.name = "many channels",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 4, 2, 300}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}}},
    {.name = "pairs in a row, and one more; what is no number stays",
     .num_src = 1,
     .src = {{.ndim = 4,
              .dim = {1, 2, 5, 1},
              .value = (const double[]){1, 2, 4, 3, 9, NAN, 0, 1, NAN, 5},
              .no_grad = true}},
     .options = &(const mst_pool2d_options){.size = {.count = 2, .axis = {1, 2}}},
     .expect = {(const double[]){2, 4, NAN, NAN}}},
    {.name = "a window outside",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 1, 2, 1}, .value = (const double[]){3, 4}, .no_grad = true}},
     .options =
         &(const mst_pool2d_options){.size = {.count = 1, .axis = {1}}, .pads = {.count = 4, .axis = {0, 0, 0, 1}}},
     .expect = {(const double[]){3, 4, -INFINITY}}},
    {.name = "no size", .num_src = 1, .src = {SRC}, .fails = MST_INVALID},
    {.name = "a size of 0",
     .num_src = 1,
     .src = {SRC},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {0}}},
     .fails = MST_INVALID},
    {.name = "a window that does not fit",
     .num_src = 1,
     .src = {SRC},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {4}}},
     .fails = MST_INVALID},
    {.name = "integers",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 4, .dim = {1, 3, 3, 1}}},
     .options = &(const mst_pool2d_options){.size = {.count = 1, .axis = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_max_pool2d = {
    .name = "max_pool2d",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_pool_fields,
    .options_size = sizeof(mst_pool2d_options),
    .infer = mst_pool_infer,
    .grad = max_pool2d_grad,
    .reference = max_pool2d_reference,
    MST_EXAMPLES(max_pool2d_examples),
};

mst_value mst_max_pool2d_with(mst_pool2d_options options) {
    return mst_pool_again(&mst_op_max_pool2d, &options, options.src);
}
