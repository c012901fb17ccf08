/** The log of a task: each line begins with the name of the task. */
#ifndef MUSTER_CLUSTER_TASK_LOG_H
#define MUSTER_CLUSTER_TASK_LOG_H

#include <stdarg.h>
#include <stdio.h>

#include "muster/cluster.h"

/** Writes a line to LOG (NULL: does nothing): "worker:1: ", for this task of CLUSTER, and the text. */
void mst_task_log(FILE *log, const mst_cluster *cluster, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

#endif
