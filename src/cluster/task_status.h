/** What a task is doing, for those who ask (`muster top`). Training and serving note it here, which costs some tens of
 *  nanoseconds. A program that asks gets a report (cluster/task_report.h) from the thread of the transport. Any thread
 *  may call all of these functions. */
#ifndef MUSTER_CLUSTER_TASK_STATUS_H
#define MUSTER_CLUSTER_TASK_STATUS_H

#include "base/stopwatch.h"
#include "cluster/task_report.h"
#include "collective/group.h"
#include "muster/cluster.h"
#include "transport/transport.h"

typedef struct mst_task_status {
    mst_stopwatch data, wait; /**< time spent waiting for the input; for other tasks */
    pthread_mutex_t lock;     /**< guards all members after it except `tasks` */
    mst_task_doing doing;
    int64_t began;                   /**< when it began to train, or to serve; 0: not yet */
    int64_t step, examples;          /**< as in mst_task_report */
    char whom[MST_TASK_REPORT_WHOM]; /**< for whom it waits; "": for nobody */
    mst_group_progress exchange;     /**< the last exchange; count 0: none */
    int32_t self;
    uint32_t sessions; /**< as in mst_task_report; set before anybody asks */
    char *tasks;       /**< as in mst_task_report */
    char *devices;     /**< likewise, guarded by the lock; NULL: none are known */
} mst_task_status;

MST_CHECKED mst_status mst_task_status_init(mst_task_status *status, const mst_cluster *cluster);
/** Frees the members. STATUS may be all zeros. */
void mst_task_status_free(mst_task_status *status);
/** The functions by which a transport reports STATUS to those who ask. */
mst_transport_report mst_task_status_reporter(mst_task_status *status);

/* In the functions below STATUS may be NULL: there is no task. */

/** The task begins to train, or to serve: times and examples count from 0. */
void mst_task_status_begin(mst_task_status *status, mst_task_doing doing);
void mst_task_status_set(mst_task_status *status, mst_task_doing doing);
/** The task has made step STEP, with EXAMPLES of its own. */
void mst_task_status_step(mst_task_status *status, int64_t step, int64_t examples);
/** The task trains on DEVICES, a text as in mst_task_report, which this takes and frees; NULL: nothing is known. */
void mst_task_status_devices(mst_task_status *status, char *devices);
/** EXCHANGE is the last exchange that the task has started. STATUS is not NULL. */
void mst_task_status_exchange(mst_task_status *status, const mst_group_progress *exchange);
/** From now on the task waits for WHOM, a list in words; "": it does not wait any more. */
void mst_task_status_wait_for(mst_task_status *status, const char *whom);

#endif
