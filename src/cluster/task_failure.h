/** A failure, together with the task that it concerns. */
#ifndef MUSTER_CLUSTER_TASK_FAILURE_H
#define MUSTER_CLUSTER_TASK_FAILURE_H

#include "base/failure.h"

/** Used in place of a state's number (the number of steps made) if the task has no complete state. That is so after a
 *  loss that interrupted copying the state of another task. */
#define MST_NO_STATE INT64_C(-1)

/** Fixed size, without pointers: messages between members carry it (membership/member_message.h). */
typedef struct mst_task_failure {
    mst_status code;
    bool derived;         /**< only reports that another task failed */
    int32_t task;         /**< -1: it concerns no single task */
    int64_t state_number; /**< the state that was reached, or MST_NO_STATE */
    char message[1024], node[256], device[256];
} mst_task_failure;

/** Fills FAILURE; it is not derived, and has no node and device. */
void mst_task_failure_set(mst_task_failure *failure, mst_status code, int32_t task, int64_t state_number,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));
/** Fills FAILURE from SOURCE, the error of a thread of TASK. */
void mst_task_failure_from(mst_task_failure *failure, const mst_failure *source, int32_t task, int64_t state_number);
/** Appends to the message how many steps the job had made, if it had made any. */
void mst_task_failure_add_steps(mst_task_failure *failure);
/** Puts context before the message. */
void mst_task_failure_prefix(mst_task_failure *failure, const char *prefix);
/** FAILURE without the parts that a thread's error record has no room for. */
mst_failure mst_task_failure_plain(const mst_task_failure *failure);

#endif
