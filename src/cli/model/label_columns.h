/** The names of a table's columns of labels, if there are several. */
#ifndef MUSTER_CLI_MODEL_LABEL_COLUMNS_H
#define MUSTER_CLI_MODEL_LABEL_COLUMNS_H

#include "cli/model/class_names.h"
#include "cli/model/objective.h"

/** The columns of labels in SCHEMA, which mst_dataset_schema returned, if there are several of them; else *OUT is NULL.
 *  SCHEMA may be NULL. */
MST_CHECKED mst_status label_columns_of(const char *schema, class_names *out);
/** Gives O the names in COLUMNS if it has an output for each of them. Where each output is a class, they are the names
 *  of the classes too. */
void label_columns_name(char *const *columns, objective *o);

#endif
