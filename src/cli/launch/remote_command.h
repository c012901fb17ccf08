/** Tasks on other machines, over ssh. */
#ifndef MUSTER_CLI_LAUNCH_REMOTE_COMMAND_H
#define MUSTER_CLI_LAUNCH_REMOTE_COMMAND_H

#include "cli/launch/job.h"

/** What a POSIX shell in any folder runs as this task: "cd FOLDER && env TF_CONFIG=... PROGRAM ARGUMENTS", to be freed;
 *  NULL where memory is out. */
char *task_command(const char *folder, const job_task *task);

/** A process of this machine that stands for a task of another one. */
typedef struct remote_process {
    char *run, *command;
    const char *arguments[7]; /**< sh -c 'exec ssh "$1" "$2"' sh HOST COMMAND, ended by NULL: the text of --ssh can
                                   have arguments of its own. MST_RESTARTED is passed on before COMMAND */
} remote_process;

/** Makes it for TASK. ssh passes on no signals, and a program goes on where the connection is cut. So each line that
 *  arrives on the standard input there is the name of a signal ("TERM"), which the program and all that it has started
 *  get; at the end of the input they are killed. Free it with remote_process_free. */
MST_CHECKED mst_status remote_process_make(const char *ssh, const char *folder, const job_task *task,
                                           remote_process *out);
/** Frees what was made or is zero-initialised. */
void remote_process_free(remote_process *process);

#endif
