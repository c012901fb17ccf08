/* The rule of phases (docs/how-a-step-runs.md), case by case; run/programs_test.c tries it at random. */
#include "support/test.h"

static mst_value matrix(mst_graph *g, const char *name, double value) {
    return mst_variable(g, name, mst_fill(g, MST_F32, MST_SHAPE(2, 2), value));
}

static mst_value full(mst_graph *g, double value) {
    return mst_fill(g, MST_F32, MST_SHAPE(2, 2), value);
}

/* One step down GRADIENT at rate 1. */
static mst_value descend(mst_value variable, mst_value gradient) {
    const mst_optimizer sgd = mst_sgd(.learning_rate = 1);
    return mst_apply_gradients(&sgd, &gradient, &variable, 1, MST_NONE);
}

static double first_of(mst_tensor *tensor) {
    const double value = mst_tensor_get(tensor, 0);
    mst_tensor_release(tensor);
    return value;
}

static double value_of(mst_session *session, mst_value variable) {
    mst_tensor *tensor;
    EXPECT_OK(mst_session_get_variable(session, variable, &tensor));
    return first_of(tensor);
}

/* The first element of fetch I of one run in a new session. */
static double first_of_run(mst_graph *g, const char *devices, const mst_value *fetches, int num_fetches, int i) {
    mst_session *session = engine_session(g, devices);
    mst_tensor *got[4] = {NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, fetches, num_fetches, got));
    mst_tensor *wanted = mst_tensor_retain(got[i]);
    for (int k = 0; k < num_fetches; k++) mst_tensor_release(got[k]);
    mst_session_destroy(session);
    return first_of(wanted);
}

static void update_comes_after_its_control_sources(void **state) {
    (void)state;
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        mst_graph *g = engine_graph();
        mst_value v = matrix(g, "v", 10), three = full(g, 3), train = MST_NONE, after = MST_NONE;
        if (mirrored) mst_variable_mirror(v, engine_here("/cpu:0,/cpu:1"));
        mst_with_control (g, mst_assign(v, full(g, 4))) train = descend(v, three);
        mst_with_control (g, train) after = mst_matmul(v, full(g, 1)); /* may fail: the update is staged */
        mst_session *session = engine_session(g, "cpu:2/1");
        engine_run(session, train);
        assert_true(value_of(session, v) == 1);
        assert_true(first_of(engine_fetch(session, NULL, 0, after)) == 2);
        engine_end(g, session);
    }
}

static void update_with_a_source_after_a_write_is_of_a_later_phase(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = matrix(g, "a", 10), b = MST_NONE, u = matrix(g, "u", 3);
    mst_with_device (g, "/cpu:1") b = matrix(g, "b", 20); /* updated apart from A */
    const mst_optimizer sgd = mst_sgd(.learning_rate = 1);
    const mst_value set = mst_assign(u, full(g, 5)), early = mst_assign_add(a, full(g, 100));
    mst_value b_gradient = MST_NONE, both[2] = {a, b};
    mst_with_control (g, early) b_gradient = mst_scale(set, 1);
    const mst_value gradients[2] = {u, b_gradient}; /* u is read in the phase of the update: after the write */
    mst_value train = mst_apply_gradients(&sgd, gradients, both, 2, MST_NONE);
    mst_session *session = engine_session(g, "cpu:2/1");
    engine_run(session, train);
    assert_true(value_of(session, a) == 105 && value_of(session, b) == 15);
    engine_end(g, session);
}

/* Weight gradients are products that the update makes itself: of the factors as they were when the product was due. */
static void product_takes_its_factors_in_its_own_phase(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value w = matrix(g, "w", 0), x = matrix(g, "x", 2), train = MST_NONE;
    mst_value gradient = mst_matmul(x, full(g, 1), .transpose_a = true); /* 4 */
    mst_with_control (g, mst_assign(x, full(g, 100))) train = descend(w, gradient);
    mst_session *session = engine_session(g, NULL);
    engine_run(session, train);
    assert_true(value_of(session, w) == -4);
    engine_end(g, session);
}

