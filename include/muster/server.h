/** Parameter servers: tasks that keep the variables of a cluster whose workers compute gradients.
 *
 *      mst_cluster *cluster;
 *      MST_TRY(mst_cluster_from_hosts("localhost:2222", "localhost:2223,localhost:2224", "ps", 0, &cluster));
 *      MST_TRY(mst_server_run(.cluster = cluster, .log = stderr));
 *
 *  A server needs neither the model nor the data. The chief sends it the graph of the update, and the initial values of
 *  its variables. The variables, with their optimizer slots, are divided among the servers. In each step a worker sends
 *  its gradients and gets the new values:
 *
 *      asynchronous   each worker's gradients are applied when they come
 *      synchronous    the gradients of all workers are added in the fixed tree of shards, and applied when all are
 *                     complete: the weights are, bit for bit, those of one process
 *
 *  A worker that is lost may be started again at any time, and continues where it was; no gradient is applied twice.
 *  Asynchronous workers do not wait for it. */
#ifndef MUSTER_SERVER_H
#define MUSTER_SERVER_H

#pragma GCC system_header /* see muster/named.h */

#include <stdio.h>

#include "muster/cluster.h"
#include "muster/named.h"
#include "muster/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_server_options {
    int zero_;
    const mst_cluster *cluster; /**< this task must be one of its parameter servers */
    const char *bind, *key_file, *transport;
    bool insecure;
    double timeout, recovery_timeout; /**< all of these as in mst_task_options */
    double step_timeout; /**< seconds for which a worker's gradients wait for the other workers; default 600 */
    const char *devices; /**< devices that make updates, as in mst_session_options */
    /** Folder in which a server of an asynchronous job, or of a job with backup workers, records the order of its
     *  updates, in the file updates-ps-N.jsonl. NULL: no record. */
    const char *update_log;
    /** Folder with the records (.update_log) of all servers of an earlier run of this job. The job then makes its
     *  updates in the same order, and gets the same bits. NULL: gradients are applied when they arrive. */
    const char *replay_updates;
    FILE *log; /**< gets lines: which tasks it waits for, which are lost and which have connected; NULL: no lines */
    /** Called several times a second: true ends the job with MST_CANCELLED. NULL: not called. */
    bool (*stop)(void *context);
    /** Called several times a second. True: this server leaves, and returns MST_CANCELLED when the chief has its state.
     *  The others wait for its return, and go on from there. A server that replays updates ends the job instead. NULL:
     *  not called. */
    bool (*leave)(void *context);
    void *context; /**< for `stop` and `leave` */
} mst_server_options;

/** Serves until all workers have done their work. MST_INVALID if the task is not a parameter server or nothing can
 *  listen at its address; MST_UNAVAILABLE if a worker that the others wait for does not return; or the error with
 *  which a worker has failed. */
MST_API MST_CHECKED mst_status mst_server_run_with(const mst_server_options *options);
#define mst_server_run(...) mst_server_run_with(&MST_NAMED(mst_server_options, __VA_ARGS__))

/** Task servers: tasks of a cluster that run parts of graphs for sessions of other programs.
 *
 *      mst_task_server *server;
 *      MST_TRY(mst_task_server_start(&server, .cluster = cluster, .log = stderr));
 *      MST_TRY(mst_session_create(graph, &(mst_session_options){.target = mst_task_server_target(server)}, &session));
 *
 *  A session whose target is any of the tasks ("tcp://host:port"; "grpc://" is the same) has the devices of all tasks
 *  of the cluster. Nodes are on devices such as "/job:worker/task:1/cpu:0"; nodes without a task run on the target's.
 *  Variables are in the store of their task, under their container and name. They stay there when the session ends, and
 *  other sessions find them. A run happens on all tasks or on none.
 *
 *  A session begins when all tasks of the cluster are connected; they may start in any order. If one is lost, runs that
 *  need it end with MST_UNAVAILABLE. When it has been started again, its variables have no values, and sessions go on.
 *  `muster server` is such a task in a process of its own. */
typedef struct mst_task_server mst_task_server;

typedef struct mst_task_server_options {
    int zero_;
    /** The cluster of this task; retained. NULL: a cluster of one task, "/job:local/task:0", on a free port of
     *  localhost. */
    const mst_cluster *cluster;
    const char *bind, *key_file, *transport;
    bool insecure;
    double timeout;                        /**< all of these as in mst_task_options */
    const char *devices, *visible_devices; /**< as in mst_session_options */
    int64_t memory_limit;                  /**< as in mst_session_options, for each session */
    mst_store *store;                      /**< for the variables; retained. Default: a new store */
    FILE *log; /**< gets lines: tasks that it waits for, that are lost or have connected, and sessions; NULL: none */
} mst_task_server_options;

/** Listens at the address of this task, and returns; serves on threads of its own. MST_INVALID if the task is an
 *  evaluator, the cluster lacks an address, or nothing can listen at this task's address. */
MST_API MST_CHECKED mst_status mst_task_server_start_with(const mst_task_server_options *options,
                                                          mst_task_server **out);
#define mst_task_server_start(out, ...) \
    mst_task_server_start_with(&MST_NAMED(mst_task_server_options, __VA_ARGS__), (out))
/** "tcp://localhost:2222", a target for sessions of this and of other programs; lives as long as SERVER. */
MST_API const char *mst_task_server_target(const mst_task_server *server);
/** Tells the server that this program makes no more sessions. Returns when all tasks have joined and no session is
 *  open. In a cluster with parameter servers, or if other tasks do not join, it only returns, with MST_CANCELLED, after
 *  another thread has called mst_task_server_stop. */
MST_API MST_CHECKED mst_status mst_task_server_join(mst_task_server *server);
/** Ends this task's part in all sessions, so that their runs fail, and ends mst_task_server_join. May be called by any
 *  thread, and repeatedly. */
MST_API void mst_task_server_stop(mst_task_server *server);
/** Stops the server and frees it. Sessions of this program that have it as target must be destroyed before. NULL is
 *  allowed. */
MST_API void mst_task_server_destroy(mst_task_server *server);

#ifdef __cplusplus
}
#endif
#endif
