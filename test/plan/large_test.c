/* Large graphs: 100000 nodes, 10000 sources of one node and 100000 variables plan and run, and the time of an
 * update, and the size of a plan, grow no faster than they need to. */
#include "base/clock.h"
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

/* Seconds of planning and of the first step of Adam over N variables of one element. All of them become 0.999. */
static double update_seconds(int n) {
    mst_graph *g = engine_graph();
    mst_value *variables = malloc((size_t)n * sizeof *variables), *gradients = malloc((size_t)n * sizeof *gradients);
    const mst_value one = mst_scalar(g, MST_F32, 1);
    for (int i = 0; i < n; i++) {
        variables[i] = mst_variable(g, NULL, one);
        gradients[i] = one;
    }
    const mst_optimizer adam = mst_adam(.learning_rate = 0.001);
    mst_value train = mst_apply_gradients(&adam, gradients, variables, n, MST_NONE);
    mst_session *session = engine_session(g, "cpu:1/1");
    EXPECT_OK(mst_session_init_variables(session));
    const int64_t began = mst_clock_now();
    EXPECT_OK(mst_session_run(session, NULL, 0, &train, 1, NULL));
    const double seconds = (double)(mst_clock_now() - began) * 1e-9;
    for (int i = 0; i < n; i += n - 1) {
        mst_tensor *w;
        EXPECT_OK(mst_session_get_variable(session, variables[i], &w));
        assert_float_equal(mst_tensor_get(w, 0), 0.999, 1e-6);
        mst_tensor_release(w);
    }
    free(variables);
    free(gradients);
    engine_end(g, session);
    return seconds;
}

/* Time that is quadratic in the variables would be 64 times as long for 8 times as many. */
static void update_of_100000_variables_takes_linear_time(void **state) {
    (void)state;
#ifdef MST_NO_MULTIVERSION
    enum { MANY = NODES / 4 }; /* a build for a sanitizer, which is slow */
#else
    enum { MANY = NODES };
#endif
    for (int tries = 1;; tries++) { /* other programs may take the time of one of the two */
        const double few = update_seconds(MANY / 8), many = update_seconds(MANY);
        if (many <= 32 * few) return;
        if (tries == 3) fail_msg("%d variables take %.2f s, %d take %.2f s", MANY / 8, few, MANY, many);
    }
}

typedef struct width {
    int64_t features;
} width;

static void one_product(void *context, mst_graph *graph, int shard, mst_replica *out) {
    (void)shard;
    const width *w = context;
    mst_value x = mst_placeholder(graph, MST_F32, MST_SHAPE(-1, w->features), "x");
    mst_value kernel = mst_get_variable(graph, "kernel", MST_SHAPE(w->features, 4));
    out->loss = mst_reduce_sum(mst_square(mst_matmul(x, kernel)), .axes = MST_AXES(1));
}

/* Bytes of the plan of a step over these devices and shards, which is made and run. */
static double plan_bytes(int devices, int shards) {
    enum { FEATURES = 3 };
    char names[32];
    width w = {FEATURES};
    mst_graph *g = engine_graph();
    mst_step_values values;
    snprintf(names, sizeof names, "cpu:%d/1", devices);
    mst_session *session = engine_session(g, names);
    const mst_strategy mirrored = {.kind = MST_STRATEGY_MIRRORED, .num_devices = devices, .num_shards = shards};
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.1);
    mst_strategy_build(g, &mirrored, &sgd, one_product, &w, &values);
    EXPECT_OK(mst_graph_check(g));
    EXPECT_OK(mst_session_init_variables(session));
    mst_feed *feeds = calloc((size_t)shards, sizeof *feeds);
    mst_tensor *rows = engine_tensor(MST_F32, MST_SHAPE(1, FEATURES), (double[]){1, 2, 3});
    int count = 0;
    for (int64_t i = 0; i < mst_graph_num_nodes(g) && count < shards; i++) {
        mst_node *node = mst_graph_node(g, i);
        if (strcmp(mst_node_op(node)->name, "placeholder") == 0)
            feeds[count++] = (mst_feed){.value = {.node = node}, .tensor = rows};
    }
    assert_int_equal(count, shards);
    EXPECT_OK(mst_session_run(session, feeds, shards, &values.train, 1, NULL));
    const double bytes = (double)mst_session_plan_info(session).plan_bytes;
    mst_tensor_release(rows);
    free(feeds);
    engine_end(g, session);
    return bytes;
}

static void plans_grow_with_devices_plus_shards_and_not_with_their_product(void **state) {
    (void)state;
    const double small = plan_bytes(4, 64), more_shards = plan_bytes(4, 256), more_devices = plan_bytes(16, 256);
    if (more_shards > 5 * small) fail_msg("64 shards: %.0f bytes, 256 shards: %.0f", small, more_shards);
    if (more_devices > 2 * more_shards) fail_msg("4 devices: %.0f bytes, 16: %.0f", more_shards, more_devices);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_of_100000_nodes_in_a_chain_plans_and_runs),
        cmocka_unit_test(graph_of_100000_nodes_with_long_lives_plans_and_runs_on_two_devices),
        cmocka_unit_test(node_of_10000_sources_plans_and_runs),
        cmocka_unit_test(update_of_100000_variables_takes_linear_time),
        cmocka_unit_test(plans_grow_with_devices_plus_shards_and_not_with_their_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
