/** nadam, as Keras 3 (Keras 1 and 2 and tf.contrib have other formulas of the same name)
 *
 *  u_t = beta_1 * (1 - 0.5 * 0.96^t), t from 1; P_t = P_{t-1} * u_t, P_0 = 1, kept in f32 as Keras does
 *  m += (g - m) * (1 - beta_1); v += (g^2 - v) * (1 - beta_2)
 *  mhat = u_{t+1} * m / (1 - P_t * u_{t+1}) + (1 - u_t) * g / (1 - P_t); vhat = v / (1 - beta_2^t)
 *  w -= learning_rate * mhat / (sqrt(vhat) + epsilon)
 *
 *  The factors of m, g and v are the same for all elements: they are computed once, in f32 for f32 and in f64 for f64.
 */
#ifdef MST_RULE_HEADER
#define mst_nadam(...) (*mst_optimizer_fill("nadam", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include <math.h>

#include "base/simd.h"
#include "rule/rule.h"

enum { MOMENT_F32, GRADIENT_F32, SQUARE_F32, MOMENT_F64, GRADIENT_F64, SQUARE_F64 };

static int num_slots(const mst_optimizer *o) {
    (void)o;
    return 2;
}

static void defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->beta_1)) o->beta_1 = 0.9;
    if (!mst_number_given(o->beta_2)) o->beta_2 = 0.999;
    if (!mst_number_given(o->epsilon)) o->epsilon = 1e-7;
}

static double next_state(const mst_optimizer *o, int64_t t, double state) {
    return (double)((float)state * (float)o->beta_1 * (1 - 0.5f * powf(0.96f, (float)t)));
}

#define SCALARS(T, power, first)                                                 \
    do {                                                                         \
        const T now = (T)o->beta_1 * (1 - (T)0.5 * power((T)0.96, (T)t));        \
        const T next = (T)o->beta_1 * (1 - (T)0.5 * power((T)0.96, (T)(t + 1))); \
        const T product = (T)state, rate = (T)learning_rate;                     \
        scalar[first] = (double)(rate * next / (1 - product * next));            \
        scalar[(first) + 1] = (double)(rate * (1 - now) / (1 - product));        \
        scalar[(first) + 2] = (double)(1 / (1 - power((T)o->beta_2, (T)t)));     \
    } while (0)

static void scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    SCALARS(float, powf, MOMENT_F32);
    SCALARS(double, pow, MOMENT_F64);
}

#define UPDATE(T, square_root, first, update)                                                   \
    MST_SIMD static void update(const mst_optimizer *o, const mst_rule_tile *tile) {            \
        T *restrict w = tile->weight, *restrict m = tile->slot[0], *restrict v = tile->slot[1]; \
        const T *restrict g = tile->gradient, *restrict r = tile->root;                         \
        const T moment = (T)tile->scalar[first], gradient = (T)tile->scalar[(first) + 1];       \
        const T square = (T)tile->scalar[(first) + 2], epsilon = (T)o->epsilon;                 \
        const T rest_1 = 1 - (T)o->beta_1, rest_2 = 1 - (T)o->beta_2;                           \
        for (int64_t i = 0; i < tile->count; i++) {                                             \
            m[i] += (g[i] - m[i]) * rest_1;                                                     \
            v[i] += (r[i] * r[i] - v[i]) * rest_2;                                              \
            w[i] -= (moment * m[i] + gradient * g[i]) / (square_root(v[i] * square) + epsilon); \
        }                                                                                       \
    }

UPDATE(float, sqrtf, MOMENT_F32, update_f32)
UPDATE(double, sqrt, MOMENT_F64, update_f64)

const mst_rule mst_rule_nadam = {
    .name = "nadam",
    .squares = true,
    .takes = {"beta_1", "beta_2", "epsilon"},
    .num_slots = num_slots,
    .slot_name = {"m", "v"},
    .defaults = defaults,
    .initial_state = 1,
    .next_state = next_state,
    .scalars = scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
};
