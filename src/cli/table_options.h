/** The options of `muster train`, `convert`, `evaluate` and `predict` that say how a table is read. */
#ifndef MUSTER_CLI_TABLE_OPTIONS_H
#define MUSTER_CLI_TABLE_OPTIONS_H

#include "muster/dataset.h"

/** A member that is NULL or 0 was not given. */
typedef struct table_options {
    const char *label;     /**< the column of labels */
    const char *delimiter; /**< a character, or "tab" */
    const char *drop;      /**< names of columns, with commas between them */
    int missing;           /**< mst_missing */
} table_options;

/** The values of --missing, as mst_missing. */
extern const char *const table_missing[];

/** The members of OPTIONS that O gives. What they point to is O's and *MEMORY, to be freed with free() also after a
 *  failure. MST_INVALID where the delimiter is no character. */
MST_CHECKED mst_status table_options_read(const table_options *o, mst_data_options *options, void **memory);

/** mst_dataset_open_with, with OPTIONS and O. */
MST_CHECKED mst_status table_options_open(const table_options *o, const char *spec, const char *part,
                                          mst_data_options options, mst_dataset **out);

#endif
