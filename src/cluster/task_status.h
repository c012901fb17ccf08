/** What a task does at the moment, for those who ask (`muster top`). Training and serving note it here, at a cost of
 *  some tens of nanoseconds; whoever asks gets a report (cluster/task_report.h) from the thread of the transport. Any
 *  thread may call all of it. */
#ifndef MUSTER_CLUSTER_TASK_STATUS_H
#define MUSTER_CLUSTER_TASK_STATUS_H

#include "base/stopwatch.h"
#include "cluster/task_report.h"
#include "collective/group.h"
#include "muster/cluster.h"
#include "transport/transport.h"

typedef struct mst_task_status {
    mst_stopwatch data, wait; /**< for the input; for other tasks */
    pthread_mutex_t lock;     /**< of all that follows, but for `tasks` */
    mst_task_doing doing;
    int64_t began; /**< to train, or to serve; 0: not yet */
    int64_t step, examples;
    char whom[MST_TASK_REPORT_WHOM];
    mst_group_progress exchange; /**< the last one; count 0: none */
    int32_t self;
    uint32_t sessions; /**< as in a report; set before anybody asks */
    char *tasks;       /**< as in a report */
} mst_task_status;

MST_CHECKED mst_status mst_task_status_init(mst_task_status *status, const mst_cluster *cluster);
/** Also of one that is all zeros. */
void mst_task_status_free(mst_task_status *status);
/** What is reported to those who ask a transport. */
mst_transport_report mst_task_status_reporter(mst_task_status *status);

/* STATUS may be NULL in what follows: there is no task. */

/** Begins to train, or to serve: times and examples count from 0. */
void mst_task_status_begin(mst_task_status *status, mst_task_doing doing);
void mst_task_status_set(mst_task_status *status, mst_task_doing doing);
/** STEP is the step that has been made, with EXAMPLES of this task. */
void mst_task_status_step(mst_task_status *status, int64_t step, int64_t examples);
/** The last exchange that the task has started, as known now. */
void mst_task_status_exchange(mst_task_status *status, const mst_group_progress *exchange);
/** From now on it waits for WHOM, a list in words; "": not any more. */
void mst_task_status_wait_for(mst_task_status *status, const char *whom);

#endif
