/* The memory of a step as the plan divides it: how many bytes chains, views and shards take, and that no value is
 * overwritten while it is still needed. To show the latter, values of random graphs are fetched one by one, and
 * compared with all of them together. */
#include "run/session.h"
#include "support/test.h"
#include "support/training.h"

enum { COUNT = 10000, BYTES = 4 * COUNT /* a multiple of 64 */, STEPS = 200 };

static mst_value numbers(mst_graph *g) {
    return mst_placeholder(g, MST_F32, MST_SHAPE(COUNT), "x");
}

static mst_feed feed_of(mst_value x) {
    return (mst_feed){.value = x, .tensor = engine_random(MST_F32, MST_SHAPE(COUNT), -1, 1, 1)};
}

static void long_chain_that_works_in_place_needs_one_buffer(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = numbers(g), y = x;
    for (int i = 0; i < STEPS; i++) y = mst_neg(y);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = feed_of(x);
    mst_tensor *got = engine_fetch(session, &feed, 1, y);
    assert_true(engine_same_bits(got, feed.tensor));
    assert_int_equal(mst_session_device_memory(session, 0), BYTES);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void long_chain_of_new_values_needs_two_buffers(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = numbers(g), y = x;
    for (int i = 0; i < STEPS; i++) y = engine_count(y); /* may not write in place */
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = feed_of(x);
    mst_tensor *got = engine_fetch(session, &feed, 1, y);
    assert_true(engine_same_bits(got, feed.tensor));
    assert_int_equal(mst_session_device_memory(session, 0), 2 * BYTES);
    assert_int_equal(engine_counted(), STEPS);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void views_take_no_memory(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = numbers(g), y = mst_neg(x);
    y = mst_identity(mst_expand_dims(mst_reshape(y, MST_SHAPE(100, -1)), 0));
    y = mst_neg(mst_squeeze(y));
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = feed_of(x);
    mst_tensor *got = engine_fetch(session, &feed, 1, mst_reshape(y, MST_SHAPE(COUNT)));
    assert_true(engine_same_bits(got, feed.tensor));
    assert_int_equal(mst_session_device_memory(session, 0), BYTES);
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void fetched_values_stay_intact(void **state) {
    (void)state;
    enum { FETCHES = 20 };
    mst_graph *g = engine_graph();
    mst_value x = numbers(g), y[FETCHES];
    for (int i = 0; i < FETCHES; i++) y[i] = mst_add(i ? y[i - 1] : x, mst_scalar(g, MST_F32, 1));
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(COUNT), NULL)};
    mst_tensor *got[FETCHES] = {NULL};
    EXPECT_OK(mst_session_run(session, &feed, 1, y, FETCHES, got));
    for (int i = 0; i < FETCHES; i++) {
        assert_true(mst_tensor_get(got[i], 0) == i + 1);
        assert_true(mst_tensor_get(got[i], COUNT - 1) == i + 1);
        mst_tensor_release(got[i]);
    }
    assert_true(mst_tensor_get(feed.tensor, 0) == 0);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void source_that_is_needed_later_is_not_overwritten(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = numbers(g), a = mst_scale(x, 2), b = mst_neg(a), c = mst_square(b);
    mst_value view = mst_reshape(a, MST_SHAPE(-1, 10)); /* keeps the memory of a alive */
    mst_value y = mst_add(mst_reshape(view, MST_SHAPE(-1)), mst_add(b, c));
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = feed_of(x);
    mst_tensor *got = engine_fetch(session, &feed, 1, y);
    for (int64_t i = 0; i < COUNT; i++) {
        float v = 2 * (float)mst_tensor_get(feed.tensor, i), wanted = v + (-v + v * v);
        assert_true(mst_tensor_get(got, i) == (double)wanted);
    }
    mst_tensor_release(got);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void fed_tensor_is_never_written(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = numbers(g), y = mst_square(mst_neg(mst_identity(x)));
    mst_session *session = engine_session(g, NULL);
    mst_feed feed = feed_of(x);
    mst_tensor *copy = engine_random(MST_F32, MST_SHAPE(COUNT), -1, 1, 1);
    mst_tensor *got = engine_fetch(session, &feed, 1, y);
    assert_true(engine_same_bits(copy, feed.tensor));
    mst_tensor_release(got);
    mst_tensor_release(copy);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

static void variables_and_constants_are_never_written_in_place(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(COUNT), 3));
    mst_value c = mst_fill(g, MST_F32, MST_SHAPE(COUNT), 4);
    mst_value y = mst_reduce_sum(mst_add(mst_neg(v), mst_neg(engine_count_stateful(c))));
    mst_session *session = engine_session(g, NULL);
    for (int i = 0; i < 3; i++) assert_true(engine_number(session, y) == -7 * COUNT);
    engine_counted();
    engine_end(g, session);
}

/* Random graphs: every value of a dense mix of sharing, views and in-place ops, against one fetch at a time. */
static void random_graphs_give_each_value_alone_what_they_give_together(void **state) {
    (void)state;
    enum { NODES = 60, GRAPHS = 30 };
    unsigned seed = 1;
    for (int round = 0; round < GRAPHS; round++) {
        mst_graph *g = engine_graph();
        mst_value value[NODES] = {mst_placeholder(g, MST_F32, MST_SHAPE(6), "x")};
        for (int i = 1; i < NODES; i++) {
            seed = seed * 1664525u + 1013904223u;
            mst_value a = value[(seed >> 8) % (unsigned)i], b = value[(seed >> 16) % (unsigned)i];
            switch (seed >> 28) {
                case 0: value[i] = mst_reshape(mst_reshape(a, MST_SHAPE(2, 3)), MST_SHAPE(6)); break;
                case 1: value[i] = mst_identity(a); break;
                case 2: value[i] = mst_reshape(mst_transpose(mst_reshape(a, MST_SHAPE(2, 3))), MST_SHAPE(6)); break;
                case 3:
                    value[i] =
                        mst_concat((mst_value[]){mst_value_output(mst_split(a, 2, 0), 1), mst_split(b, 2, 0)}, 2, 0);
                    break;
                case 4:
                case 5: value[i] = mst_sub(a, b); break;
                case 6: value[i] = mst_maximum(a, b); break;
                default: value[i] = seed & 1 ? mst_neg(a) : mst_tanh(mst_add(a, b)); break;
            }
        }
        mst_session *session = engine_session(g, round % 2 ? "cpu:2/1" : NULL);
        mst_feed feed = {.value = value[0], .tensor = engine_random(MST_F32, MST_SHAPE(6), -1, 1, seed)};
        mst_tensor *together[NODES] = {NULL};
        EXPECT_OK(mst_session_run(session, &feed, 1, value, NODES, together));
        for (int i = 0; i < NODES; i++) {
            mst_tensor *alone = engine_fetch(session, &feed, 1, value[i]);
            if (!engine_same_bits(alone, together[i])) fail_msg("graph %d, node %d", round, i);
            mst_tensor_release(alone);
            mst_tensor_release(together[i]);
        }
        mst_tensor_release(feed.tensor);
        engine_end(g, session);
    }
}

/* ---- shards ---- */

enum { SHARD_ROWS = 2000, SHARD_FEATURES = 64, SHARD_LAYERS = 6 };

/* A network with many activations for each weight. */
static void build_deep_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    (void)context;
    (void)shard;
    mst_value x = mst_random_uniform(graph, MST_SHAPE(SHARD_ROWS, SHARD_FEATURES));
    for (int i = 0; i < SHARD_LAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        mst_value w = mst_get_variable(graph, name, MST_SHAPE(SHARD_FEATURES, SHARD_FEATURES), MST_F32,
                                       mst_random_uniform_initializer(.low = -1, .high = 1));
        x = mst_tanh(mst_matmul(x, w));
    }
    out->loss = mst_reduce_mean(mst_square(x), .axes = MST_AXES(1));
}

/* Memory of a step of so many shards on one device. */
static int64_t bytes_of_shards(int shards) {
    mst_graph *g = engine_graph();
    const mst_optimizer adam = mst_adam(.learning_rate = 1e-3);
    mst_step_values values;
    mst_session *session = engine_session(g, "cpu:1/1");
    mst_strategy_build(g, &(mst_strategy){.num_shards = shards}, &adam, build_deep_replica, NULL, &values);
    EXPECT_OK(mst_graph_check(g));
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(mst_session_run(session, NULL, 0, &values.train, 1, NULL));
    const int64_t bytes = mst_session_plan_info(session).arena_bytes;
    engine_end(g, session);
    return bytes;
}

/* One shard after the other: the memory of a step is that of one shard, and of the sums that wait. */
static void shards_of_a_device_share_its_memory(void **state) {
    (void)state;
    const int64_t one = bytes_of_shards(1);
    assert_true(one > (int64_t)SHARD_ROWS * SHARD_FEATURES * SHARD_LAYERS * 4);
    for (int shards = 2; shards <= 32; shards *= 2) {
        const int64_t bytes = bytes_of_shards(shards);
        if (bytes * 10 > one * 13) fail_msg("%d shards: %d bytes, one: %d", shards, (int)bytes, (int)one);
    }
}

/* ---- what several devices write together ---- */

/* No other value of the device has memory in common with value V. */
static void expect_alone(const mst_plan *plan, int32_t v) {
    const int64_t first = plan->value[v].offset, end = first + mst_plan_bytes(&plan->value[v]);
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int32_t w = node->dst; w < node->dst + node->num_dst && !(node->op->flags & MST_OP_NO_VALUE); w++) {
            const mst_plan_value *other = &plan->value[w];
            if (w == v || other->root != w || other->space != MST_IN_ARENA || other->constant) continue;
            if (node->device != plan->node[plan->value[v].node].device) continue;
            if (other->offset < end && first < other->offset + mst_plan_bytes(other))
                fail_msg("'%s', which several devices write, is in the memory of '%s'",
                         plan->node[plan->value[v].node].name, node->name);
        }
    }
}

