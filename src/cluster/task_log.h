/** The log of a task: lines that say which task they are of. */
#ifndef MUSTER_CLUSTER_TASK_LOG_H
#define MUSTER_CLUSTER_TASK_LOG_H

#include <stdarg.h>
#include <stdio.h>

#include "muster/cluster.h"

/** Writes "worker:1: " and a line to LOG (NULL: nothing), of this task of CLUSTER. */
void mst_task_log(FILE *log, const mst_cluster *cluster, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

#endif
