/** The data given to a trainer: whether they fit the model, and how they are read. */
#ifndef MUSTER_TRAIN_TRAINER_DATA_H
#define MUSTER_TRAIN_TRAINER_DATA_H

#include "train/trainer.h"

/** Checks that DATA has inputs, and labels if WITH_LABELS, whose shapes are those of the data given before. Each dtype
 *  must be that of the data given before, or one whose values that dtype can hold. Also checks that BATCH_SIZE is
 *  possible. The first data that are given decide for which shapes and dtypes the model is built. */
MST_CHECKED mst_status mst_trainer_check_data(mst_trainer *trainer, const mst_dataset *data, bool with_labels,
                                              int64_t batch_size);
/** Converts DATA, which was checked, to the dtypes for which the model was built. The caller owns a reference to *OUT;
 *  after an error *OUT is NULL. */
MST_CHECKED mst_status mst_trainer_convert(const mst_trainer *trainer, const mst_dataset *data, bool with_labels,
                                           mst_dataset **out);
/** MST_INVALID if DATA has no end. */
MST_CHECKED mst_status mst_trainer_check_end(const mst_dataset *data);
/** Makes *BATCHES of DATA: batches of BATCH_SIZE, or its own batches if it has some. Rows that are read, decoded or
 *  mapped are made ahead, by a prefetch. A step copies one component of a batch at a time, and would make each row once
 *  for every component. The threads of the prefetch make it once. Data with batches of its own gets the prefetch only
 *  if the devices compile, since one thread copies its rows then (train/step_batches.h). */
MST_CHECKED mst_status mst_trainer_batches(const mst_trainer *trainer, mst_dataset *data, int64_t batch_size,
                                           bool drop_remainder, mst_dataset **batches);
/** Begins one pass over DATA, in such batches. MST_INVALID if it has no end. */
MST_CHECKED mst_status mst_trainer_pass(const mst_trainer *trainer, const mst_dataset *data, int64_t batch_size,
                                        mst_iterator **out);

#endif
