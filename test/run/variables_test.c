/* Variables of a session: their first values, set and got from outside, and what reads and writes of one step see of
 * each other (docs/how-a-step-runs.md). support/program.h checks the same rule with random programs. */
#include "support/test.h"

static mst_value variable(mst_graph *g, const char *name, double value) {
    return mst_variable(g, name, mst_scalar(g, MST_F64, value));
}

static double value_of(mst_session *session, mst_value v) {
    mst_tensor *tensor;
    EXPECT_OK(mst_session_get_variable(session, v, &tensor));
    double value = mst_tensor_get(tensor, 0);
    mst_tensor_release(tensor);
    return value;
}

/* Both numbers of one run. */
static void expect_two(mst_session *session, mst_value a, double wanted_a, mst_value b, double wanted_b) {
    mst_tensor *got[2] = {NULL, NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, (mst_value[]){a, b}, 2, got));
    if (mst_tensor_get(got[0], 0) != wanted_a || mst_tensor_get(got[1], 0) != wanted_b)
        fail_msg("%g and %g, wanted %g and %g", mst_tensor_get(got[0], 0), mst_tensor_get(got[1], 0), wanted_a,
                 wanted_b);
    for (int i = 0; i < 2; i++) mst_tensor_release(got[i]);
}

static void variables_begin_with_their_initial_values_once(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 5), add = mst_assign_add(v, mst_scalar(g, MST_F64, 1));
    mst_session *session = engine_session(g, NULL);
    assert_true(value_of(session, v) == 5);
    engine_run(session, add);
    EXPECT_OK(mst_session_init_variables(session));
    assert_true(value_of(session, v) == 6);
    mst_value later = variable(g, "later", 7);
    EXPECT_OK(mst_session_init_variables(session));
    assert_true(value_of(session, later) == 7);
    assert_true(value_of(session, v) == 6);
    engine_end(g, session);
}

static void initial_values_may_be_those_of_other_variables(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_variable(g, "a", mst_random_normal(g, MST_SHAPE(4), .seed = 3));
    mst_value b = mst_variable(g, "b", mst_variable_initial(a));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *value[2];
    EXPECT_OK(mst_session_get_variable(session, a, &value[0]));
    EXPECT_OK(mst_session_get_variable(session, b, &value[1]));
    assert_true(engine_same_bits(value[0], value[1]));
    for (int i = 0; i < 2; i++) mst_tensor_release(value[i]);
    engine_end(g, session);
}

static void assignments_change_the_variable_and_give_its_new_value(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 5);
    mst_value set = mst_assign(v, mst_scalar(g, MST_F64, 10)), add = mst_assign_add(v, mst_scalar(g, MST_F64, 3)),
              sub = mst_assign_sub(v, mst_scalar(g, MST_F64, 1));
    mst_session *session = engine_session(g, NULL);
    assert_true(engine_number(session, set) == 10);
    assert_true(engine_number(session, add) == 13);
    assert_true(engine_number(session, sub) == 12);
    assert_true(engine_number(session, v) == 12);
    assert_true(value_of(session, v) == 12);
    engine_end(g, session);
}

/* Each slice goes to its place, or where that would reach over an end, as near to it as there is room. */
static void assign_slice_changes_a_part_of_the_variable(void **state) {
    (void)state;
    static const double part[] = {1, 2, 3, 4};
    static const struct {
        int32_t begin[2];
        double wanted[12];
    } rows[] = {{{0, 1}, {0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0}},
                {{1, 2}, {0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4}},
                {{-5, 99}, {0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0}},
                {{99, -5}, {0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0}}};
    for (int r = 0; r < 4; r++) {
        mst_graph *g = engine_graph();
        mst_value v = mst_variable(g, "v", mst_fill(g, MST_F64, MST_SHAPE(3, 4), 0));
        mst_value begin = mst_placeholder(g, MST_I32, MST_SHAPE(2));
        mst_value write = mst_assign_slice(v, mst_values(g, MST_F64, MST_SHAPE(2, 2), part), begin);
        mst_value after = mst_scale(write, 1);
        mst_session *session = engine_session(g, NULL);
        mst_tensor *at, *got[2] = {NULL, NULL};
        EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(2), &at));
        memcpy(mst_tensor_data(at), rows[r].begin, sizeof rows[r].begin);
        EXPECT_OK(
            mst_session_run(session, &(mst_feed){.value = begin, .tensor = at}, 1, (mst_value[]){v, after}, 2, got));
        for (int i = 0; i < 12; i++) {
            assert_true(mst_tensor_get(got[0], i) == 0); /* a reader that does not come after the write */
            assert_true(mst_tensor_get(got[1], i) == rows[r].wanted[i]);
        }
        mst_tensor_release(got[1]);
        EXPECT_OK(mst_session_get_variable(session, v, &got[1]));
        for (int i = 0; i < 12; i++) assert_true(mst_tensor_get(got[1], i) == rows[r].wanted[i]);
        mst_tensor_release(got[0]);
        mst_tensor_release(got[1]);
        mst_tensor_release(at);
        engine_end(g, session);
    }
}

