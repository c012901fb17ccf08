/** What a task reports to `muster top`: 88 bytes of numbers, little-endian, and three texts.
 *
 *       0  magic     "MSTP"
 *       4  version   u32
 *       8  doing     u32   mst_task_doing
 *      12  self      u32   its number in the cluster
 *      16  step      i64   number of steps made; -1: it makes no steps
 *      24  examples  i64   number in its own batches, since it began to train; -1: it has none
 *      32  elapsed   i64   nanoseconds since it began to train, or to serve; 0: it has not begun
 *      40  data      i64   part of `elapsed` in which it waited for its input; -1: it has no input
 *      48  wait      i64   part of `elapsed` in which it waited for other tasks
 *      56  whom      u64   bytes of the first text: the tasks for which it has been waiting for a while; 0: none
 *      64  tasks     u64   bytes of the second text: a line for each training task, "worker:0 localhost:2223\n"; if the
 *                          address is not known, "worker:1 \n"
 *      72  sessions  u64   version of its messages for sessions (MST_TASK_MESSAGE_VERSION); 0: it takes no sessions
 *      80  devices   u64   bytes of the third text: a line for each device on which it trains, with the bytes that are
 *                          in use there, those that it may use (0: not known), and its kind, which may be empty:
 *                          "GPU:0 1048576 151000000000 NVIDIA H200\n"
 */
#ifndef MUSTER_CLUSTER_TASK_REPORT_H
#define MUSTER_CLUSTER_TASK_REPORT_H

#include "muster/op.h"
#include "muster/status.h"

enum { MST_TASK_REPORT_HEAD = 88, MST_TASK_REPORT_TASKS = 1 << 20, MST_TASK_REPORT_WHOM = 600 };

typedef enum mst_task_doing {
    MST_TASK_IDLE, /**< it does not train: it prepares, or its program does other things */
    MST_TASK_WAITS,
    MST_TASK_TRAINS,
    MST_TASK_VALIDATES,
    MST_TASK_SERVES,
    MST_TASK_DONE, /**< it has done its training */
    MST_NUM_TASK_DOINGS
} mst_task_doing;

typedef struct mst_task_report {
    mst_task_doing doing;
    int32_t self;
    int64_t step, examples, elapsed, data, wait;
    uint32_t sessions;
    const char *whom, *tasks, *devices; /**< not terminated by 0, and without control characters except newlines */
    size_t whom_bytes, tasks_bytes, devices_bytes;
} mst_task_report;

/** Encodes the report; free it with free(). NULL if there is no memory. */
void *mst_task_report_encode(const mst_task_report *report, size_t *bytes);
/** Decodes SIZE bytes at DATA; the texts of OUT point into DATA. Returns NULL, or, as half a sentence, why that is not
 *  a report. This and the next function are exported for the command. */
MST_API MST_CHECKED const char *mst_task_report_decode(const void *data, size_t size, mst_task_report *out);
/** Reads the line at byte *AT of `tasks`, and sets *AT to the next line. NAME and ADDRESS, of SIZE bytes each, get as
 *  much as fits. False: there is no line left. */
MST_API bool mst_task_report_next(const mst_task_report *report, size_t *at, char *name, char *address, size_t size);

/** A device of a task. */
typedef struct mst_task_device {
    char name[32], kind[128]; /**< "GPU:0", "NVIDIA H200" */
    int64_t in_use, limit;    /**< bytes; 0: not known */
} mst_task_device;
/** Reads the line at byte *AT of `devices`, and sets *AT to the next line. False: there is no line left. */
MST_API bool mst_task_report_device(const mst_task_report *report, size_t *at, mst_task_device *out);

#endif
