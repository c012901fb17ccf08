/** argmin: dst = index of the smallest element of src along axis
 *
 *  src    f32, f64, i32, i64 or u8, at least one dimension
 *  dst    dtype; src's dimensions without axis
 *  axis   negative ones count from the end; default 0, as in TensorFlow. Its dimension must not be 0
 *  dtype  i32 or i64, default i64
 *
 *  Of equal elements the first counts. NaN is passed over, as in TensorFlow; where nothing below inf is there, it is 0.
 *  It has no gradient.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_argmin_with(mst_arg_search_options options);
#define mst_argmin(...) mst_argmin_with(MST_NAMED_1(mst_arg_search_options, src, __VA_ARGS__))
#endif
#include <math.h>
#include <string.h>

#include "op/op.h"
#include "op/reduce/arg_search.h"

/* Everything but NaN and Inf is better than NaN: NaN is found only where it is first and nothing is better. */
#define BETTER(x, best) ((x) < (best) || (IS_NAN(best) && (x) < HIGHEST))
#define MST_TEMPLATE "op/reduce/arg_search_loops.inc"
#include "op/numbers.inc"

static mst_status reference(const mst_kernel_args *a) {
    static const mst_arg_searcher *const searcher[MST_NUM_DTYPES] = {MST_BY_NUMBER(searcher)};
    return mst_arg_search(a, searcher[a->src[0].dtype]);
}

static const mst_example examples[] = {
    {.name = "columns, the first of equals",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 2}, .value = (const double[]){1, 5, 4, 2, 4, 5}}},
     .expect = {(const double[]){0, 1}}},
    {.name = "rows",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 7, 4, 2, 1, 1}}},
     .options = &(const mst_arg_search_options){.axis = -1, .dtype = MST_I32},
     .expect = {(const double[]){0, 1}}},
    {.name = "middle",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 2, 2}, .value = (const double[]){1, 8, 3, 4, 6, 5, 7, 2}}},
     .options = &(const mst_arg_search_options){.axis = 1},
     .expect = {(const double[]){0, 1, 0, 1}}},
    {.name = "NaN",
     .num_src = 1,
     .src = {{.dtype = MST_F32,
              .ndim = 2,
              .dim = {4, 3},
              .value = (const double[]){1, NAN, 9, NAN, 3, 2, NAN, NAN, NAN, NAN, INFINITY, NAN}}},
     .options = &(const mst_arg_search_options){.axis = 1},
     .expect = {(const double[]){0, 2, 0, 0}}},
    {.name = "one element", .num_src = 1, .src = {{.ndim = 1, .dim = {1}}}, .expect = {(const double[]){0}}},
    {.name = "to nothing", .num_src = 1, .src = {{.ndim = 2, .dim = {2, 0}}}},
    {.name = "of nothing", .num_src = 1, .src = {{.ndim = 2, .dim = {0, 2}}}, .fails = MST_INVALID},
    {.name = "scalar", .num_src = 1, .src = {{.ndim = 0}}, .fails = MST_INVALID},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_arg_search_options){.axis = 1},
     .fails = MST_INVALID},
    {.name = "dtype is no index",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_arg_search_options){.dtype = MST_F32},
     .fails = MST_INVALID},
};

const mst_op mst_op_argmin = {
    .name = "argmin",
    .tf_form = "ArgMin($0, axis; Tidx=i32 output_type=dtype)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_arg_search_fields,
    .options_size = sizeof(mst_arg_search_options),
    .infer = mst_arg_search_infer,
    .workspace = mst_arg_search_workspace,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_argmin_with(mst_arg_search_options options) {
    return mst_call(NULL, &mst_op_argmin, 1, &options.src, &options);
}
