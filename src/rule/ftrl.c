/** ftrl: follow the regularized leader, as Keras 3
 *
 *  n = accumulator + g^2; p(x) = x^-learning_rate_power
 *  linear += g + 2 * l2_shrinkage * w - (p(n) - p(accumulator)) / learning_rate * w
 *  w = (clip(linear, -l1_strength, l1_strength) - linear) /
 *      (p(n) / learning_rate + 2 * l2_strength + beta / learning_rate)
 *  accumulator = n
 *
 *  With the default power -0.5, p is the square root, for which processors have an instruction.
 */
#ifdef MST_RULE_HEADER
#define mst_ftrl(...) (*mst_optimizer_fill("ftrl", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include <tgmath.h>

#include "base/simd.h"
#include "rule/rule.h"

enum { LEARNING_RATE, L2, L1, SHRINKAGE, POWER };

static int ftrl_num_slots(const mst_optimizer *o) {
    (void)o;
    return 2;
}

static double slot_initial(const mst_optimizer *o, int slot) {
    return slot == 0 ? o->initial_accumulator : 0;
}

static void ftrl_defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->initial_accumulator)) o->initial_accumulator = 0.1;
    if (!mst_number_given(o->learning_rate_power)) o->learning_rate_power = -0.5;
}

static void ftrl_scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)t;
    (void)state;
    scalar[LEARNING_RATE] = learning_rate;
    scalar[L2] = 2 * (o->l2_strength + o->beta / (2 * learning_rate));
    scalar[L1] = o->l1_strength;
    scalar[SHRINKAGE] = 2 * o->l2_shrinkage;
    scalar[POWER] = -o->learning_rate_power;
}

#define MST_TEMPLATE "rule/ftrl_update.inc"
#include "base/floats.inc"

/* p(X) */
static mst_hlo ftrl_power(mst_lower *l, const mst_optimizer *o, const mst_rule_hlo *tile, mst_hlo x) {
    if (o->learning_rate_power == -0.5) return mst_hlo_unary(l, "sqrt", x);
    return mst_hlo_binary(l, "power", x, tile->scalar[POWER]);
}

static void ftrl_lower(mst_lower *l, const mst_optimizer *o, mst_rule_hlo *tile) {
    const mst_hlo w = tile->weight, l1 = tile->scalar[L1], rate = tile->scalar[LEARNING_RATE];
    const mst_hlo square = mst_hlo_binary(l, "multiply", tile->root, tile->root);
    const mst_hlo n = mst_hlo_binary(l, "add", tile->slot[0], square);
    const mst_hlo before = ftrl_power(l, o, tile, tile->slot[0]), after = ftrl_power(l, o, tile, n);
    const mst_hlo shrunk = mst_hlo_binary(l, "multiply", w, tile->scalar[SHRINKAGE]);
    const mst_hlo sigma = mst_hlo_binary(l, "divide", mst_hlo_binary(l, "subtract", after, before), rate);
    const mst_hlo pull = mst_hlo_binary(l, "subtract", mst_hlo_binary(l, "add", tile->gradient, shrunk),
                                        mst_hlo_binary(l, "multiply", sigma, w));
    const mst_hlo linear = mst_hlo_binary(l, "add", tile->slot[1], pull), least = mst_hlo_unary(l, "negate", l1);
    /* not mst_hlo_clamp: a NaN becomes -l1 */
    const mst_hlo low = mst_hlo_select(l, mst_hlo_compare(l, "GT", linear, least), linear, least);
    const mst_hlo clipped = mst_hlo_select(l, mst_hlo_compare(l, "LT", low, l1), low, l1);
    const mst_hlo divisor = mst_hlo_binary(l, "add", mst_hlo_binary(l, "divide", after, rate), tile->scalar[L2]);
    tile->weight = mst_hlo_binary(l, "divide", mst_hlo_binary(l, "subtract", clipped, linear), divisor);
    tile->slot[0] = n;
    tile->slot[1] = linear;
}

static bool ftrl_rows_only(const mst_optimizer *o) {
    /* TensorFlow's sparse kernel does not change rows without a gradient. Keras updates them with a gradient of 0. */
    return o->sparse == MST_SPARSE_TENSORFLOW;
}

const mst_rule mst_rule_ftrl = {
    .name = "ftrl",
    .squares = true,
    .rows_only = ftrl_rows_only,
    .takes = {"initial_accumulator", "learning_rate_power", "l1_strength", "l2_strength", "l2_shrinkage", "beta"},
    .num_slots = ftrl_num_slots,
    .slot_name = {"accumulator", "linear"},
    .slot_initial = slot_initial,
    .defaults = ftrl_defaults,
    .scalars = ftrl_scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
    .lower = ftrl_lower,
};
