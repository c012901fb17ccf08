/* Every optimizer rule in StableHLO, as a program of one update, against its functions for CPUs; and what the update
 * does before and after the rule. */
#include <math.h>
#include <stdio.h>

#include "rule/accumulate.h"
#include "rule/gradient_clip.h"
#include "rule/moving_average.h"
#include "rule/rule.h"
#include "support/hlo_folder.h"
#include "support/test.h"

enum { COUNT = 77, STEPS = 3 };

/* Each rule takes some of these. */
static const mst_optimizer variants[] = {
    {.learning_rate = 0.1},
    {.learning_rate = 0.1, .momentum = 0.5},
    {.learning_rate = 0.1, .momentum = 0.5, .nesterov = true},
    {.learning_rate = 0.1, .rho = 0.8, .beta_1 = 0.8, .beta_2 = 0.9, .epsilon = 1e-2},
    {.centered = true, .epsilon = 1e-3},
    {.centered = true, .momentum = 0.5, .epsilon = 1e-3},
    {.amsgrad = true, .beta_2 = 0.5},
    {.epsilon = 1e-2, .epsilon_kind = MST_EPSILON_CORRECTED},
    {.amsgrad = true, .epsilon = 1e-2, .epsilon_kind = MST_EPSILON_CORRECTED},
    {.learning_rate = 0.1, .l1_strength = 0.2, .l2_strength = 0.3, .l2_shrinkage = 0.1, .beta = 0.5},
    {.learning_rate = 0.1, .initial_accumulator = 2, .learning_rate_power = -0.3, .l1_strength = 0.2},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static void check(hlo_case *h, const char *label, mst_dtype dtype) {
    h->label = label;
    h->tolerance = dtype == MST_F64 ? 1e-12 : 1e-5;
    hlo_folder_keep(h);
    assert_true(hlo_case_agrees(h));
}

static mst_tensor *vector(mst_dtype dtype, int64_t count) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, MST_SHAPE(count), &tensor));
    return tensor;
}

static mst_tensor *copy_of(const mst_tensor *tensor) {
    mst_tensor *copy = vector(mst_tensor_dtype(tensor), mst_tensor_count(tensor));
    memcpy(mst_tensor_data(copy), mst_tensor_data(tensor), mst_tensor_bytes(tensor));
    return copy;
}

/* In (-1, 1), of both signs, another one each step; in the last step also values that are not numbers. */
static double gradient_of(int t, int i) {
    static const double special[] = {0, NAN, INFINITY, -INFINITY, 1e-30};
    if (t == STEPS && i < 5) return special[i];
    return sin(0.7 * i + 0.31 * t * (1 + i % 3)) * (0.2 + 0.8 * ((i * 7 + t) % 5) / 5.0);
}

/* ---- a rule ---- */

/* The weight and the slots of an update, its gradient and what the rule squares. */
typedef struct rule_case {
    const mst_rule *rule;
    mst_optimizer optimizer;
    mst_dtype dtype;
    int num_slots;
    double scalar[MST_RULE_SCALARS];
    mst_tensor *weight, *slot[MST_RULE_SLOTS], *gradient, *root;
} rule_case;

static void begin(rule_case *c, const mst_rule *rule, int variant, mst_dtype dtype) {
    *c = (rule_case){.rule = rule, .optimizer = mst_optimizer_named(rule->name, variants[variant]), .dtype = dtype};
    c->num_slots = rule->num_slots(&c->optimizer);
    c->weight = vector(dtype, COUNT);
    c->gradient = vector(dtype, COUNT);
    c->root = vector(dtype, COUNT);
    for (int i = 0; i < COUNT; i++) mst_tensor_set(c->weight, i, cos(1.3 * i));
    for (int k = 0; k < c->num_slots; k++) {
        c->slot[k] = vector(dtype, COUNT);
        const double first = rule->slot_initial ? rule->slot_initial(&c->optimizer, k) : 0;
        for (int i = 0; i < COUNT; i++) mst_tensor_set(c->slot[k], i, first);
    }
}

static void end(rule_case *c) {
    mst_tensor_release(c->weight);
    mst_tensor_release(c->gradient);
    mst_tensor_release(c->root);
    for (int k = 0; k < c->num_slots; k++) mst_tensor_release(c->slot[k]);
}

