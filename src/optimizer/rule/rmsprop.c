/** rmsprop, as Keras 3
 *
 *  rms = rho * rms + (1 - rho) * g^2; centered: mg = rho * mg + (1 - rho) * g
 *  step = learning_rate * g / sqrt(rms + epsilon), centered: / sqrt(rms - mg^2 + epsilon)
 *  w -= step; with momentum: m = momentum * m + step; w -= m
 *
 *  Slots have fixed places, so `centered` always has the momentum slot too; without momentum it holds the last step.
 */
#include <math.h>

#include "base/simd.h"
#include "optimizer/rule.h"

enum { LEARNING_RATE, EPSILON, RHO, REST, MOMENTUM };

static int num_slots(const mst_optimizer *o) {
    return o->centered ? 3 : o->momentum != 0 ? 2 : 1;
}

static void defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->rho)) o->rho = 0.9;
    if (!mst_number_given(o->epsilon)) o->epsilon = 1e-7;
}

static void scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)t;
    (void)state;
    scalar[LEARNING_RATE] = learning_rate;
    scalar[EPSILON] = o->epsilon;
    scalar[RHO] = o->rho;
    scalar[REST] = 1 - o->rho;
    scalar[MOMENTUM] = o->momentum;
}

#define UPDATE(T, root, plain, heavy, with_centered, update)                                        \
    MST_SIMD static void plain(const mst_rule_tile *tile) {                                         \
        T *restrict w = tile->weight, *restrict rms = tile->slot[0];                                \
        const T *restrict g = tile->gradient;                                                       \
        const T learning_rate = (T)tile->scalar[LEARNING_RATE], epsilon = (T)tile->scalar[EPSILON]; \
        const T rho = (T)tile->scalar[RHO], rest = (T)tile->scalar[REST];                           \
        for (int64_t i = 0; i < tile->count; i++) {                                                 \
            rms[i] = rho * rms[i] + rest * (g[i] * g[i]);                                           \
            w[i] -= learning_rate * g[i] / root(rms[i] + epsilon);                                  \
        }                                                                                           \
    }                                                                                               \
    MST_SIMD static void heavy(const mst_rule_tile *tile) {                                         \
        T *restrict w = tile->weight, *restrict rms = tile->slot[0], *restrict m = tile->slot[1];   \
        const T *restrict g = tile->gradient;                                                       \
        const T learning_rate = (T)tile->scalar[LEARNING_RATE], epsilon = (T)tile->scalar[EPSILON]; \
        const T rho = (T)tile->scalar[RHO], rest = (T)tile->scalar[REST];                           \
        const T momentum = (T)tile->scalar[MOMENTUM];                                               \
        for (int64_t i = 0; i < tile->count; i++) {                                                 \
            rms[i] = rho * rms[i] + rest * (g[i] * g[i]);                                           \
            m[i] = momentum * m[i] + learning_rate * g[i] / root(rms[i] + epsilon);                 \
            w[i] -= m[i];                                                                           \
        }                                                                                           \
    }                                                                                               \
    MST_SIMD static void with_centered(const mst_rule_tile *tile) {                                 \
        T *restrict w = tile->weight, *restrict rms = tile->slot[0], *restrict m = tile->slot[1];   \
        T *restrict mg = tile->slot[2];                                                             \
        const T *restrict g = tile->gradient;                                                       \
        const T learning_rate = (T)tile->scalar[LEARNING_RATE], epsilon = (T)tile->scalar[EPSILON]; \
        const T rho = (T)tile->scalar[RHO], rest = (T)tile->scalar[REST];                           \
        const T momentum = (T)tile->scalar[MOMENTUM];                                               \
        for (int64_t i = 0; i < tile->count; i++) {                                                 \
            rms[i] = rho * rms[i] + rest * (g[i] * g[i]);                                           \
            mg[i] = rho * mg[i] + rest * g[i];                                                      \
            m[i] = momentum * m[i] + learning_rate * g[i] / root(rms[i] - mg[i] * mg[i] + epsilon); \
            w[i] -= m[i];                                                                           \
        }                                                                                           \
    }                                                                                               \
    static void update(const mst_optimizer *o, const mst_rule_tile *tile) {                         \
        (o->centered ? with_centered : o->momentum != 0 ? heavy : plain)(tile);                     \
    }

UPDATE(float, sqrtf, plain_f32, heavy_f32, centered_f32, update_f32)
UPDATE(double, sqrt, plain_f64, heavy_f64, centered_f64, update_f64)

const mst_rule mst_rule_rmsprop = {
    .name = "rmsprop",
    .rows_only = true,
    .takes = {"rho", "momentum", "epsilon", "centered"},
    .num_slots = num_slots,
    .slot_name = {"rms", "momentum", "mg"},
    .defaults = defaults,
    .scalars = scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
};
