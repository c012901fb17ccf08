/** Device names: /job:worker/replica:0/task:1/device:GPU:0 and the short forms /cpu:0, /gpu:1, /job:ps/task:0.
 *  Types are not case sensitive; a field that is not given is open: it is taken from an outer scope or a default. */
#ifndef MUSTER_GRAPH_DEVICE_NAME_H
#define MUSTER_GRAPH_DEVICE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

enum { MST_DEVICE_TEXT = 192, MST_DEVICE_PART = 48, MST_MOST_TASK = 1000000 /* greatest number of a field */ };

typedef struct mst_device_name {
    char job[MST_DEVICE_PART];  /**< "": open */
    int replica, task;          /**< -1: open */
    char type[MST_DEVICE_PART]; /**< upper case; "": open */
    int index;                  /**< -1: open */
} mst_device_name;

/** Parses a device name; in "" all fields are open. MST_INVALID if TEXT is no device name: the error quotes it and
 *  shows the right form. */
MST_CHECKED mst_status mst_device_name_parse(const char *text, mst_device_name *out);
/** The name "/job:JOB/replica:0/task:TASK", without a device. MST_INVALID if JOB is no name of a job, or TASK is not
 *  from 0 to MST_MOST_TASK. */
MST_CHECKED mst_status mst_device_name_of_task(const char *job, int64_t task, mst_device_name *out);
/** Replaces fields of NAME by those that INNER gives. If INNER gives another type and no index, the index becomes
 *  open. */
void mst_device_name_merge(mst_device_name *name, const mst_device_name *inner);
/** Fills the open fields of NAME from DEFAULTS. As in TensorFlow, an open replica or task becomes 0 if NAME has a job.
 *  An index that is open in both becomes 0. */
void mst_device_name_fill(mst_device_name *name, const mst_device_name *defaults);
/** Writes the full form of the given fields to TEXT, which has MST_DEVICE_TEXT bytes; returns TEXT. */
char *mst_device_name_print(const mst_device_name *name, char *text);
/** Whether job, replica and task are equal. */
bool mst_device_name_same_task(const mst_device_name *a, const mst_device_name *b);

#endif
