/** A process that kills the tasks when the launcher is gone without having ended them (SIGKILL, out of memory).
 *
 *  In that case the kernel kills the process of a task (PR_SET_PDEATHSIG). It does not kill the processes that the task
 *  has started, such as the programs of a shell script. The launcher tells the guard the process group of each task
 *  through a pipe. When the pipe ends, the guard kills the groups.
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
/** Adds the process group whose leader is PID to the groups that the guard kills. */
void guard_add(const guard *guard, pid_t pid);
/** Removes the group whose leader is PID: all its processes have ended. */
void guard_remove(const guard *guard, pid_t pid);
/** Kills the groups that are left, and ends the guard. */
void guard_end(guard *guard);

#endif
