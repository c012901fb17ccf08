/* The step that mst_strategy_build makes of a model and a strategy: its loss, metrics and weights are those of the
 * whole batch however shards divide it, its nodes have their names and devices, and copies of variables stay equal. */
#include <math.h>

#include "base/clock.h"
#include "support/compiling.h"
#include "support/test.h"
#include "support/training.h"

#include "op/elementwise/sum_replicas.h"
#include "store/store.h"

enum { FEATURES = 5, MOST_SHARDS = 8 };

/* A linear model with a squared error, whose placeholders are kept by shard. */
typedef struct linear {
    mst_value x[MOST_SHARDS], y[MOST_SHARDS];
    float l2;
} linear;

static void build_linear(void *context, mst_graph *graph, int shard, mst_replica *out) {
    linear *m = context;
    m->x[shard] = mst_placeholder(graph, MST_F64, MST_SHAPE(-1, FEATURES), "x");
    m->y[shard] = mst_placeholder(graph, MST_F64, MST_SHAPE(-1), "y");
    mst_value w =
        mst_get_variable(graph, "w", MST_SHAPE(FEATURES, 1), MST_F64, mst_constant_initializer(0.25), .l2 = m->l2);
    mst_value b = mst_get_variable(graph, "b", MST_SHAPE(1), MST_F64, mst_zeros_initializer());
    mst_value p = mst_reshape(mst_add(mst_matmul(m->x[shard], w), b), MST_SHAPE(-1));
    out->loss = mst_square(mst_sub(p, m->y[shard]));
    out->num_metrics = 1;
    out->metric_sum[0] = mst_reduce_sum(m->y[shard]);
    out->metric_count[0] = mst_dim_size(m->y[shard], 0, MST_F64);
}

/* Loss, number of examples and metric of one step over ROWS rows, and the weights after it. */
typedef struct outcome {
    double loss, examples, metric_sum, metric_count;
    mst_tensor *w;
} outcome;

static outcome step(mst_strategy strategy, const char *devices, int64_t rows, float l2, mst_optimizer optimizer) {
    mst_graph *g = engine_graph();
    linear m = {.l2 = l2};
    mst_step_values values;
    mst_strategy_build(g, &strategy, &optimizer, build_linear, &m, &values);
    EXPECT_OK(mst_graph_check(g));
    EXPECT_OK(mst_strategy_resolve(&strategy));
    mst_session *session = engine_session(g, devices);
    mst_tensor *x = engine_random(MST_F64, MST_SHAPE(rows, FEATURES), -1, 1, 4);
    mst_tensor *y = engine_random(MST_F64, MST_SHAPE(rows), -1, 1, 5);
    mst_feed feed[2 * MOST_SHARDS];
    int64_t first = 0;
    for (int s = 0; s < strategy.num_shards; s++) {
        int64_t count = rows / strategy.num_shards + (s < rows % strategy.num_shards);
        feed[2 * s] = (mst_feed){.value = m.x[s]};
        feed[2 * s + 1] = (mst_feed){.value = m.y[s]};
        EXPECT_OK(mst_tensor_copy(MST_F64, MST_SHAPE(count, FEATURES), (double *)mst_tensor_data(x) + first * FEATURES,
                                  &feed[2 * s].tensor));
        EXPECT_OK(
            mst_tensor_copy(MST_F64, MST_SHAPE(count), (double *)mst_tensor_data(y) + first, &feed[2 * s + 1].tensor));
        first += count;
    }
    mst_value fetch[] = {values.loss, values.num_examples, values.metric_sum[0], values.metric_count[0], values.train};
    mst_tensor *got[5] = {NULL};
    EXPECT_OK(mst_session_run(session, feed, 2 * strategy.num_shards, fetch, 5, got));
    outcome o = {mst_tensor_get(got[0], 0), mst_tensor_get(got[1], 0), mst_tensor_get(got[2], 0),
                 mst_tensor_get(got[3], 0), NULL};
    assert_true(engine_number(session, values.global_step) == 1);
    EXPECT_OK(mst_session_get_variable(session, (mst_value){.node = mst_graph_find(g, "w")}, &o.w));
    for (int i = 0; i < 5; i++) mst_tensor_release(got[i]);
    for (int i = 0; i < 2 * strategy.num_shards; i++) mst_tensor_release(feed[i].tensor);
    mst_tensor_release(x);
    mst_tensor_release(y);
    engine_end(g, session);
    return o;
}

