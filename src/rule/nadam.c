/** nadam, as Keras 3 (Keras 1 and 2 and tf.contrib have other formulas of the same name)
 *
 *  u_t = beta_1 * (1 - 0.5 * 0.96^t), t from 1; P_t = P_{t-1} * u_t, P_0 = 1, kept in f32 as Keras does
 *  m += (g - m) * (1 - beta_1); v += (g^2 - v) * (1 - beta_2)
 *  mhat = u_{t+1} * m / (1 - P_t * u_{t+1}) + (1 - u_t) * g / (1 - P_t); vhat = v / (1 - beta_2^t)
 *  w -= learning_rate * mhat / (sqrt(vhat) + epsilon)
 *
 *  The factors of m, g and v are the same for all elements: they are computed once, in f32 for f32 and in f64 for f64.
 */
#ifdef MST_RULE_HEADER
#define mst_nadam(...) (*mst_optimizer_fill("nadam", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include <tgmath.h>

#include "base/simd.h"
#include "rule/rule.h"

/* Scalars, computed in the precision of each dtype. Templates name them MST_NAME(moment) and so on. */
enum { moment_f32, gradient_f32, square_f32, moment_f64, gradient_f64, square_f64 };

static int nadam_num_slots(const mst_optimizer *o) {
    (void)o;
    return 2;
}

static void nadam_defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->beta_1)) o->beta_1 = 0.9;
    if (!mst_number_given(o->beta_2)) o->beta_2 = 0.999;
    if (!mst_number_given(o->epsilon)) o->epsilon = 1e-7;
}

static double next_state(const mst_optimizer *o, int64_t t, double state) {
    return (double)((float)state * (float)o->beta_1 * (1 - 0.5f * powf(0.96f, (float)t)));
}

#define MST_TEMPLATE "rule/nadam_update.inc"
#include "base/floats.inc"

static void nadam_scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    scalars_f32(o, learning_rate, t, state, scalar);
    scalars_f64(o, learning_rate, t, state, scalar);
}

/* MEAN += (X - MEAN) * (1 - BETA), in the precision of DTYPE */
static mst_hlo nadam_mean(mst_lower *l, mst_dtype dtype, mst_hlo mean, mst_hlo x, double beta) {
    const mst_hlo rest = mst_hlo_number(l, dtype, dtype == MST_F64 ? 1 - beta : (double)(1 - (float)beta));
    const mst_hlo step = mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "subtract", x, mean), rest);
    return mst_hlo_binary(l, "add", mean, step);
}

static void nadam_lower(mst_lower *l, const mst_optimizer *o, mst_rule_hlo *tile) {
    const mst_dtype dtype = mst_hlo_spec(l, tile->weight).dtype;
    const mst_hlo *factor = tile->scalar + (dtype == MST_F64 ? moment_f64 : moment_f32); /* of m, of g, of v */
    const mst_hlo m = nadam_mean(l, dtype, tile->slot[0], tile->gradient, o->beta_1);
    const mst_hlo v =
        nadam_mean(l, dtype, tile->slot[1], mst_hlo_binary(l, "multiply", tile->root, tile->root), o->beta_2);
    const mst_hlo step = mst_hlo_binary(l, "add", mst_hlo_binary(l, "multiply", m, factor[0]),
                                        mst_hlo_binary(l, "multiply", tile->gradient, factor[1]));
    const mst_hlo root = mst_hlo_unary(l, "sqrt", mst_hlo_binary(l, "multiply", v, factor[2]));
    const mst_hlo divisor = mst_hlo_binary(l, "add", root, mst_hlo_number(l, dtype, o->epsilon));
    tile->weight = mst_hlo_binary(l, "subtract", tile->weight, mst_hlo_binary(l, "divide", step, divisor));
    tile->slot[0] = m;
    tile->slot[1] = v;
}

const mst_rule mst_rule_nadam = {
    .name = "nadam",
    .squares = true,
    .takes = {"beta_1", "beta_2", "epsilon"},
    .num_slots = nadam_num_slots,
    .slot_name = {"m", "v"},
    .defaults = nadam_defaults,
    .initial_state = 1,
    .next_state = next_state,
    .scalars = nadam_scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
    .lower = nadam_lower,
};
