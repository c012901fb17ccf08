/** adamw: adam with decoupled weight decay, default 0.004, as Keras 3
 *
 *  w -= learning_rate * weight_decay * w before adam's update. The caller of the rule does this, as for all rules.
 */
#ifdef MST_RULE_HEADER
#define mst_adamw(...) (*mst_optimizer_fill("adamw", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include "rule/list.h"
#include "rule/rule.h"

static int adamw_num_slots(const mst_optimizer *o) {
    return mst_rule_adam.num_slots(o);
}

static void adamw_defaults(mst_optimizer *o) {
    mst_rule_adam.defaults(o);
    if (!mst_number_given(o->weight_decay)) o->weight_decay = 0.004;
}

static void adamw_scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    mst_rule_adam.scalars(o, learning_rate, t, state, scalar);
}

static void update_f32(const mst_optimizer *o, const mst_rule_tile *tile) {
    mst_rule_adam.update_f32(o, tile);
}

static void update_f64(const mst_optimizer *o, const mst_rule_tile *tile) {
    mst_rule_adam.update_f64(o, tile);
}

static void adamw_lower(mst_lower *l, const mst_optimizer *o, mst_rule_hlo *tile) {
    mst_rule_adam.lower(l, o, tile);
}

const mst_rule mst_rule_adamw = {
    .name = "adamw",
    .squares = true,
    .takes = {"beta_1", "beta_2", "epsilon", "epsilon_kind", "amsgrad"},
    .num_slots = adamw_num_slots,
    .slot_name = {"m", "v", "vhat"},
    .keeps_powers = true,
    .defaults = adamw_defaults,
    .scalars = adamw_scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
    .lower = adamw_lower,
};
