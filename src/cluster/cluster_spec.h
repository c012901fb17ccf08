/** Makes a description of a cluster: begin it, add tasks, end it.
 *
 *      mst_cluster *cluster;
 *      MST_TRY(mst_cluster_begin(&cluster));
 *      mst_status status = mst_cluster_add(cluster, "worker", 0, "a:2222");
 *      ...
 *      if (!status) status = mst_cluster_end(cluster, "worker", 0);
 *      return mst_cluster_give(cluster, status, "TF_CONFIG", out);
 */
#ifndef MUSTER_CLUSTER_CLUSTER_SPEC_H
#define MUSTER_CLUSTER_CLUSTER_SPEC_H

#include <stdatomic.h>

#include "base/arena.h"
#include "muster/cluster.h"

/** The error of a task that was given only some of the tasks, and so has neither the addresses of the others nor their
 *  number. */
#define MST_SPARSE_CLUSTER                                                                                           \
    "TF_CONFIG lists some of the tasks only, as Kubeflow writes it with enableDynamicWorker: training needs all of " \
    "them, so leave enableDynamicWorker out, or give each task the whole list"

struct mst_cluster {
    _Atomic int references;
    mst_arena arena;
    mst_task_info *task; /**< [num_tasks], by number */
    int64_t num_tasks, capacity;
    int num_training, num_workers, num_ps;
    int self;
    /** This task was given only some of the tasks. Set by the caller of mst_cluster_begin, before mst_cluster_end. */
    bool sparse;
    /** An address may have port 0: any free port. Set by the caller of mst_cluster_begin, before tasks are added. */
    bool allow_any_port;
    uint64_t hash; /**< of the training tasks and their addresses; 0 if sparse */
};

MST_CHECKED mst_status mst_cluster_begin(mst_cluster **out);
/** Adds a task, and copies the strings. ADDRESS NULL: not known. */
MST_CHECKED mst_status mst_cluster_add(mst_cluster *cluster, const char *job, int64_t index, const char *address);
/** Checks and numbers the tasks; this process is task INDEX of JOB. */
MST_CHECKED mst_status mst_cluster_end(mst_cluster *cluster, const char *job, int64_t index);
/** Gives CLUSTER to *OUT. If STATUS is an error, releases CLUSTER instead, and puts SOURCE in front of the message.
 *  Returns STATUS. */
MST_CHECKED mst_status mst_cluster_give(mst_cluster *cluster, mst_status status, const char *source, mst_cluster **out);
enum { MST_CLUSTER_LISTS = 160 };
/** Writes the number of training tasks of each job, "worker: 2, ps: 1", which must be the same on all tasks. "" if the
 *  cluster is sparse. Returns TEXT. */
const char *mst_cluster_lists(const mst_cluster *cluster, char text[MST_CLUSTER_LISTS]);
/** The cluster of a process that is part of none. */
MST_CHECKED mst_status mst_cluster_local(mst_cluster **out);

#endif
