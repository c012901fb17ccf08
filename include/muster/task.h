/** Tasks: this process as a member of a cluster, whose workers train one model together.
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
 *  In a cluster with parameter servers (muster/server.h) the strategy is MST_STRATEGY_PARAMETER_SERVER. The following
 *  applies to clusters without parameter servers.
 *
 *  Every worker runs the same program on the same data. The shards of each batch are divided among the workers, and
 *  gradients are added in one fixed tree over all shards. The weights are, bit for bit, the same that one process gets
 *  with the same seed, batch and number of shards.
 *
 *  Tasks may start in any order. Training begins when all are connected; until then each logs which tasks it waits for.
 *  A task is lost during training if its process ends or its host is cut off. The others then wait for it. When the
 *  same program is started again, it gets the state of the others, and all go on from the last completed step. The
 *  result is that of an undisturbed job.
 *
 *  With `elastic_min`, fewer workers than all may train. If a worker is lost, the others go on without it. A worker
 *  that starts, or returns, joins between two steps. The shards are then divided anew, so the result stays the same.
 *  Workers that are connected go on if there are at least `elastic_min` of them, and if they include a majority of the
 *  workers that trained last. Exactly half of those is enough if it includes the first of them. Otherwise the workers
 *  wait. If the network is cut into two parts, at most one part therefore goes on. A worker whose process is known to
 *  have ended counts as connected for this majority. When the job begins, a majority of all workers waits `timeout`
 *  seconds for the others.
 */
#ifndef MUSTER_TASK_H
#define MUSTER_TASK_H

#pragma GCC system_header /* see muster/named.h */

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
    const char *key_file; /**< the cluster's key, made by 'muster keygen': the same for all tasks. Nobody without it can
                              connect. NULL: nothing checks who connects */
    bool insecure;        /**< without a key, this task may listen where other machines can connect */
    const char *transport; /**< "shm": data go through shared memory to tasks of the same machine and user, over TCP to
                                others. "zmq": all over TCP. "mpi": by the MPI whose mpiexec or srun has started this
                                process, or else by MPICH; a lost task cannot come back. NULL: "shm", or "zmq" if the
                                machine has no such memory */
    double timeout;        /**< seconds of silence after which a task is lost; default 10 */
    double recovery_timeout; /**< seconds to wait for a lost task; default 600 */
    /** The least number of workers that may train, from 1: the others then do not wait for a lost task (see above). 0:
     *  all must train. The same on all workers. Not for parameter servers, and not with transport "mpi". */
    int elastic_min;
    /** Seconds for which a collective waits for a connected task that does not call it; default 600. */
    double collective_timeout;
    FILE *log; /**< gets lines: which tasks this one waits for, which are lost and which have connected; NULL: none */
    /** Called several times a second while the task waits: true ends the waiting with MST_CANCELLED. NULL:
     *  not called. */
    bool (*stop)(void *context);
    void *context;
} mst_task_options;

/** Listens at this task's address, and begins to look for the other tasks; does not wait for them. Fails with:
 *
 *  - MST_INVALID if the cluster has only one task, this task is not a worker, elastic_min is impossible, or nothing can
 *    listen at the address;
 *  - MST_INVALID if other machines can reach the address, and there is neither a key nor `insecure`;
 *  - MST_NOT_FOUND or MST_INVALID if the key cannot be used, MST_UNAVAILABLE if the transport cannot. */
MST_API MST_CHECKED mst_status mst_task_open_with(const mst_task_options *options, mst_task **out);
#define mst_task_open(out, ...) mst_task_open_with(&MST_NAMED(mst_task_options, __VA_ARGS__), (out))
/** Tells the others that this task has finished, and waits until all tasks have. If a task is lost meanwhile, waits for
 *  it, and gives it the state when it returns. MST_UNAVAILABLE if it does not return; in a job that began with a
 *  collective (below), as soon as it is lost. If another task fails, returns that error. */
MST_API MST_CHECKED mst_status mst_task_leave(mst_task *task);
/** Closes the connections, and frees the task. Models and sessions that use TASK must be destroyed before. If the task
 *  has not left, the others consider it lost. NULL is allowed. */
