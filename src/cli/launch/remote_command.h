/** Tasks on other machines, over ssh. */
#ifndef MUSTER_CLI_LAUNCH_REMOTE_COMMAND_H
#define MUSTER_CLI_LAUNCH_REMOTE_COMMAND_H

#include "cli/launch/job.h"

/** The command that runs this task in a POSIX shell, whatever its current folder: "cd FOLDER && env TF_CONFIG=...
 *  PROGRAM ARGUMENTS". To be freed; NULL if memory is out. */
char *task_command(const char *folder, const job_task *task);

/** A process of this machine that stands for a task of another one. */
typedef struct remote_process {
    char *run;     /**< what the shell runs: exec ssh "$1" "$2" */
    char *command; /**< what runs on the other machine */
    /** sh -c RUN sh HOST COMMAND, ended by NULL. A shell is used because the text of --ssh may have arguments. If
     *  MST_RESTARTED (task/task.h) is set, it is set for COMMAND too. */
    const char *arguments[7];
} remote_process;

/** Makes the process that stands for TASK; free it with remote_process_free. ssh does not pass on signals. If the
 *  connection is cut, the remote program continues. So the remote command reads the names of signals ("TERM"), one per
 *  line, from its standard input. It sends them to the program and all that it has started, and kills these at the end
 *  of the input. */
MST_CHECKED mst_status remote_process_make(const char *ssh, const char *folder, const job_task *task,
                                           remote_process *out);
/** Frees a process that was made or is zero-initialised. */
void remote_process_free(remote_process *process);

#endif
