/** Compares the copies (replicas) of the weights. Every device of a mirrored training, and every worker of a cluster,
 *  has its own copy. All copies must have the same bits. */
#ifndef MUSTER_TRAIN_REPLICA_CHECK_H
#define MUSTER_TRAIN_REPLICA_CHECK_H

#include "train/trainer.h"

/** Values of check_replicas, which says when a fit compares the copies. Other values are the number of steps between
 *  two comparisons. */
enum { MST_CHECK_EACH_EPOCH = 0, MST_CHECK_NEVER = -1 };

/** Compares the copies after step STEP, which must be the same on all workers. MST_CORRUPT if one copy differs; the
 *  error names the variable, and the device or the worker. Does nothing with parameter servers, which keep the
 *  variables. Returns MST_OK if another worker was lost: the next step reports that. */
MST_CHECKED mst_status mst_replicas_check(mst_trainer *trainer, int64_t step);

#endif