MST_API void mst_task_close(mst_task *task);

/** The number of workers that train together, and the number of this worker. */
MST_API int mst_task_num_workers(const mst_task *task);
MST_API int mst_task_worker(const mst_task *task);
/** Whether this task saves, logs and prints for all. */
MST_API bool mst_task_is_chief(const mst_task *task);
/** Whether the other workers finished all their work while this one was away. It came too late to take part then, and
 *  MST_UNAVAILABLE from its mst_fit is not a failure. */
MST_API bool mst_task_has_ended(mst_task *task);
/** Not 0 if this task does the chief's work now. Without `elastic_min` it is 1 for the chief, and 0 for others. With
 *  `elastic_min`, if the chief is lost, the first of the workers that train, or trained last, does its work. The number
 *  stays the same as long as this task is the first. It changes if others have trained without this task meanwhile.
 *  Workers that are cut off from each other may each consider themselves the first. A task that writes to a common
 *  folder must therefore lock it. */
MST_API uint32_t mst_task_first_since(mst_task *task);

/** Collectives: calls that all workers make together, for programs with steps of their own.
 *
 *      float gradient[1000];
 *      ...
 *      MST_TRY(mst_task_all_reduce(task, MST_F32, gradient, 1000));   // the same sums on all workers
 *
 *  All workers make the same calls in the same order, each from one thread. A call returns when its work is done here.
 *  Data are arrays of COUNT elements of DTYPE in the memory of the process. Sums are of f32, f64, i32 or i64; the other
 *  calls move any dtype except strings. A sum over n workers is (sum over the left part) + (sum over the right part).
 *  The left part is the first 2^k workers, with the largest 2^k below n. Each part is summed in the same way. The bits
 *  of a sum therefore depend on n alone. Numbers too small for full precision (denormals) count as zero; integers wrap
 *  around.
 *
 *  The first call waits until all workers are connected, however long that takes. Before any data move, the workers
 *  compare their calls. All workers get the same error, which ends the job. MST_INVALID: they call different functions,
 *  or one function with different dtypes, counts or roots. MST_DEADLINE: a connected worker does not call within
 *  collective_timeout. MST_UNAVAILABLE: a worker is lost, and all must be started again. The message names the worker.
 *  Data are undefined after an error.
 *
 *  Collectives can be used together with mst_fit: before it, after it, or in its callbacks. A worker that is lost in a
 *  fit is waited for (see above) if the program has called no collective before its first fit. A callback must then
 *  return MST_UNAVAILABLE. Clusters with parameter servers, and tasks with `elastic_min`, have no collectives
 *  (MST_UNIMPLEMENTED). */

/** Returns when all workers have called it. */
MST_API MST_CHECKED mst_status mst_task_barrier(mst_task *task);
/** Copies DATA of worker ROOT to DATA of all others. */
MST_API MST_CHECKED mst_status mst_task_broadcast(mst_task *task, int root, mst_dtype dtype, void *data, int64_t count);
/** DATA[i] of each worker becomes the sum of DATA[i] of all workers. */
MST_API MST_CHECKED mst_status mst_task_all_reduce(mst_task *task, mst_dtype dtype, void *data, int64_t count);
/** Gathers SRC of all workers in DST, in the order of their numbers: DST[w * COUNT + i] is SRC[i] of worker w. DST has
 *  room for COUNT elements of each worker. SRC may be this worker's own place in DST. */
MST_API MST_CHECKED mst_status mst_task_all_gather(mst_task *task, mst_dtype dtype, const void *src, int64_t count,
                                                   void *dst);
/** Sums SRC, which has COUNT elements for each worker, and gives each worker its part. DST[i] becomes the sum of SRC[w
 *  * COUNT + i] of all workers, where w is the number of this worker. DST has COUNT elements, and must not overlap
 *  SRC. */
MST_API MST_CHECKED mst_status mst_task_reduce_scatter(mst_task *task, mst_dtype dtype, const void *src, int64_t count,
                                                       void *dst);

#ifdef __cplusplus
}
#endif
#endif
