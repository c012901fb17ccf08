/* What a run leaves out: nodes that no fetch needs, and those that only the value of a fed node would need. An op
 * that counts its runs (engine_count) tells what ran. */
#include "support/test.h"

static mst_tensor *number(double value) {
    return engine_tensor(MST_F32, MST_SCALAR, &value);
}

static void nodes_that_no_fetch_needs_do_not_run(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SCALAR);
    mst_value wanted = engine_count(mst_neg(x));
    engine_count(mst_square(x));
    engine_count(wanted);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .tensor = number(3)};
    mst_tensor *y = engine_fetch(session, &feed, 1, wanted);
    assert_true(mst_tensor_get(y, 0) == -3);
    assert_int_equal(engine_counted(), 1);
    mst_tensor_release(y);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void any_value_may_be_fed_and_its_sources_do_not_run(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SCALAR);
    mst_value middle = engine_count(x), y = mst_neg(middle);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = middle, .tensor = number(7)}; /* x is not fed */
    mst_tensor *got = engine_fetch(session, &feed, 1, y);
    assert_true(mst_tensor_get(got, 0) == -7);
    assert_int_equal(engine_counted(), 0);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void constants_and_variables_may_be_fed_for_one_run(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value c = mst_scalar(g, MST_F32, 2), v = mst_variable(g, "v", mst_scalar(g, MST_F32, 3));
    mst_value y = mst_mul(c, v);
    mst_session *session = engine_session(g, NULL);
    mst_feed feeds[2] = {{.value = c, .tensor = number(10)}, {.value = v, .tensor = number(20)}};
    mst_tensor *both = engine_fetch(session, feeds, 2, y), *one = engine_fetch(session, feeds, 1, y);
    assert_true(mst_tensor_get(both, 0) == 200);
    assert_true(mst_tensor_get(one, 0) == 30);
    assert_true(engine_number(session, y) == 6);
    mst_tensor_release(both);
    mst_tensor_release(one);
    for (int i = 0; i < 2; i++) mst_tensor_release(feeds[i].tensor);
    engine_end(g, session);
}

static void one_output_of_several_may_be_fed(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value parts = mst_split(mst_values(g, MST_F32, MST_SHAPE(2), (double[]){1, 2}), 2, 0);
    mst_value sum = mst_add(parts, mst_value_output(parts, 1));
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = mst_value_output(parts, 1),
                     .tensor = engine_tensor(MST_F32, MST_SHAPE(1), (double[]){50})};
    mst_tensor *got = engine_fetch(session, &feed, 1, sum);
    assert_true(mst_tensor_get(got, 0) == 51);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void fed_value_may_be_fetched(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1));
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(2), (double[]){4, 5})};
    mst_tensor *got = engine_fetch(session, &feed, 1, x);
    assert_true(engine_same_bits(got, feed.tensor));
    assert_ptr_not_equal(got, feed.tensor);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void feed_that_nothing_needs_is_allowed(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SCALAR), y = mst_scalar(g, MST_F32, 4);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .tensor = number(1)};
    mst_tensor *got = engine_fetch(session, &feed, 1, y);
    assert_true(mst_tensor_get(got, 0) == 4);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void value_may_be_fetched_twice(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y = engine_count_stateful(mst_scalar(g, MST_F32, 4));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *got[2] = {NULL, NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, (mst_value[]){y, y}, 2, got));
    assert_true(engine_same_bits(got[0], got[1]));
    assert_ptr_not_equal(got[0], got[1]);
    assert_int_equal(engine_counted(), 1);
    for (int i = 0; i < 2; i++) mst_tensor_release(got[i]);
    engine_end(g, session);
}

static void second_output_is_fed_with_its_own_dtype(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value best = mst_top_k(mst_values(g, MST_F32, MST_SHAPE(3), (double[]){3, 1, 2}), .k = 2);
    mst_value index = mst_value_output(best, 1), twice = mst_add(index, index);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = index, .tensor = engine_tensor(MST_I32, MST_SHAPE(2), (double[]){4, 5})};
    mst_tensor *got = engine_fetch(session, &feed, 1, twice);
    assert_true(mst_tensor_get(got, 1) == 10);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    feed.tensor = engine_tensor(MST_F32, MST_SHAPE(2), NULL);
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &twice, 1, NULL), MST_INVALID, "is f32[2], must be i32[2]");
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void nothing_waits_for_a_fed_placeholder(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SCALAR), y = MST_NONE;
    mst_with_control (g, x) y = mst_scalar(g, MST_F32, 3);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .tensor = number(1)};
    mst_tensor *got = engine_fetch(session, &feed, 1, y);
    assert_true(mst_tensor_get(got, 0) == 3);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_INVALID, "'x' is needed");
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void variable_that_is_fed_cannot_be_written(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_scalar(g, MST_F32, 1)), add = mst_assign_add(v, mst_scalar(g, MST_F32, 1));
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = v, .tensor = number(5)};
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &add, 1, NULL), MST_INVALID,
                 "'assign_add' writes 'v', which is fed");
    assert_true(mst_tensor_get(feed.tensor, 0) == 5);
    assert_true(engine_number(session, v) == 1);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void control_dependencies_hold_where_only_the_shape_is_used(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_scalar(g, MST_F32, 1)), x = engine_input(g, "x", MST_SHAPE(-1));
    mst_value count = mst_assign_add(v, mst_scalar(g, MST_F32, 1)), y = MST_NONE;
    mst_with_control (g, count) y = mst_neg(x);
    mst_value fetches[] = {mst_zeros_like(mst_square(y)), mst_dim_size(y, 0, MST_I64)};
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(3), NULL)};
    for (int i = 0; i < 2; i++) {
        mst_tensor_release(engine_fetch(session, &feed, 1, fetches[i]));
        assert_true(engine_number(session, v) == 2 + i);
    }
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_no_fetch_needs_do_not_run),
        cmocka_unit_test(any_value_may_be_fed_and_its_sources_do_not_run),
        cmocka_unit_test(constants_and_variables_may_be_fed_for_one_run),
        cmocka_unit_test(one_output_of_several_may_be_fed),
        cmocka_unit_test(fed_value_may_be_fetched),
        cmocka_unit_test(feed_that_nothing_needs_is_allowed),
        cmocka_unit_test(value_may_be_fetched_twice),
        cmocka_unit_test(second_output_is_fed_with_its_own_dtype),
        cmocka_unit_test(nothing_waits_for_a_fed_placeholder),
        cmocka_unit_test(variable_that_is_fed_cannot_be_written),
        cmocka_unit_test(control_dependencies_hold_where_only_the_shape_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
