#include "support/ps_job.h"

#include <stdio.h>

#include "strategy/update_graph.h"
#include "support/test.h"

enum { PS_SECONDS = 20 };

const mst_fingerprint ps_job_fingerprint = {.name = "program", .hash = 7};

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
    EXPECT_OK(
        mst_update_graph_create(optimizer, &(mst_update_graph_variables){.variable = &variable, .count = 1}, &update));
    mst_graph_destroy(graph);
    return update;
}

mst_ps_client *ps_job_open(task_address *address, int worker) {
    mst_cluster *cluster = ps_job_cluster(address, "worker", worker);
    const mst_task_options options = {.cluster = cluster, .recovery_timeout = PS_SECONDS, .timeout = PS_SECONDS};
    mst_ps_client *client;
    EXPECT_OK(mst_ps_client_open(&options, &(mst_mail_options){.cluster = cluster}, &client));
    mst_cluster_release(cluster);
    return client;
}

int64_t ps_job_join(mst_ps_client *client, mst_store *store, int32_t aggregate) {
    static const mst_optimizer optimizer = {.rule = "sgd", .learning_rate = 0.5f};
    const mst_spec spec = {.dtype = MST_F32, .shape = MST_SHAPE(PS_COUNT)};
    const mst_ps_variable variables[] = {{.name = names[0], .spec = spec}, {.name = names[1], .spec = spec, .ps = 1}};
    mst_graph *const graph[] = {ps_job_update(&optimizer, 0), ps_job_update(&optimizer, 1)};
    const mst_ps_program program = {.store = store,
                                    .variable = variables,
                                    .num_variables = PS_SERVERS,
                                    .graph = graph,
                                    .synchronous = true,
                                    .aggregate = aggregate,
                                    .num_shards = PS_WORKERS,
                                    .num_leaves = 1,
                                    .fingerprint = &ps_job_fingerprint,
                                    .num_fingerprints = 1};
    int64_t position;
    EXPECT_OK(mst_ps_client_join(client, &program, &position));
    for (int p = 0; p < PS_SERVERS; p++) mst_graph_destroy(graph[p]);
    return position;
}

mst_status ps_job_step(mst_ps_client *client, int64_t position, double gradient) {
    mst_tensor *tensor = ps_job_filled(gradient);
    int64_t step;
    const mst_status status = mst_ps_client_update(client, position, (mst_tensor *const[]){tensor, tensor}, &step);
    mst_tensor_release(tensor);
    return status;
}
