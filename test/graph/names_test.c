/* Names and scopes of nodes: unique names, suffixes, renamed nodes, and names that are refused. */
#include "support/test.h"

static void names_are_unique_in_each_scope(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2));
    assert_string_equal(mst_value_name(mst_neg(x)), "neg");
    assert_string_equal(mst_value_name(mst_neg(x)), "neg_1");
    mst_with_name (g, "tower") {
        assert_string_equal(mst_value_name(mst_neg(x)), "tower/neg");
        assert_string_equal(mst_value_name(mst_neg(x)), "tower/neg_1");
        mst_with_name (g, "inner") assert_string_equal(mst_value_name(mst_neg(x)), "tower/inner/neg");
    }
    assert_string_equal(mst_value_name(mst_neg(x)), "neg_2");
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

static void scope_gets_a_suffix_when_pushed_again_and_none_when_entered_again(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2));
    mst_with_name (g, "tower") assert_string_equal(mst_value_name(mst_neg(x)), "tower/neg");
    mst_with_name (g, "tower") {
        assert_string_equal(mst_name_scope(g), "tower_1");
        assert_string_equal(mst_value_name(mst_neg(x)), "tower_1/neg");
        assert_int_equal(mst_name_scope_enter(g, "tower"), 1);
        assert_string_equal(mst_name_scope(g), "tower");
        assert_string_equal(mst_value_name(mst_neg(x)), "tower/neg_1");
        mst_name_scope_pop(g);
        assert_int_equal(mst_name_scope_enter(g, ""), 1);
        assert_string_equal(mst_name_scope(g), "");
        assert_string_equal(mst_value_name(mst_neg(x)), "neg");
        mst_name_scope_pop(g);
        assert_string_equal(mst_name_scope(g), "tower_1");
    }
    assert_string_equal(mst_name_scope(g), "");
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

static void names_that_look_like_suffixes_do_not_collide(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "a", MST_SHAPE(2));
    assert_string_equal(mst_value_name(mst_rename(mst_neg(x), "a_1")), "a_1");
    assert_string_equal(mst_value_name(mst_rename(mst_neg(x), "a")), "a_2");
    assert_string_equal(mst_value_name(mst_rename(mst_neg(x), "a_1")), "a_1_1");
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

static void name_of_a_renamed_node_goes_to_the_next_node(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2));
    mst_value c = mst_rename(mst_add(x, x), "c"), add = mst_add(x, c);
    assert_string_equal(mst_value_name(add), "add");
    assert_ptr_equal(mst_graph_find(g, "add"), add.node);
    mst_rename(mst_add(x, x), "d");
    assert_string_equal(mst_value_name(mst_add(x, x)), "add_1");
    mst_rename(add, "e"); /* others have been made since */
    assert_null(mst_graph_find(g, "add"));
    assert_string_equal(mst_value_name(mst_add(x, x)), "add_2");
    assert_string_equal(mst_value_name(mst_rename(mst_neg(x), "neg")), "neg");
    mst_graph_destroy(g);
}

static void renamed_node_is_found_by_its_name_in_the_scope(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2)), c = MST_NONE;
    mst_with_name (g, "s") c = mst_rename(mst_add(x, x), "c");
    assert_string_equal(mst_value_name(c), "s/c");
    assert_ptr_equal(mst_graph_find(g, "s/c"), c.node);
    assert_ptr_equal(mst_graph_find(g, "x"), x.node);
    assert_null(mst_graph_find(g, "c"));
    mst_graph_destroy(g);
}

static void names_with_bad_letters_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"", "a b", "a:0", "/a", "a/", "\xc3\xa4", "^a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mst_graph *g = engine_graph();
        mst_value x = engine_input(g, bad[i], MST_SHAPE(2));
        assert_true(mst_value_is_none(x));
        EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "name '");
        mst_graph_destroy(g);
    }
}

static void nodes_are_numbered_in_the_order_they_are_made(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2)), y = mst_neg(x);
    uint64_t version = mst_graph_version(g);
    assert_int_equal(mst_graph_num_nodes(g), 2);
    assert_ptr_equal(mst_graph_node(g, 1), y.node);
    assert_null(mst_graph_node(g, 2));
    assert_null(mst_graph_node(g, -1));
    mst_neg(y);
    assert_true(mst_graph_version(g) == version + 1);
    assert_int_equal(mst_node_num_src(y.node), 1);
    assert_true(mst_value_equal(mst_node_src(y.node, 0), x));
    assert_int_equal(mst_node_num_dst(y.node), 1);
    assert_string_equal(mst_node_op(y.node)->name, "neg");
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_in_each_scope),
        cmocka_unit_test(scope_gets_a_suffix_when_pushed_again_and_none_when_entered_again),
        cmocka_unit_test(names_that_look_like_suffixes_do_not_collide),
        cmocka_unit_test(name_of_a_renamed_node_goes_to_the_next_node),
        cmocka_unit_test(renamed_node_is_found_by_its_name_in_the_scope),
        cmocka_unit_test(names_with_bad_letters_are_refused),
        cmocka_unit_test(nodes_are_numbered_in_the_order_they_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