static void readers_that_do_not_come_after_a_write_see_the_value_before(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 1);
    mst_value write = mst_assign_add(v, mst_scalar(g, MST_F64, 1)); /* made before its readers */
    mst_value read = mst_scale(v, 10), view = mst_reshape(mst_identity(v), MST_SHAPE(1));
    mst_session *session = engine_session(g, NULL);
    expect_two(session, write, 2, read, 10);
    expect_two(session, view, 2, write, 3);
    expect_two(session, v, 3, write, 4);
    expect_two(session, write, 5, v, 4);
    engine_end(g, session);
}

static void readers_after_a_write_see_the_new_value(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 1), after = MST_NONE, view = MST_NONE;
    mst_value write = mst_assign_add(v, mst_scalar(g, MST_F64, 1));
    mst_value by_source = mst_scale(write, 10);
    mst_with_control (g, write) {
        after = mst_scale(v, 100);
        view = mst_identity(v);
    }
    mst_session *session = engine_session(g, NULL);
    expect_two(session, by_source, 20, after, 200);
    expect_two(session, mst_scale(v, 1), 2, view, 3);
    engine_end(g, session);
}

static void writes_in_a_row_happen_in_their_order(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 1), second = MST_NONE;
    mst_value first = mst_assign_add(v, mst_scalar(g, MST_F64, 1)), between = mst_scale(first, 10);
    mst_with_control (g, between) second = mst_assign(v, mst_scale(between, 10));
    mst_session *session = engine_session(g, NULL);
    expect_two(session, between, 20, second, 200);
    expect_two(session, between, 2010, second, 20100);
    assert_true(value_of(session, v) == 20100);
    engine_end(g, session);
}

static void view_of_the_old_value_outlives_the_write(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 1), sum = MST_NONE;
    mst_value old = mst_identity(v), write = mst_assign(v, mst_scalar(g, MST_F64, 50));
    mst_with_control (g, write) sum = mst_add(old, mst_scalar(g, MST_F64, 0.5));
    mst_session *session = engine_session(g, NULL);
    expect_two(session, sum, 1.5, write, 50);
    engine_end(g, session);
}

static void group_runs_all_of_its_nodes(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = variable(g, "a", 1), b = variable(g, "b", 2);
    mst_value all = mst_group(
        (mst_value[]){mst_assign_add(a, mst_scalar(g, MST_F64, 1)), mst_assign_add(b, mst_scalar(g, MST_F64, 1))}, 2);
    mst_session *session = engine_session(g, NULL);
    mst_tensor *output = NULL;
    EXPECT_OK(mst_session_run(session, NULL, 0, &all, 1, &output));
    assert_null(output); /* it has no value */
    assert_true(value_of(session, a) == 2 && value_of(session, b) == 3);
    engine_end(g, session);
}

static void no_op_runs_the_values_of_its_control_scopes(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = variable(g, "a", 1), done = MST_NONE;
    mst_with_control (g, mst_assign_add(a, mst_scalar(g, MST_F64, 1))) done = mst_no_op(g);
    mst_session *session = engine_session(g, NULL);
    engine_run(session, done);
    engine_run(session, done);
    assert_true(value_of(session, a) == 3);
    engine_end(g, session);
}

static void reading_a_variable_without_a_value_names_it(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "layer1/weights", 1), y = mst_neg(v);
    mst_session *session;
    mst_tensor *tensor;
    EXPECT_OK(mst_session_create(g, NULL, &session));
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_INVALID, "'layer1/weights' is read");
    assert_string_equal(mst_error()->node, "layer1/weights");
    EXPECT_ERROR(mst_session_get_variable(session, v, &tensor), MST_NOT_FOUND, "'layer1/weights' has no value yet");
    mst_value add = mst_assign_add(v, mst_scalar(g, MST_F64, 1)), set = mst_assign(v, mst_scalar(g, MST_F64, 8));
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &add, 1, NULL), MST_INVALID, "'layer1/weights' is read");
    engine_run(session, set);
    assert_true(engine_number(session, y) == -8);
    engine_end(g, session);
}

