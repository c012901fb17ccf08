/* Scopes of a graph: devices, control dependencies, names and variables, with reuse; and collections. */
#include "support/test.h"

static mst_value variable(mst_graph *g, const char *name) {
    return mst_get_variable(g, name, MST_SHAPE(2));
}

static void device_scopes_merge_field_by_field(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2));
    assert_string_equal(mst_node_device(x.node), "");
    mst_with_device (g, "/job:worker/task:1") {
        mst_with_device (g, "/gpu:1") {
            assert_string_equal(mst_node_device(mst_neg(x).node), "/job:worker/task:1/device:GPU:1");
            mst_with_device (g, "/CPU:0")
                assert_string_equal(mst_node_device(mst_neg(x).node), "/job:worker/task:1/device:CPU:0");
            mst_with_device (g, "/task:2")
                assert_string_equal(mst_node_device(mst_neg(x).node), "/job:worker/task:2/device:GPU:1");
        }
        assert_string_equal(mst_node_device(mst_neg(x).node), "/job:worker/task:1");
    }
    assert_string_equal(mst_node_device(mst_neg(x).node), "");
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

static void bad_device_scope_is_an_error_of_the_graph(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    int runs = 0;
    mst_with_device (g, "/gpu:one") runs++;
    assert_int_equal(runs, 1);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "'/gpu:one'");
    mst_graph_destroy(g);
}

static void nodes_in_a_control_scope_come_after_its_value(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2));
    mst_value a = mst_rename(mst_neg(x), "a"), b = mst_rename(mst_abs(x), "b");
    mst_with_control (g, a)
        mst_with_control (g, b) mst_rename(mst_square(x), "c");
    mst_rename(mst_square(x), "d");
    char *text;
    EXPECT_OK(mst_graph_print(g, &text));
    assert_non_null(strstr(text, "c = square(x, ^a, ^b)"));
    assert_non_null(strstr(text, "d = square(x) "));
    free(text);
    mst_graph_destroy(g);
}

static void variable_scopes_prefix_variables_and_name_scopes_do_not(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_with_name (g, "tower_0")
        mst_with_variables (g, "layer1", MST_REUSE_INHERIT) {
            assert_string_equal(mst_value_name(variable(g, "weights")), "layer1/weights");
            assert_string_equal(mst_value_name(mst_neg(engine_input(g, "x", MST_SHAPE(2)))), "tower_0/layer1/neg");
            mst_with_variables (g, "inner", MST_REUSE_INHERIT)
                assert_string_equal(mst_value_name(variable(g, "b")), "layer1/inner/b");
        }
    assert_string_equal(mst_value_name(variable(g, "top")), "top");
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

static void reuse_returns_the_variable_that_is_there(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value first = MST_NONE, again = MST_NONE, inherited = MST_NONE;
    mst_with_variables (g, "layer", MST_REUSE_INHERIT) first = variable(g, "w");
    mst_with_variables (g, "layer", MST_REUSE_TRUE) again = variable(g, "w");
    mst_with_variables (g, "layer", MST_REUSE_AUTO) {
        assert_true(mst_value_equal(variable(g, "w"), first));
        assert_false(mst_value_equal(variable(g, "new"), first));
    }
    mst_with_variables (g, "outer", MST_REUSE_AUTO) {
        mst_with_variables (g, "inner", MST_REUSE_INHERIT) {
            inherited = variable(g, "w");
            assert_true(mst_value_equal(variable(g, "w"), inherited));
        }
    }
    assert_true(mst_value_equal(first, again));
    assert_string_equal(mst_value_name(inherited), "outer/inner/w");
    assert_int_equal(mst_collection(g, MST_TRAINABLE, NULL, NULL, 0), 3);
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

static void variable_made_twice_without_reuse_is_an_error(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    variable(g, "w");
    assert_true(mst_value_is_none(variable(g, "w")));
    EXPECT_ERROR(mst_graph_check(g), MST_EXISTS, "'w'");
    mst_graph_destroy(g);
}

static void reuse_of_a_missing_variable_is_an_error(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_with_variables (g, "s", MST_REUSE_TRUE) assert_true(mst_value_is_none(variable(g, "w")));
    EXPECT_ERROR(mst_graph_check(g), MST_NOT_FOUND, "'s/w'");
    mst_graph_destroy(g);
}

static void reuse_with_another_shape_is_an_error_that_names_both(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_with_variables (g, "s", MST_REUSE_AUTO) {
        variable(g, "w");
        assert_true(mst_value_is_none(mst_get_variable(g, "w", MST_SHAPE(3))));
    }
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "'s/w' is f32[2], and is asked for as f32[3]");
    mst_graph_destroy(g);
}

static void collections_are_filtered_by_scope_in_the_order_added(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value loss[3] = {MST_NONE};
    for (int i = 0; i < 3; i++) {
        char scope[16];
        snprintf(scope, sizeof scope, "tower_%d", i % 2);
        mst_name_scope_enter(g, scope);
        loss[i] = mst_scalar(g, MST_F32, i);
        mst_collect(g, MST_LOSSES, loss[i]);
        mst_name_scope_pop(g);
    }
    mst_value got[3];
    assert_int_equal(mst_collection(g, MST_LOSSES, NULL, got, 3), 3);
    for (int i = 0; i < 3; i++) assert_true(mst_value_equal(got[i], loss[i]));
    assert_int_equal(mst_collection(g, MST_LOSSES, "tower_0/", got, 3), 2);
    assert_true(mst_value_equal(got[0], loss[0]) && mst_value_equal(got[1], loss[2]));
    assert_int_equal(mst_collection(g, MST_LOSSES, "tower_1/", got, 3), 1);
    assert_int_equal(mst_collection(g, MST_LOSSES, "tower_2/", got, 3), 0);
    assert_int_equal(mst_collection(g, "no such", NULL, got, 3), 0);
    got[1] = MST_NONE;
    assert_int_equal(mst_collection(g, MST_LOSSES, NULL, got, 1), 3);
    assert_true(mst_value_is_none(got[1]));
    mst_graph_destroy(g);
}

static void pop_without_push_is_an_error(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_name_scope_push(g, "a");
    mst_device_pop(g);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "without its push");
    mst_graph_destroy(g);
}

