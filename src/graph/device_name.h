/** Device names: /job:worker/replica:0/task:1/device:GPU:0 and the short forms /cpu:0, /gpu:1, /job:ps/task:0.
 *  Types are not case sensitive; a field that is not given is open and taken from an outer scope or a default. */
#ifndef MUSTER_GRAPH_DEVICE_NAME_H
#define MUSTER_GRAPH_DEVICE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

enum { MST_DEVICE_TEXT = 192, MST_DEVICE_PART = 48, MST_MOST_TASK = 1000000 /* greatest number of a field */ };

typedef struct mst_device_name {
    char job[MST_DEVICE_PART];  /**< "" where open */
    int replica, task;          /**< -1 where open */
    char type[MST_DEVICE_PART]; /**< upper case; "" where open */
    int index;                  /**< -1 where open */
} mst_device_name;

/** "" parses to all open. MST_INVALID, quoting the name and the right form, where TEXT is no device name. */
MST_CHECKED mst_status mst_device_name_parse(const char *text, mst_device_name *out);
/** "/job:JOB/replica:0/task:TASK", without a device. MST_INVALID where JOB is no name of a job or TASK is not from 0 to
 *  MST_MOST_TASK. */
MST_CHECKED mst_status mst_device_name_of_task(const char *job, int64_t task, mst_device_name *out);
/** Fields that INNER gives replace those of NAME; a type without index opens the index. */
void mst_device_name_merge(mst_device_name *name, const mst_device_name *inner);
/** Fields that are open in NAME are taken from DEFAULTS; but replica and task are 0 where NAME has a job, as in
 *  TensorFlow. */
void mst_device_name_fill(mst_device_name *name, const mst_device_name *defaults);
/** The full form of the fields that are given, into TEXT of MST_DEVICE_TEXT bytes; returns TEXT. */
char *mst_device_name_print(const mst_device_name *name, char *text);
/** Whether job, replica and task are equal. */
bool mst_device_name_same_task(const mst_device_name *a, const mst_device_name *b);

#endif
