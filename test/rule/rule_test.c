/* Each rule against the published formula, written down again in the plainest way, in double precision. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "op/list.h"
#include "op/state/apply_gradients.h"
#include "rule/rule.h"
#include "support/expect.h"

enum { COUNT = 77, STEPS = 50 };

/* What the plain formulas keep of one element; each uses some. */
typedef struct element {
    double w, m, v, largest, mean, product;
} element;

typedef void (*formula)(const mst_optimizer *o, int t, double g, element *e);

/* Polyak's momentum, with the learning rate inside. */
static void sgd(const mst_optimizer *o, int t, double g, element *e) {
    (void)t;
    e->m = o->momentum * e->m - o->learning_rate * g;
    e->w += o->nesterov ? o->momentum * e->m - o->learning_rate * g : e->m;
}

/* Polyak's momentum, with the learning rate outside. */
static void momentum(const mst_optimizer *o, int t, double g, element *e) {
    (void)t;
    e->m = o->momentum * e->m + g;
    e->w -= o->learning_rate * (o->nesterov ? g + o->momentum * e->m : e->m);
}

/* Duchi, Hazan, Singer 2011. */
static void adagrad(const mst_optimizer *o, int t, double g, element *e) {
    if (t == 1) e->v = o->initial_accumulator;
    e->v += g * g;
    e->w -= o->learning_rate * g / sqrt(e->v + o->epsilon);
}

/* Hinton's lecture 6e; centered as Graves 2013. */
static void rmsprop(const mst_optimizer *o, int t, double g, element *e) {
    (void)t;
    e->v = o->rho * e->v + (1 - o->rho) * g * g;
    e->mean = o->rho * e->mean + (1 - o->rho) * g;
    double variance = o->centered ? e->v - e->mean * e->mean : e->v;
    e->m = o->momentum * e->m + o->learning_rate * g / sqrt(variance + o->epsilon);
    e->w -= e->m;
}

static void moments(const mst_optimizer *o, double g, element *e) {
    e->m = o->beta_1 * e->m + (1 - o->beta_1) * g;
    e->v = o->beta_2 * e->v + (1 - o->beta_2) * g * g;
    e->largest = fmax(e->largest, e->v);
}

/* Kingma, Ba 2015: the form before section 2.1 ("epsilon hat") and algorithm 1. */
static void adam(const mst_optimizer *o, int t, double g, element *e) {
    moments(o, g, e);
    double v = o->amsgrad ? e->largest : e->v;
    double bias_1 = 1 - pow(o->beta_1, t), bias_2 = 1 - pow(o->beta_2, t);
    if (o->epsilon_kind == MST_EPSILON_CORRECTED)
        e->w -= o->learning_rate * (e->m / bias_1) / (sqrt(v / bias_2) + o->epsilon);
    else
        e->w -= o->learning_rate * sqrt(bias_2) / bias_1 * e->m / (sqrt(v) + o->epsilon);
}

/* Dozat 2016 with the schedule of Sutskever, as Keras 3. */
static void nadam(const mst_optimizer *o, int t, double g, element *e) {
    moments(o, g, e);
    double now = o->beta_1 * (1 - 0.5 * pow(0.96, t)), next = o->beta_1 * (1 - 0.5 * pow(0.96, t + 1));
    e->product = (t == 1 ? 1 : e->product) * now;
    double mhat = next * e->m / (1 - e->product * next) + (1 - now) * g / (1 - e->product);
    e->w -= o->learning_rate * mhat / (sqrt(e->v / (1 - pow(o->beta_2, t))) + o->epsilon);
}

/* McMahan and others 2013, algorithm 1, with the factors 2 of TensorFlow and shrinkage; n in v, z in m. */
static void ftrl(const mst_optimizer *o, int t, double g, element *e) {
    if (t == 1) e->v = o->initial_accumulator;
    double p = -o->learning_rate_power, alpha = o->learning_rate;
    double sigma = (pow(e->v + g * g, p) - pow(e->v, p)) / alpha;
    e->m += g + 2 * o->l2_shrinkage * e->w - sigma * e->w;
    e->v += g * g;
    double sign = e->m < 0 ? -1 : 1;
    e->w = fabs(e->m) <= o->l1_strength
               ? 0
               : -(e->m - sign * o->l1_strength) / ((o->beta + pow(e->v, p)) / alpha + 2 * o->l2_strength);
}

