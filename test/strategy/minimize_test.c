/* mst_minimize and what belongs to it: the first steps of optimizers against numbers done by hand or by their
 * formulas, penalties and clipping, moving averages, schedules and rates, and gradients that are given. Most tests
 * minimize w^2 / 2, whose gradient is w. */
#include <math.h>

#include "support/test.h"

/* loss = w^2 / 2 with w = 2: the gradient is w */
typedef struct fixture {
    mst_graph *graph;
    mst_value w, loss, train;
    mst_session *session;
} fixture;

static fixture begin(mst_optimizer optimizer, float l1, float l2) {
    fixture f = {.graph = engine_graph()};
    f.w = mst_variable(f.graph, "w", mst_scalar(f.graph, MST_F64, 2), .l1 = l1, .l2 = l2);
    f.loss = mst_scale(mst_square(f.w), 0.5);
    f.train = mst_minimize(&optimizer, f.loss, NULL, 0, MST_NONE);
    EXPECT_OK(mst_graph_check(f.graph));
    f.session = engine_session(f.graph, NULL);
    return f;
}

static double value_of(const fixture *f, mst_value v) {
    mst_tensor *tensor;
    EXPECT_OK(mst_session_get_variable(f->session, v, &tensor));
    double value = mst_tensor_get(tensor, 0);
    mst_tensor_release(tensor);
    return value;
}

static void expect_steps(mst_optimizer optimizer, float l1, float l2, const double *wanted, int steps) {
    fixture f = begin(optimizer, l1, l2);
    for (int i = 0; i < steps; i++) {
        engine_run(f.session, f.train);
        if (fabs(value_of(&f, f.w) - wanted[i]) > 1e-6)
            fail_msg("step %d: %.9g, not %.9g", i, value_of(&f, f.w), wanted[i]);
    }
    assert_true(engine_number(f.session, mst_global_step(f.graph)) == steps);
    engine_end(f.graph, f.session);
}
#define EXPECT_STEPS(optimizer, l1, l2, ...)                       \
    expect_steps((optimizer), (l1), (l2), (double[]){__VA_ARGS__}, \
                 (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))

static void sgd_makes_the_updates_done_by_hand(void **state) {
    (void)state;
    EXPECT_STEPS(mst_sgd(.learning_rate = 0.5), 0, 0, 1, 0.5, 0.25);
    /* m = 0.5 m - 0.5 w, w += m: m = -1, -1, -0.5 */
    EXPECT_STEPS(mst_sgd(.learning_rate = 0.5, .momentum = 0.5), 0, 0, 1, 0, -0.5);
    /* b = 0.5 b + w, w -= rate b, with rates 0.5, 0.5, 0.25: b = 2, 2, 1; sgd would end with -0.5 */
    EXPECT_STEPS(mst_momentum(.momentum = 0.5, .schedule = mst_piecewise_constant(.num_pieces = 2, .boundary = {1},
                                                                                  .value = {0.5, 0.25})),
                 0, 0, 1, 0, -0.25);
}

static void adam_makes_the_updates_done_by_hand(void **state) {
    (void)state;
    /* the first step of Adam is the learning rate in the direction of the gradient */
    EXPECT_STEPS(mst_adam(.learning_rate = 0.25), 0, 0, 1.75);
}

static void nadam_makes_the_updates_of_its_formula(void **state) {
    (void)state;
    enum { STEPS = 5 };
    double wanted[STEPS], w = 2, m = 0, v = 0, product = 1;
    for (int t = 1; t <= STEPS; t++) {
        double u = 0.9 * (1 - 0.5 * pow(0.96, t)), next = 0.9 * (1 - 0.5 * pow(0.96, t + 1)), g = w;
        product *= u;
        m += (g - m) * 0.1;
        v += (g * g - v) * 0.001;
        double mean = next * m / (1 - product * next) + (1 - u) * g / (1 - product);
        w -= 0.25 * mean / (sqrt(v / (1 - pow(0.999, t))) + 1e-7);
        wanted[t - 1] = w;
    }
    expect_steps(mst_nadam(.learning_rate = 0.25), 0, 0, wanted, STEPS);
}

