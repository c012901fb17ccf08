/** Supervision of the processes of one job: starts them, passes on what they print and the signals that come, starts
 *  lost ones again, and ends all when one has failed for good. One thread, one poll loop (supervisor.c).
 */
#ifndef MUSTER_CLI_LAUNCH_SUPERVISOR_H
#define MUSTER_CLI_LAUNCH_SUPERVISOR_H

#include <sched.h>
#include <stdbool.h>

#include "muster/status.h"

/** What a task does when all tasks that work have ended. */
typedef enum task_part {
    TASK_WORKS,
    TASK_SERVES, /**< nothing more: it is told to end where it does not end by itself (ps) */
    TASK_FOLLOWS /**< a last piece of work, then it ends by itself (evaluator) */
} task_part;

/** One process of the job. All that it points to must outlive the supervisor. */
typedef struct task_spec {
    const char *name;       /**< before each line that it prints: "worker:0" */
    char *const *arguments; /**< the program, looked for in PATH, and its arguments; ended by NULL */
    char *variable;         /**< "NAME=value", set in its environment; NULL: none */
    const cpu_set_t *cores; /**< that it may run on; NULL: those of the launcher */
    task_part part;
    bool reads_signals; /**< is told of signals by lines on its standard input ("TERM"), since it stands for a process
                                 of another machine (remote_command) */
} task_spec;

typedef struct supervisor_options {
    int restarts;                  /**< of lost tasks, in all */
    int restarts_without_progress; /**< of one task that is lost again shortly after each of them */
    double grace;                  /**< seconds from SIGTERM to SIGKILL */
    double follow;                 /**< seconds that a task that follows has when all that work have ended */
    const char *log_dir;           /**< an existing folder for one file a task; NULL: none */
} supervisor_options;

typedef struct supervisor supervisor;

/** How a job ended. */
typedef struct supervisor_result {
    int exit_status;    /**< of the command: EXIT_DONE, that of the task that failed, or that of the signal that came */
    char message[1024]; /**< what was wrong, one line; "" where nothing was */
} supervisor_result;

/** Starts all tasks. MST_NOT_FOUND where there is no such program; after any error none of them runs. */
MST_CHECKED mst_status supervisor_open(const supervisor_options *options, const task_spec *spec, int num_tasks,
                                       supervisor **out);
/** Returns when all have ended and what they printed has been written. Fails where the system refuses what supervision
 *  needs; supervisor_close then ends the tasks. */
MST_CHECKED mst_status supervisor_run(supervisor *supervisor, supervisor_result *result);
/** How often task I was started again. */
int supervisor_restarts(const supervisor *supervisor, int i);
/** Kills what still runs. NULL is allowed. */
void supervisor_close(supervisor *supervisor);

#endif
