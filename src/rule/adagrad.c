/** adagrad: w -= learning_rate * g / sqrt(accumulator + epsilon), as Keras 3
 *
 *  accumulator += g^2, from initial_accumulator
 *  (tf.train.AdagradOptimizer is the same without epsilon)
 */
#ifdef MST_RULE_HEADER
#define mst_adagrad(...) (*mst_optimizer_fill("adagrad", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include <math.h>

#include "base/simd.h"
#include "rule/rule.h"

enum { LEARNING_RATE, EPSILON };

static int num_slots(const mst_optimizer *o) {
    (void)o;
    return 1;
}

static double slot_initial(const mst_optimizer *o, int slot) {
    (void)slot;
    return o->initial_accumulator;
}

static void defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.001;
    if (!mst_number_given(o->epsilon)) o->epsilon = 1e-7;
    if (!mst_number_given(o->initial_accumulator)) o->initial_accumulator = 0.1;
}

static void scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)t;
    (void)state;
    scalar[LEARNING_RATE] = learning_rate;
    scalar[EPSILON] = o->epsilon;
}

#define UPDATE(T, square_root, update)                                               \
    MST_SIMD static void update(const mst_optimizer *o, const mst_rule_tile *tile) { \
        T *restrict w = tile->weight, *restrict accumulator = tile->slot[0];         \
        const T *restrict g = tile->gradient, *restrict r = tile->root;              \
        const T learning_rate = (T)tile->scalar[LEARNING_RATE];                      \
        const T epsilon = (T)tile->scalar[EPSILON];                                  \
        (void)o;                                                                     \
        for (int64_t i = 0; i < tile->count; i++) {                                  \
            accumulator[i] += r[i] * r[i];                                           \
            w[i] -= learning_rate * g[i] / square_root(accumulator[i] + epsilon);    \
        }                                                                            \
    }

UPDATE(float, sqrtf, update_f32)
UPDATE(double, sqrt, update_f64)

static bool rows_only(const mst_optimizer *o) {
    (void)o;
    return true; /* a gradient of 0 changes nothing */
}

const mst_rule mst_rule_adagrad = {
    .name = "adagrad",
    .squares = true,
    .rows_only = rows_only,
    .takes = {"epsilon", "initial_accumulator"},
    .num_slots = num_slots,
    .slot_name = {"accumulator"},
    .slot_initial = slot_initial,
    .defaults = defaults,
    .scalars = scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
};
