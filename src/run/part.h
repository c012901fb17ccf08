/** Parts: what one task does of a session that has the devices of several tasks.
 *
 *  Each of these tasks has a part: a session with the same graph and the same list of devices. All make the same plan.
 *  Once all nodes are in one order, they compare a hash of this order, and keep the nodes of their own devices
 *  (plan/keep_own.c). In a run they send each other the values that cross. A step that changes variables happens on all
 *  tasks or on none:
 *
 *      task 0    body  --> vote --+                 +--> its variables are written
 *      task 1    body  --> vote --+--> coordinator -+--> its variables are written
 *      task 2    body  --> fails: its status tells the coordinator, and the step does not happen
 *
 *  A part does not use the network itself. Its owner sends its messages (mst_session_part_host) and delivers those that
 *  arrive (mst_session_part_deliver). One coordinator of all tasks counts the votes: the step happens when all tasks
 *  that run something have voted.
 *
 *  A part has one run under way at a time. All tasks submit the runs of all their sessions in one order, which the
 *  coordinator gives. So two runs never wait for each other in a circle. */
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

/** What a part needs from its owner. Threads of devices call these functions, which must not wait for the run. */
typedef struct mst_session_part_host {
    void *context;
    /** Sends the bytes of PIECES to part TO as message STREAM of RUN. The bytes may change after it returns. */
    mst_status (*send)(void *context, int32_t to, uint64_t run, int32_t stream, const struct iovec *pieces, int count);
    /** Tells the coordinator that this task can make the step RUN. From now on only the coordinator decides. */
    void (*vote)(void *context, uint64_t run);
} mst_session_part_host;

/** The devices of all tasks, in an order that is the same on all tasks. Nodes that name no task go to the first. */
typedef struct mst_session_part_options {
    int32_t num_tasks, self;
    const mst_task_devices *task; /**< [num_tasks] */
    mst_session_part_host host;
} mst_session_part_options;

/** Makes a part. OPTIONS are the options of a session, with at most one frame. They must name the same devices, job and
 *  task as PART->task[PART->self]. PART and the memory that it points to are needed during the call only. MST_INVALID
 *  if a device in the list is of a type that this task does not have. */
MST_CHECKED mst_status mst_session_create_part(mst_graph *graph, const mst_session_options *options,
                                               const mst_session_part_options *part, mst_session **out);

/* ---- plans ---- */

/** Facts of a plan on which the tasks must agree, or which the coordinator needs. Valid as long as the plan. */
typedef struct mst_session_part_plan_info {
    uint64_t hash;             /**< hash of the common order: differs between tasks with different graphs or programs */
    const bool *runs_on;       /**< by task: whether it has anything to do in a run */
    const int32_t *feed_task;  /**< by feed: the task that needs its value; -1: none */
    const int32_t *fetch_task; /**< by fetch: the task that gives its value; -1: it has no value */
    bool commits;              /**< it changes variables, so the tasks vote */
    bool has_step;             /**< a global step numbers its runs for random ops */
} mst_session_part_plan_info;

/** Makes the plan for these feeds and fetches. Only `value` and `spec` of a feed matter here: a run gives the tensor.
 *  The caller owns a reference to *OUT, and drops it with mst_session_part_release_plan. */
MST_CHECKED mst_status mst_session_part_make_plan(mst_session *part, const mst_feed *feeds, int num_feeds,
                                                  const mst_value *fetches, int num_fetches,
                                                  struct mst_cached_plan **out);
mst_session_part_plan_info mst_session_part_describe_plan(const struct mst_cached_plan *plan);
/** Drops the caller's reference to PLAN. FORGET: the plan will not run again. PLAN may be NULL. */
void mst_session_part_release_plan(mst_session *part, struct mst_cached_plan *plan, bool forget);

/* ---- runs ---- */

typedef struct mst_session_part_run {
    uint64_t number;         /**< number of the run: rises, and is the same on all tasks */
    double seconds;          /**< time that the run may take */
    int64_t random;          /**< for random ops, if there is no global step: a number below 0 in place of the
                                  number of the step */
    bool initial;            /**< gives variables their first values */
    mst_tensor *const *feed; /**< by feed of the plan: the value if this task needs it, else NULL */
    mst_tensor **output;     /**< by fetch: the outputs that this task gives; as for mst_session_run */
} mst_session_part_run;

/** Puts a run of PLAN on the queues of this task's devices. Call it for each plan that has work for this task, in the
 *  order of runs that all tasks share. If it fails, the run is over here, and the coordinator must be told. */
MST_CHECKED mst_status mst_session_part_submit(mst_session *part, struct mst_cached_plan *plan,
                                               const mst_session_part_run *run);
/** Waits for the end of the run that was submitted last. *DERIVED: it failed because another task failed, which reports
 *  the cause. *OVERTAKEN: an initial run found that another session has given its variables their values. */
MST_CHECKED mst_status mst_session_part_finish(mst_session *part, bool *derived, bool *overtaken);

/** Delivers message STREAM of RUN from part FROM; it may come before the run is submitted. DATA is copied. */
MST_CHECKED mst_status mst_session_part_deliver(mst_session *part, int32_t from, uint64_t run, int32_t stream,
                                                const void *data, size_t bytes);
/** Delivers the coordinator's decision on RUN. FAILURE is NULL if the run happens, else it says why not. A decision on
 *  a run that is not under way here is ignored. */
void mst_session_part_decide(mst_session *part, uint64_t run, const mst_failure *failure);

#endif
