/** The tasks of a job: for each, its role in the cluster, its machine, and the program that it runs. */
#ifndef MUSTER_CLI_LAUNCH_JOB_H
#define MUSTER_CLI_LAUNCH_JOB_H

#include <stdbool.h>

#include "cli/launch/host_list.h"

typedef enum job_role { JOB_PS, JOB_CHIEF, JOB_WORKER, JOB_EVALUATOR, JOB_NUM_ROLES } job_role;

typedef struct job_task {
    job_role role;
    int index;              /**< among those of its role */
    const host *host;       /**< where it is started over ssh; NULL: this machine */
    char name[32];          /**< "worker:0" */
    char *address;          /**< "localhost:2222"; NULL: an evaluator, which is not in the cluster */
    char *variable;         /**< "TF_CONFIG={...}" */
    const char **arguments; /**< the program and its arguments, ended by NULL */
    char *flags[4];         /**< flags of TensorFlow 1, at the end of `arguments`; NULL: none */
} job_task;

typedef struct job {
    int num[JOB_NUM_ROLES]; /**< tasks of each role; at most one chief and one evaluator */
    int num_tasks;
    job_task *task; /**< ps first, since the others wait for them */
} job;

/** The settings from which a job is made. */
typedef struct job_plan {
    int num[JOB_NUM_ROLES];
    const char *const *arguments; /**< the program and its arguments */
    int num_arguments;
    int first_port;  /**< the first port on each machine; 0: takes free ports of this machine */
    host_list hosts; /**< where tasks are started; none: on this machine */
    bool flags;      /**< whether the program gets the flags of TensorFlow 1 */
} job_plan;

/** The name of ROLE in TF_CONFIG, such as "worker". */
const char *job_role_name(job_role role);
/** Whether tasks of this role compute the steps: the chief, which is a worker too, and workers. */
bool job_role_works(job_role role);

/** Makes the tasks of PLAN; free them with job_free. The hosts of PLAN must outlive the tasks. Chief and workers fill
 *  the slots of one machine after the other. Ps and evaluator take no slots and are placed on the machines in turn.
 *  MST_INVALID if there are too few slots or ports. */
MST_CHECKED mst_status job_make(const job_plan *plan, job *out);
/** Frees the tasks of a job that was made or is zero-initialised. */
void job_free(job *job);

#endif
