/** Starts the process of a task. */
#ifndef MUSTER_CLI_LAUNCH_TASK_PROCESS_H
#define MUSTER_CLI_LAUNCH_TASK_PROCESS_H

#include <signal.h>
#include <sys/types.h>

#include "cli/launch/supervisor.h"

/** A process, which leads a process group of its own, and our ends of its pipes. All descriptors are closed on exec. */
typedef struct task_process {
    pid_t pid;
    int input;     /**< writes to its standard input; -1: its standard input is /dev/null */
    int output[2]; /**< read its standard output and its standard error, without waiting */
} task_process;

/** Starts the process of SPEC with the signal mask MASK. Unless it reads signals, its standard input is NULL_INPUT.
 *  RESTARTED is the value of MST_RESTARTED (task/task.h); NULL: the variable is not set. The kernel kills the process
 *  when this one ends. MST_NOT_FOUND if there is no such program. */
MST_CHECKED mst_status task_process_start(const task_spec *spec, const char *restarted, const sigset_t *mask,
                                          int null_input, task_process *out);

#endif
