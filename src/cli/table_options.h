/** The options of `muster train`, `convert`, `evaluate` and `predict` that say how a table is read. */
#ifndef MUSTER_CLI_TABLE_OPTIONS_H
#define MUSTER_CLI_TABLE_OPTIONS_H

#include "data/column_report.h"
#include "muster/dataset.h"

/** A member that is NULL or 0 was not given. */
typedef struct table_options {
    const char *label;      /**< the column of labels; or several, in the form of `drop` */
    const char *weight;     /**< the column of the examples' weights; "": none */
    const char *delimiter;  /**< a character, or "tab" */
    const char *comment;    /**< a character */
    bool no_header;         /**< the first line is a row, too */
    const char *encoding;   /**< also of texts: a name that iconv knows */
    const char *drop;       /**< names of columns, separated by commas, each may be in double quotes; or one name */
    const char *categories; /**< names of columns of numbers that are categories, in the same form */
    int missing;            /**< mst_missing */
    const char *decimal;    /**< "," or "." */
    const char *thousands;  /**< a character, or "space" */
    const char *dates;      /**< names of columns of dates, separated by commas, each may end in =PART+PART */
} table_options;

/** The values of --missing, as mst_missing. */
extern const char *const table_missing[];

/** Calls mst_dataset_open_with, with OPTIONS and the values of O. MST_INVALID if the delimiter is not one character. */
MST_CHECKED mst_status table_options_open(const table_options *o, const char *spec, const char *part,
                                          mst_data_options options, mst_dataset **out);

/** Whether O names a column of weights. */
bool table_options_has_weight(const table_options *o);
/** Whether LIST, in the form of `drop`, contains the name of COLUMN. LIST may be NULL: empty. */
bool table_options_list_has(const char *list, const mst_column_report *column);

#endif