static void penalties_are_added_to_the_gradient(void **state) {
    (void)state;
    EXPECT_STEPS(mst_sgd(.learning_rate = 0.5), 0, 1, 0);              /* w + 1 w */
    EXPECT_STEPS(mst_sgd(.learning_rate = 0.5), 0.5f, 0, 0.75, 0.125); /* w + 0.5 sign(w) */
}

static void gradients_are_clipped(void **state) {
    (void)state;
    EXPECT_STEPS(mst_sgd(.learning_rate = 1, .clip_value = 0.5), 0, 0, 1.5, 1, 0.5, 0);
    EXPECT_STEPS(mst_sgd(.learning_rate = 1, .clip_norm = 0.5), 0, 0, 1.5, 1, 0.5, 0);
    EXPECT_STEPS(mst_sgd(.learning_rate = 1, .clip_global_norm = 0.5), 0, 0, 1.5, 1, 0.5, 0);
    EXPECT_STEPS(mst_sgd(.learning_rate = 1, .clip_norm = 3), 0, 0, 0);
    EXPECT_STEPS(mst_sgd(.learning_rate = 0.5, .clip_norm = 1), 0, 1, 1.5); /* the penalty is clipped too */
}

static void global_norm_scales_all_gradients_together(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_variable(g, "a", mst_scalar(g, MST_F64, 3)), b = mst_variable(g, "b", mst_scalar(g, MST_F64, 4));
    mst_value loss = mst_scale(mst_add(mst_square(a), mst_square(b)), 0.5); /* the norm is 5 */
    mst_optimizer sgd = mst_sgd(.learning_rate = 1, .clip_global_norm = 1);
    mst_value train = mst_minimize(&sgd, loss, NULL, 0, MST_NONE);
    mst_session *session = engine_session(g, NULL);
    engine_run(session, train);
    assert_true(fabs(engine_number(session, a) - 2.4) < 1e-12);
    assert_true(fabs(engine_number(session, b) - 3.2) < 1e-12);
    engine_end(g, session);
}

static void an_infinite_global_norm_makes_all_weights_nan(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v[2] = {mst_variable(g, "a", mst_scalar(g, MST_F32, 3)), mst_variable(g, "b", mst_scalar(g, MST_F32, 4))};
    mst_value gradients[2] = {mst_scalar(g, MST_F32, INFINITY), mst_scalar(g, MST_F32, 1)};
    mst_optimizer sgd = mst_sgd(.learning_rate = 1, .clip_global_norm = 1);
    mst_value train = mst_apply_gradients(&sgd, gradients, v, 2, MST_NONE);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    engine_run(session, train);
    assert_true(isnan(engine_number(session, v[0])) && isnan(engine_number(session, v[1])));
    engine_end(g, session);
}

/* Gradients that are variables of the same update, or views of such: what they were before it counts. */
static void gradients_that_are_variables_are_read_before_the_update(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:1/2", "cpu:2/1"};
    enum { COUNT = 40000 };
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (int view = 0; view < 2; view++) {
            mst_graph *g = engine_graph();
            mst_value v[2] = {mst_variable(g, "a", mst_fill(g, MST_F32, MST_SHAPE(COUNT), 1)),
                              mst_variable(g, "b", mst_fill(g, MST_F32, MST_SHAPE(COUNT), 2))};
            mst_value gradients[2] = {v[1], v[0]};
            for (int i = 0; i < 2 && view; i++)
                gradients[i] = mst_reshape(mst_reshape(gradients[i], MST_SHAPE(2, -1)), MST_SHAPE(COUNT));
            mst_optimizer sgd = mst_sgd(.learning_rate = 0.5);
            mst_value train = mst_apply_gradients(&sgd, gradients, v, 2, MST_NONE);
            mst_session *session = engine_session(g, devices[d]);
            engine_run(session, train);
            assert_true(engine_number(session, mst_reduce_max(mst_abs(v[0]))) == 0);
            assert_true(engine_number(session, mst_reduce_max(v[1])) == 1.5);
            assert_true(engine_number(session, mst_reduce_min(v[1])) == 1.5);
            engine_end(g, session);
        }
}

