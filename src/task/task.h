/** The functions of a task that training needs: the group in which its sessions exchange sums, and joining the
 *  others. */
#ifndef MUSTER_TASK_TASK_H
#define MUSTER_TASK_TASK_H

#include "cluster/fingerprint.h"
#include "cluster/task_failure.h"
#include "cluster/task_status.h"
#include "collective/group.h"
#include "muster/store.h"
#include "muster/task.h"
#include "parameter_server/ps_client.h"

/** The environment variable that `muster launch` sets for a worker that it starts again, if there are no parameter
 *  servers. Its value may be "worker:0": that worker has done its work, so the job is done. "": no worker is known to
 *  have done its work. */
#define MST_RESTARTED "MUSTER_RESTARTED"

/** This worker's side of the parameter servers; NULL if the cluster has none. If it has some, mst_task_fail is the only
 *  one of the functions below that may be called. */
mst_ps_client *mst_task_servers(const mst_task *task);

/** The status in which TASK's work is noted; NULL if TASK is NULL. */
mst_task_status *mst_task_status_of(mst_task *task);

/** Divides NUM_SHARDS among the workers. *OUT is the group that sums over them, valid as long as the task.
 *  MST_INVALID if there are fewer shards than workers, or if the shards were divided differently before. */
MST_CHECKED mst_status mst_task_share(mst_task *task, int32_t num_shards, mst_task_group **out);

/** Whether the workers that train differ from those among whom the shards were divided. */
bool mst_task_must_share_anew(mst_task *task);
/** Divides NUM_SHARDS among the workers that train now. The group must have no exchange. */
MST_CHECKED mst_status mst_task_share_anew(mst_task *task, int32_t num_shards);
/** The number of shards that have been divided; 0: none. */
int32_t mst_task_num_shards(const mst_task *task);
/** The group; NULL: no shards have been divided. */
mst_task_group *mst_task_shards(const mst_task *task);
/** The least number of workers that may train; 0: all must train. */
int mst_task_elastic_min(const mst_task *task);
/** "worker:1" */
const char *mst_task_name(const mst_task *task, int worker);

/** What a task brings when it joins the others. */
typedef struct mst_task_state {
    mst_store *store;
    int64_t number; /**< number of steps and edits in its state; MST_NO_STATE: it has no state that counts */
    bool sharded;   /**< each task has a part of the slots; whole slots are sent (mst_store_hold_whole) */
    const mst_fingerprint *fingerprint;
    int32_t num_fingerprints;
} mst_task_state;

/** How a task has joined the others. */
typedef struct mst_task_joined {
    bool copied;  /**< its store has got the state of another task */
    bool returns; /**< the tasks had joined before, although this process may know nothing of it */
} mst_task_joined;

/** Waits until all tasks are there and agree on their fingerprints. Then makes their states equal: the state with the
 *  greatest number counts. If a task is lost meanwhile, the wait goes on. */
MST_CHECKED mst_status mst_task_join(mst_task *task, const mst_task_state *state, mst_task_joined *joined);
/** Whether the tasks have joined, and none is lost. */
bool mst_task_is_joined(mst_task *task);
/** Whether they have joined and have compared what they train. (They may have joined only for a collective.) */
bool mst_task_has_agreed(mst_task *task);
/** The state of the store has NUMBER now. */
void mst_task_committed(mst_task *task, int64_t number);
/** The program of this task ends the training after the state NUMBER; other tasks may do so too. MST_OK: all end it
 *  there. MST_UNAVAILABLE: all end it, but some have not reached that state, or a task was lost. Then join again, and
 *  call this function again. MST_CANCELLED: this process must end. */
MST_CHECKED mst_status mst_task_stop(mst_task *task, int64_t number);
/** Whether a program has ended the training after the state NUMBER or a later one. Returns true only once; then the
 *  answer is forgotten. False: this program goes on. */
bool mst_task_is_stopped(mst_task *task, int64_t number);
/** The program resumes a training that had ended: that end is forgotten. */
void mst_task_goes_on(mst_task *task);
/** Whether this process is to end, as `stop` of its options says. */
bool mst_task_must_end(const mst_task *task);
/** Ends the job on all tasks with the calling thread's error, whose code is STATUS; returns STATUS. If STATUS is
 *  MST_DEADLINE, the error is extended: it says which task did not come. */
mst_status mst_task_fail(mst_task *task, mst_status status);

#endif
