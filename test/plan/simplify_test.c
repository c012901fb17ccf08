/* What the plan computes once: constants are folded and equal nodes merged, without a change of any value; stateful
 * ops, and reads on two sides of a write, are neither. An op that counts its runs (engine_count) tells what ran. */
#include "support/test.h"

static void run_with(mst_session *session, mst_value x, mst_value fetch, int times) {
    mst_tensor *tensor = engine_tensor(MST_F32, mst_value_spec(x).shape, NULL);
    for (int i = 0; i < times; i++)
        mst_tensor_release(engine_fetch(session, &(mst_feed){.value = x, .tensor = tensor}, 1, fetch));
    mst_tensor_release(tensor);
}

static void nodes_with_constant_sources_only_are_computed_once(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value c = mst_add(mst_scalar(g, MST_F32, 2), mst_scalar(g, MST_F32, 3));
    mst_value y = engine_count(engine_count(mst_square(c)));
    mst_session *session = engine_session(g, NULL);
    for (int i = 0; i < 5; i++) assert_true(engine_number(session, y) == 25);
    assert_int_equal(engine_counted(), 2);
    engine_end(g, session);
}

static void stateful_ops_are_never_folded(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y = engine_count_stateful(mst_scalar(g, MST_F32, 2));
    mst_session *session = engine_session(g, NULL);
    for (int i = 0; i < 5; i++) engine_run(session, y);
    assert_int_equal(engine_counted(), 5);
    engine_end(g, session);
}

static void random_numbers_differ_from_step_to_step_and_from_each_other(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_random_uniform(g, MST_SHAPE(8)), b = mst_random_uniform(g, MST_SHAPE(8));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *first[2] = {NULL, NULL}, *second = engine_fetch(session, NULL, 0, a);
    EXPECT_OK(mst_session_run(session, NULL, 0, (mst_value[]){a, b}, 2, first));
    assert_false(engine_same_bits(first[0], first[1]));
    assert_false(engine_same_bits(first[0], second));
    engine_set_run(session, 0);
    mst_tensor *again = engine_fetch(session, NULL, 0, a);
    assert_true(engine_same_bits(again, second));
    for (int i = 0; i < 2; i++) mst_tensor_release(first[i]);
    mst_tensor_release(second);
    mst_tensor_release(again);
    engine_end(g, session);
}

static void nodes_that_compute_the_same_run_once(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(3));
    mst_value a = engine_count(mst_mul(x, mst_scalar(g, MST_F32, 2)));
    mst_value b = engine_count(mst_mul(x, mst_scalar(g, MST_F32, 2)));
    mst_session *session = engine_session(g, NULL);
    run_with(session, x, mst_add(a, b), 3);
    assert_int_equal(engine_counted(), 3);
    engine_end(g, session);
}

/* Also where one of them was folded: the plans of all tasks are to be the same. */
static void equal_constants_are_one_whatever_has_made_them(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(3)), six = mst_scalar(g, MST_F32, 6);
    mst_value sum = mst_add(mst_scalar(g, MST_F32, 2), mst_scalar(g, MST_F32, 4));
    mst_value a = engine_count(mst_mul(x, six)), b = engine_count(mst_mul(x, mst_identity(six)));
    mst_value c = engine_count(mst_mul(x, sum));
    mst_session *session = engine_session(g, NULL);
    run_with(session, x, mst_add(a, mst_add(b, c)), 3);
    assert_int_equal(engine_counted(), 3);
    engine_end(g, session);
}

static void stateful_nodes_are_not_merged(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(3));
    mst_value sum = mst_add(engine_count_stateful(x), engine_count_stateful(x));
    mst_session *session = engine_session(g, NULL);
    run_with(session, x, sum, 3);
    assert_int_equal(engine_counted(), 6);
    engine_end(g, session);
}

