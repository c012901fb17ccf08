/** toy: w -= learning_rate * g */
#ifdef MST_RULE_HEADER
#define mst_toy_optimizer(...) (*mst_optimizer_fill("toy", &MST_NAMED(mst_optimizer, __VA_ARGS__)))
#endif
#include "rule/rule.h"

static int num_slots(const mst_optimizer *o) {
    (void)o;
    return 0;
}

static void defaults(mst_optimizer *o) {
    if (!mst_number_given(o->learning_rate)) o->learning_rate = 0.125;
}

static void scalars(const mst_optimizer *o, double learning_rate, int64_t t, double state, double *scalar) {
    (void)o, (void)t, (void)state;
    scalar[0] = learning_rate;
}

static void update_f32(const mst_optimizer *o, const mst_rule_tile *tile) {
    (void)o;
    for (int64_t i = 0; i < tile->count; i++)
        ((float *)tile->weight)[i] -= (float)tile->scalar[0] * ((const float *)tile->gradient)[i];
}

static void update_f64(const mst_optimizer *o, const mst_rule_tile *tile) {
    (void)o;
    for (int64_t i = 0; i < tile->count; i++)
        ((double *)tile->weight)[i] -= tile->scalar[0] * ((const double *)tile->gradient)[i];
}

const mst_rule mst_rule_toy = {
    .name = "toy",
    .num_slots = num_slots,
    .defaults = defaults,
    .scalars = scalars,
    .update_f32 = update_f32,
    .update_f64 = update_f64,
};