/* d/dw sum(v w) = v^T 1: a product that the update makes itself, of a variable that it changes. */
static void factors_of_gradients_are_read_before_the_update_writes_them(void **state) {
    (void)state;
    enum { ROWS = 400, INNER = 300 };
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(ROWS, INNER), 1)),
              w = mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(INNER, ROWS), 2));
    mst_optimizer sgd = mst_sgd(.learning_rate = 0x1p-10);
    mst_value train = mst_minimize(&sgd, mst_reduce_sum(mst_matmul(v, w)), NULL, 0, MST_NONE);
    mst_session *session = engine_session(g, "cpu:1/2");
    engine_run(session, train);
    const double new_v = 1 - 0x1p-10 * 2 * ROWS, new_w = 2 - 0x1p-10 * ROWS;
    assert_true(engine_number(session, mst_reduce_max(v)) == new_v);
    assert_true(engine_number(session, mst_reduce_min(v)) == new_v);
    assert_true(engine_number(session, mst_reduce_max(w)) == new_w);
    assert_true(engine_number(session, mst_reduce_min(w)) == new_w);
    engine_end(g, session);
}

static void slots_of_variables_with_long_names_have_their_names(void **state) {
    (void)state;
    enum { LENGTH = 600 };
    char name[LENGTH + 1], slot[LENGTH + 8];
    memset(name, 'x', LENGTH);
    name[LENGTH] = '\0';
    snprintf(slot, sizeof slot, "%s/v", name);
    mst_graph *g = engine_graph();
    mst_value w = mst_variable(g, name, mst_scalar(g, MST_F32, 1));
    const mst_optimizer adam = mst_adam(.learning_rate = 0.1);
    mst_minimize(&adam, mst_square(w), &w, 1, MST_NONE);
    EXPECT_OK(mst_graph_check(g));
    assert_non_null(mst_graph_find(g, slot));
    mst_graph_destroy(g);
}

static void variable_that_is_listed_twice_is_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_variable(g, "a", mst_scalar(g, MST_F32, 3)), twice[2] = {a, a}, gradients[2] = {a, a};
    mst_optimizer sgd = mst_sgd(.learning_rate = 1);
    assert_true(mst_value_is_none(mst_apply_gradients(&sgd, gradients, twice, 2, MST_NONE)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "'a' is listed twice");
    mst_graph_destroy(g);
}

static void moving_average_follows_the_variable(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.5, .ema_decay = 0.75), 0, 0);
    mst_value average = mst_moving_average(f.w);
    assert_string_equal(mst_value_name(average), "w/ExponentialMovingAverage");
    assert_true(value_of(&f, average) == 2); /* begins as the variable does */
    double w = 2, wanted = 2;
    for (int i = 0; i < 5; i++) {
        engine_run(f.session, f.train);
        w /= 2;
        wanted -= 0.25 * (wanted - w);
        assert_true(fabs(value_of(&f, average) - wanted) < 1e-12);
    }
    engine_end(f.graph, f.session);
}

static void moving_average_with_num_updates_begins_fast(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.5, .ema_decay = 0.2, .ema_num_updates = true), 0, 0);
    mst_value average = mst_moving_average(f.w);
    double w = 2, wanted = 2;
    for (int step = 0; step < 5; step++) {
        double decay = fmin(0.2, (1.0 + step) / (10.0 + step));
        engine_run(f.session, f.train);
        w /= 2;
        wanted -= (1 - decay) * (wanted - w);
        assert_true(fabs(value_of(&f, average) - wanted) < 1e-6);
    }
    engine_end(f.graph, f.session);
}

