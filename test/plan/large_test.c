#include "support/test.h"

enum { NODES = 100000 };

static void graph_of_100000_nodes_in_a_chain_plans_and_runs(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2)), y = x;
    for (int i = 0; i < NODES; i++) y = mst_neg(y);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(2), (double[]){3, -4})};
    mst_tensor *got = engine_fetch(session, &feed, 1, y);
    assert_true(engine_same_bits(got, feed.tensor));
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

/* Each node uses one made just before and one made long before, so that half of all values are alive at once. */
static void graph_of_100000_nodes_with_long_lives_plans_and_runs_on_two_devices(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value *y = malloc(NODES * sizeof *y);
    y[0] = engine_input(g, "x", MST_SHAPE(2));
    for (int i = 1; i < NODES; i++) {
        bool other = i % 1000 < 500;
        mst_with_device (g, other ? "/cpu:1" : "/cpu:0") y[i] = mst_maximum(y[i - 1], y[i / 2]);
    }
    mst_session *session = engine_session(g, "cpu:2/1");
    mst_feed feed = {.value = y[0], .tensor = engine_tensor(MST_F32, MST_SHAPE(2), (double[]){3, -4})};
    mst_tensor *got = engine_fetch(session, &feed, 1, y[NODES - 1]);
    assert_true(engine_same_bits(got, feed.tensor));
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    free(y);
    engine_end(g, session);
}

static void node_of_10000_sources_plans_and_runs(void **state) {
    (void)state;
    enum { SOURCES = 10000 };
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SCALAR), *terms = malloc(SOURCES * sizeof *terms), d;
    for (int i = 0; i < SOURCES; i++) terms[i] = mst_scale(x, i);
    mst_value sum = mst_add_n(terms, SOURCES);
    mst_gradients(sum, &x, 1, &d);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SCALAR, (double[]){1})};
    mst_tensor *got = engine_fetch(session, &feed, 1, d);
    assert_true(mst_tensor_get(got, 0) == 49995000);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    free(terms);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_of_100000_nodes_in_a_chain_plans_and_runs),
        cmocka_unit_test(graph_of_100000_nodes_with_long_lives_plans_and_runs_on_two_devices),
        cmocka_unit_test(node_of_10000_sources_plans_and_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