static void expect_like_whole_batch(int64_t rows, mst_strategy strategy, const char *devices) {
    outcome whole = step((mst_strategy){.kind = MST_STRATEGY_ONE}, "cpu:1/1", rows, 0.5f, mst_sgd(.learning_rate = 1));
    outcome cut = step(strategy, devices, rows, 0.5f, mst_sgd(.learning_rate = 1));
    assert_true(engine_distance(cut.w, whole.w) < 1e-12);
    assert_true(fabs(cut.loss - whole.loss) < 1e-12);
    assert_true(cut.examples == (double)rows && whole.examples == (double)rows);
    assert_true(fabs(cut.metric_sum - whole.metric_sum) < 1e-12);
    assert_true(cut.metric_count == (double)rows);
    mst_tensor_release(whole.w);
    mst_tensor_release(cut.w);
}

static void batch_that_does_not_divide_the_shards_is_weighted_exactly(void **state) {
    (void)state;
    for (int64_t rows = 4; rows <= 11; rows++) {
        expect_like_whole_batch(rows, (mst_strategy){.kind = MST_STRATEGY_ONE, .num_shards = 4}, "cpu:1/1");
        expect_like_whole_batch(rows, (mst_strategy){.kind = MST_STRATEGY_TOWERS, .num_devices = 2, .num_shards = 4},
                                "cpu:2/1");
        expect_like_whole_batch(rows, (mst_strategy){.kind = MST_STRATEGY_MIRRORED, .num_devices = 2, .num_shards = 4},
                                "cpu:2/1");
    }
}

static void batch_smaller_than_the_shards_is_weighted_exactly(void **state) {
    (void)state;
    for (int64_t rows = 1; rows <= 3; rows++) {
        expect_like_whole_batch(rows, (mst_strategy){.kind = MST_STRATEGY_ONE, .num_shards = 4}, "cpu:1/1");
        expect_like_whole_batch(rows, (mst_strategy){.kind = MST_STRATEGY_TOWERS, .num_devices = 4, .num_shards = 4},
                                "cpu:4/1");
        expect_like_whole_batch(rows, (mst_strategy){.kind = MST_STRATEGY_MIRRORED, .num_devices = 4, .num_shards = 8},
                                "cpu:4/1");
    }
}

static void penalties_are_in_the_loss_and_in_the_gradient(void **state) {
    (void)state;
    outcome without = step((mst_strategy){0}, "cpu:1/1", 6, 0, mst_sgd(.learning_rate = 1));
    outcome with = step((mst_strategy){0}, "cpu:1/1", 6, 0.5f, mst_sgd(.learning_rate = 1));
    /* s * sum(w^2) / 2 of the weights before, 0.25 each; its gradient is s * w */
    assert_true(fabs(with.loss - without.loss - 0.5 * FEATURES * 0.0625 / 2) < 1e-12);
    for (int i = 0; i < FEATURES; i++)
        assert_true(fabs(mst_tensor_get(without.w, i) - mst_tensor_get(with.w, i) - 0.5 * 0.25) < 1e-12);
    mst_tensor_release(without.w);
    mst_tensor_release(with.w);
}

/* ---- names and devices ---- */

static bool has_node(const mst_graph *g, const char *name, const char *device) {
    const mst_node *node = mst_graph_find(g, name);
    return node && strcmp(mst_node_device(node), engine_here(device)) == 0;
}