/* 1 - 0.9999 has few digits in f32, and TensorFlow takes it there, also for f64 */
static void moving_average_takes_its_decay_in_f32(void **state) {
    (void)state;
    for (int num_updates = 0; num_updates < 2; num_updates++) {
        fixture f = begin(mst_sgd(.learning_rate = 0.5, .ema_decay = 0.9999, .ema_num_updates = num_updates), 0, 0);
        mst_value average = mst_moving_average(f.w);
        engine_run(f.session, f.train);
        double rest = (double)(1 - (num_updates ? 0.1f : 0.9999f));
        assert_true(fabs(value_of(&f, average) - (2 - rest * (2 - 1))) < 1e-15);
        engine_end(f.graph, f.session);
    }
}

static void there_is_no_moving_average_unless_asked_for(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.5), 0, 0);
    assert_true(mst_value_is_none(mst_moving_average(f.w)));
    assert_true(mst_value_is_none(mst_moving_average(f.loss)));
    engine_end(f.graph, f.session);
}

static void schedule_sees_the_step_before_it_is_counted(void **state) {
    (void)state;
    mst_optimizer sgd =
        mst_sgd(.schedule = mst_piecewise_constant(.num_pieces = 2, .boundary = {0}, .value = {0.5, 0.25}));
    EXPECT_STEPS(sgd, 0, 0, 1, 0.75, 0.5625);
}

static void learning_rate_is_a_variable_that_may_be_set(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 0.5), 0, 0);
    mst_node *node = NULL;
    for (int64_t i = 0; i < mst_graph_num_nodes(f.graph) && !node; i++) {
        mst_node *candidate = mst_graph_node(f.graph, i);
        if (strstr(mst_node_name(candidate), "learning_rate") && mst_is_variable((mst_value){.node = candidate}))
            node = candidate;
    }
    assert_non_null(node);
    mst_tensor *rate = engine_tensor(MST_F32, MST_SCALAR, (double[]){0.25});
    EXPECT_OK(mst_session_set_variable(f.session, (mst_value){.node = node}, rate));
    engine_run(f.session, f.train);
    assert_true(fabs(value_of(&f, f.w) - 1.5) < 1e-12);
    mst_tensor_release(rate);
    engine_end(f.graph, f.session);
}

static void two_optimizers_of_one_graph_have_rates_and_slots_of_their_own(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value w = mst_variable(g, "w", mst_scalar(g, MST_F64, 2)), loss = mst_scale(mst_square(w), 0.5);
    mst_optimizer fast = mst_sgd(.learning_rate = 0.5, .momentum = 0.5),
                  slow = mst_sgd(.learning_rate = 0.25, .momentum = 0.5);
    mst_value train_fast = mst_minimize(&fast, loss, NULL, 0, MST_NONE),
              train_slow = mst_minimize(&slow, loss, NULL, 0, MST_NONE);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    engine_run(session, train_fast); /* m = -1, w = 1 */
    assert_true(engine_number(session, w) == 1);
    engine_run(session, train_slow); /* m = -0.25, w = 0.75 */
    assert_true(engine_number(session, w) == 0.75);
    engine_run(session, train_fast); /* m = -0.5 - 0.375 */
    assert_true(engine_number(session, w) == -0.125);
    engine_end(g, session);
}

