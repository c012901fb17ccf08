#include "op/norm/groups.h"

#include <math.h>

#include "base/simd.h"
#include "op/norm/group_view.h"
#include "op/op.h"
#include "op/share.h"

/* ---- kernels ---- */

enum {
    LANES = 16,            /* sums that are computed side by side */
    ADDED_AT_ONCE = 1024,  /* elements that a lane, or a channel, adds up before its sum is added to a double */
    WORTH_A_PART = 8192,   /* least number of elements of a part in the gradient */
    MOST_PARTS = 64,       /* most parts; adding up their sums must cost little */
    VECTORS_OF_THREAD = 6, /* workspace of each thread: arrays [channels] */
};

/* The outer items are cut into parts, each with its own sums for gamma and beta. The number of parts depends only on
 * the shape. */
static int64_t outer_of_part(const mst_norm_groups *v) {
    const int64_t each = v->rows * v->groups * v->inner;
    const int64_t few = each && each < WORTH_A_PART ? WORTH_A_PART / each : 1;
    return v->outer > few * MOST_PARTS ? (v->outer + MOST_PARTS - 1) / MOST_PARTS : few;
}

static int64_t parts_of(const mst_norm_groups *v) {
    const int64_t part = outer_of_part(v);
    return (v->outer + part - 1) / part;
}

#define MST_TEMPLATE "op/norm/groups_loops.inc"
#include "base/floats.inc"

mst_status mst_norm_groups_run(const mst_kernel_args *a, const mst_norm_groups *view, double epsilon) {
    return (a->src[0].dtype == MST_F32 ? groups_run_f32 : groups_run_f64)(a, view, epsilon);
}

mst_status mst_norm_groups_grad_run(const mst_kernel_args *a, const mst_norm_groups *view, double epsilon) {
    return (a->src[0].dtype == MST_F32 ? groups_grad_run_f32 : groups_grad_run_f64)(a, view, epsilon);
}

size_t mst_norm_groups_workspace(const mst_norm_groups *view, int num_threads) {
    return (size_t)(num_threads * VECTORS_OF_THREAD * view->groups * view->inner) * sizeof(double);
}

size_t mst_norm_groups_grad_workspace(const mst_norm_groups *view, mst_dtype dtype, int num_threads) {
    const size_t sums = (size_t)(2 * parts_of(view) * view->groups * view->inner) * mst_dtype_size(dtype);
    return mst_norm_groups_workspace(view, num_threads) + sums;
}

/* ---- nodes ---- */

/* The axes of a value in the graph of the gradient. The lengths of the axes may be unknown there.
 *
 *     layer_norm   the value keeps its shape; a group is its last axes
 *     group_norm   the value is reshaped to four dimensions (op/norm/group_view.h); a group is axes 1 and 3 */
typedef struct form {
    int32_t groups;  /* 0: layer_norm */
    mst_axes within; /* axes of a group */
    mst_axes others; /* axes over which the gradient of gamma is summed */
} form;

static form form_of(const mst_grad *c, int32_t groups) {
    form f = {.groups = groups};
    if (groups) {
        f.within = MST_AXES(1, 3);
        f.others = MST_AXES(0, 1);
        return f;
    }
    const int ndim = mst_value_spec(c->src[0]).shape.ndim, first = ndim - mst_value_spec(c->src[1]).shape.ndim;
    for (int i = 0; i < first; i++) f.others.axis[f.others.count++] = i;
    for (int i = first; i < ndim; i++) f.within.axis[f.within.count++] = i;
    return f;
}

/* For group_norm, these three reshape a value to [outer, rows, groups, inner]; a statistic [outer, groups] to
 * [outer, 1, groups, 1]; and a weight [channels] to [groups, inner]. For layer_norm they change nothing. */
static mst_value viewed(const form *f, mst_value value) {
    return f->groups ? mst_group_view(value, f->groups) : value;
}

static mst_value viewed_statistic(const form *f, mst_value value) {
    return f->groups ? mst_expand_dims(mst_expand_dims(value, 1), 3) : value;
}

static mst_value viewed_weight(const form *f, mst_value value) {
    return f->groups ? mst_reshape(value, MST_SHAPE(f->groups, -1)) : value;
}

static mst_value group_sum(const form *f, mst_value value) {
    return mst_reduce_sum(value, .axes = f->within, .keep_dims = true);
}

static mst_value group_mean(const form *f, mst_value value) {
    return mst_reduce_mean(value, .axes = f->within, .keep_dims = true);
}

static mst_value sum_of_others(const form *f, mst_value value) {
    return f->others.count ? mst_reduce_sum(value, .axes = f->others) : value;
}

static mst_value zeros_if_none(mst_value value, mst_value like) {
    return mst_value_is_none(value) ? mst_zeros_like(like) : value;
}

/* The number of elements in a group of X, a node. It is computed in f64 and rounded once, as in reductions. */
static mst_value group_count(const form *f, mst_value x) {
    mst_value count = mst_dim_size(x, f->within.axis[0], MST_F64);
    for (int i = 1; i < f->within.count; i++) count = mst_mul(count, mst_dim_size(x, f->within.axis[i], MST_F64));
    return mst_value_spec(x).dtype == MST_F64 ? count : mst_cast(count, mst_value_spec(x).dtype);
}

