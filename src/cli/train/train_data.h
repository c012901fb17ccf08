/** The data of `muster train`: its parts, its classes, and how many steps it gives. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_DATA_H
#define MUSTER_CLI_TRAIN_TRAIN_DATA_H

#include "cli/train/training.h"

/** MST_INVALID if the data has inputs but no labels. */
MST_CHECKED mst_status train_data_check_labels(const training *t);
/** The number of updates; -1: not known. */
int64_t train_total_steps(const training *t);

/** Opens a part of the data, "train" or "test", with inputs scaled as the options say. Like the two functions below,
 *  prints errors and returns an exit status. */
int train_data_open_part(training *t, const char *part, mst_dataset **out);
/** Opens the train part, the test part if it is needed, and the validation part if it is named. */
int train_data_open(training *t, train_options *o);
/** Chooses the loss and counts the classes, if only the labels tell them; takes the validation part; adds the random
 *  changes of pictures. The objectives of a network from a file must be set. */
int train_data_prepare(training *t);

/** Checks that the validation and test parts have no classes that the model lacks, so that this is reported before
 *  training. Skipped if records or pictures would have to be read, and in a cluster, where the others would wait. */
MST_CHECKED mst_status train_data_check_measured(const training *t);
/** Warns of columns of a table that are probably not what they are taken for. */
MST_CHECKED mst_status train_data_warn_of_columns(const training *t);

#endif
