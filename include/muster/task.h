/** Tasks: this process as one of a cluster, whose workers train one model together.
 *
 *      mst_cluster *cluster;
 *      mst_task *task;
 *      MST_TRY(mst_cluster_from_environment(NULL, &cluster));               // TF_CONFIG, or what a launcher says
 *      MST_TRY(mst_task_open(&task, .cluster = cluster, .log = stderr));
 *      ...
 *      MST_TRY(mst_compile(model, .strategy = {.kind = MST_STRATEGY_MULTI_WORKER}, .task = task));
 *      MST_TRY(mst_fit(model, .data = data, .batch_size = 200));            // of all workers together
 *      MST_TRY(mst_task_leave(task));                                       // waits until all have come here
 *      mst_task_close(task);
 *
 *  In a cluster with parameter servers (muster/server.h) the strategy is MST_STRATEGY_PARAMETER_SERVER. What follows is
 *  of clusters without any.
 *
 *  Every worker runs the same program on the same data. The shards of each batch are shared out among the workers,
 *  and gradients are added in one fixed tree over all shards: the weights are, bit for bit, those that one process gets
 *  with the same seed, batch and number of shards.
 *
 *  Tasks may start in any order. Training begins when all are there; until then each says for whom it waits. A task
 *  that is lost while they train (its process ended, its host is cut off) is waited for: it comes back when the same
 *  program is started again, gets the state of the others, and all go on from the last step that was made. The result
 *  is that of the undisturbed job.
 *
 *  With `elastic_min` fewer workers than all may train. Those that are there go on without one that is lost, and one
 *  that comes, or comes back, is taken in between two steps: the shards are shared out anew, so the result stays the
 *  same. They go on where they are at least so many, and a majority of those who trained last, or half of these with
 *  the first of them; else they wait. So no two parts of a network that is cut both go on. A worker that is known to
 *  have ended counts as if it were there. When the job begins, a majority of all waits `timeout` seconds for the
 *  others.
 */
#ifndef MUSTER_TASK_H
#define MUSTER_TASK_H

#include <stdio.h>

#include "muster/cluster.h"
#include "muster/op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_task mst_task;

typedef struct mst_task_options {
    int zero_;
    const mst_cluster *cluster; /**< retained */
    const char *bind;           /**< "host:port" to listen on, if that is not the address that others know */
    const char *key_file;  /**< the cluster's key, which 'muster keygen' makes: all tasks have the same, and nobody else
                              can connect; NULL: nothing checks who connects */
    bool insecure;         /**< may listen where other machines can connect, although nothing checks who they are */
    const char *transport; /**< "shm": data to tasks of the same machine and user through shared memory, to others over
                                TCP; "zmq": all over TCP; "mpi": by the MPI whose mpiexec or srun has started this
                                process, else by MPICH, without a way back for a task that is lost; NULL: "shm", and
                                "zmq" on a machine that has no such memory */
    double timeout;        /**< seconds of silence after which a task is lost; default 10 */
    double recovery_timeout; /**< seconds for which a lost task is waited for; default 600 */
    /** How few workers may train, from 1: then a task that is lost is not waited for (see below). 0: only all may. All
     *  workers say the same. Not for parameter servers, and not with transport "mpi". */
    int elastic_min;
    /** Seconds for which a collective waits for a task that is there and does not come to it; default 600. */
    double collective_timeout;
    FILE *log; /**< for whom the task waits, who is lost and who has come; NULL: nothing */
    /** Asked several times a second while the task waits: true ends the waiting with MST_CANCELLED. NULL: never. */
    bool (*stop)(void *context);
    void *context;
} mst_task_options;

/** Listens at this task's address, and begins to look for the others; does not wait for them. Fails with:
 *
 *  - MST_INVALID if the cluster has only one task, this task is no worker, elastic_min is impossible, or nothing can
 *    listen at the address;
 *  - MST_INVALID if other machines can reach the address, and there is neither a key nor `insecure`;
 *  - MST_NOT_FOUND or MST_INVALID if the key cannot be used, MST_UNAVAILABLE if the transport cannot. */
