/** Starting a job, and what the user is told of it. */
#ifndef MUSTER_CLI_LAUNCH_JOB_START_H
#define MUSTER_CLI_LAUNCH_JOB_START_H

#include "cli/launch/job.h"
#include "cli/launch/supervisor.h"

/** Starts the tasks of JOB, on the machines that they have been placed on with the command SSH, and returns when all
 *  have ended. The first line that it prints says what is started, the last how it ended, which may be an error line.
 *  Returns the exit status of the command. */
int job_start(const job *job, const supervisor_options *options, const char *ssh);

#endif