static void only_the_variables_given_change(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_variable(g, "a", mst_scalar(g, MST_F32, 3)), b = mst_variable(g, "b", mst_scalar(g, MST_F32, 4));
    mst_value unused = mst_variable(g, "unused", mst_scalar(g, MST_F32, 5));
    mst_optimizer sgd = mst_sgd(.learning_rate = 0.5);
    mst_value loss = mst_add(mst_square(a), mst_square(b));
    mst_value train_b = mst_minimize(&sgd, loss, &b, 1, MST_NONE), train = mst_minimize(&sgd, loss, NULL, 0, MST_NONE);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    engine_run(session, train_b);
    assert_true(engine_number(session, a) == 3);
    assert_true(engine_number(session, b) == 0);
    engine_run(session, train);
    assert_true(engine_number(session, a) == 0);
    assert_true(engine_number(session, unused) == 5);
    assert_true(engine_number(session, mst_global_step(g)) == 2);
    engine_end(g, session);
}

static void given_gradients_are_applied_and_the_given_step_is_counted(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value step = mst_variable(g, "my_step", mst_scalar(g, MST_I64, 100), .not_trainable = true);
    mst_value v[2] = {mst_variable(g, "a", mst_scalar(g, MST_F32, 3)), mst_variable(g, "b", mst_scalar(g, MST_F32, 4))};
    mst_optimizer sgd = mst_sgd(.learning_rate = 0.5);
    mst_value train = mst_apply_gradients(&sgd, (mst_value[]){mst_scalar(g, MST_F32, 2), MST_NONE}, v, 2, step);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    engine_run(session, train);
    assert_true(engine_number(session, v[0]) == 2);
    assert_true(engine_number(session, v[1]) == 4);
    assert_true(engine_number(session, step) == 101);
    engine_end(g, session);
}

static void mistakes_are_kept_on_the_graph(void **state) {
    (void)state;
    static const struct {
        mst_optimizer optimizer;
        const char *text;
    } bad[] = {
        {{.rule = "sdg", .learning_rate = 1}, "sgd"},
        {{.rule = "sgd", .learning_rate = -1}, "learning_rate"},
        {{.rule = "sgd", .learning_rate = 1, .clip_value = 1, .clip_norm = 1}, "clip"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mst_graph *g = engine_graph();
        mst_value w = mst_variable(g, "w", mst_scalar(g, MST_F32, 1));
        assert_true(mst_value_is_none(mst_minimize(&bad[i].optimizer, mst_square(w), NULL, 0, MST_NONE)));
        EXPECT_ERROR(mst_graph_check(g), MST_INVALID, bad[i].text);
        mst_graph_destroy(g);
    }
    mst_optimizer sgd = mst_sgd(.learning_rate = 1);
    for (int variables = 0; variables < 2; variables++) {
        mst_graph *g = engine_graph();
        if (variables) mst_variable(g, "w", mst_scalar(g, MST_F32, 1)); /* the loss does not depend on it */
        assert_true(mst_value_is_none(mst_minimize(&sgd, mst_scalar(g, MST_F32, 1), NULL, 0, MST_NONE)));
        EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "no trainable variable");
        mst_graph_destroy(g);
    }
}

/* The weights of two variables on these devices after some updates clipped by the norm of both gradients. */
static void clip_on(const char *first, const char *second, mst_tensor *out[2]) {
    mst_graph *g = engine_graph();
    const char *device[] = {first, second};
    mst_value w[2] = {MST_NONE, MST_NONE}, loss[2] = {MST_NONE, MST_NONE};
    for (int i = 0; i < 2; i++)
        mst_with_device (g, engine_here(device[i])) {
            w[i] = mst_variable(g, i ? "b" : "a", mst_random_uniform(g, MST_SHAPE(300, 200), .low = -1, .high = 1));
            loss[i] = mst_reduce_sum(mst_square(w[i]));
        }
    mst_optimizer optimizer = mst_sgd(.learning_rate = 1, .momentum = 0.5, .clip_global_norm = 2);
    mst_value train = mst_minimize(&optimizer, mst_add(loss[0], loss[1]), NULL, 0, MST_NONE);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, "cpu:2/1");
    for (int i = 0; i < 3; i++) engine_run(session, train);
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_session_get_variable(session, w[i], &out[i]));
    engine_end(g, session);
}

