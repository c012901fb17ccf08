#include "cli/train/train_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster_options.h"
#include "cli/command.h"
#include "cli/serve.h"
#include "cli/signals.h"

/* ---- which cluster ---- */

static mst_status read_cluster(const train_options *o, mst_cluster **out) {
    const bool starts_mpi = o->transport && strcmp(o->transport, "mpi") == 0;
    if (!o->worker_hosts && !o->job_name && !o->ps_hosts)
        return mst_cluster_from_environment(
            &(mst_launcher_options){.starts_mpi = starts_mpi, .log = o->progress == MST_PROGRESS_NONE ? NULL : stderr},
            out);
    if (!o->worker_hosts)
        return MST_FAIL(MST_INVALID, "%s is for a cluster: give --worker_hosts too",
                        o->job_name ? "--job_name" : "--ps_hosts");
    if (!o->job_name) return MST_FAIL(MST_INVALID, "--worker_hosts is for a cluster: give --job_name and --task_index");
    return mst_cluster_from_hosts(o->ps_hosts, o->worker_hosts, o->job_name, o->task_index, out);
}

/* The first given option that is only for parameter servers; NULL: none was given. */
static const char *option_of_servers(const train_options *o) {
    return o->is_sync                               ? "--issync 1"
           : o->replicas_to_aggregate               ? "--replicas-to-aggregate"
           : o->max_staleness                       ? "--max-staleness"
           : o->ps_placement == PS_PLACEMENT_GREEDY ? "--ps-placement greedy"
           : o->ps_part_bytes                       ? "--ps-part-bytes"
           : o->update_log                          ? "--update-log"
           : o->replay_updates                      ? "--replay-updates"
                                                    : NULL;
}

static int check_updates(const train_options *o, bool served) {
    const char *log = o->update_log ? "--update-log" : o->replay_updates ? "--replay-updates" : NULL;
    const char *of_servers = option_of_servers(o);
    if (!served && of_servers)
        return command_fail(
            EXIT_USAGE, "%s is for a cluster with parameter servers: give --ps_hosts too, or leave it out", of_servers);
    if (log && o->is_sync && !o->replicas_to_aggregate)
        return command_fail(EXIT_USAGE, "%s is not for --issync 1, whose updates have one order: leave one of them out",
                            log);
    if (o->replicas_to_aggregate && !o->is_sync)
        return command_fail(EXIT_USAGE,
                            "--replicas-to-aggregate needs --issync 1: else the gradients of each worker make an "
                            "update of their own");
    if (o->max_staleness && o->is_sync)
        return command_fail(EXIT_USAGE,
                            "--max-staleness is not for --issync 1, whose gradients are never older than the "
                            "variables: leave one of them out");
    return EXIT_DONE;
}

static int check_elastic(const train_options *o, const mst_cluster *cluster) {
    const int workers = mst_cluster_num_workers(cluster);
    if (!o->elastic) return EXIT_DONE;
    if (mst_cluster_num_ps(cluster) > 0)
        return command_fail(EXIT_USAGE,
                            "--elastic is for workers without parameter servers: leave it out; with --issync 0 the "
                            "others go on without a worker that is lost");
    if (o->transport && strcmp(o->transport, "mpi") == 0)
        return command_fail(EXIT_USAGE,
                            "--elastic is not for --transport mpi, whose workers stay the same: leave one of them out");
    if (o->sharded_state)
        return command_fail(EXIT_USAGE,
                            "--elastic is not for --sharded-state, whose workers stay the same: leave one of them out");
    if (o->elastic > workers)
        return command_fail(EXIT_USAGE, "--elastic %d: the cluster has %d workers: give at most as many", o->elastic,
                            workers);
    return EXIT_DONE;
}

