/** momentum: as tf.train.MomentumOptimizer
 *
 *  b = momentum * b + g; w -= learning_rate * b; nesterov: w -= learning_rate * g + learning_rate * momentum * b
 *
 *  Keras' momentum is the rule sgd with `momentum`. Its slot is the same sum, but each gradient in it is multiplied by
 *  minus the learning rate of its own step. Both rules make the same steps while the learning rate is constant, and
 *  differ after it has changed. The slot is named as in PyTorch, whose SGD keeps b too. The default of momentum is 0.9.
 */
#ifdef MST_RULE_HEADER
#define mst_momentum(...) (*mst_optimizer_fill("momentum", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include "base/simd.h"
#include "rule/rule.h"

enum { LEARNING_RATE, MOMENTUM };

static int momentum_num_slots(const mst_optimizer *o) {
    (void)o;
    return 1;
}

static void momentum_defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.01;
    if (!mst_number_given(o->momentum)) o->momentum = 0.9;
}

static void momentum_scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)t;
    (void)state;
    scalar[LEARNING_RATE] = learning_rate;
    scalar[MOMENTUM] = o->momentum;
}

#define MST_TEMPLATE "rule/momentum_update.inc"
#include "base/floats.inc"

static void momentum_lower(mst_lower *l, const mst_optimizer *o, mst_rule_hlo *tile) {
    const mst_hlo rate = tile->scalar[LEARNING_RATE], momentum = tile->scalar[MOMENTUM];
    const mst_hlo kept = mst_hlo_binary(l, "multiply", tile->slot[0], momentum);
    const mst_hlo b = mst_hlo_binary(l, "add", kept, tile->gradient);
    mst_hlo step = mst_hlo_binary(l, "multiply", b, rate);
    if (o->nesterov) {
        const mst_hlo ahead = mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "multiply", b, momentum), rate);
        step = mst_hlo_binary(l, "add", mst_hlo_binary(l, "multiply", tile->gradient, rate), ahead);
    }
    tile->weight = mst_hlo_binary(l, "subtract", tile->weight, step);
    tile->slot[0] = b;
}

static bool momentum_rows_only(const mst_optimizer *o) {
    (void)o;
    return true; /* it is TensorFlow's rule, whatever the option `sparse` says */
}

const mst_rule mst_rule_momentum = {
    .name = "momentum",
    .rows_only = momentum_rows_only,
    .takes = {"momentum", "nesterov"},
    .num_slots = momentum_num_slots,
    .slot_name = {"momentum_buffer"},
    .defaults = momentum_defaults,
    .scalars = momentum_scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
    .lower = momentum_lower,
};
