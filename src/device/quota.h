/** The limits that container runtimes set: how much of the processor and of the memory a control group may use. */
#ifndef MUSTER_DEVICE_QUOTA_H
#define MUSTER_DEVICE_QUOTA_H

#include <stdint.h>

/** The processor time that this process may use, in cores: 0.5 is half a core. 0: there is no limit.
 *
 *  It is the least limit of its control group and all groups that contain it. Version 2 has the limit in cpu.max,
 *  version 1 in cpu.cfs_quota_us and cpu.cfs_period_us. Sources: Linux, Documentation/admin-guide/cgroup-v2.rst and
 *  scheduler/sched-bwc.rst. GROUPS is the folder of all control groups, "/sys/fs/cgroup". MEMBERSHIP is the file that
 *  lists the control groups of this process, "/proc/self/cgroup". */
double mst_cpu_quota(const char *groups, const char *membership);
/** Bytes of memory that all processes of this process' control group may use together; 0 if there is no limit.
 *  Arguments as for mst_cpu_quota. Version 2 has the limit in memory.max, version 1 in memory.limit_in_bytes. */
int64_t mst_memory_quota(const char *groups, const char *membership);

#endif
