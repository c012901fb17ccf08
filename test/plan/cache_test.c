/* The plans that a session keeps: when a plan is used again, made anew or dropped. */
#include "support/test.h"

static void run_rows(mst_session *session, mst_value x, mst_value fetch, int64_t rows) {
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(rows, 2), NULL);
    for (int64_t i = 0; i < 2 * rows; i++) mst_tensor_set(tensor, i, 1);
    mst_tensor *got = engine_fetch(session, &(mst_feed){.value = x, .tensor = tensor}, 1, fetch);
    assert_true(mst_tensor_get(got, 0) == 2 * (double)rows);
    mst_tensor_release(got);
    mst_tensor_release(tensor);
}

static void same_shapes_use_the_same_plan_and_new_ones_make_a_new_plan(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1, 2)), sum = mst_reduce_sum(x);
    mst_session *session = engine_session(g, NULL);
    for (int i = 0; i < 5; i++) run_rows(session, x, sum, 100);
    assert_int_equal(mst_session_num_plans(session), 1);
    run_rows(session, x, sum, 37);
    assert_int_equal(mst_session_num_plans(session), 2);
    for (int i = 0; i < 5; i++) {
        run_rows(session, x, sum, 100);
        run_rows(session, x, sum, 37);
        run_rows(session, x, sum, 37);
    }
    assert_int_equal(mst_session_num_plans(session), 2);
    engine_end(g, session);
}

static void other_fetches_and_a_graph_that_grew_make_new_plans(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1, 2)), sum = mst_reduce_sum(x), same = mst_identity(sum);
    mst_session *session = engine_session(g, NULL);
    run_rows(session, x, sum, 4);
    run_rows(session, x, same, 4);
    assert_int_equal(mst_session_num_plans(session), 2);
    mst_neg(x);
    run_rows(session, x, sum, 4);
    assert_int_equal(mst_session_num_plans(session), 3);
    engine_end(g, session);
}

static void old_plans_make_room_and_are_made_again(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1, 2)), sum = mst_reduce_sum(x);
    mst_session *session = engine_session(g, NULL);
    for (int64_t rows = 1; rows <= 150; rows++) run_rows(session, x, sum, rows);
    assert_int_equal(mst_session_num_plans(session), 150);
    run_rows(session, x, sum, 150);
    assert_int_equal(mst_session_num_plans(session), 150);
    run_rows(session, x, sum, 1);
    assert_int_equal(mst_session_num_plans(session), 151);
    engine_end(g, session);
}

static void plan_that_fails_is_not_kept(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1)), y = engine_input(g, "y", MST_SHAPE(-1));
    mst_value sum = mst_reduce_sum(mst_add(x, y));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *three = engine_tensor(MST_F32, MST_SHAPE(3), NULL), *two = engine_tensor(MST_F32, MST_SHAPE(2), NULL);
    mst_feed feeds[2] = {{.value = x, .tensor = three}, {.value = y, .tensor = two}};
    for (int i = 0; i < 2; i++)
        EXPECT_ERROR(mst_session_run(session, feeds, 2, &sum, 1, NULL), MST_INVALID, "x f32[3], y f32[2]");
    assert_int_equal(mst_session_num_plans(session), 0);
    feeds[1].tensor = three;
    EXPECT_OK(mst_session_run(session, feeds, 2, &sum, 1, NULL));
    mst_tensor_release(three);
    mst_tensor_release(two);
    engine_end(g, session);
}

static void plans_of_older_graph_versions_are_dropped(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SCALAR, NULL);
    mst_value c = mst_constant(g, tensor); /* each plan holds it */
    mst_session *session = engine_session(g, NULL);
    for (int i = 0; i < 20; i++) engine_run(session, mst_scale(c, i));
    assert_int_equal(mst_session_num_plans(session), 20);
    assert_int_equal(mst_tensor_references(tensor), 3); /* ours, the graph's and that of one plan */
    engine_end(g, session);
    assert_int_equal(mst_tensor_references(tensor), 1);
    mst_tensor_release(tensor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_shapes_use_the_same_plan_and_new_ones_make_a_new_plan),
        cmocka_unit_test(other_fetches_and_a_graph_that_grew_make_new_plans),
        cmocka_unit_test(old_plans_make_room_and_are_made_again),
        cmocka_unit_test(plan_that_fails_is_not_kept),
        cmocka_unit_test(plans_of_older_graph_versions_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
