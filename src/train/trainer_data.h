/** The data that a trainer is given: whether it fits the model, and how it is read. */
#ifndef MUSTER_TRAIN_TRAINER_DATA_H
#define MUSTER_TRAIN_TRAINER_DATA_H

#include "train/trainer.h"

/** Checks that DATA has inputs and (where WITH_LABELS) labels of the same shape as the data before, and of its dtype or
 *  one whose values this dtype has too; and that BATCH_SIZE is possible. The first data decides what the model is built
 *  for. */
MST_CHECKED mst_status mst_trainer_check_data(mst_trainer *trainer, const mst_dataset *data, bool with_labels,
                                              int64_t batch_size);
/** DATA, which was checked, in the dtypes that the model was built for; the caller has a reference, or *OUT is NULL. */
MST_CHECKED mst_status mst_trainer_convert(const mst_trainer *trainer, const mst_dataset *data, bool with_labels,
                                           mst_dataset **out);
/** MST_INVALID if DATA has no end. */
MST_CHECKED mst_status mst_trainer_check_end(const mst_dataset *data);
/** Puts a prefetch in the place of *BATCHES where its rows are read, decoded or mapped. A step copies one component of
 *  a batch at a time, which would make each row once for every component; the threads of the prefetch make it once. */
MST_CHECKED mst_status mst_trainer_read_ahead(mst_dataset **batches);
/** One pass over DATA: in batches of BATCH_SIZE, or in its own where it has batches. MST_INVALID if it has
 *  no end. */
MST_CHECKED mst_status mst_trainer_pass(const mst_dataset *data, int64_t batch_size, mst_iterator **out);

#endif