/* The devices begin with such a node when they are ready. The one in whose memory its value is may still be at work
 * with what it needs for nodes that come before it in its own order. */
static void value_that_several_devices_write_shares_no_memory(void **state) {
    (void)state;
    mst_dataset *data = training_data(20, 4, 3, 1);
    int found = 0;
    for (int clip = 0; clip < 2; clip++) {
        mst_model *model = training_model(5, 3, 0.01F);
        EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.clip_global_norm = clip ? 0.1 : 0),
                              .metric = {MST_METRIC_ACCURACY}, .strategy = {.kind = MST_STRATEGY_MIRRORED},
                              .session = {.devices = "cpu:4/1"}));
        EXPECT_OK(mst_fit(model, .data = data, .batch_size = 20));
        const mst_session *session = mst_model_session(model);
        for (int64_t i = 0; i < session->num_plans; i++) {
            const mst_plan *plan = session->plans[i]->plan;
            for (int64_t k = 0; k < plan->num_order; k++) {
                const mst_plan_node *node = &plan->node[plan->order[k]];
                if (node->group < 0 || plan->group[node->group].count < 2) continue;
                for (int32_t v = node->dst; v < node->dst + node->num_dst; v++, found++) expect_alone(plan, v);
            }
        }
        mst_model_destroy(model);
    }
    assert_true(found >= 3); /* the updates, and the norms of one */
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_of_a_device_share_its_memory),
        cmocka_unit_test(long_chain_that_works_in_place_needs_one_buffer),
        cmocka_unit_test(long_chain_of_new_values_needs_two_buffers),
        cmocka_unit_test(views_take_no_memory),
        cmocka_unit_test(fetched_values_stay_intact),
        cmocka_unit_test(source_that_is_needed_later_is_not_overwritten),
        cmocka_unit_test(fed_tensor_is_never_written),
        cmocka_unit_test(variables_and_constants_are_never_written_in_place),
        cmocka_unit_test(random_graphs_give_each_value_alone_what_they_give_together),
        cmocka_unit_test(value_that_several_devices_write_shares_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
