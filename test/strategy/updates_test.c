/* State that replicas update beside the weights, such as moving statistics: the values of all shards are joined in the
 * fixed tree, with the same bits under every strategy and on every number of devices. */
#include "support/test.h"

enum { SHARDS = 6, SIZE = 300, STEPS = 3, ROWS = 5 };

static const float MOMENTUM = 0.9f;

/* The variables that a replica updates. */
enum { MEAN, SUM, FIRST, BY_VARIABLE, MOVING, NUM_STATES };

static const char *const names[NUM_STATES] = {"mean", "sum", "first", "by_variable", "moving"};

typedef struct statistics {
    mst_value state[NUM_STATES], proposed[SHARDS]; /* what the shards give "mean", "sum" and "first" */
} statistics;

/* The first four take numbers drawn in the graph, other ones in each shard and step; the last is the moving mean of a
 * shard's inputs. */
static void build_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    statistics *s = context;
    for (int k = 0; k < NUM_STATES && shard == 0; k++)
        s->state[k] = mst_variable(graph, names[k], mst_fill(graph, MST_F32, MST_SHAPE(SIZE), 0.5),
                                   .not_trainable = true, .join = k == BY_VARIABLE ? MST_JOIN_SUM : 0);
    const mst_value x = mst_random_uniform(graph, MST_SHAPE(ROWS, SIZE), .low = -1, .high = 1);
    const mst_value proposed = s->proposed[shard] =
        mst_mul(mst_random_uniform(graph, MST_SHAPE(SIZE)), mst_random_uniform(graph, MST_SHAPE(SIZE), .low = -1e4));
    const mst_value mean = mst_reduce_mean(x, .axes = MST_AXES(0));
    const mst_value moved = mst_add(mst_scale(s->state[MOVING], MOMENTUM), mst_scale(mean, 1 - MOMENTUM));
    mst_replica_update(out, s->state[MEAN], proposed, MST_JOIN_DEFAULT);
    mst_replica_update(out, s->state[SUM], proposed, MST_JOIN_SUM);
    mst_replica_update(out, s->state[FIRST], proposed, MST_JOIN_FIRST);
    mst_replica_update(out, s->state[BY_VARIABLE], proposed, MST_JOIN_DEFAULT);
    mst_replica_update(out, s->state[MOVING], moved, MST_JOIN_MEAN);
    const mst_value w = mst_get_variable(graph, "w", MST_SHAPE(SIZE, 1), .initializer = mst_constant_initializer(0.1));
    out->loss = mst_square(mst_reshape(mst_matmul(mst_sub(x, s->state[MOVING]), w), MST_SHAPE(ROWS)));
}

typedef struct trained {
    mst_tensor *state[NUM_STATES], *w, *proposed[SHARDS];
} trained;

static trained train(mst_strategy_kind kind, const char *devices) {
    trained result;
    statistics s;
    mst_graph *g = engine_graph();
    mst_session *session = engine_session(g, devices);
    mst_strategy strategy = {.kind = kind, .num_shards = SHARDS};
    const mst_optimizer optimizer = mst_sgd(.learning_rate = 0.01, .momentum = 0.9);
    mst_step_values values;
    engine_build_step(g, session, &strategy, &optimizer, build_replica, &s, &values);
    mst_value fetch[1 + SHARDS] = {values.train};
    memcpy(fetch + 1, s.proposed, sizeof s.proposed);
    for (int i = 0; i < STEPS; i++) {
        mst_tensor *got[1 + SHARDS] = {NULL};
        EXPECT_OK(mst_session_run(session, NULL, 0, fetch, 1 + SHARDS, got));
        for (int k = 0; k < SHARDS && i < STEPS - 1; k++) mst_tensor_release(got[1 + k]);
        memcpy(result.proposed, got + 1, sizeof result.proposed);
    }
    for (int k = 0; k < NUM_STATES; k++) EXPECT_OK(mst_session_get_variable(session, s.state[k], &result.state[k]));
    EXPECT_OK(mst_session_get_variable(session, (mst_value){.node = mst_graph_find(g, "w")}, &result.w));
    engine_end(g, session);
    return result;
}

static void end(trained *t) {
    for (int k = 0; k < NUM_STATES; k++) mst_tensor_release(t->state[k]);
    for (int k = 0; k < SHARDS; k++) mst_tensor_release(t->proposed[k]);
    mst_tensor_release(t->w);
}