static int check_cluster(const train_options *o, const mst_cluster *cluster) {
    const mst_task_info self = mst_cluster_task(cluster, mst_cluster_self(cluster));
    if (mst_cluster_self(cluster) >= mst_cluster_num_workers(cluster) && strcmp(self.job, "ps") != 0)
        return command_fail(EXIT_FAILED,
                            "this is task %s:%d of the cluster: muster train is for its chief, workers, parameter "
                            "servers and evaluator",
                            self.job, (int)self.index);
    const bool served = mst_cluster_num_ps(cluster) > 0;
    if (served && o->strategy == MST_STRATEGY_MULTI_WORKER)
        return command_fail(EXIT_USAGE,
                            "the cluster has parameter servers: leave them out, or take --strategy parameter-server");
    if (!served && o->strategy == MST_STRATEGY_PARAMETER_SERVER)
        return command_fail(EXIT_USAGE,
                            "--strategy parameter-server needs a cluster with parameter servers: give --ps_hosts, "
                            "--worker_hosts, --job_name and --task_index, or start all tasks with "
                            "'muster launch --ps 1 --workers 2 -- muster train ...'");
    const int status = check_elastic(o, cluster);
    return status ? status : check_updates(o, served);
}

/* ---- the evaluator, which needs nobody's address ---- */

static const char evaluator_job[] = "evaluator";

static bool is_evaluator(const mst_cluster *cluster) {
    return strcmp(mst_cluster_task(cluster, mst_cluster_self(cluster)).job, evaluator_job) == 0;
}

/* Whether this process is the evaluator by TF_CONFIG. Errors in TF_CONFIG are ignored, since they do not matter to a
 * process that trains alone. */
static bool environment_is_evaluator(void) {
    mst_cluster *cluster;
    if (mst_cluster_from_tf_config(getenv("TF_CONFIG"), &cluster)) return false;
    const bool is = is_evaluator(cluster);
    mst_cluster_release(cluster);
    return is;
}

static int check_evaluator(const train_options *o) {
    if (o->task_index > 0)
        return command_fail(EXIT_USAGE, "--task_index %d: a job has one evaluator, number 0", o->task_index);
    if (o->checkpoint_dir) return EXIT_DONE;
    return command_fail(EXIT_USAGE,
                        "train: this task is the evaluator of the job, which evaluates its checkpoints: say "
                        "--checkpoint-dir DIR, the folder to which the chief writes them");
}

static int find_cluster(training *t) {
    const train_options *o = t->o;
    const bool served = o->strategy == MST_STRATEGY_PARAMETER_SERVER;
    const bool wanted = o->strategy == MST_STRATEGY_MULTI_WORKER || served;
    const bool flags = o->worker_hosts || o->ps_hosts || o->job_name || o->elastic || option_of_servers(o);
    t->evaluates = o->job_name && strcmp(o->job_name, evaluator_job) == 0;
    if (t->evaluates && !o->worker_hosts && !o->ps_hosts) return check_evaluator(o);
    if (!wanted && o->strategy != MST_STRATEGY_DEFAULT && !flags) {
        t->evaluates = environment_is_evaluator();
        return t->evaluates ? check_evaluator(o) : EXIT_DONE;
    }
    if (!wanted && o->strategy != MST_STRATEGY_DEFAULT)
        return command_fail(
            EXIT_USAGE,
            "the flags of a cluster (--worker_hosts, --ps_hosts, --job_name, --issync, "
            "--replicas-to-aggregate, --max-staleness, --ps-placement, --ps-part-bytes, "
            "--update-log, --replay-updates) go with --strategy multi-worker or parameter-server, or without "
            "--strategy");
    if (read_cluster(o, &t->cluster)) return command_fail_usage("train");
    t->evaluates = is_evaluator(t->cluster);
    if (t->evaluates) return check_evaluator(o);
    const int status = check_cluster(o, t->cluster);
    if (status || mst_cluster_num_workers(t->cluster) > 1 || mst_cluster_num_ps(t->cluster) > 0) return status;
    /* without a cluster, mst_cluster_from_environment gives one task of the job "localhost" */
    t->is_alone = strcmp(mst_cluster_task(t->cluster, 0).job, "localhost") != 0;
    mst_cluster_release(t->cluster);
    t->cluster = NULL;
    if (o->elastic && !t->is_alone)
        return command_fail(EXIT_USAGE,
                            "--elastic needs a cluster of several workers, such as "
                            "'muster launch --workers 3 -- muster train ...'");
    if (o->transport && strcmp(o->transport, "mpi") == 0 && !t->is_alone)
        return command_fail(EXIT_USAGE,
                            "--transport mpi needs several workers: start them with 'mpiexec -n 2 muster train ...' or "
                            "'muster launch --workers 2 -- muster train ...'");
    if (!wanted || t->is_alone) return EXIT_DONE;
    return command_fail(EXIT_USAGE,
                        "--strategy multi_worker needs a cluster of several workers: set TF_CONFIG, give "
                        "--worker_hosts, --job_name and --task_index, or start all workers with "
                        "'muster launch --workers 2 -- muster train ...'");
}

