/* Constraints in steps: after the rule and the moving average, in each step, before any later reader; the same bits on
 * all devices. */
#include "muster/store.h"
#include "support/test.h"
#include "support/training.h"

/* ---- one variable, [3, -1], whose gradient is 0 ---- */

typedef struct fixture {
    mst_graph *graph;
    mst_value w, train;
    mst_session *session;
} fixture;

static fixture begin(mst_optimizer optimizer, const char *devices) {
    fixture f = {.graph = engine_graph()};
    const float first[] = {3, -1};
    mst_tensor *initial;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(2), &initial));
    for (int i = 0; i < 2; i++) mst_tensor_set(initial, i, (double)first[i]);
    f.w = mst_variable(f.graph, "w", mst_constant(f.graph, initial));
    mst_tensor_release(initial);
    mst_variable_constrain(f.w, mst_non_neg_constraint());
    assert_int_equal(mst_variable_constraint(f.w).kind, MST_CONSTRAINT_NON_NEG);
    const mst_value zero = mst_mul(mst_reduce_sum(f.w), mst_scalar(f.graph, MST_F32, 0));
    f.train = mst_minimize(&optimizer, zero, NULL, 0, MST_NONE);
    f.session = engine_session(f.graph, devices);
    EXPECT_OK(mst_graph_check(f.graph));
    return f;
}

static void step(fixture *f) {
    EXPECT_OK(mst_session_run(f->session, NULL, 0, &f->train, 1, NULL));
}

static void expect_second(fixture *f, mst_value variable, double wanted) {
    mst_tensor *got;
    EXPECT_OK(mst_session_get_variable(f->session, variable, &got));
    assert_float_equal(mst_tensor_get(got, 0), 3, 0);
    assert_float_equal(mst_tensor_get(got, 1), wanted, 0);
    mst_tensor_release(got);
}

static void averages_follow_the_weight_before(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 1, .ema_decay = 0.5), "cpu:1/1");
    EXPECT_OK(mst_session_init_variables(f.session));
    expect_second(&f, f.w, -1); /* first values are not constrained */
    step(&f);
    expect_second(&f, f.w, 0);
    expect_second(&f, mst_moving_average(f.w), -1);
    step(&f);
    expect_second(&f, mst_moving_average(f.w), -0.5);
    engine_end(f.graph, f.session);
}

static void steps_that_only_add_their_gradient_constrain_too(void **state) {
    (void)state;
    fixture f = begin(mst_sgd(.learning_rate = 1, .gradient_accumulation_steps = 3), "cpu:1/1");
    EXPECT_OK(mst_session_init_variables(f.session));
    step(&f);
    expect_second(&f, f.w, 0);
    engine_end(f.graph, f.session);
}

/* A reader of the next phase, which comes after another writer of the update's phase. */
static void no_reader_sees_weights_in_between(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:2/1"};
    for (int d = 0; d < 2; d++)
        for (int fails = 0; fails < 2; fails++) {
            fixture f = begin(mst_sgd(.learning_rate = 1), devices[d]);
            mst_value other = mst_variable(f.graph, "other", mst_scalar(f.graph, MST_F32, 0)), seen = MST_NONE;
            mst_value wrote = mst_assign_add(other, mst_scalar(f.graph, MST_F32, 1));
            mst_with_control (f.graph, wrote) {
                seen = mst_mul(f.w, mst_scalar(f.graph, MST_F32, 1));
                if (fails)
                    seen = mst_gather(seen, mst_range(f.graph, MST_I32, 0, 2, 1),
                                      0); /* it may fail: the update is staged */
            }
            EXPECT_OK(mst_graph_check(f.graph));
            EXPECT_OK(mst_session_init_variables(f.session));
            mst_tensor *out[2] = {NULL, NULL};
            EXPECT_OK(mst_session_run(f.session, NULL, 0, (const mst_value[]){seen, f.train}, 2, out));
            assert_float_equal(mst_tensor_get(out[0], 1), 0, 0);
            mst_tensor_release(out[0]);
            mst_tensor_release(out[1]);
            expect_second(&f, f.w, 0);
            engine_end(f.graph, f.session);
        }
}

static void bad_ones_are_errors_of_the_graph(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value w = mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(2, 3), 1));
    mst_variable_constrain(w, mst_max_norm_constraint(.axes = MST_AXES(2)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "max_norm");
    mst_graph_destroy(g);
    g = engine_graph();
    mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(2, 3), 1), .constraint = mst_max_norm_constraint(.rate = -1));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "variable 'w': constraint max_norm");
    mst_graph_destroy(g);
}

/* ---- a model on many devices ---- */

enum { ROWS = 60, BATCH = 20, FEATURES = 30, CLASSES = 7 };

static const mst_constraint constraints[] = {
    {.kind = MST_CONSTRAINT_NON_NEG},
    {.kind = MST_CONSTRAINT_MAX_NORM, .max_value = 0.5},
    {.kind = MST_CONSTRAINT_UNIT_NORM, .axes = {.count = 1, .axis = {1}}},
    {.kind = MST_CONSTRAINT_MIN_MAX_NORM, .min_value = 0.25, .rate = 0.5, .whole = true},
};

static void train(int c, mst_optimizer optimizer, mst_strategy_kind kind, const char *devices, char hex[65]) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 3);
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 1100, .activation = MST_RELU, .l2 = 1e-2f, .kernel_constraint = constraints[c]);
    mst_dense(model, CLASSES, .kernel_constraint = constraints[c], .bias_constraint = mst_max_norm_constraint());
    EXPECT_OK(mst_compile(model, .optimizer = optimizer, .strategy = {.kind = kind, .num_shards = 4},
                          .session = {.devices = devices}, .seed = 1));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 2));
    EXPECT_OK(mst_model_sha256(model, hex));
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void all_devices_give_one_answer(void **state) {
    (void)state;
    static const struct {
        mst_strategy_kind kind;
        const char *devices;
    } places[] = {
        {MST_STRATEGY_ONE, "cpu:1/1"},         {MST_STRATEGY_ONE, "cpu:1/3"},
        {MST_STRATEGY_TOWERS, "cpu:2/1"},      {MST_STRATEGY_MIRRORED, "cpu:2/1"},
        {MST_STRATEGY_MIRRORED, "cpu:4/1"},    {MST_STRATEGY_TOWERS, "island:2/1"},
        {MST_STRATEGY_MIRRORED, "island:2/1"}, {MST_STRATEGY_MIRRORED, "island:2/1,cpu:2/1"},
    };
    const mst_optimizer optimizers[] = {mst_adam(.learning_rate = 0.01, .ema_decay = 0.9),
                                        mst_sgd(.learning_rate = 0.1, .clip_norm = 0.5)};
    for (int c = 0; c < (int)(sizeof constraints / sizeof *constraints); c++) {
        char wanted[65], got[65];
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            if (engine_has_other_bits(places[i].devices)) continue;
            train(c, optimizers[c % 2], places[i].kind, places[i].devices, i ? got : wanted);
            if (i && strcmp(got, wanted) != 0)
                fail_msg("%s: strategy %d on %s gives %s, one device %s", mst_constraint_name(constraints[c].kind),
                         (int)places[i].kind, places[i].devices, got, wanted);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_follow_the_weight_before),
        cmocka_unit_test(steps_that_only_add_their_gradient_constrain_too),
        cmocka_unit_test(no_reader_sees_weights_in_between),
        cmocka_unit_test(bad_ones_are_errors_of_the_graph),
        cmocka_unit_test(all_devices_give_one_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
