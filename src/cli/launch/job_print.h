/** What to paste or submit in place of starting tasks from here. */
#ifndef MUSTER_CLI_LAUNCH_JOB_PRINT_H
#define MUSTER_CLI_LAUNCH_JOB_PRINT_H

#include "cli/launch/job.h"

/** Prints a line for each task, to be pasted to a terminal. Those of other machines use the command SSH. */
MST_CHECKED mst_status job_print_shell(const job *job, const char *ssh);
/** Prints a script for sbatch. */
void job_print_slurm(const job_plan *plan);
/** Prints a TFJob of Kubeflow. Its containers are made from IMAGE, and restarted at most RESTARTS times. MST_INVALID
 *  where an argument is no UTF-8, which a manifest cannot have. */
MST_CHECKED mst_status job_print_kubernetes(const job_plan *plan, const char *image, int restarts);
/** Prints an MPIJob of Kubeflow, for an image with Open MPI, likewise; the plan has workers only. */
MST_CHECKED mst_status job_print_mpijob(const job_plan *plan, const char *image, int restarts);

#endif