static void nodes_that_differ_in_an_option_or_a_constant_are_not_merged(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_neg(engine_input(g, "x", MST_SHAPE(1)));
    mst_value y[4] = {mst_leaky_relu(x, .slope = 0.5f), mst_leaky_relu(x, .slope = 0.25f),
                      mst_add(x, mst_scalar(g, MST_F32, 1)), mst_add(x, mst_scalar(g, MST_F32, 2))};
    mst_session *session = engine_session(g, NULL);
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(1), (double[]){4}), *got[4] = {NULL};
    EXPECT_OK(mst_session_run(session, &(mst_feed){.value = x, .tensor = tensor}, 1, y, 4, got));
    static const double wanted[] = {4, 4, 5, 6};
    for (int i = 0; i < 4; i++) assert_true(mst_tensor_get(got[i], 0) == wanted[i]);
    mst_tensor_set(tensor, 0, -4);
    EXPECT_OK(mst_session_run(session, &(mst_feed){.value = x, .tensor = tensor}, 1, y, 4, got));
    assert_true(mst_tensor_get(got[0], 0) == -2 && mst_tensor_get(got[1], 0) == -1);
    for (int i = 0; i < 4; i++) mst_tensor_release(got[i]);
    mst_tensor_release(tensor);
    engine_end(g, session);
}

static void nodes_on_two_devices_are_not_merged(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(3)), y[2] = {MST_NONE, MST_NONE};
    for (int i = 0; i < 2; i++) {
        char device[16];
        snprintf(device, sizeof device, "/cpu:%d", i);
        mst_with_device (g, device) y[i] = engine_count(x);
    }
    mst_session *session = engine_session(g, "cpu:2/1");
    run_with(session, x, mst_add(y[0], y[1]), 1);
    assert_int_equal(engine_counted(), 2);
    engine_end(g, session);
}

static void reads_before_and_after_a_write_are_not_merged(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_scalar(g, MST_F32, 1)), after = MST_NONE;
    mst_value before = mst_scale(v, 10), write = mst_assign(v, mst_scalar(g, MST_F32, 2));
    mst_with_control (g, write) after = mst_scale(v, 10);
    mst_session *session = engine_session(g, NULL);
    mst_tensor *got[2] = {NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, (mst_value[]){before, after}, 2, got));
    assert_true(mst_tensor_get(got[0], 0) == 10);
    assert_true(mst_tensor_get(got[1], 0) == 20);
    for (int i = 0; i < 2; i++) mst_tensor_release(got[i]);
    engine_end(g, session);
}

/* 1e-40, a denormal number in f32 */
static void folding_flushes_denormal_numbers_as_a_step_does(void **state) {
    (void)state;
#if !defined(__SSE2__) && !defined(__aarch64__)
    skip();
#endif
    mst_graph *g = engine_graph();
    mst_value y = mst_scale(mst_scalar(g, MST_F32, 1e-30), 1e-10);
    mst_session *session = engine_session(g, NULL);
    assert_true(engine_number(session, y) == 0);
    volatile float small = 1e-30F;
    volatile float product = small * 1e-10F;
    assert_true(product != 0);
    engine_end(g, session);
}

static void folding_an_error_reports_its_node(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y = mst_rename(mst_div(mst_scalar(g, MST_I32, 1), mst_scalar(g, MST_I32, 0)), "quotient");
    mst_session *session = engine_session(g, NULL);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_INVALID, "'quotient'");
    engine_end(g, session);
}

static void copy_of_a_written_value_outlives_the_next_write(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_scalar(g, MST_F64, 0)), second = MST_NONE, sum = MST_NONE;
    mst_value first = mst_cast(mst_assign(v, mst_scalar(g, MST_F64, 1)), MST_F64); /* to its own dtype */
    mst_with_control (g, first) second = mst_assign(v, mst_scalar(g, MST_F64, 2));
    mst_with_control (g, second) sum = mst_add(first, second);
    mst_session *session = engine_session(g, NULL);
    assert_true(engine_number(session, sum) == 3);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_with_constant_sources_only_are_computed_once),
        cmocka_unit_test(stateful_ops_are_never_folded),
        cmocka_unit_test(random_numbers_differ_from_step_to_step_and_from_each_other),
        cmocka_unit_test(nodes_that_compute_the_same_run_once),
        cmocka_unit_test(equal_constants_are_one_whatever_has_made_them),
        cmocka_unit_test(stateful_nodes_are_not_merged),
        cmocka_unit_test(nodes_that_differ_in_an_option_or_a_constant_are_not_merged),
        cmocka_unit_test(nodes_on_two_devices_are_not_merged),
        cmocka_unit_test(reads_before_and_after_a_write_are_not_merged),
        cmocka_unit_test(folding_flushes_denormal_numbers_as_a_step_does),
        cmocka_unit_test(folding_an_error_reports_its_node),
        cmocka_unit_test(copy_of_a_written_value_outlives_the_next_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