static void bits_do_not_depend_on_the_strategy(void **state) {
    (void)state;
    static const struct {
        mst_strategy_kind kind;
        const char *devices;
    } places[] = {
        {MST_STRATEGY_TOWERS, "cpu:1/1"},      {MST_STRATEGY_TOWERS, "cpu:2/1"},
        {MST_STRATEGY_TOWERS, "cpu:3/1"},      {MST_STRATEGY_TOWERS, "cpu:6/1"},
        {MST_STRATEGY_MIRRORED, "cpu:1/1"},    {MST_STRATEGY_MIRRORED, "cpu:2/1"},
        {MST_STRATEGY_MIRRORED, "cpu:3/1"},    {MST_STRATEGY_MIRRORED, "cpu:6/1"},
        {MST_STRATEGY_TOWERS, "island:2/1"},   {MST_STRATEGY_TOWERS, "island:3/1"},
        {MST_STRATEGY_MIRRORED, "island:2/1"}, {MST_STRATEGY_MIRRORED, "island:6/1"},
        {MST_STRATEGY_ONE, "cpu:1/3"},         {MST_STRATEGY_MIRRORED, "cpu:1/1,island:2/1"},
    };
    trained first = train(MST_STRATEGY_ONE, "cpu:1/1");
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        if (engine_has_other_bits(places[p].devices)) continue;
        trained t = train(places[p].kind, places[p].devices);
        for (int k = 0; k < NUM_STATES; k++)
            if (!engine_same_bits(t.state[k], first.state[k]))
                fail_msg("strategy %d on %s gives another '%s'", (int)places[p].kind, places[p].devices, names[k]);
        if (!engine_same_bits(t.w, first.w))
            fail_msg("strategy %d on %s gives other weights", (int)places[p].kind, places[p].devices);
        end(&t);
    }
    end(&first);
}

/* ((0 + 1) + (2 + 3)) + (4 + 5) */
static float tree_sum(const trained *t, int64_t i) {
    float x[SHARDS];
    for (int s = 0; s < SHARDS; s++) x[s] = (float)mst_tensor_get(t->proposed[s], i);
    const float a = x[0] + x[1], b = x[2] + x[3], c = x[4] + x[5], left = a + b;
    return left + c;
}

static void values_are_joined_as_asked_in_the_fixed_tree(void **state) {
    (void)state;
    trained t = train(MST_STRATEGY_MIRRORED, "cpu:3/1");
    int64_t otherwise = 0; /* elements that the sum from left to right would change */
    for (int64_t i = 0; i < SIZE; i++) {
        const float sum = tree_sum(&t, i);
        float line = 0;
        for (int s = 0; s < SHARDS; s++) line += (float)mst_tensor_get(t.proposed[s], i);
        otherwise += line != sum;
        assert_true(mst_tensor_get(t.state[SUM], i) == sum);
        assert_true(mst_tensor_get(t.state[BY_VARIABLE], i) == sum);
        assert_true(mst_tensor_get(t.state[MEAN], i) == sum / SHARDS);
        assert_true(mst_tensor_get(t.state[FIRST], i) == mst_tensor_get(t.proposed[0], i));
    }
    assert_true(otherwise > 0);
    end(&t);
}

/* ---- by hand ---- */

/* Each shard proposes 0.75 * moving + 0.25 * x, and the loss is that of x - moving: both read what the step before
 * left.
 */
static void build_moving(void *context, mst_graph *graph, int shard, mst_replica *out) {
    mst_value *moving = context;
    if (shard == 0) *moving = mst_variable(graph, "moving", mst_scalar(graph, MST_F64, 8), .not_trainable = true);
    const mst_value x = mst_fill(graph, MST_F64, MST_SHAPE(1), 2 * shard); /* 0, 2, 4, 6: 3 in the mean */
    const mst_value mean = mst_reshape(x, MST_SCALAR),
                    w = mst_get_variable(graph, "w", MST_SCALAR, MST_F64, mst_zeros_initializer());
    mst_replica_update(out, *moving, mst_add(mst_scale(*moving, 0.75), mst_scale(mean, 0.25)), MST_JOIN_MEAN);
    out->loss = mst_add(mst_sub(x, *moving), mst_square(w));
}