static void towers_have_scopes_and_devices_and_share_variables(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    linear m = {.l2 = 0};
    mst_step_values values;
    mst_optimizer sgd = mst_sgd(.learning_rate = 0.1);
    mst_strategy_build(g, &(mst_strategy){.kind = MST_STRATEGY_TOWERS, .num_devices = 2}, &sgd, build_linear, &m,
                       &values);
    EXPECT_OK(mst_graph_check(g));
    assert_true(has_node(g, "tower_0/x", "/device:CPU:0"));
    assert_true(has_node(g, "tower_1/x", "/device:CPU:1"));
    assert_true(has_node(g, "tower_1/matmul", "/device:CPU:1"));
    assert_true(has_node(g, "w", "/device:CPU:0"));
    assert_int_equal(mst_collection(g, MST_TRAINABLE, NULL, NULL, 0), 2);
    assert_null(mst_graph_find(g, "w/replica_1"));
    bool gradients = false;
    for (int64_t i = 0; i < mst_graph_num_nodes(g); i++)
        gradients |= strncmp(mst_node_name(mst_graph_node(g, i)), "tower_1/gradients", 17) == 0;
    assert_true(gradients);
    mst_graph_destroy(g);
}

static void mirrored_variables_are_one_node_and_say_where_their_copies_are(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    linear m = {.l2 = 0};
    mst_step_values values;
    mst_optimizer sgd = mst_sgd(.learning_rate = 0.1);
    mst_strategy_build(g, &(mst_strategy){.kind = MST_STRATEGY_MIRRORED, .num_devices = 2, .num_shards = 4}, &sgd,
                       build_linear, &m, &values);
    EXPECT_OK(mst_graph_check(g));
    assert_true(has_node(g, "replica_1/x", "/device:CPU:0"));
    assert_true(has_node(g, "replica_3/x", "/device:CPU:1"));
    assert_true(has_node(g, "w", "/device:CPU:0"));
    const mst_variable_options *o = mst_node_options(mst_graph_find(g, "w"));
    assert_string_equal(o->mirrored, engine_here("/device:CPU:0,/device:CPU:1"));
    assert_int_equal(mst_collection(g, MST_TRAINABLE, NULL, NULL, 0), 2);
    assert_int_equal(mst_collection(g, MST_VARIABLES, NULL, NULL, 0), 2);
    mst_graph_destroy(g);
}

