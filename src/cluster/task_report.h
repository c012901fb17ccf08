/** What a task says of itself to `muster top`: 80 bytes of numbers, little-endian, and two texts.
 *
 *       0  magic     "MSTP"
 *       4  version   u32
 *       8  doing     u32   mst_task_doing
 *      12  self      u32   its number in the cluster
 *      16  step      i64   steps that have been made; -1: it makes none
 *      24  examples  i64   of its own batches, since it began to train; -1: it has none
 *      32  elapsed   i64   nanoseconds since it began to train, or to serve; 0: it has not
 *      40  data      i64   of these: it waited for its input; -1: it has none
 *      48  wait      i64   of these: it waited for other tasks
 *      56  whom      u64   bytes of the first text: for whom it waits now, and has waited for a while; 0: for nobody
 *      64  tasks     u64   bytes of the second: a line for each training task, "worker:0 localhost:2223\n"; without an
 *                          address where that is not known, "worker:1 \n"
 *      72  sessions  u64   version of the messages by which it takes sessions (MST_PARCEL_VERSION); 0: it takes none
 */
#ifndef MUSTER_CLUSTER_TASK_REPORT_H
#define MUSTER_CLUSTER_TASK_REPORT_H

#include "muster/op.h"
#include "muster/status.h"

enum { MST_TASK_REPORT_HEAD = 80, MST_TASK_REPORT_TASKS = 1 << 20, MST_TASK_REPORT_WHOM = 600 };

typedef enum mst_task_doing {
    MST_TASK_IDLE, /**< it does not train: it prepares, or its program does other things */
    MST_TASK_WAITS,
    MST_TASK_TRAINS,
    MST_TASK_VALIDATES,
    MST_TASK_SERVES,
    MST_TASK_DONE, /**< with its training */
    MST_NUM_TASK_DOINGS
} mst_task_doing;

typedef struct mst_task_report {
    mst_task_doing doing;
    int32_t self;
    int64_t step, examples, elapsed, data, wait;
    uint32_t sessions;
    const char *whom, *tasks; /**< without a 0 at their ends, and without control characters but the ends of lines */
    size_t whom_bytes, tasks_bytes;
} mst_task_report;

/** The report as it travels; freed with free(). NULL where there is no memory. */
void *mst_task_report_encode(const mst_task_report *report, size_t *bytes);
/** From SIZE bytes at DATA, to which the texts of OUT point. Returns NULL, or in half a sentence why that is no report.
 *  Exported for the command, as the next one. */
MST_API MST_CHECKED const char *mst_task_report_decode(const void *data, size_t size, mst_task_report *out);
/** The task of the line at byte *AT of `tasks`, which is set to the next one; NAME and ADDRESS, of SIZE bytes each, get
 *  as much as fits. False: there is no line left. */
MST_API bool mst_task_report_next(const mst_task_report *report, size_t *at, char *name, char *address, size_t size);

#endif
