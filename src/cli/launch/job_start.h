/** Starts a job and reports it to the user. */
#ifndef MUSTER_CLI_LAUNCH_JOB_START_H
#define MUSTER_CLI_LAUNCH_JOB_START_H

#include "cli/launch/job.h"
#include "cli/launch/supervisor.h"

/** Starts the tasks of JOB and returns when all have ended. Tasks on other machines are started with the command SSH.
 *  The first line that it prints tells what is started. The last line tells how the job ended, and may be an error
 *  line. Returns the exit status of the command. */
int job_start(const job *job, const supervisor_options *options, const char *ssh);

#endif
