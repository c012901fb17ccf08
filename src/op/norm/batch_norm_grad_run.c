/* The kernel of batch_norm_grad, and those of its functions that other kernels use (op/norm/batch_norm.h). */
#include <math.h>
#include <string.h>

#include "base/bf16.h"
#include "base/join.h"
#include "base/simd.h"
#include "op/norm/batch_norm.h"
#include "op/norm/channel_blocks.h"
#include "op/op.h"

/* S is the type of the source and the gradient, T the type of all else. MST_LOAD converts S to T. MST_DROP replaces a T
 * by 0 where the activation has clipped the output (op/norm/channel_blocks.h). */
#define S T
#define MST_LOAD(x) (x)
#define MST_DROP MST_NAME(mst_drop)
#define MST_TEMPLATE "op/norm/batch_norm_grad_rows.inc"
#include "base/floats.inc"
#undef S
#undef MST_LOAD
#undef MST_DROP

/* The bf16 loops are only for kernels that read arrays kept in bf16 (op/norm/kept.c). The sources of the ops below are
 * f32 or f64. */
#define T float
#define S uint16_t
#define MST_LOAD(x) mst_bf16_value(x)
#define MST_DROP mst_drop_f32
#define MST_NAME(name) MST_JOIN(name, bf16)
#include "op/norm/batch_norm_grad_rows.inc"
#undef T
#undef S
#undef MST_LOAD
#undef MST_DROP
#undef MST_NAME

#define MST_TEMPLATE "op/norm/batch_norm_grad_loops.inc"
#include "base/floats.inc"

const mst_batch_limits *mst_batch_grad_limits(int activation, mst_batch_limits *limits) {
    *limits = mst_batch_limits_for(activation);
    return activation == MST_BATCH_LINEAR ? NULL : limits;
}

/* The last three sources are mean, variance and gradient. */
mst_status mst_batch_norm_grad_run(const mst_kernel_args *a, double epsilon, int activation) {
    mst_batch_limits storage;
    const mst_batch_limits *limits = mst_batch_grad_limits(activation, &storage);
    return (a->src[0].dtype == MST_F32 ? batch_norm_grad_f32 : batch_norm_grad_f64)(a, a->num_src - 3, epsilon, limits);
}

mst_status mst_batch_grad_sums_run(const mst_kernel_args *a, double epsilon, int activation) {
    mst_batch_limits storage;
    const mst_batch_limits *limits = mst_batch_grad_limits(activation, &storage);
    return (a->src[0].dtype == MST_F32 ? batch_norm_grad_sums_f32 : batch_norm_grad_sums_f64)(a, epsilon, limits);
}
