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

static bool ftrl_rows_only(const mst_optimizer *o) {
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
};