static void the_global_norm_is_that_of_variables_on_all_devices(void **state) {
    (void)state;
    mst_tensor *together[2], *apart[2];
    clip_on("/device:CPU:0", "/device:CPU:0", together);
    clip_on("/device:CPU:0", "/device:CPU:1", apart);
    for (int i = 0; i < 2; i++) {
        assert_true(engine_same_bits(together[i], apart[i]));
        mst_tensor_release(together[i]);
        mst_tensor_release(apart[i]);
    }
}

static void update_whose_sources_do_not_fit_its_options_is_refused(void **state) {
    (void)state;
    static const char *const options[] = {"optimizer.rule='sgd', num_variables=1, num_shards=1048576",
                                          "optimizer.rule='sgd', num_variables=16777216, num_shards=1048576"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        mst_graph *g = engine_graph();
        const mst_value src[] = {mst_scalar(g, MST_F32, 1), mst_scalar(g, MST_I64, 0), mst_scalar(g, MST_F64, 0)};
        mst_call_text(g, "apply_gradients", NULL, 3, src, options[i]);
        EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "has 3 sources for");
        mst_graph_destroy(g);
    }
}

static void number_of_variables_must_not_be_negative(void **state) {
    (void)state;
    const mst_optimizer sgd = mst_sgd();
    fixture f = begin(sgd, 0, 0);
    assert_true(mst_value_is_none(mst_apply_gradients(&sgd, &f.w, &f.w, -1, mst_global_step(f.graph))));
    EXPECT_ERROR(mst_graph_check(f.graph), MST_INVALID, "apply_gradients: -1 variables");
    engine_end(f.graph, f.session);
    f = begin(sgd, 0, 0);
    assert_true(mst_value_is_none(mst_minimize(&sgd, f.loss, &f.w, -1, MST_NONE)));
    EXPECT_ERROR(mst_graph_check(f.graph), MST_INVALID, "minimize: -1 variables");
    engine_end(f.graph, f.session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(update_whose_sources_do_not_fit_its_options_is_refused),
        cmocka_unit_test(number_of_variables_must_not_be_negative),
        cmocka_unit_test(sgd_makes_the_updates_done_by_hand),
        cmocka_unit_test(adam_makes_the_updates_done_by_hand),
        cmocka_unit_test(nadam_makes_the_updates_of_its_formula),
        cmocka_unit_test(penalties_are_added_to_the_gradient),
        cmocka_unit_test(gradients_are_clipped),
        cmocka_unit_test(global_norm_scales_all_gradients_together),
        cmocka_unit_test(an_infinite_global_norm_makes_all_weights_nan),
        cmocka_unit_test(gradients_that_are_variables_are_read_before_the_update),
        cmocka_unit_test(factors_of_gradients_are_read_before_the_update_writes_them),
        cmocka_unit_test(variable_that_is_listed_twice_is_refused),
        cmocka_unit_test(slots_of_variables_with_long_names_have_their_names),
        cmocka_unit_test(moving_average_follows_the_variable),
        cmocka_unit_test(moving_average_with_num_updates_begins_fast),
        cmocka_unit_test(moving_average_takes_its_decay_in_f32),
        cmocka_unit_test(there_is_no_moving_average_unless_asked_for),
        cmocka_unit_test(schedule_sees_the_step_before_it_is_counted),
        cmocka_unit_test(learning_rate_is_a_variable_that_may_be_set),
        cmocka_unit_test(two_optimizers_of_one_graph_have_rates_and_slots_of_their_own),
        cmocka_unit_test(only_the_variables_given_change),
        cmocka_unit_test(given_gradients_are_applied_and_the_given_step_is_counted),
        cmocka_unit_test(the_global_norm_is_that_of_variables_on_all_devices),
        cmocka_unit_test(mistakes_are_kept_on_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