static void variables_are_set_and_got_from_outside(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(2, 2), 0)), y = mst_reduce_sum(v);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, NULL, &session));
    mst_tensor *value = engine_tensor(MST_F32, MST_SHAPE(2, 2), (double[]){1, 2, 3, 4}), *got;
    EXPECT_OK(mst_session_set_variable(session, v, value)); /* also before it has a value */
    EXPECT_OK(mst_session_get_variable(session, v, &got));
    assert_true(engine_same_bits(value, got));
    mst_tensor_release(got);
    assert_true(engine_number(session, y) == 10);
    mst_tensor *flat = engine_tensor(MST_F32, MST_SHAPE(4), NULL),
               *wide = engine_tensor(MST_F64, MST_SHAPE(2, 2), NULL);
    EXPECT_ERROR(mst_session_set_variable(session, v, flat), MST_INVALID, "'v' is f32[2, 2], the value is f32[4]");
    EXPECT_ERROR(mst_session_set_variable(session, v, wide), MST_INVALID, "the value is f64[2, 2]");
    EXPECT_ERROR(mst_session_set_variable(session, y, value), MST_INVALID, "is no variable");
    EXPECT_ERROR(mst_session_get_variable(session, y, &got), MST_INVALID, "is no variable");
    mst_tensor_release(value);
    mst_tensor_release(flat);
    mst_tensor_release(wide);
    engine_end(g, session);
}

static void sessions_on_one_graph_have_variables_of_their_own(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 1), add = mst_assign_add(v, mst_scalar(g, MST_F64, 1));
    mst_session *a = engine_session(g, NULL), *b = engine_session(g, NULL);
    engine_run(a, add);
    assert_true(value_of(a, v) == 2);
    assert_true(value_of(b, v) == 1);
    mst_session_destroy(b);
    engine_end(g, a);
}

static void variable_must_have_a_known_shape_and_a_name_of_its_own(void **state) {
    (void)state;
    mst_graph *g = engine_graph(), *h = engine_graph();
    mst_variable(g, "v", engine_input(g, "x", MST_SHAPE(-1)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "shape of a variable must be known");
    variable(h, "v", 1);
    variable(h, "v", 1);
    EXPECT_ERROR(mst_graph_check(h), MST_EXISTS, "'v'");
    mst_graph_destroy(g);
    mst_graph_destroy(h);
}

static void only_variables_are_assigned_to(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_rename(mst_scalar(g, MST_F32, 1), "c");
    assert_true(mst_value_is_none(mst_assign(x, x)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "'c'");
    mst_graph_destroy(g);
}

static void setting_a_variable_makes_no_plan(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 5);
    mst_session *session = engine_session(g, NULL);
    mst_tensor *value = engine_tensor(MST_F64, MST_SCALAR, (double[]){3});
    const int64_t plans = mst_session_num_plans(session);
    EXPECT_OK(mst_session_set_variable(session, v, value));
    assert_true(value_of(session, v) == 3);
    assert_int_equal(mst_session_num_plans(session), plans);
    mst_value late = variable(g, "late", 1); /* has no storage */
    EXPECT_OK(mst_session_set_variable(session, late, value));
    assert_true(value_of(session, late) == 3);
    mst_tensor_release(value);
    engine_end(g, session);
}

static void writers_take_values_as_they_were_before_the_writes_of_their_phase(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:2/1"};
    for (int d = 0; d < 2; d++) {
        mst_graph *g = engine_graph();
        mst_value a = variable(g, "a", 1), b = variable(g, "b", 2), previous = variable(g, "previous", 0), swap[2];
        mst_value set_a = mst_assign(a, b), set_b = MST_NONE, next = MST_NONE, keep = MST_NONE;
        mst_with_device (g, d ? "/cpu:1" : "") set_b = mst_assign(b, mst_identity(a)); /* by a view */
        swap[0] = set_a;
        swap[1] = set_b;
        mst_value both = mst_group(swap, 2);
        mst_with_control (g, both) {
            next = mst_assign_add(a, mst_scalar(g, MST_F64, 10));
            keep = mst_assign(previous, set_a); /* what an earlier write gave, before the next */
        }
        mst_session *session = engine_session(g, devices[d]);
        expect_two(session, set_a, 2, set_b, 1);
        expect_two(session, next, 11, keep, 1); /* swapped back to 1 and 2 first */
        assert_true(value_of(session, b) == 2);
        engine_end(g, session);
    }
}

static void initial_values_may_be_computed_from_other_variables(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = variable(g, "a", 3), b = mst_variable(g, "b", mst_scale(a, 2));
    mst_value c = mst_variable(g, "c", mst_add(a, mst_identity(b)));
    mst_session *session = engine_session(g, NULL);
    assert_true(value_of(session, a) == 3 && value_of(session, b) == 6 && value_of(session, c) == 9);
    engine_run(session, mst_assign(a, mst_scalar(g, MST_F64, 100)));
    mst_value d = mst_variable(g, "d", mst_neg(a));
    EXPECT_OK(mst_session_init_variables(session));
    assert_true(value_of(session, b) == 6 && value_of(session, d) == -100);
    engine_end(g, session);
}

static void assignment_to_the_output_of_an_assignment_comes_after_it(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 1);
    mst_value set = mst_assign(v, mst_scalar(g, MST_F64, 10));
    mst_value sum = mst_assign_add(mst_assign_sub(set, mst_scalar(g, MST_F64, 4)), mst_scalar(g, MST_F64, 0.5));
    mst_session *session = engine_session(g, NULL);
    for (int i = 0; i < 2; i++) {
        assert_true(engine_number(session, sum) == 6.5);
        assert_true(value_of(session, v) == 6.5);
    }
    engine_end(g, session);
}

