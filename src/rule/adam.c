/** adam, as Keras 3 and TensorFlow
 *
 *  m += (g - m) * (1 - beta_1); v += (g^2 - v) * (1 - beta_2); amsgrad: vhat = max(vhat, v), in place of v below
 *  alpha = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t), t from 1
 *  w -= alpha * m / (sqrt(v) + epsilon)
 *
 *  This epsilon is the paper's "epsilon hat". MST_EPSILON_CORRECTED adds it to sqrt(v / (1 - beta_2^t)) instead, as the
 *  paper's algorithm 1 and PyTorch do. In the formula above that is epsilon * sqrt(1 - beta_2^t) in place of epsilon.
 *
 *  TensorFlow computes alpha in the dtype of the variable, and so does this rule: there is one alpha for f32 and one
 *  for f64. They differ, because in f32 1 - beta_2^t has few correct digits in the first steps.
 */
#ifdef MST_RULE_HEADER
#define mst_adam(...) (*mst_optimizer_fill("adam", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include <tgmath.h>

#include "base/simd.h"
#include "rule/rule.h"

/* Scalars. alpha and epsilon are computed in the precision of each dtype; templates name them MST_NAME(alpha). */
enum { alpha_f32, epsilon_f32, alpha_f64, epsilon_f64, REST_1, REST_2 };

static int adam_num_slots(const mst_optimizer *o) {
    return o->amsgrad ? 3 : 2;
}

static void adam_defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->beta_1)) o->beta_1 = 0.9;
    if (!mst_number_given(o->beta_2)) o->beta_2 = 0.999;
    if (!mst_number_given(o->epsilon)) o->epsilon = 1e-7;
}

#define MST_TEMPLATE "rule/adam_update.inc"
#include "base/floats.inc"

static void adam_scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)state;
    scalars_f32(o, learning_rate, t, scalar);
    scalars_f64(o, learning_rate, t, scalar);
    scalar[REST_1] = 1 - o->beta_1;
    scalar[REST_2] = 1 - o->beta_2;
}

/* MEAN += (X - MEAN) * REST */
static mst_hlo adam_mean(mst_lower *l, mst_hlo mean, mst_hlo x, mst_hlo rest) {
    const mst_hlo step = mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "subtract", x, mean), rest);
    return mst_hlo_binary(l, "add", mean, step);
}

static void adam_lower(mst_lower *l, const mst_optimizer *o, mst_rule_hlo *tile) {
    const bool is_f64 = mst_hlo_spec(l, tile->weight).dtype == MST_F64;
    const mst_hlo alpha = tile->scalar[is_f64 ? alpha_f64 : alpha_f32];
    const mst_hlo epsilon = tile->scalar[is_f64 ? epsilon_f64 : epsilon_f32];
    /* root: the gradient, or for sparse rows that occur several times the root of their summed squares (rule/rule.h) */
    const mst_hlo square = mst_hlo_binary(l, "multiply", tile->root, tile->root);
    const mst_hlo m = adam_mean(l, tile->slot[0], tile->gradient, tile->scalar[REST_1]);
    mst_hlo v = tile->slot[1] = adam_mean(l, tile->slot[1], square, tile->scalar[REST_2]);
    if (o->amsgrad) /* a NaN in v reaches vhat */
        v = tile->slot[2] = mst_hlo_select(l, mst_hlo_compare(l, "GT", tile->slot[2], v), tile->slot[2], v);
    const mst_hlo divisor = mst_hlo_binary(l, "add", mst_hlo_unary(l, "sqrt", v), epsilon);
    const mst_hlo step = mst_hlo_binary(l, "divide", mst_hlo_binary(l, "multiply", m, alpha), divisor);
    tile->weight = mst_hlo_binary(l, "subtract", tile->weight, step);
    tile->slot[0] = m;
}

const mst_rule mst_rule_adam = {
    .name = "adam",
    .squares = true,
    .takes = {"beta_1", "beta_2", "epsilon", "epsilon_kind", "amsgrad"},
    .num_slots = adam_num_slots,
    .slot_name = {"m", "v", "vhat"},
    .keeps_powers = true,
    .defaults = adam_defaults,
    .scalars = adam_scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
    .lower = adam_lower,
};