static void variables_that_are_not_trainable_are_not_in_the_trainable_collection(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value step = mst_get_variable(g, "step", MST_SCALAR, MST_I64, mst_zeros_initializer(), .not_trainable = true);
    mst_value w = variable(g, "w"), got[2];
    assert_int_equal(mst_collection(g, MST_TRAINABLE, NULL, got, 2), 1);
    assert_true(mst_value_equal(got[0], w));
    assert_int_equal(mst_collection(g, MST_VARIABLES, NULL, got, 2), 2);
    assert_true(mst_value_equal(got[0], step));
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

static void variables_made_in_a_control_scope_belong_to_no_step(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2)), made = MST_NONE, train = MST_NONE, after = MST_NONE;
    mst_value loss = mst_reduce_sum(mst_mul(x, variable(g, "w")));
    const mst_optimizer optimizer = mst_adam(.learning_rate = 0.1f);
    mst_with_control (g, loss) {
        made = mst_get_variable(g, "made", MST_SHAPE(2), .initializer = mst_constant_initializer(1));
        train = mst_minimize(&optimizer, loss, NULL, 0, MST_NONE);
        mst_with_control (g, made) after = mst_neg(loss);
    }
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL); /* gives first values, without a feed for x */
    mst_tensor *value = engine_fetch(session, NULL, 0, made), *ones = engine_tensor(MST_F32, MST_SHAPE(2), NULL);
    assert_true(mst_tensor_get(value, 1) == 1);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &train, 1, NULL), MST_INVALID, "'x' is needed");
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &after, 1, NULL), MST_INVALID, "'x' is needed");
    EXPECT_OK(mst_session_run(session, &(mst_feed){.value = x, .tensor = ones}, 1, &train, 1, NULL));
    mst_tensor_release(value);
    mst_tensor_release(ones);
    engine_end(g, session);
}

static void malformed_device_name_is_an_error_of_its_scope(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_with_device (g, "foo") mst_scalar(g, MST_F32, 1);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "device 'foo' is no device name");
    mst_graph_destroy(g);
}

static void null_device_clears_the_scope(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value inner = MST_NONE, outer = MST_NONE;
    mst_with_device (g, "/job:ps/task:1/gpu:1") {
        mst_with_device (g, NULL) inner = mst_scalar(g, MST_F32, 1);
        outer = mst_scalar(g, MST_F32, 2);
    }
    EXPECT_OK(mst_graph_check(g));
    assert_string_equal(mst_node_device(inner.node), "");
    assert_string_equal(mst_node_device(outer.node), "/job:ps/task:1/device:GPU:1");
    mst_graph_destroy(g);
}

static void long_names_of_variables_are_whole(void **state) {
    (void)state;
    enum { LENGTH = 1500 };
    char one[LENGTH + 1], two[LENGTH + 1];
    memset(one, 'x', LENGTH);
    one[LENGTH] = '\0';
    memcpy(two, one, sizeof two);
    two[LENGTH - 1] = 'y';
    mst_graph *g = engine_graph();
    mst_value v = mst_get_variable(g, one, MST_SHAPE(2)), w = mst_get_variable(g, two, MST_SHAPE(3));
    EXPECT_OK(mst_graph_check(g));
    assert_string_equal(mst_value_name(v), one);
    assert_string_equal(mst_value_name(w), two);
    mst_graph_destroy(g);
}

static void get_variable_without_a_graph_is_an_error(void **state) {
    (void)state;
    mst_value v = mst_get_variable(.name = "w", .shape = MST_SHAPE(2));
    assert_true(mst_value_is_none(v));
    assert_int_equal(mst_error()->code, MST_INVALID);
    assert_non_null(strstr(mst_error()->message, "graph is NULL"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_scopes_merge_field_by_field),
        cmocka_unit_test(bad_device_scope_is_an_error_of_the_graph),
        cmocka_unit_test(nodes_in_a_control_scope_come_after_its_value),
        cmocka_unit_test(variable_scopes_prefix_variables_and_name_scopes_do_not),
        cmocka_unit_test(reuse_returns_the_variable_that_is_there),
        cmocka_unit_test(variable_made_twice_without_reuse_is_an_error),
        cmocka_unit_test(reuse_of_a_missing_variable_is_an_error),
        cmocka_unit_test(reuse_with_another_shape_is_an_error_that_names_both),
        cmocka_unit_test(collections_are_filtered_by_scope_in_the_order_added),
        cmocka_unit_test(pop_without_push_is_an_error),
        cmocka_unit_test(variables_that_are_not_trainable_are_not_in_the_trainable_collection),
        cmocka_unit_test(variables_made_in_a_control_scope_belong_to_no_step),
        cmocka_unit_test(malformed_device_name_is_an_error_of_its_scope),
        cmocka_unit_test(null_device_clears_the_scope),
        cmocka_unit_test(get_variable_without_a_graph_is_an_error),
        cmocka_unit_test(long_names_of_variables_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
