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

/* rho * MEAN + (1 - rho) * X */
static mst_hlo rmsprop_mean(mst_lower *l, const mst_rule_hlo *tile, mst_hlo mean, mst_hlo x) {
    return mst_hlo_binary(l, "add", mst_hlo_binary(l, "multiply", mean, tile->scalar[RHO]),
                          mst_hlo_binary(l, "multiply", x, tile->scalar[REST]));
}

static void rmsprop_lower(mst_lower *l, const mst_optimizer *o, mst_rule_hlo *tile) {
    /* root: the gradient, or for sparse rows that occur several times the root of their summed squares (rule/rule.h) */
    const mst_hlo square = mst_hlo_binary(l, "multiply", tile->root, tile->root);
    mst_hlo variance = tile->slot[0] = rmsprop_mean(l, tile, tile->slot[0], square);
    if (o->centered) {
        const mst_hlo mg = tile->slot[2] = rmsprop_mean(l, tile, tile->slot[2], tile->gradient);
        variance = mst_hlo_binary(l, "subtract", variance, mst_hlo_binary(l, "multiply", mg, mg));
    }
    const mst_hlo divisor = mst_hlo_unary(l, "sqrt", mst_hlo_binary(l, "add", variance, tile->scalar[EPSILON]));
    const mst_hlo scaled = mst_hlo_binary(l, "multiply", tile->gradient, tile->scalar[LEARNING_RATE]);
    mst_hlo step = mst_hlo_binary(l, "divide", scaled, divisor);
    if (rmsprop_num_slots(o) > 1)
        step = tile->slot[1] =
            mst_hlo_binary(l, "add", mst_hlo_binary(l, "multiply", tile->slot[1], tile->scalar[MOMENTUM]), step);
    tile->weight = mst_hlo_binary(l, "subtract", tile->weight, step);
}

static bool rmsprop_rows_only(const mst_optimizer *o) {
    /* TensorFlow's sparse kernel does not change rows without a gradient. In Keras their rms decays. */
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
    .lower = rmsprop_lower,
};
