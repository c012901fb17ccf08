/** muster server: a parameter server of a cluster. */
#include <string.h>

#include "cli/cluster_options.h"
#include "cli/command.h"
#include "cli/serve.h"

typedef struct server_options {
    const char *worker_hosts, *ps_hosts, *job_name, *bind, *cluster_key, *transport, *update_log, *replay_updates;
    int task_index;
    bool insecure, quiet;
    double timeout, recovery_timeout, step_timeout;
} server_options;
#define AT(member) offsetof(server_options, member)

static const option cluster_options[] = {
    {"worker-hosts", OPTION_TEXT, AT(worker_hosts), "HOST:PORT,...",
     .help = "all workers of the cluster (default: the cluster of the environment variable TF_CONFIG)"},
    {"ps-hosts", OPTION_TEXT, AT(ps_hosts), "HOST:PORT,...", .help = "all parameter servers"},
    {"job-name", OPTION_TEXT, AT(job_name), "JOB", .initial = "ps", .help = "the job of this task"},
    {"task-index", OPTION_INT, AT(task_index), "N", NULL, 0, 1e6, .help = "its place in --ps-hosts, from 0",
     .alias = "task-id"},
    CLUSTER_CONNECTION_OPTIONS(CLUSTER_KEY_HELP, CLUSTER_TRANSPORT_HELP, NULL),
    {"timeout", OPTION_NUMBER, AT(timeout), "SECONDS", NULL, 0.1, 1e6,
     .help = "silence after which a worker is lost (default 10)"},
    {"recovery-timeout", OPTION_NUMBER, AT(recovery_timeout), "SECONDS", NULL, 0.1, 1e9,
     .help = "how long a lost worker is waited for (default 600); asynchronous workers then go on without it"},
    {"step-timeout", OPTION_NUMBER, AT(step_timeout), "SECONDS", NULL, 0.1, 1e9,
     .help = "how long synchronous workers wait for the gradients of one that is there (default 600)"},
    CLUSTER_UPDATE_LOG_OPTIONS,
    {"quiet", OPTION_FLAG, AT(quiet), .help = "says nothing but errors"},
    {0}};
static const option_section sections[] = {{.title = "Cluster", .options = cluster_options}, {0}};

static mst_status server_cluster(const server_options *o, mst_cluster **out) {
    if (o->ps_hosts && !o->worker_hosts)
        return MST_FAIL(MST_INVALID, "--ps-hosts is for a cluster: give --worker-hosts too");
    return o->worker_hosts ? mst_cluster_from_hosts(o->ps_hosts, o->worker_hosts, o->job_name, o->task_index, out)
                           : mst_cluster_from_environment(NULL, out);
}

static int check_server(const mst_cluster *cluster) {
    const mst_task_info self = mst_cluster_task(cluster, mst_cluster_self(cluster));
    if (mst_cluster_num_ps(cluster) == 0)
        return command_fail(EXIT_USAGE,
                            "server: the cluster has no parameter servers: give --ps-hosts and --worker-hosts, or set "
                            "TF_CONFIG");
    if (strcmp(self.job, "ps") == 0) return EXIT_DONE;
    return command_fail(EXIT_USAGE,
                        "server: this is task %s:%d of the cluster, and no parameter server: start it with 'muster "
                        "train', or the program that trains",
                        self.job, (int)self.index);
}

static int server_run(const command_call *call) {
    const server_options *o = call->options;
    mst_cluster *cluster;
    if (server_cluster(o, &cluster)) return command_fail_usage("server");
    int status = check_server(cluster);
    if (!status)
        status =
            serve((mst_server_options){CLUSTER_SERVER_OPTIONS(cluster, o), .step_timeout = o->step_timeout}, o->quiet);
    mst_cluster_release(cluster);
    return status;
}

const command command_server = {
    .name = "server",
    .summary = "keeps the variables of a cluster whose workers train with parameter servers",
    .usage = "--ps-hosts HOST:PORT,... --worker-hosts HOST:PORT,... [options]",
    .notes =
        "Needs neither the model nor the data: the chief sends what the server has to do. Ends when all workers have\n"
        "done their work. The same as muster train --job-name ps.",
    .sections = sections,
    .options_size = sizeof(server_options),
    .run = server_run,
};
