/* Mistakes while a graph is built: the first one stays with the graph, values that are made of it are errors too,
 * and each message names the nodes, shapes and options in question. */
#include "support/test.h"

static void first_mistake_is_kept_and_later_values_are_errors(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2, 3)), y = engine_input(g, "y", MST_SHAPE(4));
    EXPECT_OK(mst_graph_check(g));
    mst_value bad = mst_add(x, y);
    assert_true(mst_value_is_none(bad));
    mst_value later = mst_relu(mst_neg(bad));
    assert_true(mst_value_is_none(later));
    assert_int_equal(mst_value_spec(later).dtype, MST_NO_DTYPE);
    assert_true(mst_value_is_none(mst_mul(x, engine_input(g, "z", MST_SHAPE(7)))));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "add 'add': shapes do not broadcast");
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "add 'add': shapes do not broadcast");
    assert_string_equal(mst_error()->node, "add");
    mst_graph_destroy(g);
}

static void shape_mismatch_names_both_nodes_and_their_shapes(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "images", MST_SHAPE(100, 784));
    mst_value w = mst_get_variable(g, "layer1/weights", MST_SHAPE(700, 500));
    mst_matmul(x, w);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "images f32[100, 784]");
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "layer1/weights f32[700, 500]");
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "matmul 'matmul'");
    mst_graph_destroy(g);
}

static void unknown_dimensions_are_printed_as_question_marks(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_add(engine_input(g, "x", MST_SHAPE(-1, 3)), engine_input(g, "b", MST_SHAPE(4)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "x f32[?, 3], b f32[4]");
    mst_graph_destroy(g);
}

static void dtype_mismatch_names_both_dtypes(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_add(engine_input(g, "x", MST_SHAPE(3)), mst_placeholder(g, MST_I32, MST_SHAPE(3), "i"));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "dtypes f32 and i32 differ");
    mst_graph_destroy(g);
}

static void value_of_another_graph_is_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph(), *h = engine_graph();
    mst_add(engine_input(g, "x", MST_SHAPE(3)), engine_input(h, "stranger", MST_SHAPE(3)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "'stranger', is of another graph");
    mst_graph_destroy(g);
    mst_graph_destroy(h);
}

static void empty_value_is_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_add(engine_input(g, "x", MST_SHAPE(3)), MST_NONE);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "source 1 is no value");
    mst_graph_destroy(g);
}

static void option_out_of_range_names_it_and_its_range(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_leaky_relu(engine_input(g, "x", MST_SHAPE(3)), .slope = 2);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "slope is 2, must be between 1e-06 and 1");
    mst_graph_destroy(g);
}

static void missing_output_is_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    assert_true(mst_value_is_none(mst_value_output(mst_neg(engine_input(g, "x", MST_SHAPE(3))), 1)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "output 1 of 'neg'");
    mst_graph_destroy(g);
}

static void failed_nodes_are_not_in_the_graph(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2)), y = engine_input(g, "y", MST_SHAPE(3));
    mst_rename(mst_add(x, y), "sum");
    assert_int_equal(mst_graph_num_nodes(g), 2);
    assert_null(mst_graph_find(g, "sum"));
    mst_collect(g, MST_LOSSES, mst_add(x, y));
    assert_int_equal(mst_collection(g, MST_LOSSES, NULL, NULL, 0), 0);
    mst_graph_destroy(g);
}

static void running_a_graph_with_a_mistake_reports_it(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_value x = mst_scalar(g, MST_F32, 1);
    mst_add(engine_input(g, "a", MST_SHAPE(2)), engine_input(g, "b", MST_SHAPE(3)));
    EXPECT_OK(mst_session_create(g, NULL, &session));
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &x, 1, NULL), MST_INVALID, "a f32[2], b f32[3]");
    engine_end(g, session);
}

