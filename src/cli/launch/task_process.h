/** Starting the process of a task. */
#ifndef MUSTER_CLI_LAUNCH_TASK_PROCESS_H
#define MUSTER_CLI_LAUNCH_TASK_PROCESS_H

#include <signal.h>
#include <sys/types.h>

#include "cli/launch/supervisor.h"

/** A process, the leader of a group of its own, and this side of its pipes. All descriptors are closed on exec. */
typedef struct task_process {
    pid_t pid;
    int input;     /**< to its standard input; -1: it has /dev/null */
    int output[2]; /**< from its standard output and standard error; reading does not wait */
} task_process;

/** Starts it with the signal mask MASK, and standard input from NULL_INPUT where it reads no signals. RESTARTED: the
 *  value of MST_RESTARTED (task/task.h); NULL: it is not set. The kernel kills the process when this one ends.
 *  MST_NOT_FOUND where there is no such program. */
MST_CHECKED mst_status task_process_start(const task_spec *spec, const char *restarted, const sigset_t *mask,
                                          int null_input, task_process *out);

#endif
