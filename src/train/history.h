/** The history of a fit (mst_history): one row for each epoch, filled by fit.c. */
#ifndef MUSTER_TRAIN_HISTORY_H
#define MUSTER_TRAIN_HISTORY_H

#include "muster/train.h"

/** Appends a row for the epoch that has just ended; the first call makes the columns. */
MST_CHECKED mst_status mst_history_append(mst_history *history, const mst_train_state *state);

#endif
