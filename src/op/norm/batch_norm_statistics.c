/** batch_norm_statistics: batch_norm without dst; instead it computes the terms of dst (MST_BATCH_TERMS in
 *  op/norm/batch_norm.h)
 *
 *  src, gamma, beta  as batch_norm's
 *  epsilon           as batch_norm's
 *  terms             output 0, [3, channels]: mean, gamma / sqrt(variance + epsilon), beta
 *  mean, variance    outputs 1 and 2, as batch_norm's
 *
 *  The plan makes this op if only convolutions read the output of a batch norm. It has no gradient.
 */
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"

static mst_status batch_norm_statistics_infer(mst_infer *c) {
    MST_TRY(mst_op_batch_norm.infer(c));
    c->dst[0].shape = mst_shape_make(2, (const int64_t[]){MST_BATCH_TERMS, c->dst[1].shape.dim[0]});
    return MST_OK;
}

static mst_status batch_norm_statistics_reference(const mst_kernel_args *a) {
    return mst_batch_statistics_run(a, ((const mst_batch_norm_options *)a->options)->epsilon);
}

/* clang-format off */
#define CHANNELS(...) {.ndim = 1, .dim = {2}, .value = (const double[]){__VA_ARGS__}}
/* clang-format on */

static const mst_example batch_norm_statistics_examples[] = {
    {.name = "two channels",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 10, 5, 40}}, CHANNELS(12, 0), CHANNELS(3, -4)},
     .options = &(const mst_batch_norm_options){.epsilon = 5},
     .expect = {(const double[]){3, 25, 4, 0, 3, -4}, (const double[]){3, 25}, (const double[]){4, 225}}},
    {.name = "pictures",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {2, 3, 3, 2}}, CHANNELS(0.5, -2), CHANNELS(1, 0)},
     .options = &(const mst_batch_norm_options){.epsilon = 0.1}},
    {.name = "channels differ",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 3}}, CHANNELS(1, 1), CHANNELS(1, 1)},
     .fails = MST_INVALID},
};

const mst_op mst_op_batch_norm_statistics = {
    .name = "batch_norm_statistics",
    .num_src = 3,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_batch_norm_fields,
    .options_size = sizeof(mst_batch_norm_options),
    .infer = batch_norm_statistics_infer,
    .workspace = mst_batch_norm_workspace,
    .reference = batch_norm_statistics_reference,
    MST_EXAMPLES(batch_norm_statistics_examples),
};
