/* Several workers train the network 784-500-10 on Fashion-MNIST together. Each process learns from its environment who
 * the others are (muster/cluster.h):
 *
 *      muster launch --workers 2 -- ./multi_worker
 *
 * Started alone it trains alone, and ends with the same weights: they depend on the seed, the batch and the number of
 * shards, and not on the number of workers. */
#include <stdio.h>

#include "muster/muster.h"

/* TASK: this process in its cluster; NULL: it is alone. */
static mst_status fit(mst_model *model, mst_dataset *images, mst_task *task) {
    const bool prints = !task || mst_task_is_chief(task);
    char sha256[65];
    mst_flatten(model);
    mst_dense(model, 500, .activation = MST_RELU);
    mst_dense(model, 10);
    MST_TRY(mst_compile(model, .optimizer = mst_adam(), .metric = {MST_METRIC_ACCURACY},
                        .strategy = {.kind = task ? MST_STRATEGY_MULTI_WORKER : MST_STRATEGY_DEFAULT, .num_shards = 4},
                        .session = {.devices = "cpu:1/1"}, .task = task, .seed = 7));
    if (prints) printf("Number of devices: %d\n", mst_model_num_replicas(model));
    MST_TRY(mst_fit(model, .data = images, .batch_size = 200, .steps = 100, .progress = prints ? stdout : NULL));
    MST_TRY(mst_model_sha256(model, sha256));
    printf("weights sha256: %s\n", sha256);
    return task ? mst_task_leave(task) : MST_OK; /* waits until the others have come here too */
}

static mst_status train(mst_task *task) {
    mst_dataset *images = mst_data_scale(mst_data_open("fashion-mnist", "train"), 0, MST_F32, 1.0 / 255);
    mst_model *model;
    MST_TRY(mst_model_create(&model));
    const mst_status status = fit(model, images, task);
    mst_model_destroy(model); /* before the task that it uses */
    mst_dataset_release(images);
    return status;
}

static mst_status run(void) {
    mst_cluster *cluster;
    mst_task *task = NULL;
    char line[256];
    MST_TRY(mst_cluster_from_environment(NULL, &cluster));
    puts(mst_cluster_print(cluster, line, sizeof line));
    mst_status status = MST_OK;
    if (mst_cluster_num_workers(cluster) > 1) status = mst_task_open(&task, .cluster = cluster, .log = stderr);
    if (!status) status = train(task);
    mst_task_close(task);
    mst_cluster_release(cluster);
    return status;
}

int main(void) {
    if (run()) return fprintf(stderr, "error: %s\n", mst_error()->message), 1;
    return 0;
}
