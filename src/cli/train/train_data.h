/** The data of `muster train`: its parts, its classes, and how many steps it gives. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_DATA_H
#define MUSTER_CLI_TRAIN_TRAIN_DATA_H

#include "cli/train/training.h"

/** Whether the data are texts. */
bool train_data_has_texts(const training *t);
/** Components of the data that are inputs; those behind are labels. */
int train_data_num_inputs(const training *t);
/** MST_INVALID where the data has inputs alone. */
MST_CHECKED mst_status train_data_check_labels(const training *t);
/** Number of updates, -1 where that is not known. */
int64_t train_total_steps(const training *t);

/** Opens a part of the data, "train" or "test", with inputs scaled as the options say. This and the two functions below
 *  return an exit status, and have printed what was wrong. */
int train_data_open_part(training *t, const char *part, mst_dataset **out);
/** Opens the train part, and the test part where it is needed. */
int train_data_open(training *t, train_options *o);
/** Chooses the loss and counts the classes where only the labels tell, takes the validation part, and adds the random
 *  changes of pictures. The objectives of a network of a file are there. */
int train_data_prepare(training *t);

/** Labels of classes that the model does not have are told before training, and not when a part is measured behind it.
 *  Not where records and pictures would be read for that; and in a cluster the others would wait for this worker. */
MST_CHECKED mst_status train_data_check_measured(const training *t);
/** Warns of columns of a table that hardly mean what they are taken for. */
MST_CHECKED mst_status train_data_warn_of_columns(const training *t);

#endif
