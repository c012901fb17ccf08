/* gather_nd and scatter_nd: the examples of TensorFlow's documentation, gradients, and indices out of range. */
#include "support/test.h"

static mst_value whole_numbers(mst_graph *graph, mst_shape shape, const double *value) {
    return mst_values(graph, MST_I32, shape, value);
}

static void expect_values(mst_graph *graph, mst_value value, mst_shape shape, int64_t count, const double *wanted) {
    EXPECT_OK(mst_graph_check(graph));
    assert_true(mst_shape_equal(mst_value_spec(value).shape, shape));
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *got = engine_fetch(session, NULL, 0, value);
    assert_int_equal(mst_tensor_count(got), count);
    for (int64_t i = 0; i < count; i++) assert_true(mst_tensor_get(got, i) == wanted[i]);
    mst_tensor_release(got);
    engine_end(graph, session);
}

#define EXPECT_VALUES(graph, value, shape, ...)                                                     \
    expect_values(graph, value, shape, (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), \
                  (const double[]){__VA_ARGS__})

static void scatter_nd_adds_updates_to_zeros(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    mst_value indices = whole_numbers(graph, MST_SHAPE(4, 1), (const double[]){4, 3, 1, 7});
    mst_value updates = whole_numbers(graph, MST_SHAPE(4), (const double[]){9, 10, 11, 12});
    EXPECT_VALUES(graph, mst_scatter_nd(indices, updates, MST_SHAPE(8)), MST_SHAPE(8), 0, 11, 0, 10, 9, 0, 0, 12);
    graph = engine_graph(); /* twice to one place, and rows */
    indices = whole_numbers(graph, MST_SHAPE(3, 2), (const double[]){1, 0, 0, 1, 1, 0});
    updates = mst_values(graph, MST_F32, MST_SHAPE(3, 2), (const double[]){1, 2, 3, 4, 5, 6});
    EXPECT_VALUES(graph, mst_scatter_nd(indices, updates, MST_SHAPE(2, 2, 2)), MST_SHAPE(2, 2, 2), 0, 0, 3, 4, 6, 8, 0,
                  0);
}

static void gather_nd_takes_elements_and_rows(void **state) {
    (void)state;
    const double numbers[] = {1, 2, 3, 4, 5, 6};
    mst_graph *graph = engine_graph();
    mst_value params = mst_values(graph, MST_F64, MST_SHAPE(2, 3), numbers);
    mst_value indices = whole_numbers(graph, MST_SHAPE(2, 1, 2), (const double[]){0, 2, 1, 1});
    EXPECT_VALUES(graph, mst_gather_nd(params, indices), MST_SHAPE(2, 1), 3, 5);
    graph = engine_graph();
    params = mst_values(graph, MST_U8, MST_SHAPE(2, 3), numbers);
    indices = whole_numbers(graph, MST_SHAPE(2, 1), (const double[]){1, 0});
    EXPECT_VALUES(graph, mst_gather_nd(params, indices), MST_SHAPE(2, 3), 4, 5, 6, 1, 2, 3);
}

/* Of the sum of the squares: 2 x, of an element that is taken twice 2 x + 2 x. */
static void each_is_the_gradient_of_the_other(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    mst_value params = mst_values(graph, MST_F64, MST_SHAPE(2, 2), (const double[]){1, 2, 3, 4}), slope;
    mst_value indices = whole_numbers(graph, MST_SHAPE(3, 2), (const double[]){1, 0, 0, 1, 1, 0});
    mst_gradients(mst_reduce_sum(mst_square(mst_gather_nd(params, indices))), &params, 1, &slope);
    EXPECT_VALUES(graph, slope, MST_SHAPE(2, 2), 0, 4, 12, 0);
    graph = engine_graph();
    mst_value updates = mst_values(graph, MST_F64, MST_SHAPE(3), (const double[]){1, 2, 3});
    indices = whole_numbers(graph, MST_SHAPE(3, 2), (const double[]){1, 0, 0, 1, 1, 0});
    mst_gradients(mst_reduce_sum(mst_square(mst_scatter_nd(indices, updates, MST_SHAPE(2, 2)))), &updates, 1, &slope);
    EXPECT_VALUES(graph, slope, MST_SHAPE(3), 8, 4, 8);
}

static void mistakes_are_refused(void **state) {
    (void)state;
    static const double beyond[][2] = {{0, 3}, {2, 0}, {-1, 1}, {0, -1}};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        mst_graph *graph = engine_graph();
        const mst_value params = mst_fill(graph, MST_F32, MST_SHAPE(2, 3), 1);
        const mst_value indices = mst_placeholder(graph, MST_I64, MST_SHAPE(1, 2));
        const mst_value value = mst_gather_nd(params, indices);
        mst_session *session = engine_session(graph, NULL);
        mst_tensor *fed = engine_tensor(MST_I64, MST_SHAPE(1, 2), beyond[i]), *got = NULL;
        const mst_feed feed = {.value = indices, .tensor = fed};
        EXPECT_ERROR(mst_session_run(session, &feed, 1, &value, 1, &got), MST_INVALID,
                     engine_compiles() ? "an index is out of range: 0 to 5" : "index -1 ");
        mst_tensor_release(got);
        mst_tensor_release(fed);
        engine_end(graph, session);
    }
    mst_graph *graph = engine_graph();
    mst_value x = mst_fill(graph, MST_F32, MST_SHAPE(2, 3), 1);
    mst_gather_nd(x, x);
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "gather_nd: the indices 'constant' are f32, must be i32 or i64");
    mst_graph_destroy(graph);
    graph = engine_graph();
    mst_gather_nd(mst_fill(graph, MST_F32, MST_SHAPE(2), 1), mst_fill(graph, MST_I32, MST_SHAPE(1, 2), 0));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "must be 1 to 1");
    mst_graph_destroy(graph);
    graph = engine_graph();
    mst_scatter_nd(mst_fill(graph, MST_I32, MST_SHAPE(4, 1), 0), mst_fill(graph, MST_F32, MST_SHAPE(3), 1),
                   MST_SHAPE(8));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "must have the shape of the indices 'constant");
    mst_graph_destroy(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatter_nd_adds_updates_to_zeros),
        cmocka_unit_test(gather_nd_takes_elements_and_rows),
        cmocka_unit_test(each_is_the_gradient_of_the_other),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
