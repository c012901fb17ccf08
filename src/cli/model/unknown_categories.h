/** Columns of a table in which no row has a category that the training had. */
#ifndef MUSTER_CLI_MODEL_UNKNOWN_CATEGORIES_H
#define MUSTER_CLI_MODEL_UNKNOWN_CATEGORIES_H

#include "muster/dataset.h"

/** Warns on standard error of each column of categories, by the schema TEXT of the training (NULL: none), of whose
 *  categories DATA has not one: for the model all its rows are alike. Reads no more rows than it takes to know. */
MST_CHECKED mst_status unknown_categories_warn(mst_dataset *data, const char *text);

#endif
