/** The data given to a trainer: checks whether they fit the model, conversion of dtypes, and batches. */
#ifndef MUSTER_TRAIN_TRAINER_DATA_H
#define MUSTER_TRAIN_TRAINER_DATA_H

#include "train/trainer.h"

/** Checks that DATA has inputs, and labels if WITH_LABELS, that fit the model, and that BATCH_SIZE is possible. The
 *  first data of a trainer decide for which shapes and dtypes the model is built. Later data must have the same shapes,
 *  and dtypes whose values the dtypes of the first data can all hold. */
MST_CHECKED mst_status mst_trainer_check_data(mst_trainer *trainer, const mst_dataset *data, bool with_labels,
                                              int64_t batch_size);
/** Converts DATA, which was checked, to the dtypes for which the model was built. The caller owns a reference to *OUT;
 *  after an error *OUT is NULL. */
MST_CHECKED mst_status mst_trainer_convert(const mst_trainer *trainer, const mst_dataset *data, bool with_labels,
                                           mst_dataset **out);
/** MST_INVALID if DATA is infinite. */
MST_CHECKED mst_status mst_trainer_check_end(const mst_dataset *data);
/** Makes *BATCHES of DATA: batches of BATCH_SIZE; if DATA is batched, it keeps its batches. Rows that are read, decoded
 *  or mapped get a prefetch, whose threads make each row once. Without it each row would be made once for each
 *  component, since a step copies one component of a batch at a time. Batched data gets the prefetch only if the
 *  devices compile, since one thread copies its rows then (train/step_batches.h). */
MST_CHECKED mst_status mst_trainer_batches(const mst_trainer *trainer, mst_dataset *data, int64_t batch_size,
                                           bool drop_remainder, mst_dataset **batches);
/** Begins one pass over DATA in batches as of mst_trainer_batches. MST_INVALID if DATA is infinite. */
MST_CHECKED mst_status mst_trainer_pass(const mst_trainer *trainer, const mst_dataset *data, int64_t batch_size,
                                        mst_iterator **out);

#endif
