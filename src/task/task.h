/** What training needs of a task: the group in which its sessions exchange sums, and coming together. */
#ifndef MUSTER_TASK_TASK_H
#define MUSTER_TASK_TASK_H

#include "cluster/fingerprint.h"
#include "cluster/task_failure.h"
#include "cluster/task_status.h"
#include "collective/group.h"
#include "muster/store.h"
#include "muster/task.h"
#include "parameter_server/ps_client.h"

/** The variable of the environment that `muster launch` sets for a worker that it starts again, where there are no
 *  parameter servers: "worker:0" has done its work, and with it the job; or "", as far as it knows nobody has. */
#define MST_RESTARTED "MUSTER_RESTARTED"

/** This worker's side of the parameter servers; NULL where the cluster has none. Of the functions below only
 *  mst_task_fail is for such a cluster. */
mst_ps_client *mst_task_servers(const mst_task *task);

/** Where it is noted what TASK does; NULL where TASK is. */
mst_task_status *mst_task_status_of(mst_task *task);

/** Shares NUM_SHARDS out among the workers, and gives the group that sums over them, which lives as long as the task.
 *  MST_INVALID where there are fewer shards than workers, or they were shared out otherwise before. */
MST_CHECKED mst_status mst_task_share(mst_task *task, int32_t num_shards, mst_task_group **out);

/** Whether the workers that train are others than those among whom the shards have been shared out. */
bool mst_task_must_share_anew(mst_task *task);
/** Shares the shards out among the workers that train now; there must be no exchange of the group. */
MST_CHECKED mst_status mst_task_share_anew(mst_task *task);
/** That group; NULL: nothing has been shared out. */
mst_task_group *mst_task_shards(const mst_task *task);
/** How few workers may train; 0: only all may. */
int mst_task_elastic_min(const mst_task *task);
/** "worker:1" */
const char *mst_task_name(const mst_task *task, int worker);

/** What a task brings when it comes together with the others. */
typedef struct mst_task_state {
    mst_store *store;
    int64_t number; /**< steps and edits that its state has; MST_NO_STATE: it has none that counts */
    bool sharded;   /**< slots are parts, each task's another one: what is sent are the wholes (mst_store_hold_whole) */
    const mst_fingerprint *fingerprint;
    int32_t num_fingerprints;
} mst_task_state;

/** How a task has come together with the others. */
typedef struct mst_task_joined {
    bool copied;  /**< its store has got the state of another task */
    bool returns; /**< the tasks had been together before, of which this process may know nothing */
} mst_task_joined;

/** Waits until all tasks are there and agree on their fingerprints, and makes the states of all alike: that of the
 *  greatest number counts. Goes on waiting where a task is lost meanwhile. */
MST_CHECKED mst_status mst_task_join(mst_task *task, const mst_task_state *state, mst_task_joined *joined);
/** Whether the tasks have come together, and none is lost. */
bool mst_task_is_joined(mst_task *task);
/** Whether they are, and have compared what they train: they may have come together for a collective. */
bool mst_task_has_agreed(mst_task *task);
/** The state of the store has this number now. */
void mst_task_committed(mst_task *task, int64_t number);
/** The program of this task ends the training after the state NUMBER; other tasks may do so too. MST_OK: all end it
 *  there. MST_UNAVAILABLE: all end it, but some have not reached that state, or a task was lost: come together again,
 *  then call this once more. MST_CANCELLED: this process is to end. */
MST_CHECKED mst_status mst_task_stop(mst_task *task, int64_t number);
/** Whether a program has ended the training after the state NUMBER or a later one. True only once: the answer is then
 *  forgotten. Where it is false this program goes on. */
bool mst_task_is_stopped(mst_task *task, int64_t number);
/** A program that has trained before goes on with its training (resume): that it was ended counts no more. */
void mst_task_goes_on(mst_task *task);
/** Whether this process is to end, as `stop` of its options says. */
bool mst_task_must_end(const mst_task *task);
/** The job ends on all tasks with the calling thread's error, whose code is STATUS; returns STATUS. Where that is
 *  MST_DEADLINE, the error says from then on which task did not come. */
mst_status mst_task_fail(mst_task *task, mst_status status);

#endif
