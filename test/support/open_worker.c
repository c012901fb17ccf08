#include "support/open_worker.h"

mst_status open_worker(task_address *address, int count, int self, mst_task_options options, mst_task **out) {
    const char *hosts[MOST_TASKS];
    const mst_cluster_job workers = {.name = "worker", .num_tasks = count, .address = hosts};
    mst_cluster *cluster;
    for (int i = 0; i < count; i++) hosts[i] = address[i];
    MST_TRY(mst_cluster_create(
        &(mst_cluster_options){.jobs = &workers, .num_jobs = 1, .job_name = "worker", .task_index = self}, &cluster));
    options.cluster = cluster;
    const mst_status status = mst_task_open_with(&options, out);
    mst_cluster_release(cluster);
    return status;
}
