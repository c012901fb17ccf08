/** The share of the processors that a container or a service may use, as Linux' control groups (cgroups) have it. */
#ifndef MUSTER_DEVICE_QUOTA_H
#define MUSTER_DEVICE_QUOTA_H

/** Whole processors, at least 1, that the tightest limit allows of the group of this process and those around it; 0
 *  where there is no limit. ROOT is where the groups are mounted ("/sys/fs/cgroup"), MEMBERSHIP the file that names the
 *  group ("/proc/self/cgroup"). */
int mst_cpu_quota(const char *root, const char *membership);

#endif
