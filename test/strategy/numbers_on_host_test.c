/* With a strategy over devices that compile, the CPU computes the numbers of a step, and the devices do all work on
 * weights. */
#include "support/test.h"

#include "support/compiling.h"

#define ACCEL0 "/device:ACCEL:0"
#define ACCEL1 "/device:ACCEL:1"
#define CPU0 "/device:CPU:0"

/* The replicas draw their batch, so nothing is fed. */
static void build_linear(void *context, mst_graph *graph, int shard, mst_replica *out) {
    (void)context, (void)shard;
    const mst_value x = mst_random_uniform(graph, MST_SHAPE(4, 3));
    const mst_value w =
        mst_get_variable(graph, "w", MST_SHAPE(3, 1), MST_F32, mst_constant_initializer(0.25), .l2 = 0.5f);
    const mst_value seen =
        mst_get_variable(graph, "seen", MST_SCALAR, MST_F32, mst_zeros_initializer(), .not_trainable = true);
    const mst_value y = mst_rename(mst_reshape(mst_matmul(x, w), MST_SHAPE(-1)), "y");
    mst_replica_update(out, seen, mst_rename(mst_reduce_mean(x), "mean"), MST_JOIN_MEAN);
    out->loss = mst_square(y);
    out->num_metrics = 1;
    out->metric_sum[0] = mst_cast(mst_rename(mst_reduce_sum(y), "metric"), MST_F64);
    out->metric_count[0] = mst_dim_size(y, 0, MST_F64);
}

static char *step_of(mst_graph *g, mst_strategy strategy, const char *devices, mst_step_values *values) {
    char *log;
    const mst_optimizer adam = {.rule = "adam",
                                .schedule = mst_exponential_decay(.rate = 0.1, .decay_rate = 0.5, .decay_steps = 10)};
    mst_strategy_build(g, &strategy, &adam, build_linear, NULL, values);
    const mst_value all[] = {values->loss, values->num_examples, values->metric_sum[0], values->metric_count[0],
                             values->train};
    EXPECT_OK(compiling_place(g, devices, false, NULL, mst_group(all, 5), &log));
    return log;
}

/* All that is reported is on DEVICE. */
static void expect_numbers(const char *log, const mst_step_values *values, const char *device) {
    const mst_value numbers[] = {values->loss,          values->loss_sum,        values->num_examples,
                                 values->metric_sum[0], values->metric_count[0], values->learning_rate,
                                 values->global_step};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        compiling_expect(log, mst_value_name(numbers[i]), device);
}

static void numbers_of_a_step_are_computed_on_the_cpu(void **state) {
    (void)state;
    static const char *const devices[] = {ACCEL0, ACCEL1};
    static const mst_strategy_kind kinds[] = {MST_STRATEGY_TOWERS, MST_STRATEGY_MIRRORED};
    for (int k = 0; k < 2; k++) {
        mst_graph *g = engine_graph();
        mst_step_values values;
        const char *scope = k == 0 ? "tower" : "replica";
        char name[64];
        char *log =
            step_of(g, (mst_strategy){.kind = kinds[k], .num_devices = 2, .devices = devices}, "accel:2", &values);
        expect_numbers(log, &values, CPU0);
        compiling_expect(log, "w", ACCEL0);
        compiling_expect(log, "w/m", ACCEL0);
        compiling_expect(log, "seen", ACCEL0);
        compiling_expect(log, "update/apply_gradients", ACCEL0);
        for (int s = 0; s < 2; s++) {
            snprintf(name, sizeof name, "%s_%d/metric", scope, s);
            compiling_expect(log, name, devices[s]);
            snprintf(name, sizeof name, "%s_%d/gradients/matmul", scope, s);
            compiling_expect(log, name, devices[s]);
        }
        free(log);
        mst_graph_destroy(g);
    }
}

static void host_is_that_of_the_task_of_the_first_device(void **state) {
    (void)state;
    static const char *const devices[] = {"/job:localhost/replica:0/task:0/device:ACCEL:1"};
    mst_graph *g = engine_graph();
    mst_step_values values;
    char *log =
        step_of(g, (mst_strategy){.kind = MST_STRATEGY_ONE, .num_shards = 2, .devices = devices}, "accel:2", &values);
    expect_numbers(log, &values, CPU0);
    compiling_expect(log, "w", ACCEL1);
    assert_string_equal(mst_node_device(values.loss.node), "/job:localhost/replica:0/task:0/device:CPU:0");
    free(log);
    mst_graph_destroy(g);
}

static void devices_that_do_not_compile_compute_their_numbers_themselves(void **state) {
    (void)state;
    static const char *const devices[] = {"/device:CPU:1", "/device:CPU:0"};
    mst_graph *g = engine_graph();
    mst_step_values values;
    char *log = step_of(g, (mst_strategy){.kind = MST_STRATEGY_MIRRORED, .num_devices = 2, .devices = devices},
                        "cpu:2/1", &values);
    expect_numbers(log, &values, "/device:CPU:1");
    free(log);
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_step_are_computed_on_the_cpu),
        cmocka_unit_test(host_is_that_of_the_task_of_the_first_device),
        cmocka_unit_test(devices_that_do_not_compile_compute_their_numbers_themselves),
    };
    return cmocka_run_group_tests(tests, compiling_register, NULL);
}
