/** sgd: stochastic gradient descent, as Keras 3
 *
 *  w += -learning_rate * g
 *  with momentum: m = momentum * m - learning_rate * g; w += m; nesterov: w += momentum * m - learning_rate * g
 *  (momentum, the rule of tf.train.MomentumOptimizer, makes the same steps while the learning rate is constant)
 */
#ifdef MST_RULE_HEADER
#define mst_sgd(...) (*mst_optimizer_fill("sgd", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include "base/simd.h"
#include "rule/rule.h"

enum { LEARNING_RATE, MOMENTUM };

static int sgd_num_slots(const mst_optimizer *o) {
    return o->momentum != 0;
}

static void sgd_defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.01;
}

static void sgd_scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)t;
    (void)state;
    scalar[LEARNING_RATE] = learning_rate;
    scalar[MOMENTUM] = o->momentum;
}

#define MST_TEMPLATE "rule/sgd_update.inc"
#include "base/floats.inc"

static void sgd_lower(mst_lower *l, const mst_optimizer *o, mst_rule_hlo *tile) {
    const mst_hlo step = mst_hlo_binary(l, "multiply", tile->gradient, tile->scalar[LEARNING_RATE]);
    if (o->momentum == 0) {
        tile->weight = mst_hlo_binary(l, "subtract", tile->weight, step);
        return;
    }
    const mst_hlo momentum = tile->scalar[MOMENTUM];
    const mst_hlo m = mst_hlo_binary(l, "subtract", mst_hlo_binary(l, "multiply", tile->slot[0], momentum), step);
    mst_hlo change = m;
    if (o->nesterov) change = mst_hlo_binary(l, "subtract", mst_hlo_binary(l, "multiply", m, momentum), step);
    tile->weight = mst_hlo_binary(l, "add", tile->weight, change);
    tile->slot[0] = m;
}

static bool sgd_rows_only(const mst_optimizer *o) {
    /* Without momentum a gradient of 0 changes nothing. With momentum, TensorFlow's sparse kernel does not change rows
     * without a gradient. In Keras their momentum decays and still changes the weight. */
    return o->momentum == 0 || o->sparse == MST_SPARSE_TENSORFLOW;
}

const mst_rule mst_rule_sgd = {
    .name = "sgd",
    .rows_only = sgd_rows_only,
    .takes = {"momentum", "nesterov"},
    .num_slots = sgd_num_slots,
    .slot_name = {"momentum"},
    .defaults = sgd_defaults,
    .scalars = sgd_scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
    .lower = sgd_lower,
};
