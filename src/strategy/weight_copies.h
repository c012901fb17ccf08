/** The copies of a weight that an optimizer keeps in the store: its moving average, and its f32 master copy if the
 *  weight is bf16. Before the first step each copy has the value of the weight. */
#ifndef MUSTER_STRATEGY_WEIGHT_COPIES_H
#define MUSTER_STRATEGY_WEIGHT_COPIES_H

#include "muster/store.h"

/** A copy of the weight WEIGHT is the entry "WEIGHT/NAME". */
#define MST_COPY_AVERAGE "ExponentialMovingAverage"
#define MST_COPY_MASTER "master"

/** SNAPSHOT is to be restored into STORE. For each weight in it, adds the copies that STORE has of the weight and
 *  SNAPSHOT has not, with the value of the weight. Otherwise copies of the old value would stay. */
MST_CHECKED mst_status mst_weight_copies_add(mst_store *store, mst_snapshot *snapshot);

#endif
