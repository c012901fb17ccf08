/** A job of two parameter servers and two workers, whose server P keeps the variable "wP" of PS_COUNT numbers. */
#ifndef MUSTER_TEST_SUPPORT_PS_JOB_H
#define MUSTER_TEST_SUPPORT_PS_JOB_H

#include "muster/muster.h"
#include "parameter_server/ps_client.h"
#include "support/tasks.h"

extern const mst_fingerprint ps_job_fingerprint;

enum { PS_WORKERS = 2, PS_SERVERS = 2, PS_TASKS = PS_WORKERS + PS_SERVERS, PS_COUNT = 4 };

/** The cluster, as task INDEX of job NAME; workers have the first addresses. */
mst_cluster *ps_job_cluster(task_address *address, const char *name, int index);
/** [PS_COUNT], all VALUE. */
mst_tensor *ps_job_filled(double value);
/** A store with both variables, all VALUE. */
mst_store *ps_job_store(double value);
/** Both variables must be all WANTED. */
void ps_job_expect(mst_store *store, double wanted);
/** The update by OPTIMIZER of the variable that server P keeps. */
mst_graph *ps_job_update(const mst_optimizer *optimizer, int p);

/* ---- workers of a synchronous job, whose optimizer is sgd with learning rate 0.5 ---- */

mst_ps_client *ps_job_open(task_address *address, int worker);
/** Joins with STORE; a step is made of the gradients of AGGREGATE workers (0: all). Returns the worker's position. */
int64_t ps_job_join(mst_ps_client *client, mst_store *store, int32_t aggregate);
/** The step at POSITION, whose gradients are all GRADIENT. */
mst_status ps_job_step(mst_ps_client *client, int64_t position, double gradient);

#endif
