/** Parameter servers: tasks that keep the variables of a cluster whose workers compute gradients.
 *
 *      mst_cluster *cluster;
 *      MST_TRY(mst_cluster_from_hosts("localhost:2222", "localhost:2223,localhost:2224", "ps", 0, &cluster));
 *      MST_TRY(mst_server_run(.cluster = cluster, .log = stderr));
 *
 *  A server needs neither the model nor the data: the chief sends it the update that it makes, as a graph, and the
 *  first values. Variables and slots of the optimizer are divided over the servers, each to one. In each step a worker
 *  sends its gradients and gets the new values:
 *
 *      asynchronous   each worker's gradients are applied when they come
 *      synchronous    when those of all workers are there, their sum is applied, added in the fixed tree of shards: the
 *                     weights are, bit for bit, those of one process
 *
 *  A worker that is lost may be started again at any time, and goes on where it was; no gradient is applied twice.
 *  Asynchronous workers do not wait for it. */
#ifndef MUSTER_SERVER_H
#define MUSTER_SERVER_H

#include <stdio.h>

#include "muster/cluster.h"
#include "muster/named.h"
#include "muster/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_server_options {
    int zero_;
    const mst_cluster *cluster; /**< in which this task is a parameter server */
    const char *bind, *key_file, *transport;
    bool insecure;
    double timeout, recovery_timeout; /**< these as in mst_task_options */
    double step_timeout; /**< seconds for which the gradients of a worker wait for those of the others; default 600 */
    const char *devices; /**< that make updates, as in mst_session_options */
    /** Folder in which a server of an asynchronous job, or of one with backup workers, notes the order of its updates,
     *  in the file updates-ps-N.jsonl. NULL: it does not. */
    const char *update_log;
    /** Folder with the files that all servers of such a job have written: the same job makes the same updates once
     *  more, and gets the same bits. NULL: gradients are applied when they come. */
    const char *replay_updates;
    FILE *log; /**< for whom it waits, who is lost and who has come; NULL: nothing */
    /** Asked several times a second: true ends the job with MST_CANCELLED. NULL: never. */
    bool (*stop)(void *context);
    /** Likewise: true ends this server alone with MST_CANCELLED, when the chief has its state. The others wait for its
     *  return, and go on from there. A server that replays updates ends the job. NULL: never. */
    bool (*leave)(void *context);
    void *context; /**< of both */
} mst_server_options;

/** Serves until all workers have done their work. MST_INVALID if the task is no parameter server or nothing can
 *  listen at its address; MST_UNAVAILABLE if a worker that the others wait for does not come back, or the error with
 *  which a worker has failed. */
MST_API MST_CHECKED mst_status mst_server_run_with(const mst_server_options *options);
#define mst_server_run(...) mst_server_run_with(&MST_NAMED(mst_server_options, __VA_ARGS__))

/** Task servers: tasks of a cluster that run parts of graphs for sessions of other programs.
 *
 *      mst_task_server *server;
 *      MST_TRY(mst_task_server_start(&server, .cluster = cluster, .log = stderr));
 *      MST_TRY(mst_session_create(graph, &(mst_session_options){.target = mst_task_server_target(server)}, &session));
 *
 *  A session with the target of any task ("tcp://host:port"; "grpc://" is the same) has the devices of all tasks of its
 *  cluster: nodes lie on "/job:worker/task:1/cpu:0", say, and what lies on no task runs on the target's. Variables are
 *  in the store of the task on which they lie, under their container and name, and stay there when the session ends:
 *  other sessions find them. A run happens on all tasks or on none.
 *
 *  All tasks of the cluster must be there for a session to begin; they may start in any order. If one is lost, runs
 *  that need it end with MST_UNAVAILABLE; when it has been started again, its variables have no values, and sessions go
 *  on. `muster server` is such a task in a process of its own. */
typedef struct mst_task_server mst_task_server;

typedef struct mst_task_server_options {
    int zero_;
    /** Whose task this is; retained. NULL: a cluster of one task, "/job:local/task:0", on a free port of localhost. */
    const mst_cluster *cluster;
    const char *bind, *key_file, *transport;
    bool insecure;
    double timeout;                        /**< these as in mst_task_options */
    const char *devices, *visible_devices; /**< as in mst_session_options */
    int64_t memory_limit;                  /**< likewise, for each session */
    mst_store *store;                      /**< where its variables are; retained. Default: one of its own */
    FILE *log; /**< for whom it waits, who is lost and who has come, sessions; NULL: nothing */
} mst_task_server_options;

/** Listens at the address of this task, and returns; serves on threads of its own. MST_INVALID if the task is an
 *  evaluator, the cluster does not name all addresses, or nothing can listen at this one. */
MST_API MST_CHECKED mst_status mst_task_server_start_with(const mst_task_server_options *options,
                                                          mst_task_server **out);
#define mst_task_server_start(out, ...) \
    mst_task_server_start_with(&MST_NAMED(mst_task_server_options, __VA_ARGS__), (out))
/** "tcp://localhost:2222", for sessions of this and of other programs; lives as long as SERVER. */
MST_API const char *mst_task_server_target(const mst_task_server *server);
/** This program makes no more sessions: returns when all tasks have joined and no session is open. In a cluster with
 *  parameter servers, and if others do not join, only after mst_task_server_stop by another thread, with
 *  MST_CANCELLED. */
MST_API MST_CHECKED mst_status mst_task_server_join(mst_task_server *server);
/** Ends its part of all sessions, whose runs fail, and wakes who joins. Any thread, once or more often. */
MST_API void mst_task_server_stop(mst_task_server *server);
/** Stops it and frees all. Sessions of this program whose target it is must have been destroyed. NULL is allowed. */
MST_API void mst_task_server_destroy(mst_task_server *server);

#ifdef __cplusplus
}
#endif
#endif