static void copies_stay_equal(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    linear m = {.l2 = 0.1f};
    mst_step_values values;
    mst_optimizer adam = mst_adam(.learning_rate = 0.1);
    mst_strategy_build(g, &(mst_strategy){.kind = MST_STRATEGY_MIRRORED, .num_devices = 2}, &adam, build_linear, &m,
                       &values);
    mst_session *session = engine_session(g, "cpu:2/1");
    mst_feed feed[4];
    for (int s = 0; s < 2; s++) {
        feed[2 * s] =
            (mst_feed){.value = m.x[s], .tensor = engine_random(MST_F64, MST_SHAPE(3, FEATURES), -1, 1, (unsigned)s)};
        feed[2 * s + 1] =
            (mst_feed){.value = m.y[s], .tensor = engine_random(MST_F64, MST_SHAPE(3), -1, 1, 10 + (unsigned)s)};
    }
    for (int i = 0; i < 50; i++) EXPECT_OK(mst_session_run(session, feed, 4, &values.train, 1, NULL));
    mst_tensor *w;
    EXPECT_OK(mst_session_get_variable(session, (mst_value){.node = mst_graph_find(g, "w")}, &w));
    const mst_state *entry = mst_store_find(mst_session_store(session), NULL, "w");
    int copies = 0;
    for (const mst_copy *copy = entry->copies; copy; copy = copy->next, copies++) {
        assert_true(copy->version == entry->version);
        double values[FEATURES];
        EXPECT_OK(mst_state_copy(entry, &mst_domain_host, values, copy->domain, copy->data, MST_NEVER));
        assert_memory_equal(values, mst_tensor_data(w), entry->bytes);
    }
    assert_int_equal(copies, 2);
    mst_tensor_release(w);
    for (int i = 0; i < 4; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
}

/* ---- resolve ---- */

static void defaults_are_filled_in(void **state) {
    (void)state;
    mst_strategy s = {0};
    char text[64];
    EXPECT_OK(mst_strategy_resolve(&s));
    assert_true(s.kind == MST_STRATEGY_ONE && s.num_devices == 1 && s.num_shards == 1);
    s = (mst_strategy){.num_devices = 4};
    EXPECT_OK(mst_strategy_resolve(&s));
    assert_true(s.kind == MST_STRATEGY_MIRRORED && s.num_shards == 4);
    s.num_shards = 8;
    assert_string_equal(mst_strategy_device(&s, 0, text, sizeof text), engine_here("/device:CPU:0"));
    assert_string_equal(mst_strategy_device(&s, 1, text, sizeof text), engine_here("/device:CPU:0"));
    assert_string_equal(mst_strategy_device(&s, 7, text, sizeof text), engine_here("/device:CPU:3"));
}

static void impossible_strategies_are_refused(void **state) {
    (void)state;
    mst_strategy none = {.kind = (mst_strategy_kind)99};
    EXPECT_ERROR(mst_strategy_resolve(&none), MST_INVALID, "kind is 99, must be one of mst_strategy_kind");
    mst_strategy s = {.kind = MST_STRATEGY_TOWERS, .num_devices = 2, .num_shards = 3};
    EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID, "3 shards do not divide over 2 devices");
    s = (mst_strategy){.num_devices = -1};
    EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID, "-1 devices");
    s = (mst_strategy){.num_shards = -2};
    EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID, "-2 shards");
    s = (mst_strategy){.max_staleness = 3};
    EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID, "are options of parameter-server");
    s = (mst_strategy){.kind = MST_STRATEGY_MIRRORED, .by_bytes = true};
    EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID, "by_bytes and part_bytes are options of parameter-server");
    s = (mst_strategy){.kind = MST_STRATEGY_MIRRORED, .part_bytes = 8};
    EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID, "part_bytes are options of parameter-server");
    s = (mst_strategy){.kind = MST_STRATEGY_PARAMETER_SERVER, .part_bytes = -8};
    EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID, "part_bytes is -8");
    s = (mst_strategy){.kind = MST_STRATEGY_PARAMETER_SERVER, .replicas_to_aggregate = 2};
    EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID, "replicas_to_aggregate 2 needs synchronous");
    s = (mst_strategy){.kind = MST_STRATEGY_PARAMETER_SERVER, .synchronous = true, .max_staleness = 3};
    EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID, "max_staleness 3 is not for synchronous updates");
    mst_graph *g = engine_graph();
    linear m = {.l2 = 0};
    mst_step_values values;
    mst_strategy_build(g, &(mst_strategy){.kind = MST_STRATEGY_MIRRORED, .num_devices = 2, .num_shards = 5}, NULL,
                       build_linear, &m, &values);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "strategy mirrored: 5 shards");
    mst_graph_destroy(g);
}

static const char *identity(void) {
    return "BRAND 1";
}

static void copies_that_would_drift_apart_are_refused(void **state) {
    (void)state;
    static const char *const mixed[] = {"/device:CPU:0", "/device:BRAND:0"}, *const both[] = {"/device:BRAND:0",
                                                                                              "/device:BRAND:1"};
    static mst_device_type brand;
    brand = compiling_type();
    brand.name = "BRAND";
    brand.identity = identity;
    EXPECT_OK(mst_device_type_register(&brand));
    for (int k = MST_STRATEGY_DEFAULT; k < MST_NUM_STRATEGIES; k++) {
        const bool refused = k == MST_STRATEGY_DEFAULT || k == MST_STRATEGY_MIRRORED || k == MST_STRATEGY_MULTI_WORKER;
        mst_strategy s = {.kind = (mst_strategy_kind)k, .num_devices = 2, .num_shards = 2, .devices = mixed};
        if (refused)
            EXPECT_ERROR(mst_strategy_resolve(&s), MST_INVALID,
                         ": CPU and BRAND round differently, so their copies of the variables would drift apart");
        else
            EXPECT_OK(mst_strategy_resolve(&s));
        s = (mst_strategy){.kind = (mst_strategy_kind)k, .num_devices = 2, .num_shards = 2, .devices = both};
        EXPECT_OK(mst_strategy_resolve(&s));
        s = (mst_strategy){.kind = (mst_strategy_kind)k, .num_devices = 1, .devices = mixed};
        EXPECT_OK(mst_strategy_resolve(&s));
    }
}