MST_API MST_CHECKED mst_status mst_task_open_with(const mst_task_options *options, mst_task **out);
#define mst_task_open(out, ...) mst_task_open_with(&MST_NAMED(mst_task_options, __VA_ARGS__), (out))
/** This task has done its work: waits until all have. If one is lost meanwhile, it is waited for, and gets the state
 *  of this task. MST_UNAVAILABLE if it does not come back, or at once in a job that began with a collective (below);
 *  or the error with which another task has failed. */
MST_API MST_CHECKED mst_status mst_task_leave(mst_task *task);
/** Closes the connections, and frees all. Models and sessions that use TASK must be destroyed before. If it has not
 *  left, the others take it for lost. NULL is allowed. */
MST_API void mst_task_close(mst_task *task);

/** Workers that train together, and the number of this one. */
MST_API int mst_task_num_workers(const mst_task *task);
MST_API int mst_task_worker(const mst_task *task);
/** Whether this task saves, logs and prints for all. */
MST_API bool mst_task_is_chief(const mst_task *task);
/** Whether the other workers finished all their work while this one was away. Then it came too late to take part, and
 *  MST_UNAVAILABLE from its mst_fit is not a failure. */
MST_API bool mst_task_has_ended(mst_task *task);
/** Whether this task does now what the chief does: 0 if it does not. With `elastic_min` the first of the workers
 *  that train, or have trained last, stands in for a chief that is away: then it is a number that stays as long as this
 *  task is the first, and becomes another one where others have trained without it meanwhile. Of workers that are cut
 *  off from each other each may take itself for the first: who writes to a folder of all must lock it. Without
 *  `elastic_min` it is 1 for the chief. */
MST_API uint32_t mst_task_first_since(mst_task *task);

/** Collectives: calls that all workers make together, for programs with steps of their own.
 *
 *      float gradient[1000];
 *      ...
 *      MST_TRY(mst_task_all_reduce(task, MST_F32, gradient, 1000));   // the same sums on all workers
 *
 *  All workers make the same calls in the same order, from one thread each; a call returns when its work is done here.
 *  Data are arrays in the memory of the process, of COUNT elements of DTYPE. What is summed is f32, f64, i32 or i64;
 *  the others move any dtype but strings. A sum over n workers is left + right, with the largest power of two below n
 *  of the workers on the left, and so on within: its bits depend on n alone. Numbers too small for full precision
 *  (denormals) count as zero, integers wrap around.
 *
 *  The first call waits until all workers are there, however long that takes. Before any data move the workers compare
 *  what they call. An error is that of all workers, and ends the job: MST_INVALID if they call different things, or
 *  the same with another dtype, count or root; MST_DEADLINE if one is there and does not come within
 *  collective_timeout; MST_UNAVAILABLE if one is lost, and then all are to be started again. The message names the
 *  worker. Data are undefined after an error.
 *
 *  They go together with mst_fit: before it, after it, or in its callbacks. A worker that is lost is waited for in a
 *  fit (see above) where the program has made no collective before its first fit; a callback then hands MST_UNAVAILABLE
 *  back. In a cluster with parameter servers, and with `elastic_min`, there are none (MST_UNIMPLEMENTED). */

/** Returns when all workers have called it. */
MST_API MST_CHECKED mst_status mst_task_barrier(mst_task *task);
/** DATA of all others become those of worker ROOT. */
MST_API MST_CHECKED mst_status mst_task_broadcast(mst_task *task, int root, mst_dtype dtype, void *data, int64_t count);
/** DATA[i] of each worker becomes the sum of those of all. */
MST_API MST_CHECKED mst_status mst_task_all_reduce(mst_task *task, mst_dtype dtype, void *data, int64_t count);
/** DST, which has room for COUNT elements of each worker, gets SRC of all, in the order of their numbers: DST[w * COUNT
 *  + i] is SRC[i] of worker w. SRC may be the place in DST where it comes to. */
MST_API MST_CHECKED mst_status mst_task_all_gather(mst_task *task, mst_dtype dtype, const void *src, int64_t count,
                                                   void *dst);
/** SRC has COUNT elements for each worker. DST[i], of COUNT, becomes the sum of SRC[w * COUNT + i] of all workers,
 *  where w is the number of this one. They do not overlap. */
MST_API MST_CHECKED mst_status mst_task_reduce_scatter(mst_task *task, mst_dtype dtype, const void *src, int64_t count,
                                                       void *dst);

#ifdef __cplusplus
}
#endif
#endif
