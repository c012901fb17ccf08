/** Supervision of the processes of one job: starts them, and passes on their output and the signals that come. It
 *  restarts lost processes, and ends all when one has failed for good. It has one thread with one poll loop
 *  (supervisor.c).
 */
#ifndef MUSTER_CLI_LAUNCH_SUPERVISOR_H
#define MUSTER_CLI_LAUNCH_SUPERVISOR_H

#include <sched.h>
#include <stdbool.h>

#include "muster/status.h"

/** What a task does when all tasks that work have ended. */
typedef enum task_part {
    TASK_WORKS,
    TASK_SERVES, /**< has no more work: it is told to end unless it ends by itself (ps) */
    TASK_FOLLOWS /**< does a last piece of work, then ends by itself (evaluator) */
} task_part;

/** One process of the job. All pointers in it must stay valid while the supervisor exists. */
typedef struct task_spec {
    const char *name;       /**< printed before each line of its output: "worker:0" */
    char *const *arguments; /**< the program, searched in PATH, and its arguments; ended by NULL */
    char *variable;         /**< "NAME=value", set in its environment; NULL: none */
    const cpu_set_t *cores; /**< the cores on which it may run; NULL: those of the launcher */
    task_part part;
    bool reads_signals; /**< gets signals as lines on its standard input ("TERM"), since it stands for a process of
                                 another machine (remote_command) */
} task_spec;

typedef struct supervisor_options {
    int restarts;                  /**< the most restarts of all tasks together */
    int restarts_without_progress; /**< the most restarts in a row of a task that is soon lost again each time */
    double grace;                  /**< seconds from SIGTERM to SIGKILL */
    double follow;                 /**< seconds for a task that follows to end, after all tasks that work have ended */
    const char *log_dir;           /**< an existing folder for one log file per task; NULL: no log files */
} supervisor_options;

typedef struct supervisor supervisor;

/** How a job ended. */
typedef struct supervisor_result {
    int exit_status;    /**< of the command: EXIT_DONE, or the status of the failed task, or that of the signal */
    char message[1024]; /**< what was wrong, one line; "" if nothing was */
} supervisor_result;

/** Starts all tasks. MST_NOT_FOUND if there is no such program. After any error, none of the tasks runs. */
MST_CHECKED mst_status supervisor_open(const supervisor_options *options, const task_spec *spec, int num_tasks,
                                       supervisor **out);
/** Returns when all tasks have ended and their output has been written. Fails if a system call that supervision needs
 *  fails; supervisor_close then ends the tasks. */
MST_CHECKED mst_status supervisor_run(supervisor *supervisor, supervisor_result *result);
/** How often task I was started again. */
int supervisor_restarts(const supervisor *supervisor, int i);
/** Kills the tasks that still run, and frees SUPERVISOR, which may be NULL. */
void supervisor_close(supervisor *supervisor);

#endif
