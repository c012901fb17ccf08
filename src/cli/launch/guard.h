/** A process that kills the tasks when the launcher is gone without having ended them (SIGKILL, out of memory).
 *
 *  The kernel then kills the process of a task (PR_SET_PDEATHSIG), but not what that process has started, such as the
 *  programs of a shell script. The guard is told the group of each task through a pipe from the launcher, and kills
 *  the groups when the pipe ends.
 */
#ifndef MUSTER_CLI_LAUNCH_GUARD_H
#define MUSTER_CLI_LAUNCH_GUARD_H

#include <sys/types.h>

#include "muster/status.h"

typedef struct guard {
    pid_t pid;
    int pipe; /**< to the guard */
} guard;

/** Starts the guard of at most NUM_GROUPS groups at a time. */
MST_CHECKED mst_status guard_start(int num_groups, guard *out);
/** The group of the leader PID is to be killed. */
void guard_add(const guard *guard, pid_t pid);
/** It no longer is: what was in it has ended. */
void guard_remove(const guard *guard, pid_t pid);
/** Kills the groups that are left, and ends the guard. */
void guard_end(guard *guard);

#endif