/* d mean / d src = 1 / n, and d variance / d src = 2 (src - mean) / n */
mst_value mst_norm_groups_by_statistics(const mst_grad *c, int32_t groups, mst_value sum) {
    const form f = form_of(c, groups);
    mst_value term = MST_NONE;
    if (mst_value_is_none(c->ddst[1]) && mst_value_is_none(c->ddst[2])) return sum;
    const mst_value x = viewed(&f, c->src[0]), n = group_count(&f, x);
    if (!mst_value_is_none(c->ddst[1])) term = mst_broadcast_like(mst_div(viewed_statistic(&f, c->ddst[1]), n), x);
    if (!mst_value_is_none(c->ddst[2])) {
        const mst_value u = mst_sub(x, viewed_statistic(&f, c->dst[1]));
        const mst_value by_variance = mst_mul(u, mst_scale(mst_div(viewed_statistic(&f, c->ddst[2]), n), 2));
        term = mst_value_is_none(term) ? by_variance : mst_add(term, by_variance);
    }
    if (groups) term = mst_reshape_like(term, c->src[0]);
    return mst_value_is_none(sum) ? term : mst_add(sum, term);
}

/* Let u = src - mean, s = 1 / sqrt(variance + epsilon), g the source gradient, h = gamma g, and M the mean over a
 * group: dsrc = s (h - M(h) - s^2 u M(h u)), dgamma = sum(g u s), dbeta = sum(g). These are differentiated again: for
 * a loss L, p = dL / d dsrc, p_1 = dL / d dgamma, p_2 = dL / d dbeta. */
typedef struct terms {
    form form;
    mst_value gamma, g, h, u, s;
    mst_value p, p_1, p_2;
    mst_value mean_hu, mean_pu; /* M(h u), M(p u) */
} terms;

static terms terms_of(const mst_grad *c, int32_t groups, double epsilon) {
    terms t = {.form = form_of(c, groups)};
    const form *f = &t.form;
    const mst_value variance = viewed_statistic(f, c->src[3]);
    t.gamma = viewed_weight(f, c->src[1]);
    t.g = viewed(f, c->src[4]);
    t.h = mst_mul(t.g, t.gamma);
    t.u = mst_sub(viewed(f, c->src[0]), viewed_statistic(f, c->src[2]));
    t.s = mst_rsqrt(mst_add(variance, mst_scalar(c->graph, mst_value_spec(variance).dtype, epsilon)));
    t.p = viewed(f, zeros_if_none(c->ddst[0], c->src[0]));
    t.p_1 = viewed_weight(f, zeros_if_none(c->ddst[1], c->src[1]));
    t.p_2 = viewed_weight(f, zeros_if_none(c->ddst[2], c->src[1]));
    t.mean_hu = group_mean(f, mst_mul(t.h, t.u));
    t.mean_pu = group_mean(f, mst_mul(t.p, t.u));
    return t;
}

/* dL / dh, through dsrc: s (p - M(p) - s^2 u M(p u)). */
static mst_value by_h(const terms *t) {
    const mst_value along = mst_mul(t->u, mst_mul(mst_square(t->s), t->mean_pu));
    return mst_mul(t->s, mst_sub(mst_sub(t->p, group_mean(&t->form, t->p)), along));
}

/* dL / du: p_1 g s - s^3 (p M(h u) + h M(p u)). */
static mst_value by_u(const terms *t) {
    const mst_value cube = mst_mul(t->s, mst_square(t->s));
    const mst_value both = mst_add(mst_mul(t->p, t->mean_hu), mst_mul(t->h, t->mean_pu));
    return mst_sub(mst_mul(mst_mul(t->p_1, t->g), t->s), mst_mul(cube, both));
}

/* dL / d variance = dL / ds * ds / d variance, with ds / d variance = -s^3 / 2 and
 * dL / ds = sum(p h) - sum(p) M(h) - 3 s^2 sum(p u) M(h u) + sum(p_1 g u). */
static mst_value by_variance(const terms *t) {
    const form *f = &t->form;
    const mst_value square = mst_square(t->s);
    const mst_value plain =
        mst_sub(group_sum(f, mst_mul(t->p, t->h)), mst_mul(group_sum(f, t->p), group_mean(f, t->h)));
    const mst_value cross = mst_mul(mst_scale(square, 3), mst_mul(group_sum(f, mst_mul(t->p, t->u)), t->mean_hu));
    const mst_value of_gamma = group_sum(f, mst_mul(t->p_1, mst_mul(t->g, t->u)));
    return mst_mul(mst_scale(mst_mul(square, t->s), -0.5), mst_add(mst_sub(plain, cross), of_gamma));
}

mst_value mst_norm_groups_second(const mst_grad *c, int32_t groups, double epsilon, int i) {
    const terms t = terms_of(c, groups, epsilon);
    mst_value value;
    switch (i) {
        case 0: value = by_u(&t); break;
        case 1: value = sum_of_others(&t.form, mst_mul(t.g, by_h(&t))); break;
        case 2: value = mst_neg(group_sum(&t.form, by_u(&t))); break;
        case 3: value = by_variance(&t); break;
        default: /* dL / dg */
            value = mst_add(mst_add(mst_mul(t.gamma, by_h(&t)), mst_mul(t.p_1, mst_mul(t.u, t.s))), t.p_2);
    }
    return groups ? mst_reshape_like(value, c->src[i]) : value;
}
