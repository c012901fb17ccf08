#include "support/ps_job.h"

#include <stdio.h>

#include "strategy/update_graph.h"
#include "support/test.h"

static const char *const names[PS_SERVERS] = {"w0", "w1"};

mst_cluster *ps_job_cluster(task_address *address, const char *name, int index) {
    char workers[80], servers[80];
    mst_cluster *cluster;
    snprintf(workers, sizeof workers, "%s,%s", address[0], address[1]);
    snprintf(servers, sizeof servers, "%s,%s", address[2], address[3]);
    EXPECT_OK(mst_cluster_from_hosts(servers, workers, name, index, &cluster));
    return cluster;
}

mst_tensor *ps_job_filled(double value) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(PS_COUNT), &tensor));
    for (int i = 0; i < PS_COUNT; i++) mst_tensor_set(tensor, i, value);
    return tensor;
}

mst_store *ps_job_store(double value) {
    mst_store *store;
    mst_tensor *tensor = ps_job_filled(value);
    EXPECT_OK(mst_store_create(&store));
    for (int p = 0; p < PS_SERVERS; p++) EXPECT_OK(mst_store_set(store, NULL, names[p], MST_STATE_WEIGHT, tensor));
    mst_tensor_release(tensor);
    return store;
}

void ps_job_expect(mst_store *store, double wanted) {
    for (int p = 0; p < PS_SERVERS; p++) {
        mst_tensor *value;
        EXPECT_OK(mst_store_get(store, NULL, names[p], &value));
        for (int i = 0; i < PS_COUNT; i++) assert_true(mst_tensor_get(value, i) == wanted);
        mst_tensor_release(value);
    }
}

mst_graph *ps_job_update(const mst_optimizer *optimizer, int p) {
    mst_graph *graph, *update;
    EXPECT_OK(mst_graph_create(&graph));
    const mst_value variable = mst_variable(graph, names[p], mst_fill(graph, MST_F32, MST_SHAPE(PS_COUNT), 0));
    EXPECT_OK(mst_update_graph_create(optimizer, &(mst_updated){.variable = &variable, .count = 1}, &update));
    mst_graph_destroy(graph);
    return update;
}
