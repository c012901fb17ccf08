/** adagrad: w -= learning_rate * g / sqrt(accumulator + epsilon), as Keras 3
 *
 *  accumulator += g^2, from initial_accumulator
 *  (tf.train.AdagradOptimizer is the same without epsilon)
 */
#ifdef MST_RULE_HEADER
#define mst_adagrad(...) (*mst_optimizer_fill("adagrad", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include <tgmath.h>

#include "base/simd.h"
#include "rule/rule.h"

enum { LEARNING_RATE, EPSILON };

static int adagrad_num_slots(const mst_optimizer *o) {
    (void)o;
    return 1;
}

static double slot_initial(const mst_optimizer *o, int slot) {
    (void)slot;
    return o->initial_accumulator;
}

static void adagrad_defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->epsilon)) o->epsilon = 1e-7;
    if (!mst_number_given(o->initial_accumulator)) o->initial_accumulator = 0.1;
}

static void adagrad_scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)t;
    (void)state;
    scalar[LEARNING_RATE] = learning_rate;
    scalar[EPSILON] = o->epsilon;
}

#define MST_TEMPLATE "rule/adagrad_update.inc"
#include "base/floats.inc"

static void adagrad_lower(mst_lower *l, const mst_optimizer *o, mst_rule_hlo *tile) {
    (void)o;
    /* root: the gradient, or for sparse rows that occur several times the root of their summed squares (rule/rule.h) */
    const mst_hlo square = mst_hlo_binary(l, "multiply", tile->root, tile->root);
    const mst_hlo accumulator = mst_hlo_binary(l, "add", tile->slot[0], square);
    const mst_hlo divisor = mst_hlo_unary(l, "sqrt", mst_hlo_binary(l, "add", accumulator, tile->scalar[EPSILON]));
    const mst_hlo step = mst_hlo_binary(l, "multiply", tile->gradient, tile->scalar[LEARNING_RATE]);
    tile->weight = mst_hlo_binary(l, "subtract", tile->weight, mst_hlo_binary(l, "divide", step, divisor));
    tile->slot[0] = accumulator;
}

static bool adagrad_rows_only(const mst_optimizer *o) {
    (void)o;
    return true; /* because a gradient of 0 changes nothing */
}

const mst_rule mst_rule_adagrad = {
    .name = "adagrad",
    .squares = true,
    .rows_only = adagrad_rows_only,
    .takes = {"epsilon", "initial_accumulator"},
    .num_slots = adagrad_num_slots,
    .slot_name = {"accumulator"},
    .slot_initial = slot_initial,
    .defaults = adagrad_defaults,
    .scalars = adagrad_scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
    .lower = adagrad_lower,
};
