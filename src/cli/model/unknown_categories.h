/** Warnings about columns of a table in which no row has a category of the training. */
#ifndef MUSTER_CLI_MODEL_UNKNOWN_CATEGORIES_H
#define MUSTER_CLI_MODEL_UNKNOWN_CATEGORIES_H

#include "muster/dataset.h"

/** Warns of each column of categories in which DATA has none of the categories of the training. For the model, all rows
 *  are then alike in that column. TEXT is the schema of the training; NULL: none. Stops reading DATA as soon as each
 *  column has had a known category. */
MST_CHECKED mst_status unknown_categories_warn(mst_dataset *data, const char *text);

#endif