static void build_weight(void *context, mst_graph *graph, int shard, mst_replica *out) {
    (void)context, (void)shard;
    mst_value w = mst_get_variable(graph, "w", MST_SHAPE(1), .initializer = mst_constant_initializer(1));
    out->loss = mst_mul(w, mst_fill(graph, MST_F32, MST_SHAPE(1), 1)); /* the gradient is 1 */
}

static void setting_a_mirrored_variable_sets_all_copies(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED, .num_devices = 2};
    const mst_optimizer optimizer = mst_sgd(.learning_rate = 0.5);
    mst_step_values values;
    mst_strategy_build(g, &strategy, &optimizer, build_weight, NULL, &values);
    EXPECT_OK(mst_graph_check(g));
    mst_value w = {.node = mst_graph_find(g, "w")}, copy = MST_NONE;
    mst_with_device (g, "/cpu:1") copy = mst_scale(w, 1); /* reads the copy of that device */
    mst_tensor *value = engine_tensor(MST_F32, MST_SHAPE(1), (double[]){10});
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:2/1"}, &session));
    for (int initialized = 0; initialized < 2; initialized++) { /* before there is storage, and after */
        EXPECT_OK(mst_session_set_variable(session, w, value));
        EXPECT_OK(mst_session_init_variables(session));
        engine_run(session, values.train);
        assert_true(engine_number(session, w) == 9.5);
        assert_true(engine_number(session, copy) == 9.5);
    }
    mst_tensor_release(value);
    engine_end(g, session);
}

/* Three sums over the shards. In shard 1 the second one waits for the first; in the others it does not. */
static void build_uneven(void *context, mst_graph *graph, int shard, mst_replica *out) {
    (void)context;
    const mst_value w = mst_get_variable(graph, "w", MST_SHAPE(2), MST_F64, mst_constant_initializer(1));
    const mst_value first = mst_sum_replicas(mst_scale(w, shard + 1));
    mst_value second = MST_NONE;
    if (shard == 1)
        mst_with_control (graph, first) second = mst_sum_replicas(mst_scale(w, 10));
    else
        second = mst_sum_replicas(mst_scale(w, 10));
    const mst_value third = mst_sum_replicas(mst_scale(w, 100));
    out->loss = mst_reshape(mst_reduce_mean(mst_add(mst_add(first, second), third)), MST_SHAPE(1));
}

static void shards_may_wait_for_sums_in_other_orders(void **state) {
    (void)state;
    enum { SHARDS = 3 };
    mst_graph *g = engine_graph();
    mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = SHARDS};
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.1);
    mst_step_values values;
    mst_strategy_build(g, &strategy, &sgd, build_uneven, NULL, &values);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, "cpu:1/1");
    assert_true(engine_number(session, values.loss) == 1 + 2 + 3 + SHARDS * 110);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_may_wait_for_sums_in_other_orders),
        cmocka_unit_test(batch_that_does_not_divide_the_shards_is_weighted_exactly),
        cmocka_unit_test(batch_smaller_than_the_shards_is_weighted_exactly),
        cmocka_unit_test(penalties_are_in_the_loss_and_in_the_gradient),
        cmocka_unit_test(towers_have_scopes_and_devices_and_share_variables),
        cmocka_unit_test(mirrored_variables_are_one_node_and_say_where_their_copies_are),
        cmocka_unit_test(copies_stay_equal),
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(impossible_strategies_are_refused),
        cmocka_unit_test(copies_that_would_drift_apart_are_refused),
        cmocka_unit_test(setting_a_mirrored_variable_sets_all_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
