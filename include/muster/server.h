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
    /** Folder in which an asynchronous server notes the order of its updates, in the file updates-ps-N.jsonl. NULL: it
     *  does not. */
    const char *update_log;
    /** Folder with the files that all servers of such a job have written: the same job makes the same updates once
     *  more, and gets the same bits. NULL: gradients are applied when they come. */
    const char *replay_updates;
    FILE *log; /**< for whom it waits, who is lost and who has come; NULL: nothing */
    /** Asked several times a second: true ends the job with MST_CANCELLED. NULL: never. */
    bool (*stop)(void *context);
    void *context;
} mst_server_options;

/** Serves until all workers have done their work. MST_INVALID where the task is no parameter server or nothing can
 *  listen at its address; MST_UNAVAILABLE where a worker that the others wait for does not come back, or the error with
 *  which a worker has failed. */
MST_API MST_CHECKED mst_status mst_server_run_with(const mst_server_options *options);
#define mst_server_run(...) mst_server_run_with(&MST_NAMED(mst_server_options, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
