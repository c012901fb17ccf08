/** Prints a job for a terminal or a scheduler, instead of starting its tasks from here. */
#ifndef MUSTER_CLI_LAUNCH_JOB_PRINT_H
#define MUSTER_CLI_LAUNCH_JOB_PRINT_H

#include "cli/launch/job.h"

/** Prints one line per task, to be pasted into a terminal. The lines of tasks on other machines use the command SSH. */
MST_CHECKED mst_status job_print_shell(const job *job, const char *ssh);
/** Prints a script for sbatch. */
void job_print_slurm(const job_plan *plan);
/** Prints a TFJob of Kubeflow. Its containers are made from IMAGE, and restarted at most RESTARTS times. MST_INVALID
 *  if an argument is not UTF-8: a manifest cannot contain it. */
MST_CHECKED mst_status job_print_kubernetes(const job_plan *plan, const char *image, int restarts);
/** The same as an MPIJob of Kubeflow, for an image with Open MPI. The plan has only workers. */
MST_CHECKED mst_status job_print_mpijob(const job_plan *plan, const char *image, int restarts);

#endif
