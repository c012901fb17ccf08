/** The names of a table's columns of labels, if there are several. */
#ifndef MUSTER_CLI_MODEL_LABEL_COLUMNS_H
#define MUSTER_CLI_MODEL_LABEL_COLUMNS_H

#include "cli/model/class_names.h"
#include "cli/model/objective.h"

/** Sets OUT to the names of the columns of labels in SCHEMA, which mst_dataset_schema returned. *OUT is NULL if there
 *  is only one such column. SCHEMA may be NULL. */
MST_CHECKED mst_status label_columns_of(const char *schema, class_names *out);
/** Gives O the names in COLUMNS if it has one output for each name. If each output is a class, they become the names of
 *  the classes too. */
void label_columns_name(char *const *columns, objective *o);

#endif