/* Computes the gradient and the scalars of step T. With OTHER_ROOT, what the rule squares is not the gradient. */
static void prepare(rule_case *c, int t, double *state, bool other_root) {
    if (c->rule->next_state) *state = c->rule->next_state(&c->optimizer, t, *state);
    memset(c->scalar, 0, sizeof c->scalar);
    c->rule->scalars(&c->optimizer, c->optimizer.learning_rate, t, *state, c->scalar);
    for (int i = 0; i < COUNT; i++) {
        const double g = gradient_of(t, i);
        mst_tensor_set(c->gradient, i, g);
        mst_tensor_set(c->root, i, other_root ? 0.5 * fabs(g) + 0.1 : g);
    }
}

static void update(const rule_case *c, const rule_case *in_place) {
    mst_rule_tile tile = {.count = COUNT,
                          .weight = mst_tensor_data(in_place->weight),
                          .gradient = mst_tensor_data(c->gradient),
                          .root = mst_tensor_data(c->root),
                          .scalar = c->scalar};
    for (int k = 0; k < c->num_slots; k++) tile.slot[k] = mst_tensor_data(in_place->slot[k]);
    (c->dtype == MST_F64 ? c->rule->update_f64 : c->rule->update_f32)(&c->optimizer, &tile);
}

/* Writes the program of an update: sources are weight, gradient, root, the scalars as one vector, and the slots. */
static void write(hlo_case *h, const rule_case *c, const rule_case *after, const mst_tensor *scalars) {
    EXPECT_OK(mst_hlo_program_create(&h->program));
    mst_lower l = {.program = h->program, .name = c->rule->name};
    mst_rule_hlo tile = {.weight = hlo_case_argument(h, c->weight)};
    tile.gradient = hlo_case_argument(h, c->gradient);
    tile.root = hlo_case_argument(h, c->root);
    const mst_hlo all = hlo_case_argument(h, scalars);
    for (int k = 0; k < c->num_slots; k++) tile.slot[k] = hlo_case_argument(h, c->slot[k]);
    for (int k = 0; k < MST_RULE_SCALARS; k++)
        tile.scalar[k] = mst_hlo_reshape(&l, mst_hlo_slice_axis(&l, all, 0, k, k + 1), MST_SCALAR);
    c->rule->lower(&l, &c->optimizer, &tile);
    hlo_case_result(h, tile.weight, after->weight);
    for (int k = 0; k < c->num_slots; k++) hlo_case_result(h, tile.slot[k], after->slot[k]);
    hlo_case_finish(h);
}

static void check_rule(const mst_rule *rule, int variant, mst_dtype dtype, bool other_root) {
    rule_case c;
    hlo_case h = {.label = NULL};
    double state = rule->initial_state;
    char label[80];
    begin(&c, rule, variant, dtype);
    for (int t = 1; t < STEPS; t++) {
        prepare(&c, t, &state, other_root);
        update(&c, &c);
    }
    prepare(&c, STEPS, &state, other_root);
    rule_case after = {.num_slots = c.num_slots, .weight = copy_of(c.weight)};
    for (int k = 0; k < c.num_slots; k++) after.slot[k] = copy_of(c.slot[k]);
    update(&c, &after);
    mst_tensor *scalars = vector(dtype, MST_RULE_SCALARS);
    for (int k = 0; k < MST_RULE_SCALARS; k++) mst_tensor_set(scalars, k, c.scalar[k]);
    write(&h, &c, &after, scalars);
    snprintf(label, sizeof label, "%s, variant %d, %s%s", rule->name, variant, mst_dtype_name(dtype),
             other_root ? ", another root" : "");
    check(&h, label, dtype);
    hlo_case_end(&h);
    mst_tensor_release(scalars);
    end(&after);
    end(&c);
}

static void every_rule_is_written_as_it_is_computed(void **state) {
    (void)state;
    for (int i = 0; mst_rule_table[i]; i++) {
        const mst_rule *rule = mst_rule_table[i];
        if (!rule->lower) fail_msg("rule '%s' has no `lower`", rule->name);
        for (int v = 0; v < VARIANTS; v++)
            for (int other_root = 0; other_root < 2; other_root++) {
                check_rule(rule, v, MST_F32, other_root);
                check_rule(rule, v, MST_F64, other_root);
            }
    }
}

/* ---- around the rule ---- */

/* Three vectors: a gradient or weight, something to combine it with, and room. */
typedef struct vectors {
    mst_tensor *x, *y, *wanted;
} vectors;

