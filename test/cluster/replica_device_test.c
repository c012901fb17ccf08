/* Variables on parameter servers, as TensorFlow's replica_device_setter puts them. */
#include "support/test.h"

#include "muster/cluster.h"
#include "muster/minimize.h"

static mst_value variable(mst_graph *g, const char *name, int64_t count) {
    return mst_get_variable(g, name, MST_SHAPE(count));
}

static const char *device_of(mst_value value) {
    return mst_node_device(value.node);
}

/* The graph must have no error. It is destroyed. */
static void end(mst_graph *g) {
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

static void variables_go_to_the_servers_in_turn_and_the_rest_to_the_worker(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_from_hosts("localhost:1,localhost:2", "localhost:3", "worker", 0, &cluster));
    mst_with_replica_device (g, .cluster = cluster) {
        assert_string_equal(device_of(mst_global_step(g)), "/job:ps/task:0");
        assert_string_equal(device_of(variable(g, "a", 3)), "/job:ps/task:1");
        assert_string_equal(device_of(variable(g, "b", 9)), "/job:ps/task:0");
        assert_string_equal(device_of(mst_neg(variable(g, "c", 1))), "/job:worker");
        assert_string_equal(device_of(variable(g, "d", 1)), "/job:ps/task:0");
    }
    assert_string_equal(device_of(variable(g, "e", 1)), "");
    mst_cluster_release(cluster);
    end(g);
}

static void variables_go_to_the_server_with_the_fewest_bytes(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_with_replica_device (g, .num_ps = 2, .worker_device = "/job:worker/task:1", .by_bytes = true) {
        assert_string_equal(device_of(variable(g, "a", 10)), "/job:ps/task:0");
        assert_string_equal(device_of(variable(g, "b", 4)), "/job:ps/task:1");
        assert_string_equal(device_of(variable(g, "c", 5)), "/job:ps/task:1");
        assert_string_equal(device_of(variable(g, "d", 1)), "/job:ps/task:1");
        assert_string_equal(device_of(mst_neg(variable(g, "e", 1))), "/job:worker/task:1");
        assert_string_equal(device_of(variable(g, "f", 1)), "/job:ps/task:1");
    }
    end(g);
}

static void inner_scopes_count_before_the_servers(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_with_device (g, "/replica:0/cpu:3")
        mst_with_replica_device (g, .num_ps = 3, .ps_device = "/job:ps/cpu:0") {
            assert_string_equal(device_of(variable(g, "a", 1)), "/job:ps/replica:0/task:0/device:CPU:0");
            mst_with_device (g, "/cpu:1") {
                assert_string_equal(device_of(variable(g, "b", 1)), "/job:ps/replica:0/task:1/device:CPU:1");
                assert_string_equal(device_of(mst_neg(variable(g, "c", 1))), "/job:worker/replica:0/device:CPU:1");
            }
            mst_with_device (g, "/task:2")
                assert_string_equal(device_of(variable(g, "d", 1)), "/job:ps/replica:0/task:2/device:CPU:0");
            mst_with_device (g, "/job:worker/task:5") /* not counted */
                assert_string_equal(device_of(variable(g, "e", 1)), "/job:worker/replica:0/task:5/device:CPU:0");
            assert_string_equal(device_of(variable(g, "f", 1)), "/job:ps/replica:0/task:1/device:CPU:0");
            mst_with_device (g, NULL) assert_string_equal(device_of(variable(g, "h", 1)), "");
            assert_string_equal(device_of(variable(g, "i", 1)), "/job:ps/replica:0/task:2/device:CPU:0");
        }
    end(g);
}

static void slots_and_shared_variables_stay_with_theirs(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_with_replica_device (g, .num_ps = 2) {
        const mst_value a = variable(g, "a", 4), b = variable(g, "b", 4);
        mst_with_variables (g, "w", MST_REUSE_AUTO) {
            assert_string_equal(device_of(variable(g, "c", 4)), "/job:ps/task:0");
            assert_string_equal(device_of(variable(g, "c", 4)), "/job:ps/task:0");
            assert_string_equal(device_of(variable(g, "d", 4)), "/job:ps/task:1");
        }
        mst_minimize(&mst_adam(.learning_rate = 0.1), mst_reduce_sum(mst_mul(a, b)), NULL, 0, MST_NONE);
        const mst_value slot = {.node = mst_graph_find(g, "b/m")};
        assert_non_null(slot.node);
        assert_string_equal(device_of(slot), "/job:ps/task:1");
    }
    end(g);
}

static void without_servers_no_device_is_asked_for(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_from_hosts(NULL, "localhost:3", "worker", 0, &cluster));
    mst_with_device (g, "/cpu:0")
        mst_with_replica_device (g, .cluster = cluster) {
            assert_string_equal(device_of(mst_neg(variable(g, "a", 1))), "");
            assert_string_equal(device_of(variable(g, "b", 1)), "");
        }
    mst_cluster_release(cluster);
    end(g);
}

static void wrong_options_are_errors_of_the_graph(void **state) {
    (void)state;
    static const struct {
        mst_replica_device_options options;
        const char *message;
    } wrong[] = {
        {{.num_ps = -1}, "replica devices: num_ps is -1, must be from 0"},
        {{.num_ps = 1000001}, "num_ps is 1000001"},
        {{.num_ps = 1, .ps_device = "/cpu:0"}, "ps_device is '/cpu:0', which names no job: write /job:ps"},
        {{.num_ps = 1, .ps_device = "/ps"}, "device '/ps' is no device name"},
        {{.num_ps = 1, .worker_device = "/worker"}, "device '/worker' is no device name"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mst_graph *g = engine_graph();
        assert_int_equal(mst_replica_device_push(g, &wrong[i].options), 1);
        mst_device_pop(g);
        EXPECT_ERROR(mst_graph_check(g), MST_INVALID, wrong[i].message);
        mst_graph_destroy(g);
    }
    mst_graph *g = engine_graph();
    assert_int_equal(mst_replica_device_push(NULL, &wrong[0].options), 0);
    assert_int_equal(mst_replica_device_push(g, NULL), 0);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "mst_replica_device_push: options is NULL");
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_go_to_the_servers_in_turn_and_the_rest_to_the_worker),
        cmocka_unit_test(variables_go_to_the_server_with_the_fewest_bytes),
        cmocka_unit_test(inner_scopes_count_before_the_servers),
        cmocka_unit_test(slots_and_shared_variables_stay_with_theirs),
        cmocka_unit_test(without_servers_no_device_is_asked_for),
        cmocka_unit_test(wrong_options_are_errors_of_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
