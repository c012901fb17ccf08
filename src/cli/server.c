/** muster server: a parameter server of a cluster, or a task server, which runs parts of graphs for sessions. */
#include <string.h>

#include "cli/cluster_options.h"
#include "cli/command.h"
#include "cli/serve.h"
#include "cli/serve_sessions.h"
#include "cli/signals.h"

typedef struct server_options {
    const char *cluster, *worker_hosts, *ps_hosts, *job_name, *bind, *cluster_key, *transport, *update_log,
        *replay_updates, *devices, *visible_devices;
    int task_index;
    bool sessions, insecure, quiet;
    double timeout, recovery_timeout, step_timeout;
    int64_t memory_limit;
} server_options;
#define AT(member) offsetof(server_options, member)

static const option cluster_options[] = {
    {"cluster", OPTION_TEXT, AT(cluster), "JOB=HOST:PORT,...;...",
     .help = "all tasks of a cluster with jobs of any names, which serve sessions"},
    {"worker-hosts", OPTION_TEXT, AT(worker_hosts), "HOST:PORT,...",
     .help = "all workers of the cluster (default: the cluster of the environment variable TF_CONFIG)"},
    {"ps-hosts", OPTION_TEXT, AT(ps_hosts), "HOST:PORT,...", .help = "all parameter servers"},
    {"job-name", OPTION_TEXT, AT(job_name), "JOB",
     .help = "the job of this task (default ps; with --cluster the first one)"},
    {"task-index", OPTION_INT, AT(task_index), "N", NULL, 0, 1e6, .help = "its place in the list of its job, from 0",
     .alias = "task-id"},
    CLUSTER_CONNECTION_OPTIONS(CLUSTER_KEY_HELP, CLUSTER_TRANSPORT_HELP, mst_transport_name),
    {"timeout", OPTION_NUMBER, AT(timeout), "SECONDS", NULL, 0.1, 1e6,
     .help = "silence after which a worker is lost (default 10)"},
    {"recovery-timeout", OPTION_NUMBER, AT(recovery_timeout), "SECONDS", NULL, 0.1, 1e9,
     .help = "how long a lost worker is waited for (default 600); asynchronous workers then go on without it"},
    {"step-timeout", OPTION_NUMBER, AT(step_timeout), "SECONDS", NULL, 0.1, 1e9,
     .help = "how long synchronous workers wait for the gradients of one that is there (default 600)"},
    CLUSTER_UPDATE_LOG_OPTIONS,
    {"quiet", OPTION_FLAG, AT(quiet), .help = "says nothing but errors"},
    {0}};
static const option session_options[] = {
    {"sessions", OPTION_FLAG, AT(sessions),
     .help = "serves sessions that have its address as their target, as all other tasks of the cluster must too; "
             "--cluster implies it"},
    {"devices", OPTION_TEXT, AT(devices), "SPEC", .help = "its devices, such as cpu:2, cpu:2/4 or gpu (default cpu)"},
    {"visible-devices", OPTION_TEXT, AT(visible_devices), "N,N,...",
     .help = "places in that list that are used, numbered anew from 0"},
    {"memory-limit", OPTION_BYTES, AT(memory_limit), "BYTES", NULL, 0, 1e18,
     .help = "that each device may use for a session (default: no limit)"},
    {0}};
static const option_section sections[] = {{.title = "Cluster", .options = cluster_options},
                                          {.title = "Sessions of other programs", .options = session_options},
                                          {0}};

static mst_status server_cluster(const server_options *o, mst_cluster **out) {
    if (o->cluster) return cluster_from_jobs(o->cluster, o->job_name, o->task_index, out);
    if (o->ps_hosts && !o->worker_hosts && !o->sessions)
        return MST_FAIL(MST_INVALID, "--ps-hosts is for a cluster: give --worker-hosts too");
    return o->worker_hosts || o->ps_hosts ? mst_cluster_from_hosts(o->ps_hosts, o->worker_hosts,
                                                                   o->job_name ? o->job_name : "ps", o->task_index, out)
                                          : mst_cluster_from_environment(&(mst_launcher_options){.log = stderr}, out);
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
                        "train', or the program that trains; or all tasks with --sessions, to run graphs of others",
                        self.job, (int)self.index);
}

/* Checks that no option for training was given. */
static int check_sessions(const server_options *o, const mst_cluster *cluster) {
    const char *const wrong = o->update_log                   ? "--update-log"
                              : o->replay_updates             ? "--replay-updates"
                              : o->step_timeout > 0           ? "--step-timeout"
                              : o->recovery_timeout > 0       ? "--recovery-timeout"
                              : o->cluster && o->worker_hosts ? "--worker-hosts"
                              : o->cluster && o->ps_hosts     ? "--ps-hosts"
                                                              : NULL;
    if (wrong) return command_fail(EXIT_USAGE, "server: %s does not go together with --cluster or --sessions", wrong);
    if (mst_cluster_task(cluster, mst_cluster_self(cluster)).address) return EXIT_DONE;
    return command_fail(EXIT_USAGE,
                        "server: the cluster is not known: give --cluster, or --worker-hosts and --ps-hosts, or set "
                        "TF_CONFIG");
}

static int server_run(const command_call *call) {
    const server_options *o = call->options;
    mst_cluster *cluster;
    if (signals_end_at_once()) return command_fail_library(EXIT_FAILED, NULL);
    if (server_cluster(o, &cluster)) return command_fail_usage("server");
    const bool sessions = o->sessions || o->cluster;
    int status = sessions ? check_sessions(o, cluster) : check_server(cluster);
    if (!status && sessions)
        status = serve_sessions((mst_task_server_options){.cluster = cluster,
                                                          .bind = o->bind,
                                                          .key_file = o->cluster_key,
                                                          .insecure = o->insecure,
                                                          .transport = o->transport,
                                                          .timeout = o->timeout,
                                                          .devices = o->devices,
                                                          .visible_devices = o->visible_devices,
                                                          .memory_limit = o->memory_limit},
                                o->quiet);
    else if (!status)
        status = serve((mst_server_options){CLUSTER_SERVER_OPTIONS(cluster, o), .step_timeout = o->step_timeout},
                       o->quiet, false);
    mst_cluster_release(cluster);
    return status;
}

const command command_server = {
    .name = "server",
    .summary = "is a task of a cluster: a parameter server, or one that runs parts of graphs for sessions",
    .usage = "--ps-hosts HOST:PORT,... --worker-hosts HOST:PORT,... | --cluster JOB=HOST:PORT,... [options]",
    .notes =
        "A parameter server needs neither the model nor the data: the chief sends what the server has to do. Ends when "
        "all workers have\n"
        "done their work. The same as muster train --job-name ps. SIGTERM: it gives the chief its state and ends;\n"
        "the job waits for its return. SIGINT ends the job.\n\n"
        "With --cluster or --sessions it is a task server: programs whose sessions have its address as their target,\n"
        "tcp://HOST:PORT, run parts of their graphs on all tasks of the cluster. It ends with SIGINT or SIGTERM.",
    .sections = sections,
    .options_size = sizeof(server_options),
    .run = server_run,
};
