#include "cluster/task_log.h"

#include "base/escape.h"

void mst_task_log(FILE *log, const mst_cluster *cluster, const char *format, va_list list) {
    const mst_task_info self = mst_cluster_task(cluster, mst_cluster_self(cluster));
    char line[1400];
    if (!log) return;
    vsnprintf(line, sizeof line, format, list);
    mst_make_plain(line); /* it may contain text from other tasks */
    fprintf(log, "%s:%d: %s\n", self.job, (int)self.index, line);
    fflush(log);
}