static void other_fetches_change_no_value(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:2/1"};
    for (int d = 0; d < 2; d++) {
        mst_graph *g = engine_graph();
        mst_value v = matrix(g, "v", 1), a = mst_assign_add(v, v), b = mst_assign_sub(v, a), alone = MST_NONE,
                  beside = MST_NONE;
        mst_with_control (g, b) {
            alone = mst_mul(a, a); /* A is the variable: it is read after B */
            beside = mst_matmul(a, a);
        }
        assert_true(first_of_run(g, devices[d], &alone, 1, 0) == 0);
        assert_true(first_of_run(g, devices[d], (mst_value[]){alone, beside}, 2, 0) == 0);
        assert_true(first_of_run(g, devices[d], (mst_value[]){beside, alone}, 2, 0) == 0);
        mst_graph_destroy(g);
    }
}

static void views_that_writers_take_after_a_write_are_copied_behind_the_gate(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = matrix(g, "v", 1), w = matrix(g, "w", 2), a = mst_assign(v, w), twice = MST_NONE, swap = MST_NONE;
    mst_with_control (g, a) twice = mst_assign_add(w, mst_identity(w));
    mst_session *session = engine_session(g, NULL);
    engine_run(session, twice);
    assert_true(value_of(session, v) == 2 && value_of(session, w) == 4);
    mst_value x = matrix(g, "x", 10), y = matrix(g, "y", 20), moved[2];
    mst_with_control (g, mst_assign_add(v, full(g, 1))) {
        moved[0] = mst_assign(x, mst_identity(y));
        moved[1] = mst_assign(y, mst_identity(x));
        swap = mst_group(moved, 2);
    }
    EXPECT_OK(mst_session_init_variables(session));
    engine_run(session, swap);
    assert_true(value_of(session, v) == 3 && value_of(session, x) == 20 && value_of(session, y) == 10);
    engine_end(g, session);
}

static void writers_of_one_phase_write_in_the_order_in_which_they_were_made(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = matrix(g, "v", 1), read = mst_neg(v), first = mst_assign(v, full(g, 5)),
              second = mst_assign_add(v, full(g, 10)), third = descend(v, full(g, 3));
    mst_value after = MST_NONE, forth[] = {read, first, second, third}, back[] = {third, second, first, read};
    mst_with_control (g, mst_group((mst_value[]){third, second, first}, 3)) after = mst_matmul(v, full(g, 1));
    for (int i = 0; i < 2; i++) {
        mst_session *session = engine_session(g, NULL);
        EXPECT_OK(mst_session_run(session, NULL, 0, i ? back : forth, 4, NULL));
        assert_true(value_of(session, v) == 12);
        mst_session_destroy(session);
    }
    assert_true(first_of_run(g, NULL, &after, 1, 0) == 24); /* staged, too */
    mst_graph_destroy(g);
}

static void penalty_is_of_the_weights_before_all_writes_of_the_phase(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", full(g, 3), .l2 = 2), set = mst_assign(v, full(g, 1));
    mst_value train = descend(v, full(g, 0)), penalty = MST_NONE;
    for (int64_t i = 0; i < mst_graph_num_nodes(g); i++)
        if (strcmp(mst_node_op(mst_graph_node(g, i))->name, "apply_gradients") == 0)
            penalty = (mst_value){mst_graph_node(g, i), 0};
    assert_true(first_of_run(g, NULL, (mst_value[]){penalty, train}, 2, 0) == 36);
    assert_true(first_of_run(g, NULL, (mst_value[]){penalty, set}, 2, 0) == 36);
    mst_graph_destroy(g);
}

static void updates_of_a_mirrored_variable_share_its_average(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = matrix(g, "v", 8), second = MST_NONE, read = MST_NONE, set = MST_NONE, one = full(g, 4);
    mst_variable_mirror(v, engine_here("/cpu:0,/cpu:1"));
    const mst_optimizer sgd = mst_sgd(.learning_rate = 1, .ema_decay = 0.5);
    mst_value first = mst_apply_gradients(&sgd, &one, &v, 1, MST_NONE);                    /* v 4, average 6 */
    mst_with_control (g, first) second = mst_apply_gradients(&sgd, &one, &v, 1, MST_NONE); /* v 0, average 3 */
    mst_value average = mst_moving_average(v);
    mst_with_control (g, second) read = mst_scale(average, 1);
    mst_with_control (g, read) set = mst_assign(v, average);
    assert_true(first_of_run(g, "cpu:2/1", &read, 1, 0) == 3);
    assert_true(first_of_run(g, "cpu:2/1", &set, 1, 0) == 3);
    mst_graph_destroy(g);
}

