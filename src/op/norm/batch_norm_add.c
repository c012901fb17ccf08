/** batch_norm_add: dst = batch_norm(src) + what
 *
 *  src, gamma, beta  as batch_norm's
 *  what              like src
 *  epsilon           as batch_norm's
 *  dst               output 0, like src
 *  mean, variance    outputs 1 and 2, as batch_norm's
 *
 *  The end of a residual block. The plan makes this op, after differentiation, so it has no gradient.
 */
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"

static mst_status batch_norm_add_infer(mst_infer *c) {
    mst_shape shape;
    MST_TRY(mst_op_batch_norm.infer(c));
    MST_TRY(mst_infer_same_dtype(c, 0, MST_BATCH_WHAT));
    return mst_infer_same_shape(c, 0, MST_BATCH_WHAT, &shape);
}

static mst_status batch_norm_add_reference(const mst_kernel_args *a) {
    return mst_batch_norm_run(a, ((const mst_batch_norm_options *)a->options)->epsilon,
                              mst_batch_limits_for(MST_BATCH_LINEAR));
}

/* clang-format off */
#define CHANNELS(...) {.ndim = 1, .dim = {2}, .value = (const double[]){__VA_ARGS__}}
/* clang-format on */

static const mst_example batch_norm_add_examples[] = {
    {.name = "two rows", /* the batch norm gives -5 -4, 11 -4 */
     .num_src = 4,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 10, 5, 40}},
             CHANNELS(12, 0),
             CHANNELS(3, -4),
             {.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}}},
     .options = &(const mst_batch_norm_options){.epsilon = 5},
     .expect = {(const double[]){-4, -2, 14, 0}, (const double[]){3, 25}, (const double[]){4, 225}}},
    {.name = "pictures",
     .num_src = 4,
     .src = {{.ndim = 4, .dim = {2, 3, 3, 2}}, CHANNELS(0.5, -2), CHANNELS(1, 0), {.ndim = 4, .dim = {2, 3, 3, 2}}},
     .options = &(const mst_batch_norm_options){.epsilon = 0.1}},
    {.name = "many rows",
     .num_src = 4,
     .src = {{.ndim = 4, .dim = {5, 40, 40, 3}},
             {.ndim = 1, .dim = {3}},
             {.ndim = 1, .dim = {3}},
             {.ndim = 4, .dim = {5, 40, 40, 3}}},
     .tolerance = 1e-5},
    {.name = "what is added has another shape",
     .num_src = 4,
     .src = {{.ndim = 2, .dim = {2, 2}}, CHANNELS(1, 1), CHANNELS(1, 1), {.ndim = 2, .dim = {1, 2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_batch_norm_add = {
    .name = "batch_norm_add",
    .num_src = 4,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_batch_norm_fields,
    .options_size = sizeof(mst_batch_norm_options),
    .infer = batch_norm_add_infer,
    .workspace = mst_batch_norm_workspace,
    .reference = batch_norm_add_reference,
    MST_EXAMPLES(batch_norm_add_examples),
};
