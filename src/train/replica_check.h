/** Compares the replicas of the weights. Every device of a mirrored training, and every worker of a cluster, has its
 *  own replica. All must have the same bits. */
#ifndef MUSTER_TRAIN_REPLICA_CHECK_H
#define MUSTER_TRAIN_REPLICA_CHECK_H

#include "train/trainer.h"

/** When a fit compares them: 0: once per epoch; -1: never; otherwise the number of steps between two comparisons. */
enum { MST_CHECK_EACH_EPOCH = 0, MST_CHECK_NEVER = -1 };

/** Compares them between two steps: after step STEP, which is the same on all workers. MST_CORRUPT if one differs; the
 *  error names the variable, and the device or the worker. Does nothing if TRAINER has parameter servers, which keep
 *  the variables. Returns MST_OK if another worker was lost, which the next step notices. */
MST_CHECKED mst_status mst_replicas_check(mst_trainer *trainer, int64_t step);

#endif
