/* layer_norm, group_norm and their gradients as StableHLO (op/norm/groups.h). Values are reshaped to [outer, rows,
 * groups, inner], statistics to [outer, 1, groups, 1], and weights [groups, inner] to [1, 1, groups, inner]. */
#include "muster/hlo.h"
#include "op/norm/groups.h"

enum { OUTER, ROWS, GROUPS, INNER };

static mst_hlo viewed(mst_lower *l, mst_hlo x, const mst_norm_groups *v) {
    return mst_hlo_reshape(l, x, MST_SHAPE(v->outer, v->rows, v->groups, v->inner));
}

static mst_hlo viewed_statistic(mst_lower *l, mst_hlo x, const mst_norm_groups *v) {
    return mst_hlo_reshape(l, x, MST_SHAPE(v->outer, 1, v->groups, 1));
}

static mst_hlo viewed_weight(mst_lower *l, mst_hlo x, const mst_norm_groups *v) {
    return mst_hlo_reshape(l, x, MST_SHAPE(1, 1, v->groups, v->inner));
}

/* The mean over each group; 0 if it has no elements. */
static mst_hlo mean_of(mst_lower *l, mst_hlo x, const mst_norm_groups *v) {
    const double elements = (double)v->rows * (double)v->inner;
    const mst_hlo n = mst_hlo_number(l, l->src_spec[0].dtype, elements > 0 ? elements : 1);
    return mst_hlo_binary(l, "divide", mst_hlo_reduce_keep(l, "add", x, 0, MST_AXES(ROWS, INNER)), n);
}

/* 1 / sqrt(variance + epsilon) */
static mst_hlo inverse_deviation(mst_lower *l, mst_hlo variance, double epsilon) {
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_hlo sum = mst_hlo_binary(l, "add", variance, mst_hlo_number(l, dtype, epsilon));
    return mst_hlo_binary(l, "divide", mst_hlo_number(l, dtype, 1), mst_hlo_unary(l, "sqrt", sum));
}

void mst_norm_groups_lower(mst_lower *l, const mst_norm_groups *v, double epsilon) {
    const mst_hlo x = viewed(l, l->src[0], v), mean = mean_of(l, x, v);
    const mst_hlo u = mst_hlo_binary(l, "subtract", x, mean);
    const mst_hlo variance = mean_of(l, mst_hlo_binary(l, "multiply", u, u), v);
    const mst_hlo s = inverse_deviation(l, variance, epsilon);
    const mst_hlo scaled =
        mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "multiply", u, s), viewed_weight(l, l->src[1], v));
    const mst_hlo dst = mst_hlo_binary(l, "add", scaled, viewed_weight(l, l->src[2], v));
    l->dst[0] = mst_hlo_reshape(l, dst, l->dst_spec[0].shape);
    l->dst[1] = mst_hlo_reshape(l, mean, l->dst_spec[1].shape);
    l->dst[2] = mst_hlo_reshape(l, variance, l->dst_spec[2].shape);
}

/* dsrc = s (h - M(h) - s^2 u M(h u)), with u = src - mean, h = gamma gradient and M the mean over a group. */
void mst_norm_groups_grad_lower(mst_lower *l, const mst_norm_groups *v, double epsilon) {
    const mst_hlo g = viewed(l, l->src[4], v), h = mst_hlo_binary(l, "multiply", g, viewed_weight(l, l->src[1], v));
    const mst_hlo u = mst_hlo_binary(l, "subtract", viewed(l, l->src[0], v), viewed_statistic(l, l->src[2], v));
    const mst_hlo s = inverse_deviation(l, viewed_statistic(l, l->src[3], v), epsilon);
    const mst_hlo product = mean_of(l, mst_hlo_binary(l, "multiply", h, u), v);
    const mst_hlo slope = mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "multiply", product, s), s);
    const mst_hlo rest = mst_hlo_binary(l, "subtract", mst_hlo_binary(l, "subtract", h, mean_of(l, h, v)),
                                        mst_hlo_binary(l, "multiply", slope, u));
    const mst_hlo by_gamma = mst_hlo_binary(l, "multiply", g, mst_hlo_binary(l, "multiply", u, s));
    const mst_axes others = MST_AXES(OUTER, ROWS);
    l->dst[0] = mst_hlo_reshape(l, mst_hlo_binary(l, "multiply", s, rest), l->dst_spec[0].shape);
    l->dst[1] = mst_hlo_reshape(l, mst_hlo_reduce(l, "add", by_gamma, 0, others), l->dst_spec[1].shape);
    l->dst[2] = mst_hlo_reshape(l, mst_hlo_reduce(l, "add", g, 0, others), l->dst_spec[2].shape);
}
