/** A failure with the task that it is about. */
#ifndef MUSTER_CLUSTER_TASK_FAILURE_H
#define MUSTER_CLUSTER_TASK_FAILURE_H

#include "base/failure.h"

/** No state number. As that of a member: a copy of its state was cut off half-way, so there is no whole state. */
#define MST_NO_STATE INT64_C(-1)

/** Fixed size, without pointers: messages between members carry it (membership/member_message.h). */
typedef struct mst_task_failure {
    mst_status code;
    bool derived;         /**< only reports that another task failed */
    int32_t task;         /**< -1: of no one task */
    int64_t state_number; /**< that was reached, or MST_NO_STATE */
    char message[1024], node[256], device[256];
} mst_task_failure;

/** Fills FAILURE, which is not derived, without node and device. */
void mst_task_failure_set(mst_task_failure *failure, mst_status code, int32_t task, int64_t state_number,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));
/** The same from the error of a thread of TASK. */
void mst_task_failure_from(mst_task_failure *failure, const mst_failure *source, int32_t task, int64_t state_number);
/** Appends how many steps the job had made, where it had made any. */
void mst_task_failure_add_steps(mst_task_failure *failure);
/** Puts context before the message. */
void mst_task_failure_prefix(mst_task_failure *failure, const char *prefix);
/** FAILURE without what a thread's error record has no room for. */
mst_failure mst_task_failure_plain(const mst_task_failure *failure);

#endif