static void slots_are_where_their_variable_is(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = matrix(g, "v", 8), train = MST_NONE, one = full(g, 1);
    const mst_optimizer sgd = mst_sgd(.learning_rate = 1, .momentum = 0.5, .ema_decay = 0.5);
    mst_with_device (g, "/cpu:1") train = mst_apply_gradients(&sgd, &one, &v, 1, MST_NONE);
    mst_session *session = engine_session(g, "cpu:2/1");
    engine_run(session, train);
    assert_true(value_of(session, v) == 7);
    engine_end(g, session);
}

static void writers_run_though_only_a_shape_is_needed(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = matrix(g, "v", 1), zeros = mst_zeros_like(mst_neg(mst_assign_add(v, full(g, 1)))), after = MST_NONE;
    mst_with_control (g, zeros) after = mst_scale(v, 10);
    mst_session *session = engine_session(g, NULL);
    assert_true(first_of(engine_fetch(session, NULL, 0, after)) == 20);
    assert_true(value_of(session, v) == 2);
    engine_end(g, session);
}

/* A view in another domain of what was just written is received, which may fail. */
static void views_on_other_devices_see_the_write_before_them(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = matrix(g, "v", 1), view = MST_NONE;
    mst_value add = mst_assign_add(v, full(g, 1));
    mst_with_device (g, "/cpu:1") view = mst_reshape(mst_identity(add), MST_SHAPE(4));
    mst_session *session = engine_session(g, "cpu:2/1");
    assert_true(first_of(engine_fetch(session, NULL, 0, view)) == 2);
    assert_true(value_of(session, v) == 2);
    engine_end(g, session);
}

/* What is computed from constants becomes a constant when the plan is made: also a sum and a product, which an update
 * else takes apart. */
static void gradients_that_are_constants_are_applied(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v[3] = {matrix(g, "v0", 10), matrix(g, "v1", 10), matrix(g, "v2", 10)};
    const mst_value one = full(g, 1),
                    gradients[3] = {
                        mst_add(one, one), mst_matmul(one, one, .transpose_a = true),
                        mst_gather(mst_add(one, one), mst_values(g, MST_I32, MST_SHAPE(2), (double[]){0, 1}), 0)};
    const mst_optimizer sgd = mst_sgd(.learning_rate = 1);
    const mst_value train = mst_apply_gradients(&sgd, gradients, v, 3, MST_NONE);
    mst_session *session = engine_session(g, NULL);
    engine_run(session, train);
    for (int i = 0; i < 3; i++) assert_true(value_of(session, v[i]) == 8);
    engine_end(g, session);
}

/* The factors of a gradient's product, the variable itself and what was written to it, are those after the write, on
 * whichever device the product was asked for. */
static void product_of_a_written_variable_reads_it_after_the_write(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value w = matrix(g, "w", 0), v = matrix(g, "v", 2), gradient = MST_NONE, both[2] = {v, w}, gradients[2];
    mst_variable_mirror(v, engine_here("/cpu:0,/cpu:1,/cpu:2,/cpu:3"));
    const mst_value added = mst_assign_add(v, full(g, 1));                              /* 3 */
    mst_with_device (g, "/cpu:2") gradient = mst_matmul(added, v, .transpose_a = true); /* 18 */
    const mst_optimizer sgd = mst_sgd(.learning_rate = 1);
    gradients[0] = gradient;
    gradients[1] = full(g, 1);
    const mst_value train = mst_apply_gradients(&sgd, gradients, both, 2, MST_NONE);
    mst_session *session = engine_session(g, "cpu:4/1");
    engine_run(session, train);
    assert_true(value_of(session, v) == -15 && value_of(session, w) == -1);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(update_comes_after_its_control_sources),
        cmocka_unit_test(update_with_a_source_after_a_write_is_of_a_later_phase),
        cmocka_unit_test(product_takes_its_factors_in_its_own_phase),
        cmocka_unit_test(product_of_a_written_variable_reads_it_after_the_write),
        cmocka_unit_test(gradients_that_are_constants_are_applied),
        cmocka_unit_test(other_fetches_change_no_value),
        cmocka_unit_test(views_that_writers_take_after_a_write_are_copied_behind_the_gate),
        cmocka_unit_test(writers_of_one_phase_write_in_the_order_in_which_they_were_made),
        cmocka_unit_test(penalty_is_of_the_weights_before_all_writes_of_the_phase),
        cmocka_unit_test(updates_of_a_mirrored_variable_share_its_average),
        cmocka_unit_test(slots_are_where_their_variable_is),
        cmocka_unit_test(writers_run_though_only_a_shape_is_needed),
        cmocka_unit_test(views_on_other_devices_see_the_write_before_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
