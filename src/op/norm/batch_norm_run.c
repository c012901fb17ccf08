/* The kernel of batch_norm, and those of its functions that other kernels use (op/norm/batch_norm.h). */
#include <math.h>
#include <string.h>

#include "base/bf16.h"
#include "base/join.h"
#include "base/simd.h"
#include "op/norm/batch_norm.h"
#include "op/norm/channel_blocks.h"
#include "op/op.h"

static mst_batch_statistics statistics_of(const mst_kernel_args *a, double epsilon) {
    return (mst_batch_statistics){.rows = mst_batch_rows_of(&a->src[0].shape),
                                  .src = a->src[0].data,
                                  .gamma = a->src[1].data,
                                  .beta = a->src[2].data,
                                  .epsilon = epsilon,
                                  .sums = a->workspace,
                                  .terms = a->dst[0].data,
                                  .mean = a->dst[1].data,
                                  .variance = a->dst[2].data};
}

/* S is the type of the source, T the type of all else. MST_LOAD converts S to T. */
#define S T
#define MST_LOAD(x) (x)
#define MST_TEMPLATE "op/norm/batch_norm_rows.inc"
#include "base/floats.inc"
#undef S
#undef MST_LOAD

#define T float
#define S uint16_t
#define MST_LOAD(x) mst_bf16_value(x)
#define MST_NAME(name) MST_JOIN(name, bf16)
#include "op/norm/batch_norm_rows.inc"
#undef T
#undef S
#undef MST_LOAD
#undef MST_NAME

#define MST_TEMPLATE "op/norm/batch_norm_loops.inc"
#include "base/floats.inc"

mst_status mst_batch_norm_run(const mst_kernel_args *a, double epsilon, mst_batch_limits limits) {
    return (a->src[0].dtype == MST_F32 ? batch_norm_f32 : batch_norm_f64)(a, epsilon, limits);
}

mst_status mst_batch_statistics_run(const mst_kernel_args *a, double epsilon) {
    mst_batch_statistics s = statistics_of(a, epsilon);
    return (a->src[0].dtype == MST_F32 ? find_statistics_f32 : find_statistics_f64)(a, &s);
}
