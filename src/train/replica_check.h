/** Compares the replicas of the weights: every device of a mirrored training and every worker of a cluster has its own,
 *  and all must have the same bits. */
#ifndef MUSTER_TRAIN_REPLICA_CHECK_H
#define MUSTER_TRAIN_REPLICA_CHECK_H

#include "train/trainer.h"

/** What a fit compares them by: 0, once an epoch; -1, never; else the steps between two comparisons. */
enum { MST_CHECK_EACH_EPOCH = 0, MST_CHECK_NEVER = -1 };

/** Compares them between two steps: after step STEP, which is the same on all workers. MST_CORRUPT if one differs;
 *  the error names the variable, and the device or the worker. Does nothing where TRAINER has parameter servers, which
 *  keep the variables. MST_OK even if another worker was lost: the next step finds that. */
MST_CHECKED mst_status mst_replicas_check(mst_trainer *trainer, int64_t step);

#endif
