/** adam, as Keras 3 and TensorFlow
 *
 *  m += (g - m) * (1 - beta_1); v += (g^2 - v) * (1 - beta_2); amsgrad: vhat = max(vhat, v), in place of v below
 *  alpha = learning_rate * sqrt(1 - beta_2^t) / (1 - beta_1^t), t from 1
 *  w -= alpha * m / (sqrt(v) + epsilon)
 *
 *  This epsilon is the paper's "epsilon hat". MST_EPSILON_CORRECTED adds it to sqrt(v / (1 - beta_2^t)) instead, which
 *  is the same as epsilon * sqrt(1 - beta_2^t) above: the paper's algorithm 1 and PyTorch.
 *  TensorFlow computes alpha in the dtype of the variable; in f32, 1 - beta_2^t of the first steps has few digits, so
 *  it is done here too: the scalars of f32 and of f64 differ.
 */
#include <math.h>

#include "base/simd.h"
#include "optimizer/rule.h"

enum { ALPHA_F32, EPSILON_F32, ALPHA_F64, EPSILON_F64, REST_1, REST_2 };

static int num_slots(const mst_optimizer *o) {
    return o->amsgrad ? 3 : 2;
}

static void defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->beta_1)) o->beta_1 = 0.9;
    if (!mst_number_given(o->beta_2)) o->beta_2 = 0.999;
    if (!mst_number_given(o->epsilon)) o->epsilon = 1e-7;
}

#define SCALARS(T, root, power, first)                                                           \
    do {                                                                                         \
        const T power_1 = power((T)o->beta_1, (T)t), power_2 = power((T)o->beta_2, (T)t);        \
        const T correction = root(1 - power_2);                                                  \
        scalar[first] = (double)((T)learning_rate * correction / (1 - power_1));                 \
        scalar[(first) + 1] = o->epsilon;                                                        \
        if (o->epsilon_kind == MST_EPSILON_CORRECTED) scalar[(first) + 1] *= (double)correction; \
    } while (0)

static void scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)state;
    SCALARS(float, sqrtf, powf, ALPHA_F32);
    SCALARS(double, sqrt, pow, ALPHA_F64);
    scalar[REST_1] = 1 - o->beta_1;
    scalar[REST_2] = 1 - o->beta_2;
}

#define UPDATE(T, root, first, plain, with_amsgrad, update)                                     \
    MST_SIMD static void plain(const mst_rule_tile *tile) {                                     \
        T *restrict w = tile->weight, *restrict m = tile->slot[0], *restrict v = tile->slot[1]; \
        const T *restrict g = tile->gradient;                                                   \
        const T alpha = (T)tile->scalar[first], epsilon = (T)tile->scalar[(first) + 1];         \
        const T rest_1 = (T)tile->scalar[REST_1], rest_2 = (T)tile->scalar[REST_2];             \
        for (int64_t i = 0; i < tile->count; i++) {                                             \
            m[i] += (g[i] - m[i]) * rest_1;                                                     \
            v[i] += (g[i] * g[i] - v[i]) * rest_2;                                              \
            w[i] -= m[i] * alpha / (root(v[i]) + epsilon);                                      \
        }                                                                                       \
    }                                                                                           \
    MST_SIMD static void with_amsgrad(const mst_rule_tile *tile) {                              \
        T *restrict w = tile->weight, *restrict m = tile->slot[0], *restrict v = tile->slot[1]; \
        T *restrict vhat = tile->slot[2];                                                       \
        const T *restrict g = tile->gradient;                                                   \
        const T alpha = (T)tile->scalar[first], epsilon = (T)tile->scalar[(first) + 1];         \
        const T rest_1 = (T)tile->scalar[REST_1], rest_2 = (T)tile->scalar[REST_2];             \
        for (int64_t i = 0; i < tile->count; i++) {                                             \
            m[i] += (g[i] - m[i]) * rest_1;                                                     \
            v[i] += (g[i] * g[i] - v[i]) * rest_2;                                              \
            vhat[i] = vhat[i] > v[i] ? vhat[i] : v[i]; /* NaN in v goes on */                   \
            w[i] -= m[i] * alpha / (root(vhat[i]) + epsilon);                                   \
        }                                                                                       \
    }                                                                                           \
    static void update(const mst_optimizer *o, const mst_rule_tile *tile) {                     \
        (o->amsgrad ? with_amsgrad : plain)(tile);                                              \
    }

UPDATE(float, sqrtf, ALPHA_F32, plain_f32, amsgrad_f32, update_f32)
UPDATE(double, sqrt, ALPHA_F64, plain_f64, amsgrad_f64, update_f64)

const mst_rule mst_rule_adam = {
    .name = "adam",
    .takes = {"beta_1", "beta_2", "epsilon", "epsilon_kind", "amsgrad"},
    .num_slots = num_slots,
    .slot_name = {"m", "v", "vhat"},
    .defaults = defaults,
    .scalars = scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
};
