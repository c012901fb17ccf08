/** Warns about columns of a table in which no row has a category that occurred in training. */
#ifndef MUSTER_CLI_MODEL_UNKNOWN_CATEGORIES_H
#define MUSTER_CLI_MODEL_UNKNOWN_CATEGORIES_H

#include "muster/dataset.h"

/** Warns about each column of categories in which DATA has no category of the training. For the model, all rows are
 *  then alike in that column. TEXT is the schema of the training; NULL: there is none. Stops reading DATA as soon as a
 *  known category was found in each column. */
MST_CHECKED mst_status unknown_categories_warn(mst_dataset *data, const char *text);

#endif
