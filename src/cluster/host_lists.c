/* Clusters from the flags of TensorFlow's programs, --ps_hosts and --worker_hosts. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "cluster/cluster_spec.h"

/* Adds the tasks of JOB. HOSTS: "a:2222,b:2222"; the function cuts this text up. */
static mst_status add_hosts(mst_cluster *cluster, const char *job, char *hosts) {
    int64_t index = 0;
    for (char *host; (host = strsep(&hosts, ",")); index++) MST_TRY(mst_cluster_add(cluster, job, index, host));
    return MST_OK;
}

static mst_status read_hosts(mst_cluster *cluster, const char *job, const char *hosts) {
    if (!hosts || !*hosts) return MST_OK;
    char *copy = strdup(hosts);
    if (!copy) return MST_NO_MEMORY("for a cluster");
    const mst_status status = add_hosts(cluster, job, copy);
    free(copy);
    return status ? mst_error_prefix("--%s_hosts", job) : MST_OK;
}

mst_status mst_cluster_from_hosts(const char *ps_hosts, const char *worker_hosts, const char *job_name, int task_index,
                                  mst_cluster **out) {
    if (MST_IS_NULL(job_name) || MST_IS_NULL(out)) return MST_INVALID;
    mst_cluster *cluster;
    MST_TRY(mst_cluster_begin(&cluster));
    mst_status status = read_hosts(cluster, "ps", ps_hosts);
    if (!status) status = read_hosts(cluster, "worker", worker_hosts);
    if (!status) status = mst_cluster_end(cluster, job_name, task_index);
    return mst_cluster_give(cluster, status, "flags of the cluster", out);
}
