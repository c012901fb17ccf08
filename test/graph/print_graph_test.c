/* Graphs as text, one line per node. */
#include "support/test.h"

static void graph_is_printed_one_line_a_node(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_rename(mst_values(g, MST_F32, MST_SHAPE(2), (double[]){1, 2}), "a");
    mst_value x = engine_input(g, "x", MST_SHAPE(-1, 2));
    mst_with_device (g, "/cpu:1") {
        mst_value c = mst_rename(mst_add(x, a), "c");
        mst_rename(mst_leaky_relu(c, .slope = 0.25f), "d");
        mst_value parts = mst_split(c, 2, 1);
        mst_rename(mst_neg(mst_value_output(parts, 1)), "right");
    }
    char *text;
    EXPECT_OK(mst_graph_print(g, &text));
    assert_string_equal(text,
                        "a = constant() {value=f32[2](1, 2)} : f32[2]\n"
                        "x = placeholder() {dtype=f32, shape=[?, 2]} : f32[?, 2]\n"
                        "c = add(x, a) : f32[?, 2] @/device:CPU:1\n"
                        "d = leaky_relu(c) {slope=0.25} : f32[?, 2] @/device:CPU:1\n"
                        "split = split(c) {num=2, axis=1} : f32[?, 1], f32[?, 1] @/device:CPU:1\n"
                        "right = neg(split:1) : f32[?, 1] @/device:CPU:1\n");
    free(text);
    mst_graph_destroy(g);
}

static void empty_graph_prints_as_empty_text(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    char *text;
    EXPECT_OK(mst_graph_print(g, &text));
    assert_string_equal(text, "");
    free(text);
    mst_graph_destroy(g);
}

static void shapes_print_in_brackets(void **state) {
    (void)state;
    char text[MST_SHAPE_TEXT];
    assert_string_equal(mst_shape_print(MST_SCALAR, text, sizeof text), "[]");
    assert_string_equal(mst_shape_print(MST_SHAPE(100, 784), text, sizeof text), "[100, 784]");
    assert_string_equal(mst_shape_print(MST_SHAPE(-1, 0), text, sizeof text), "[?, 0]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_is_printed_one_line_a_node),
        cmocka_unit_test(empty_graph_prints_as_empty_text),
        cmocka_unit_test(shapes_print_in_brackets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