static void moving_statistics_are_read_as_the_step_before_left_them(void **state) {
    (void)state;
    static const struct {
        mst_strategy_kind kind;
        const char *devices;
        int num_devices;
    } places[] = {{MST_STRATEGY_ONE, "cpu:1/1", 1},
                  {MST_STRATEGY_TOWERS, "cpu:2/1", 2},
                  {MST_STRATEGY_MIRRORED, "cpu:2/1", 2},
                  {MST_STRATEGY_MIRRORED, "cpu:4/1", 4}};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        mst_graph *g = engine_graph();
        mst_value moving = MST_NONE;
        mst_step_values values;
        const mst_strategy strategy = {.kind = places[p].kind, .num_devices = places[p].num_devices, .num_shards = 4};
        const mst_optimizer optimizer = mst_sgd(.learning_rate = 0.1);
        mst_strategy_build(g, &strategy, &optimizer, build_moving, &moving, &values);
        EXPECT_OK(mst_graph_check(g));
        mst_session *session = engine_session(g, places[p].devices);
        double wanted = 8;
        for (int i = 0; i < 5; i++) {
            assert_true(engine_number(session, values.loss) == 3 - wanted); /* and evaluating moves nothing */
            engine_run(session, values.train);
            wanted = 0.75 * wanted + 0.25 * 3;
            if (engine_number(session, moving) != wanted)
                fail_msg("strategy %d on %s, step %d: %g, not %g", (int)places[p].kind, places[p].devices, i,
                         engine_number(session, moving), wanted);
        }
        engine_end(g, session);
    }
}

/* Shard S adds S + 1 in each step. */
static void build_count(void *context, mst_graph *graph, int shard, mst_replica *out) {
    mst_value *count = context;
    if (shard == 0) *count = mst_variable(graph, "count", mst_scalar(graph, MST_F64, 5), .not_trainable = true);
    const mst_value w = mst_get_variable(graph, "w", MST_SHAPE(1), MST_F64, mst_zeros_initializer());
    mst_replica_update(out, *count, mst_scalar(graph, MST_F64, shard + 1), MST_JOIN_ADD);
    out->loss = mst_square(w);
}

static void variable_rises_by_what_all_shards_add(void **state) {
    (void)state;
    static const int shards[] = {1, 4};
    for (size_t i = 0; i < sizeof shards / sizeof *shards; i++) {
        mst_graph *g = engine_graph();
        mst_value count = MST_NONE;
        mst_step_values values;
        const mst_optimizer optimizer = mst_sgd(.learning_rate = 0.1);
        mst_strategy_build(g, &(mst_strategy){.num_shards = shards[i]}, &optimizer, build_count, &count, &values);
        EXPECT_OK(mst_graph_check(g));
        mst_session *session = engine_session(g, "cpu:1/1");
        for (int step = 0; step < 3; step++) engine_run(session, values.train);
        const int sum = shards[i] * (shards[i] + 1) / 2; /* in each of three steps */
        assert_true(engine_number(session, count) == 5 + 3 * sum);
        engine_end(g, session);
    }
}

/* ---- mistakes ---- */

/* The second replica leaves its update out. */
static void build_uneven(void *context, mst_graph *graph, int shard, mst_replica *out) {
    build_moving(context, graph, shard, out);
    out->num_updates = shard == 1 ? 0 : 1;
}

static void build_no_variable(void *context, mst_graph *graph, int shard, mst_replica *out) {
    build_moving(context, graph, shard, out);
    mst_replica_update(out, mst_rename(mst_scalar(graph, MST_F64, 1), "number"), *(mst_value *)context, MST_JOIN_SUM);
}

static void expect_refused(mst_replica_function build, const char *text) {
    mst_graph *g = engine_graph();
    mst_value moving = MST_NONE;
    mst_step_values values;
    const mst_optimizer optimizer = mst_sgd(.learning_rate = 0.1);
    mst_strategy_build(g, &(mst_strategy){.num_shards = 2}, &optimizer, build, &moving, &values);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, text);
    mst_graph_destroy(g);
}

static void updates_that_cannot_be_joined_are_refused(void **state) {
    (void)state;
    expect_refused(build_uneven, "the replicas do not update the same variables in the same order");
    expect_refused(build_no_variable, "which is no variable");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_the_strategy),
        cmocka_unit_test(values_are_joined_as_asked_in_the_fixed_tree),
        cmocka_unit_test(moving_statistics_are_read_as_the_step_before_left_them),
        cmocka_unit_test(variable_rises_by_what_all_shards_add),
        cmocka_unit_test(updates_that_cannot_be_joined_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
