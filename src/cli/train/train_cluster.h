/** `muster train` as one worker of a cluster. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_CLUSTER_H
#define MUSTER_CLI_TRAIN_TRAIN_CLUSTER_H

#include "cli/train/training.h"

/** Finds the cluster of which this process is a task. It comes from --worker_hosts and related options, else from
 *  TF_CONFIG or the environment that a launcher has set. Without a cluster, `cluster` of T stays NULL. Sets `evaluates`
 *  of T. Like the functions below that return a status, prints errors and returns an exit status. */
int train_cluster_find(training *t);
/** Whether parameter servers keep the variables, and whether this process is one of them. */
bool train_cluster_is_served(const training *t);
bool train_cluster_is_server(const training *t);
/** Serves until the job has ended. */
int train_cluster_serve(const training *t);
/** The number of cores for this worker, of the COUNT that it may use. If all workers are on this host, it is at most
 *  this worker's share of the machine's cores. */
int train_cluster_cores(const training *t, int count);
/** Opens the task. Only the chief writes files, so in other workers the options for files are cleared in O. */
int train_cluster_open(training *t, train_options *o);
/** Waits until all workers have done their work. */
int train_cluster_leave(training *t);
/** Closes the task and the cluster if they are open. */
void train_cluster_close(training *t);

#endif
