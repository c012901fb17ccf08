/** How much of the processor a control group may use: the limit that container runtimes set. */
#ifndef MUSTER_DEVICE_QUOTA_H
#define MUSTER_DEVICE_QUOTA_H

/** Cores' worth of time that this process may use, 0.5 for half a core; 0 where nothing limits it.
 *
 *  The least limit of its control group and all groups around it: cpu.max of version 2, cpu.cfs_quota_us and
 * cpu.cfs_period_us of version 1 (Linux, Documentation/admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst).
 *  GROUPS is where they are mounted, "/sys/fs/cgroup"; MEMBERSHIP the file that says in which ones the process is,
 *  "/proc/self/cgroup". */
double mst_cpu_quota(const char *groups, const char *membership);

#endif
