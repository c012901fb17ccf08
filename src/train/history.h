/** The history of a fit (mst_history): one row for each epoch, filled by fit.c. */
#ifndef MUSTER_TRAIN_HISTORY_H
#define MUSTER_TRAIN_HISTORY_H

#include "muster/train.h"

/** Appends the epoch that has just ended; the columns are made with the first one. */
MST_CHECKED mst_status mst_history_append(mst_history *history, const mst_train_state *state);

#endif