int train_cluster_find(training *t) {
    const int status = find_cluster(t);
    if (status || !t->o->sharded_state || t->evaluates) return status;
    if (train_cluster_is_served(t))
        return command_fail(EXIT_USAGE,
                            "--sharded-state is for workers without parameter servers, which share the optimizer's "
                            "state out anyway (--ps-placement): leave it out");
    if (t->cluster) return EXIT_DONE;
    return command_fail(EXIT_USAGE,
                        "--sharded-state shares the optimizer's state out among several workers, and there is one: "
                        "leave it out, or start workers with 'muster launch --workers 2 -- muster train ...'");
}

bool train_cluster_is_served(const training *t) {
    return t->cluster && mst_cluster_num_ps(t->cluster) > 0;
}

bool train_cluster_is_server(const training *t) {
    return t->cluster && mst_cluster_self(t->cluster) >= mst_cluster_num_workers(t->cluster);
}

int train_cluster_serve(const training *t) {
    const train_options *o = t->o;
    return serve((mst_server_options){CLUSTER_SERVER_OPTIONS(t->cluster, o)}, o->progress == MST_PROGRESS_NONE,
                 o->json);
}

int train_cluster_cores(const training *t, int count) {
    if (!t->cluster || !mst_cluster_is_local(t->cluster)) return count;
    mst_machine machine; /* a launcher has given some of its cores to the other workers already */
    mst_machine_read(&machine);
    const int share = machine.num_all_cores / mst_cluster_num_workers(t->cluster);
    return share < 1 ? 1 : count < share ? count : share;
}

/* ---- the task ---- */

/* Clears the options for files that only the chief writes. With --elastic, those that another worker may have to write
 * stay. */
static void leave_files_to_chief(training *t, train_options *o) {
    o->profile = NULL;
    o->best = false;
    t->log.profile_first = t->log.profile_last = 0;
    if (o->elastic) return;
    o->checkpoint_dir = o->save = o->history = o->logdir = o->predict = NULL;
    t->log.folder = NULL;
}

int train_cluster_open(training *t, train_options *o) {
    if (!t->cluster) return EXIT_DONE;
    const mst_task_options options = {CLUSTER_CONNECTION(t->cluster, o), .elastic_min = o->elastic,
                                      .log = o->progress == MST_PROGRESS_NONE ? NULL : stderr, .stop = signals_stop};
    if (signals_catch() || mst_task_open_with(&options, &t->task)) return command_fail_library(EXIT_FAILED, NULL);
    if (!mst_task_is_chief(t->task)) leave_files_to_chief(t, o);
    return EXIT_DONE;
}

int train_cluster_leave(training *t) {
    if (!t->task || !mst_task_leave(t->task)) return EXIT_DONE;
    return signals_caught() ? EXIT_SIGNAL + signals_caught() : command_fail_library(EXIT_FAILED, NULL);
}

void train_cluster_close(training *t) {
    mst_task_close(t->task);
    mst_cluster_release(t->cluster);
}