static void variable_named_like_an_op_gets_a_suffix(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_rename(mst_scalar(g, MST_F64, 4), "w");
    mst_value w = variable(g, "w", 5);
    assert_string_equal(mst_value_name(w), "w_1");
    mst_session *session = engine_session(g, NULL);
    assert_true(value_of(session, w) == 5);
    engine_end(g, session);
}

static void fetch_without_a_value_gives_no_tensor(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = variable(g, "v", 1), add = mst_assign_add(v, mst_scalar(g, MST_F64, 1));
    mst_value fetches[] = {mst_group(&add, 1), mst_no_op(g), v};
    mst_session *session = engine_session(g, NULL);
    mst_tensor *out[3] = {NULL, engine_tensor(MST_F64, MST_SHAPE(1), NULL), NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, fetches, 3, out));
    assert_null(out[0]);
    assert_null(out[1]);
    assert_non_null(out[2]);
    assert_true(value_of(session, v) == 2);
    mst_tensor_release(out[2]);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_begin_with_their_initial_values_once),
        cmocka_unit_test(initial_values_may_be_those_of_other_variables),
        cmocka_unit_test(assignments_change_the_variable_and_give_its_new_value),
        cmocka_unit_test(assign_slice_changes_a_part_of_the_variable),
        cmocka_unit_test(readers_that_do_not_come_after_a_write_see_the_value_before),
        cmocka_unit_test(readers_after_a_write_see_the_new_value),
        cmocka_unit_test(writes_in_a_row_happen_in_their_order),
        cmocka_unit_test(view_of_the_old_value_outlives_the_write),
        cmocka_unit_test(group_runs_all_of_its_nodes),
        cmocka_unit_test(no_op_runs_the_values_of_its_control_scopes),
        cmocka_unit_test(reading_a_variable_without_a_value_names_it),
        cmocka_unit_test(variables_are_set_and_got_from_outside),
        cmocka_unit_test(sessions_on_one_graph_have_variables_of_their_own),
        cmocka_unit_test(variable_must_have_a_known_shape_and_a_name_of_its_own),
        cmocka_unit_test(only_variables_are_assigned_to),
        cmocka_unit_test(setting_a_variable_makes_no_plan),
        cmocka_unit_test(writers_take_values_as_they_were_before_the_writes_of_their_phase),
        cmocka_unit_test(initial_values_may_be_computed_from_other_variables),
        cmocka_unit_test(assignment_to_the_output_of_an_assignment_comes_after_it),
        cmocka_unit_test(variable_named_like_an_op_gets_a_suffix),
        cmocka_unit_test(fetch_without_a_value_gives_no_tensor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
