/** sgd: stochastic gradient descent, as Keras 3
 *
 *  w += -learning_rate * g
 *  with momentum: m = momentum * m - learning_rate * g; w += m; nesterov: w += momentum * m - learning_rate * g
 *  (tf.train.MomentumOptimizer keeps m / -learning_rate: the same steps while the learning rate is constant)
 */
#include "base/simd.h"
#include "optimizer/rule.h"

enum { LEARNING_RATE, MOMENTUM };

static int num_slots(const mst_optimizer *o) {
    return o->momentum != 0;
}

static void defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.01;
}

static void scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)t;
    (void)state;
    scalar[LEARNING_RATE] = learning_rate;
    scalar[MOMENTUM] = o->momentum;
}

#define UPDATE(T, plain, heavy, with_nesterov, update)                          \
    MST_SIMD static void plain(const mst_rule_tile *tile) {                     \
        T *restrict w = tile->weight;                                           \
        const T *restrict g = tile->gradient;                                   \
        const T learning_rate = (T)tile->scalar[LEARNING_RATE];                 \
        for (int64_t i = 0; i < tile->count; i++) w[i] -= g[i] * learning_rate; \
    }                                                                           \
    MST_SIMD static void heavy(const mst_rule_tile *tile) {                     \
        T *restrict w = tile->weight, *restrict m = tile->slot[0];              \
        const T *restrict g = tile->gradient;                                   \
        const T learning_rate = (T)tile->scalar[LEARNING_RATE];                 \
        const T momentum = (T)tile->scalar[MOMENTUM];                           \
        for (int64_t i = 0; i < tile->count; i++) {                             \
            m[i] = m[i] * momentum - g[i] * learning_rate;                      \
            w[i] += m[i];                                                       \
        }                                                                       \
    }                                                                           \
    MST_SIMD static void with_nesterov(const mst_rule_tile *tile) {             \
        T *restrict w = tile->weight, *restrict m = tile->slot[0];              \
        const T *restrict g = tile->gradient;                                   \
        const T learning_rate = (T)tile->scalar[LEARNING_RATE];                 \
        const T momentum = (T)tile->scalar[MOMENTUM];                           \
        for (int64_t i = 0; i < tile->count; i++) {                             \
            T step = g[i] * learning_rate;                                      \
            m[i] = m[i] * momentum - step;                                      \
            w[i] += m[i] * momentum - step;                                     \
        }                                                                       \
    }                                                                           \
    static void update(const mst_optimizer *o, const mst_rule_tile *tile) {     \
        (o->momentum == 0 ? plain : o->nesterov ? with_nesterov : heavy)(tile); \
    }

UPDATE(float, plain_f32, heavy_f32, nesterov_f32, update_f32)
UPDATE(double, plain_f64, heavy_f64, nesterov_f64, update_f64)

const mst_rule mst_rule_sgd = {
    .name = "sgd",
    .rows_only = true,
    .takes = {"momentum", "nesterov"},
    .num_slots = num_slots,
    .slot_name = {"momentum"},
    .defaults = defaults,
    .scalars = scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
};