static void begin_vectors(vectors *v, mst_dtype dtype) {
    v->x = vector(dtype, COUNT);
    v->y = vector(dtype, COUNT);
    v->wanted = vector(dtype, COUNT);
    for (int i = 0; i < COUNT; i++) {
        mst_tensor_set(v->x, i, 3 * gradient_of(STEPS, i));
        mst_tensor_set(v->y, i, cos(1.3 * i));
    }
}

static void end_vectors(vectors *v) {
    mst_tensor_release(v->x);
    mst_tensor_release(v->y);
    mst_tensor_release(v->wanted);
}

static void finish(hlo_case *h, const char *label, mst_hlo result, vectors *v) {
    hlo_case_result(h, result, v->wanted);
    hlo_case_finish(h);
    check(h, label, mst_tensor_dtype(v->x));
    hlo_case_end(h);
    end_vectors(v);
}

static void clipping_by_value_is_written_as_it_is_computed(void **state) {
    const double limit = 0.7;
    (void)state;
    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
        hlo_case h = {.label = NULL};
        vectors v;
        begin_vectors(&v, is_f64 ? MST_F64 : MST_F32);
        if (is_f64)
            mst_clip_value_f64(mst_tensor_data(v.wanted), mst_tensor_data(v.x), limit, COUNT);
        else
            mst_clip_value_f32(mst_tensor_data(v.wanted), mst_tensor_data(v.x), (float)limit, COUNT);
        EXPECT_OK(mst_hlo_program_create(&h.program));
        mst_lower l = {.program = h.program, .name = "clip"};
        finish(&h, "clip_value", mst_clip_value_lower(&l, hlo_case_argument(&h, v.x), limit), &v);
    }
}

static void the_mean_of_gradients_is_written_as_it_is_computed(void **state) {
    (void)state;
    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
        hlo_case h = {.label = NULL};
        vectors v;
        begin_vectors(&v, is_f64 ? MST_F64 : MST_F32);
        if (is_f64)
            mst_take_mean_f64(mst_tensor_data(v.wanted), mst_tensor_data(v.x), mst_tensor_data(v.y), 3, COUNT);
        else
            mst_take_mean_f32(mst_tensor_data(v.wanted), mst_tensor_data(v.x), mst_tensor_data(v.y), 3, COUNT);
        EXPECT_OK(mst_hlo_program_create(&h.program));
        mst_lower l = {.program = h.program, .name = "mean"};
        const mst_hlo gradient = hlo_case_argument(&h, v.x), sum = hlo_case_argument(&h, v.y);
        const mst_hlo three = mst_hlo_number(&l, mst_tensor_dtype(v.x), 3);
        finish(&h, "mean of gradients", mst_take_mean_lower(&l, gradient, sum, three), &v);
    }
}

static void moving_averages_are_written_as_they_are_computed(void **state) {
    const double rest = 0.3;
    (void)state;
    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
        hlo_case h = {.label = NULL};
        vectors v;
        begin_vectors(&v, is_f64 ? MST_F64 : MST_F32);
        memcpy(mst_tensor_data(v.wanted), mst_tensor_data(v.y), mst_tensor_bytes(v.y));
        if (is_f64)
            mst_moving_average_f64(mst_tensor_data(v.wanted), mst_tensor_data(v.x), rest, COUNT);
        else
            mst_moving_average_f32(mst_tensor_data(v.wanted), mst_tensor_data(v.x), (float)rest, COUNT);
        EXPECT_OK(mst_hlo_program_create(&h.program));
        mst_lower l = {.program = h.program, .name = "average"};
        const mst_hlo w = hlo_case_argument(&h, v.x), average = hlo_case_argument(&h, v.y);
        const mst_hlo part = mst_hlo_number(&l, mst_tensor_dtype(v.x), rest);
        finish(&h, "moving average", mst_moving_average_lower(&l, average, w, part), &v);
    }
}

static int close_folder(void **state) {
    (void)state;
    hlo_folder_end();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_is_written_as_it_is_computed),
        cmocka_unit_test(clipping_by_value_is_written_as_it_is_computed),
        cmocka_unit_test(the_mean_of_gradients_is_written_as_it_is_computed),
        cmocka_unit_test(moving_averages_are_written_as_they_are_computed),
    };
    return cmocka_run_group_tests(tests, NULL, close_folder);
}