static const struct {
    const char *name;
    formula formula;
    mst_optimizer optimizer;
} cases[] = {
    {"sgd", sgd, {.learning_rate = 0.1}},
    {"sgd", sgd, {.learning_rate = 0.1, .momentum = 0.9}},
    {"sgd", sgd, {.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}},
    {"adagrad", adagrad, {.learning_rate = 0.1}},
    {"adagrad", adagrad, {.learning_rate = 0.1, .initial_accumulator = 2, .epsilon = 1e-2}},
    {"momentum", momentum, {.learning_rate = 0.1}},
    {"momentum", momentum, {.learning_rate = 0.1, .momentum = 0.5, .nesterov = true}},
    {"rmsprop", rmsprop, {.learning_rate = 0.01}},
    {"rmsprop", rmsprop, {.learning_rate = 0.01, .momentum = 0.5, .epsilon = 1e-3}},
    {"rmsprop", rmsprop, {.learning_rate = 0.01, .centered = true, .epsilon = 1e-3}},
    {"rmsprop", rmsprop, {.learning_rate = 0.01, .rho = 0.8, .centered = true, .momentum = 0.5, .epsilon = 1e-3}},
    {"adam", adam, {.learning_rate = 0.01}},
    {"adam", adam, {.learning_rate = 0.01, .amsgrad = true, .beta_2 = 0.9}},
    {"adam", adam, {.learning_rate = 0.01, .epsilon = 1e-2}},
    {"adam", adam, {.learning_rate = 0.01, .epsilon = 1e-2, .epsilon_kind = MST_EPSILON_CORRECTED}},
    {"adam", adam, {.amsgrad = true, .beta_2 = 0.9, .epsilon = 1e-2, .epsilon_kind = MST_EPSILON_CORRECTED}},
    {"adamw", adam, {.learning_rate = 0.01}},
    {"nadam", nadam, {.learning_rate = 0.01}},
    {"nadam", nadam, {.learning_rate = 0.01, .beta_1 = 0.8, .epsilon = 1e-2}},
    {"ftrl", ftrl, {.learning_rate = 0.1}},
    {"ftrl", ftrl, {.learning_rate = 0.1, .l1_strength = 0.2, .l2_strength = 0.3, .l2_shrinkage = 0.1, .beta = 0.5}},
    {"ftrl", ftrl, {.learning_rate = 0.1, .learning_rate_power = -0.3, .l1_strength = 0.2}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* in (-1, 1), of both signs, another one each step */
static double gradient(int t, int i) {
    return sin(0.7 * i + 0.31 * t * (1 + i % 3)) * (0.2 + 0.8 * ((i * 7 + t) % 5) / 5.0);
}

static double first_weight(int i) {
    return cos(1.3 * i);
}

typedef union column {
    double f64[COUNT];
    float f32[COUNT];
} column;

typedef struct arrays {
    column w, slot[MST_RULE_SLOTS], gradient;
} arrays;

static void store(bool f64, column *at, int i, double value) {
    if (f64)
        at->f64[i] = value;
    else
        at->f32[i] = (float)value;
}

static double load(bool f64, const column *at, int i) {
    return f64 ? at->f64[i] : (double)at->f32[i];
}

static bool same_bits(bool f64, const column *a, const column *b) {
    for (int i = 0; i < COUNT; i++) {
        double x = load(f64, a, i), y = load(f64, b, i);
        if (x != y || signbit(x) != signbit(y)) return false;
    }
    return true;
}

/* STEPS steps in tiles of TILE elements. */
static void train(const mst_optimizer *o, bool f64, int tile_count, arrays *a) {
    const mst_rule *rule = mst_rule_find(o->rule);
    const size_t size = f64 ? sizeof(double) : sizeof(float);
    double state = rule->initial_state;
    memset(a, 0, sizeof *a);
    for (int i = 0; i < COUNT; i++) store(f64, &a->w, i, first_weight(i));
    for (int k = 0; k < rule->num_slots(o); k++)
        for (int i = 0; i < COUNT; i++) store(f64, &a->slot[k], i, rule->slot_initial ? rule->slot_initial(o, k) : 0);
    for (int t = 1; t <= STEPS; t++) {
        double scalar[MST_RULE_SCALARS];
        if (rule->next_state) state = rule->next_state(o, t, state);
        rule->scalars(o, o->learning_rate, t, state, scalar);
        for (int i = 0; i < COUNT; i++) store(f64, &a->gradient, i, gradient(t, i));
        for (int from = 0; from < COUNT; from += tile_count) {
            const size_t offset = (size_t)from * size;
            mst_rule_tile tile = {.count = COUNT - from < tile_count ? COUNT - from : tile_count,
                                  .weight = (char *)&a->w + offset,
                                  .gradient = (char *)&a->gradient + offset,
                                  .root = (char *)&a->gradient + offset,
                                  .scalar = scalar};
            for (int k = 0; k < rule->num_slots(o); k++) tile.slot[k] = (char *)&a->slot[k] + offset;
            (f64 ? rule->update_f64 : rule->update_f32)(o, &tile);
        }
    }
}

static void compare(int c, bool f64, double tolerance) {
    mst_optimizer o = mst_optimizer_named(cases[c].name, cases[c].optimizer);
    static arrays a;
    train(&o, f64, COUNT, &a);
    for (int i = 0; i < COUNT; i++) {
        element e = {.w = first_weight(i)};
        for (int t = 1; t <= STEPS; t++) cases[c].formula(&o, t, gradient(t, i), &e);
        double w = load(f64, &a.w, i);
        if (!(fabs(w - e.w) <= tolerance * fmax(1, fabs(e.w))))
            fail_msg("case %d, %s, element %d: %.17g, must be %.17g", c, o.rule, i, w, e.w);
    }
}

static void each_rule_follows_its_formula_in_f64(void **state) {
    (void)state;
    /* nadam keeps its product in f32, as Keras does */
    for (int c = 0; c < CASES; c++) compare(c, true, strcmp(cases[c].name, "nadam") == 0 ? 1e-7 : 1e-12);
}

static void each_rule_follows_its_formula_in_f32(void **state) {
    (void)state;
    for (int c = 0; c < CASES; c++) compare(c, false, 2e-5);
}

static void bits_do_not_depend_on_the_tiles(void **state) {
    (void)state;
    static arrays whole, parts;
    for (int c = 0; c < CASES; c++)
        for (int f64 = 0; f64 < 2; f64++)
            for (int tile = 1; tile < COUNT; tile = tile * 2 + 1) {
                mst_optimizer o = mst_optimizer_named(cases[c].name, cases[c].optimizer);
                train(&o, f64, COUNT, &whole);
                train(&o, f64, tile, &parts);
                bool same = same_bits(f64, &whole.w, &parts.w);
                for (int k = 0; k < MST_RULE_SLOTS; k++) same = same && same_bits(f64, &whole.slot[k], &parts.slot[k]);
                if (!same) fail_msg("case %d, %s, tiles of %d", c, o.rule, tile);
            }
}

static void slots_have_names_and_initial_values(void **state) {
    (void)state;
    static const struct {
        const char *name;
        mst_optimizer optimizer;
        int num_slots;
        const char *slot[MST_RULE_SLOTS];
        double initial;
    } slots[] = {
        {"sgd", {.momentum = 0}, 0, {NULL}, 0},
        {"sgd", {.momentum = 0.9}, 1, {"momentum"}, 0},
        {"adagrad", {.zero_ = 0}, 1, {"accumulator"}, 0.1},
        {"adagrad", {.initial_accumulator = 0.5}, 1, {"accumulator"}, 0.5},
        {"momentum", {.zero_ = 0}, 1, {"momentum_buffer"}, 0},
        {"rmsprop", {.zero_ = 0}, 1, {"rms"}, 0},
        {"rmsprop", {.momentum = 0.9}, 2, {"rms", "momentum"}, 0},
        {"rmsprop", {.centered = true}, 3, {"rms", "momentum", "mg"}, 0},
        {"adam", {.zero_ = 0}, 2, {"m", "v"}, 0},
        {"adam", {.amsgrad = true}, 3, {"m", "v", "vhat"}, 0},
        {"adamw", {.zero_ = 0}, 2, {"m", "v"}, 0},
        {"nadam", {.zero_ = 0}, 2, {"m", "v"}, 0},
        {"ftrl", {.zero_ = 0}, 2, {"accumulator", "linear"}, 0.1},
    };
    for (size_t c = 0; c < sizeof slots / sizeof slots[0]; c++) {
        mst_optimizer o = mst_optimizer_named(slots[c].name, slots[c].optimizer);
        const mst_rule *rule = mst_rule_find(o.rule);
        assert_non_null(rule);
        assert_int_equal(rule->num_slots(&o), slots[c].num_slots);
        for (int k = 0; k < slots[c].num_slots; k++) {
            assert_string_equal(rule->slot_name[k], slots[c].slot[k]);
            double initial = rule->slot_initial ? rule->slot_initial(&o, k) : 0;
            assert_true(initial == (k == 0 ? slots[c].initial : 0));
        }
    }
}

static void result_of_a_macro_has_an_address(void **state) {
    (void)state;
    const mst_optimizer *sgd = &mst_sgd(.learning_rate = 0.25), *adam = &mst_adam();
    assert_true(sgd->learning_rate == 0.25 && strcmp(sgd->rule, "sgd") == 0);
    assert_true(adam->beta_2 == 0.999 && strcmp(adam->rule, "adam") == 0);
}

static void defaults_are_those_of_keras(void **state) {
    (void)state;
    assert_true(mst_sgd().learning_rate == 0.01);
    assert_true(mst_adagrad().learning_rate == 0.001 && mst_adagrad().epsilon == 1e-7);
    assert_true(mst_rmsprop().rho == 0.9 && mst_rmsprop().epsilon == 1e-7 && mst_rmsprop().momentum == 0);
    mst_optimizer adam = mst_adam();
    assert_true(adam.learning_rate == 0.001 && adam.beta_1 == 0.9 && adam.beta_2 == 0.999 && adam.epsilon == 1e-7);
    assert_true(adam.weight_decay == 0 && mst_adamw().weight_decay == 0.004);
    assert_true(mst_nadam().learning_rate == 0.001);
    assert_true(mst_ftrl().learning_rate_power == -0.5 && mst_ftrl().initial_accumulator == 0.1);
    assert_true(mst_adam(.beta_2 = 0.99).beta_2 == 0.99);
}

static void zero_that_is_given_is_no_default(void **state) {
    (void)state;
    mst_optimizer ftrl = mst_ftrl(.learning_rate_power = MST_ZERO, .initial_accumulator = MST_ZERO);
    assert_true(ftrl.learning_rate_power == 0 && ftrl.initial_accumulator == 0);
    assert_true(mst_adamw(.weight_decay = MST_ZERO).weight_decay == 0);
    assert_true(mst_adam(.beta_1 = MST_ZERO).beta_1 == 0);
    ftrl = mst_optimizer_named("ftrl", ftrl); /* also where defaults are filled in again */
    assert_true(ftrl.learning_rate_power == 0);
    EXPECT_OK(mst_optimizer_check(&ftrl));
    const mst_schedule line = mst_polynomial_decay(.rate = 1, .decay_steps = 4, .end = MST_ZERO);
    assert_true(mst_schedule_at(&line, 4) == 0);
}

static void every_optimizer_is_listed_and_passes_its_check(void **state) {
    (void)state;
    int count = 0;
    for (const char *name; (name = mst_optimizer_name(count)); count++) {
        mst_optimizer o = mst_optimizer_named(name, (mst_optimizer){0});
        assert_int_equal(mst_optimizer_check(&o), MST_OK);
        assert_true(o.learning_rate > 0);
    }
    assert_true(count >= 7); /* one for each file of src/rule/ */
}

static void apply_gradients_has_all_fields_of_an_optimizer(void **state) {
    (void)state;
    const mst_field *at = mst_op_apply_gradients.fields;
    for (const mst_field *field = mst_optimizer_fields; field->name; field++, at++) {
        assert_true(strncmp(at->name, "optimizer.", 10) == 0);
        assert_string_equal(at->name + 10, field->name);
        assert_int_equal(at->type, field->type);
        assert_int_equal(at->offset, offsetof(mst_apply_options, optimizer) + field->offset);
        assert_ptr_equal(at->names, field->names);
        assert_true(at->initial == 0 && at->low == 0 && at->high == 0); /* what is in the graph was checked before */
    }
}

static void expect_refused(mst_optimizer o, const char *text) {
    EXPECT_ERROR(mst_optimizer_check(&o), MST_INVALID, text);
}

static void options_that_an_optimizer_cannot_have_are_refused_by_name(void **state) {
    (void)state;
    expect_refused(mst_sgd(.learning_rate = -1), "learning_rate is -1");
    expect_refused(mst_sgd(.momentum = 1.5), "momentum is 1.5");
    expect_refused(mst_adam(.beta_1 = 1), "beta_1 is 1");
    expect_refused(mst_adam(.epsilon = NAN), "epsilon is nan");
    expect_refused(mst_ftrl(.learning_rate_power = 0.5), "learning_rate_power is 0.5");
    expect_refused(mst_sgd(.clip_value = 1, .clip_norm = 1), "only one of clip_value");
    expect_refused(mst_sgd(.ema_decay = 1), "ema_decay is 1");
    expect_refused(mst_sgd(.gradient_accumulation_steps = -1), "gradient_accumulation_steps is -1, must be at least 1");
    expect_refused(mst_optimizer_named("adan", (mst_optimizer){0}), "did you mean 'adam'?");
    expect_refused(mst_optimizer_named("RMSProp", (mst_optimizer){0}), "did you mean 'rmsprop'?");
    expect_refused(mst_optimizer_named("conjugate_gradient", (mst_optimizer){0}), "no optimizer 'conjugate_gradient'");
    expect_refused((mst_optimizer){0}, "no name");
    expect_refused(mst_sgd(.beta_2 = 0.9), "'sgd' has no beta_2; these have: adam, adamw, nadam");
    expect_refused(mst_nadam(.epsilon_kind = MST_EPSILON_CORRECTED), "'nadam' has no epsilon_kind");
    expect_refused(mst_sgd(.schedule.staircase = true), "'none' has no staircase; these have: exponential");
    expect_refused(mst_sgd(.schedule = mst_cosine_decay(.decay_steps = 9, .power = 2)), "'cosine' has no power");
    expect_refused(mst_sgd(.schedule = mst_exponential_decay(.decay_rate = 0.9)), "schedule: exponential: decay_steps");
}

static void a_schedule_without_rate_starts_at_the_learning_rate(void **state) {
    (void)state;
    mst_optimizer o =
        mst_sgd(.learning_rate = 0.3, .schedule = mst_exponential_decay(.decay_rate = 0.5, .decay_steps = 10));
    assert_int_equal(mst_optimizer_check(&o), MST_OK);
    assert_true(mst_schedule_at(&o.schedule, 0) == 0.3);
    assert_true(fabs(mst_schedule_at(&o.schedule, 10) - 0.15) < 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_follows_its_formula_in_f64),
        cmocka_unit_test(each_rule_follows_its_formula_in_f32),
        cmocka_unit_test(bits_do_not_depend_on_the_tiles),
        cmocka_unit_test(slots_have_names_and_initial_values),
        cmocka_unit_test(result_of_a_macro_has_an_address),
        cmocka_unit_test(defaults_are_those_of_keras),
        cmocka_unit_test(zero_that_is_given_is_no_default),
        cmocka_unit_test(every_optimizer_is_listed_and_passes_its_check),
        cmocka_unit_test(apply_gradients_has_all_fields_of_an_optimizer),
        cmocka_unit_test(options_that_an_optimizer_cannot_have_are_refused_by_name),
        cmocka_unit_test(a_schedule_without_rate_starts_at_the_learning_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
