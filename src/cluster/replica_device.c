/* A device scope that places variables on parameter servers. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "cluster/ps_load.h"
#include "graph/device_name.h"
#include "graph/graph.h"
#include "muster/cluster.h"

static int count_tasks(const mst_cluster *cluster, const char *job) {
    int count = 0;
    for (int i = 0; i < mst_cluster_num_tasks(cluster); i++)
        count += strcmp(mst_cluster_task(cluster, i).job, job) == 0;
    return count;
}

static mst_status count_ps(const mst_replica_device_options *o, const char *ps_device, int *out) {
    mst_device_name name;
    MST_TRY(mst_device_name_parse(ps_device, &name));
    if (!*name.job)
        return MST_FAIL(MST_INVALID, "replica devices: ps_device is '%s', which names no job: write /job:ps",
                        ps_device);
    *out = o->cluster ? count_tasks(o->cluster, name.job) : o->num_ps;
    if (*out >= 0 && *out <= MST_MOST_TASK) return MST_OK;
    return MST_FAIL(MST_INVALID, "replica devices: num_ps is %d, must be from 0 to %d", *out, MST_MOST_TASK);
}

/* Keeps the calling thread's error in GRAPH, and opens a scope that changes nothing. */
static int push_error(mst_graph *graph) {
    mst_graph_keep_error(graph);
    return mst_device_push(graph, "");
}

int mst_replica_device_push(mst_graph *graph, const mst_replica_device_options *options) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, options)) return 0;
    const char *ps_device = options->ps_device ? options->ps_device : "/job:ps";
    const char *worker_device = options->worker_device ? options->worker_device : "/job:worker";
    int num_ps;
    if (count_ps(options, ps_device, &num_ps)) return push_error(graph);
    if (num_ps == 0) return mst_device_push(graph, NULL);
    mst_ps_load *load;
    if (mst_ps_load_create(num_ps, options->by_bytes, &load)) return push_error(graph);
    const int open =
        mst_device_setter_push(graph, ps_device, worker_device, mst_ps_load_give, load, mst_ps_load_size(load));
    free(load);
    return open;
}