static void empty_shapes_broadcast_like_others(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value none = mst_add(engine_input(g, "empty", MST_SHAPE(0, 3)), engine_input(g, "row", MST_SHAPE(3)));
    EXPECT_OK(mst_graph_check(g));
    assert_true(mst_shape_equal(mst_value_spec(none).shape, MST_SHAPE(0, 3)));
    mst_graph_destroy(g);
}

static void options_that_are_no_dtype_value_or_shape_are_refused(void **state) {
    (void)state;
    const mst_shape long_shape = MST_SHAPE(1, 2, 3, 4, 5, 6, 7, 8, 9);
    mst_graph *g = engine_graph();
    mst_placeholder(g, (mst_dtype)99, MST_SHAPE(2), "x");
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "placeholder 'x': dtype (element type) is no dtype");
    mst_graph_destroy(g);
    g = engine_graph();
    mst_one_hot(mst_scalar(g, MST_I32, 1), .depth = 3, .dtype = (mst_dtype)1000000);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "is no dtype");
    mst_graph_destroy(g);
    g = engine_graph();
    mst_placeholder(g, MST_F32, long_shape, "x");
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "wrong number of dimensions");
    mst_graph_destroy(g);
    g = engine_graph();
    mst_placeholder(g, MST_F32, MST_SHAPE(-7), "x");
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "dimension 0 is -7");
    mst_graph_destroy(g);
    g = engine_graph();
    mst_reduce_sum(engine_input(g, "x", MST_SHAPE(2, 2)), .axes = {.count = -3});
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "wrong number of dimensions");
    mst_graph_destroy(g);
}

static void shape_of_more_elements_than_can_be_counted_is_refused(void **state) {
    (void)state;
    const int64_t large = (int64_t)1 << 40;
    mst_graph *g = engine_graph();
    mst_value column = engine_input(g, "column", MST_SHAPE(large, 1)),
              row = engine_input(g, "row", MST_SHAPE(1, large));
    EXPECT_OK(mst_graph_check(g));
    mst_add(column, row);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "too many elements in [1099511627776, 1099511627776]");
    mst_graph_destroy(g);
    g = engine_graph();
    mst_random_uniform(g, MST_SHAPE(large, large));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "too many elements");
    mst_graph_destroy(g);
}

static void concat_of_more_than_can_be_counted_is_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x[2];
    for (int i = 0; i < 2; i++) x[i] = mst_placeholder(g, MST_U8, MST_SHAPE(INT64_MAX / 16), "x");
    x[0] = mst_concat((mst_value[]){x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0],
                                    x[0], x[0], x[1]},
                      17, 0);
    assert_true(mst_value_is_none(x[0]));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "too many elements along axis 0");
    mst_graph_destroy(g);
}

static void empty_shape_whose_strides_do_not_fit_is_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    assert_true(mst_value_is_none(mst_placeholder(g, MST_F32, MST_SHAPE(0, INT64_MAX, INT64_MAX), "x")));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "too many elements");
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_mistake_is_kept_and_later_values_are_errors),
        cmocka_unit_test(shape_mismatch_names_both_nodes_and_their_shapes),
        cmocka_unit_test(unknown_dimensions_are_printed_as_question_marks),
        cmocka_unit_test(dtype_mismatch_names_both_dtypes),
        cmocka_unit_test(value_of_another_graph_is_refused),
        cmocka_unit_test(empty_value_is_refused),
        cmocka_unit_test(option_out_of_range_names_it_and_its_range),
        cmocka_unit_test(missing_output_is_refused),
        cmocka_unit_test(failed_nodes_are_not_in_the_graph),
        cmocka_unit_test(running_a_graph_with_a_mistake_reports_it),
        cmocka_unit_test(empty_shapes_broadcast_like_others),
        cmocka_unit_test(options_that_are_no_dtype_value_or_shape_are_refused),
        cmocka_unit_test(concat_of_more_than_can_be_counted_is_refused),
        cmocka_unit_test(empty_shape_whose_strides_do_not_fit_is_refused),
        cmocka_unit_test(shape_of_more_elements_than_can_be_counted_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
