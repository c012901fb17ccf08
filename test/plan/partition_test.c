/* How often the devices of a domain wait for each other in a step. */
#include "support/test.h"

enum { LAYERS = 10, WIDTH = 4 };

/* Layers of a weight and a bias, whose gradients become ready one after the other. */
static void build_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    char name[32];
    mst_value x = mst_random_uniform(graph, MST_SHAPE(2, WIDTH));
    (void)context, (void)shard;
    for (int i = 0; i < LAYERS; i++) {
        snprintf(name, sizeof name, "layer%d/weights", i);
        mst_value w = mst_get_variable(graph, name, MST_SHAPE(WIDTH, WIDTH), MST_F32, mst_constant_initializer(0.1));
        snprintf(name, sizeof name, "layer%d/biases", i);
        mst_value b = mst_get_variable(graph, name, MST_SHAPE(WIDTH), MST_F32, mst_zeros_initializer());
        x = mst_tanh(mst_add(mst_matmul(x, w), b));
    }
    out->loss = mst_reduce_mean(mst_square(x), .axes = MST_AXES(1));
}

/* Waits of a mirrored step over this many devices, which is planned and run. */
static int64_t waits_of(int devices, mst_optimizer optimizer) {
    char names[32];
    snprintf(names, sizeof names, "cpu:%d/1", devices);
    mst_graph *g = engine_graph();
    mst_session *session = engine_session(g, names);
    mst_strategy mirrored = {.kind = MST_STRATEGY_MIRRORED};
    mst_step_values values;
    engine_build_step(g, session, &mirrored, &optimizer, build_replica, NULL, &values);
    EXPECT_OK(mst_session_run(session, NULL, 0, &values.train, 1, NULL));
    const int64_t waits = mst_session_plan_info(session).waits;
    engine_end(g, session);
    return waits;
}

static void waits_grow_linearly_with_devices(void **state) {
    (void)state;
    static const struct {
        const char *name;
        mst_optimizer optimizer;
    } cases[] = {{"not clipped", {.rule = "sgd", .learning_rate = 0.1}},
                 {"clip_norm", {.rule = "sgd", .learning_rate = 0.1, .clip_norm = 1}},
                 {"clip_global_norm", {.rule = "sgd", .learning_rate = 0.1, .clip_global_norm = 1}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int devices = 16; devices <= 128; devices *= 2) {
            const int64_t waits = waits_of(devices, cases[c].optimizer);
            if (waits > 4 * devices)
                fail_msg("%s: %d devices wait %lld times in a step", cases[c].name, devices, (long long)waits);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_grow_linearly_with_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
