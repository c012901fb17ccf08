/** Parts: what one task does of a session that has the devices of several tasks.
 *
 *  Each of these tasks has a part: a session with the same graph and the same list of devices. All make the same plan
 *  up to one common order of all nodes, compare its hash, and keep what their own devices do (plan/keep_own.c). In a
 *  run they send each other the values that cross, and a step that changes variables happens on all tasks or on none:
 *
 *      task 0    body  --> vote --+                 +--> its variables are written
 *      task 1    body  --> vote --+--> coordinator -+--> likewise
 *      task 2    body  --> fails, which is told by its status: the coordinator decides that the step does not happen
 *
 *  A part knows no network. Its owner sends for it (mst_session_part_host) and gives it what comes
 *  (mst_session_part_deliver). One coordinator of all tasks counts the votes: the step happens when all tasks that run
 *  something have voted.
 *
 *  A part has one run under way at a time. All tasks submit the runs of all their sessions in one order, which the
 *  coordinator gives; then two runs never wait for each other crosswise. */
#ifndef MUSTER_RUN_PART_H
#define MUSTER_RUN_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/failure.h"
#include "device/device.h"
#include "muster/session.h"

struct mst_cached_plan;

/** What a part needs of its owner. The functions are called by threads of devices, and must not wait for the run. */
typedef struct mst_session_part_host {
    void *context;
    /** Sends the bytes of PIECES to part TO as message STREAM of RUN; they may change when it has returned. */
    mst_status (*send)(void *context, int32_t to, uint64_t run, int32_t stream, const struct iovec *pieces, int count);
    /** Tells the coordinator that this task can make the step RUN. From now on only the coordinator decides. */
    void (*vote)(void *context, uint64_t run);
} mst_session_part_host;

/** The devices of all tasks, in an order that is the same on all. What is put on no task goes to the first. */
typedef struct mst_session_part_options {
    int32_t num_tasks, self;
    const mst_task_devices *task; /**< [num_tasks] */
    mst_session_part_host host;
} mst_session_part_options;

/** Makes a part. OPTIONS are those of a session: the devices, job and task that they name must give those that TASK has
 *  for SELF; at most one frame. PART and what it points to are needed during the call only. MST_INVALID if a device is
 *  of a type that is not known here. */
MST_CHECKED mst_status mst_session_create_part(mst_graph *graph, const mst_session_options *options,
                                               const mst_session_part_options *part, mst_session **out);

/* ---- plans ---- */

/** What the tasks must agree on, and what the coordinator needs to know. Valid as long as the plan. */
typedef struct mst_session_part_plan_info {
    uint64_t hash;             /**< of the common order: differs if the tasks have other graphs or programs */
    const bool *runs_on;       /**< by task: whether it has anything to do in a run */
    const int32_t *feed_task;  /**< by feed: the task that needs its value, -1: none */
    const int32_t *fetch_task; /**< by fetch: the task that gives its value, -1: it has none */
    bool commits;              /**< changes variables: the tasks vote */
    bool has_step;             /**< a global step numbers its runs for random ops */
} mst_session_part_plan_info;

/** The plan for these feeds and fetches. Of a feed only `value` and `spec` count: a run gives the tensor. The caller
 *  owns a reference to *OUT, which it drops with mst_session_part_release_plan. */
MST_CHECKED mst_status mst_session_part_make_plan(mst_session *part, const mst_feed *feeds, int num_feeds,
                                                  const mst_value *fetches, int num_fetches,
                                                  struct mst_cached_plan **out);
mst_session_part_plan_info mst_session_part_describe_plan(const struct mst_cached_plan *plan);
/** Drops the caller's reference. With FORGET the plan will not run again. NULL is allowed. */
void mst_session_part_release_plan(mst_session *part, struct mst_cached_plan *plan, bool forget);

/* ---- runs ---- */

typedef struct mst_session_part_run {
    uint64_t number;         /**< of the run: rises, and is the same on all tasks */
    double seconds;          /**< that it may take */
    int64_t random;          /**< number of the step for random ops, if no global step has one: below 0 */
    bool initial;            /**< gives variables their first values */
    mst_tensor *const *feed; /**< by feed of the plan: the values that this task needs, else NULL */
    mst_tensor **output;     /**< by fetch: of those that this task gives; as mst_session_run */
} mst_session_part_run;

/** Puts a run of PLAN on the queues of this task's devices. Call it if the plan runs on this task, in the order that
 *  all tasks share. If it fails, the run is over here, and the coordinator must be told. */
MST_CHECKED mst_status mst_session_part_submit(mst_session *part, struct mst_cached_plan *plan,
                                               const mst_session_part_run *run);
/** Waits for the end of the run that was submitted last. *DERIVED: it failed because another task did, which tells the
 *  cause. *OVERTAKEN: an initial run found that another session has
 *  given its variables their values. */
MST_CHECKED mst_status mst_session_part_finish(mst_session *part, bool *derived, bool *overtaken);

/** Message STREAM of RUN from part FROM has come, maybe before the run was submitted. Copies DATA. */
MST_CHECKED mst_status mst_session_part_deliver(mst_session *part, int32_t from, uint64_t run, int32_t stream,
                                                const void *data, size_t bytes);
/** What the coordinator has decided of RUN: that it happens (FAILURE is NULL), or does not, and why. A decision about a
 *  run that is not under way here is ignored. */
void mst_session_part_decide(mst_session *part, uint64_t run, const mst_failure *failure);

#endif
