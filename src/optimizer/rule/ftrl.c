/** ftrl: follow the regularized leader, as Keras 3
 *
 *  n = accumulator + g^2; p(x) = x^-learning_rate_power
 *  linear += g + 2 * l2_shrinkage * w - (p(n) - p(accumulator)) / learning_rate * w
 *  w = (clip(linear, -l1_strength, l1_strength) - linear) /
 *      (p(n) / learning_rate + 2 * l2_strength + beta / learning_rate)
 *  accumulator = n
 *
 *  With the default power -0.5, p is the square root, for which processors have an instruction.
 */
#include <math.h>

#include "base/simd.h"
#include "optimizer/rule.h"

enum { LEARNING_RATE, L2, L1, SHRINKAGE, POWER };

static int num_slots(const mst_optimizer *o) {
    (void)o;
    return 2;
}

static double slot_initial(const mst_optimizer *o, int slot) {
    return slot == 0 ? o->initial_accumulator : 0;
}

static void defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->initial_accumulator)) o->initial_accumulator = 0.1;
    if (!mst_number_given(o->learning_rate_power)) o->learning_rate_power = -0.5;
}

static void scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)t;
    (void)state;
    scalar[LEARNING_RATE] = learning_rate;
    scalar[L2] = 2 * (o->l2_strength + o->beta / (2 * learning_rate));
    scalar[L1] = o->l1_strength;
    scalar[SHRINKAGE] = 2 * o->l2_shrinkage;
    scalar[POWER] = -o->learning_rate_power;
}

static float power_f32(float x, float power) {
    return powf(x, power);
}

static double power_f64(double x, double power) {
    return pow(x, power);
}

static inline float root_f32(float x, float power) {
    (void)power;
    return sqrtf(x);
}

static inline double root_f64(double x, double power) {
    (void)power;
    return sqrt(x);
}

#define UPDATE(T, p, update)                                                                                   \
    static void update(const mst_rule_tile *tile) {                                                            \
        T *restrict w = tile->weight, *restrict accumulator = tile->slot[0], *restrict linear = tile->slot[1]; \
        const T *restrict g = tile->gradient;                                                                  \
        const T learning_rate = (T)tile->scalar[LEARNING_RATE], l1 = (T)tile->scalar[L1];                      \
        const T l2 = (T)tile->scalar[L2], shrinkage = (T)tile->scalar[SHRINKAGE];                              \
        const T power = (T)tile->scalar[POWER];                                                                \
        for (int64_t i = 0; i < tile->count; i++) {                                                            \
            T n = accumulator[i] + g[i] * g[i];                                                                \
            T after = p(n, power), before = p(accumulator[i], power);                                          \
            T l = linear[i] + (g[i] + shrinkage * w[i] - (after - before) / learning_rate * w[i]);             \
            T low = l > -l1 ? l : -l1;                                                                         \
            T clipped = low < l1 ? low : l1;                                                                   \
            w[i] = (clipped - l) / (after / learning_rate + l2);                                               \
            linear[i] = l;                                                                                     \
            accumulator[i] = n;                                                                                \
        }                                                                                                      \
    }

MST_SIMD UPDATE(float, root_f32, rooted_f32)
MST_SIMD UPDATE(double, root_f64, rooted_f64) UPDATE(float, power_f32, powered_f32)
    UPDATE(double, power_f64, powered_f64)

        static void update_f32(const mst_optimizer *o, const mst_rule_tile *tile) {
    (o->learning_rate_power == -0.5 ? rooted_f32 : powered_f32)(tile);
}

static void update_f64(const mst_optimizer *o, const mst_rule_tile *tile) {
    (o->learning_rate_power == -0.5 ? rooted_f64 : powered_f64)(tile);
}

const mst_rule mst_rule_ftrl = {
    .name = "ftrl",
    .rows_only = true,
    .takes = {"initial_accumulator", "learning_rate_power", "l1_strength", "l2_strength", "l2_shrinkage", "beta"},
    .num_slots = num_slots,
    .slot_name = {"accumulator", "linear"},
    .slot_initial = slot_initial,
    .defaults = defaults,
    .scalars = scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
};
