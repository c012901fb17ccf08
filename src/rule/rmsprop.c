/** rmsprop, as Keras 3
 *
 *  rms = rho * rms + (1 - rho) * g^2; centered: mg = rho * mg + (1 - rho) * g
 *  step = learning_rate * g / sqrt(rms + epsilon), centered: / sqrt(rms - mg^2 + epsilon)
 *  w -= step; with momentum: m = momentum * m + step; w -= m
 *
 *  Slots have fixed places, so `centered` always has the momentum slot too; without momentum it holds the last step.
 */
#ifdef MST_RULE_HEADER
#define mst_rmsprop(...) (*mst_optimizer_fill("rmsprop", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include <tgmath.h>

#include "base/simd.h"
#include "rule/rule.h"

enum { LEARNING_RATE, EPSILON, RHO, REST, MOMENTUM };

static int rmsprop_num_slots(const mst_optimizer *o) {
    return o->centered ? 3 : o->momentum != 0 ? 2 : 1;
}

static void rmsprop_defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->rho)) o->rho = 0.9;
    if (!mst_number_given(o->epsilon)) o->epsilon = 1e-7;
}

static void rmsprop_scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)t;
    (void)state;
    scalar[LEARNING_RATE] = learning_rate;
    scalar[EPSILON] = o->epsilon;
    scalar[RHO] = o->rho;
    scalar[REST] = 1 - o->rho;
    scalar[MOMENTUM] = o->momentum;
}

#define MST_TEMPLATE "rule/rmsprop_update.inc"
#include "base/floats.inc"

static bool rmsprop_rows_only(const mst_optimizer *o) {
    return o->sparse == MST_SPARSE_TENSORFLOW;
}

const mst_rule mst_rule_rmsprop = {
    .name = "rmsprop",
    .squares = true,
    .rows_only = rmsprop_rows_only,
    .takes = {"rho", "momentum", "epsilon", "centered"},
    .num_slots = rmsprop_num_slots,
    .slot_name = {"rms", "momentum", "mg"},
    .defaults = rmsprop_defaults,
    .scalars = rmsprop_scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
};
