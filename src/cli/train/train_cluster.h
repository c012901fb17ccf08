/** `muster train` as one worker of a cluster. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_CLUSTER_H
#define MUSTER_CLI_TRAIN_TRAIN_CLUSTER_H

#include "cli/train/training.h"

/** Finds the cluster of which this process is a task: from --worker_hosts and the options beside it, else from
 *  TF_CONFIG or what a launcher has put into the environment. Without one, `cluster` of T stays NULL. Sets `evaluates`
 *  of T. The functions below return an exit status, and have printed what was wrong. */
int train_cluster_find(training *t);
/** Whether parameter servers keep the variables, and whether this process is one of them. */
bool train_cluster_is_served(const training *t);
bool train_cluster_is_server(const training *t);
/** Serves until the job has ended. */
int train_cluster_serve(const training *t);
/** Cores for this worker, of the COUNT that it may use: where all workers are on this host, at most its share of the
 *  machine's. */
int train_cluster_cores(const training *t, int count);
/** Opens the task. Only the chief writes files: the options O of the others lose theirs. */
int train_cluster_open(training *t, train_options *o);
/** Waits until all workers have done their work. */
int train_cluster_leave(training *t);
/** Closes what is open. */
void train_cluster_close(training *t);

#endif
