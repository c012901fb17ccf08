/** The layers that make numbers of mean 0 and one-hot rows of the columns of a table, at the beginning of a model.
 *
 *      [n, columns] -> take: numbers  -> normalization ------------> concatenate -> [n, features]
 *                   -> take: a category -> one-hot ------------------^
 *                   -> take: a category -> plus 1 -> embedding ------^
 *
 *  A category that was not there in training is -1: a row of zeros one-hot, the first row of an embedding.
 */
#ifndef MUSTER_CLI_MODEL_TABLE_LAYERS_H
#define MUSTER_CLI_MODEL_TABLE_LAYERS_H

#include "muster/model.h"

typedef struct table_category {
    int64_t column, count; /**< column of the input; number of categories */
    int64_t size;          /**< of a row of its embedding; 0: one-hot */
} table_category;

typedef struct table_layers {
    int64_t num_columns; /**< of the input; 0: the data is no table, or its columns stay as they are */
    double *number;      /**< [num_numbers], columns of numbers, as layers take them */
    int64_t num_numbers;
    table_category *category; /**< [num_categories] */
    int64_t num_categories;
    bool fill_missing;        /**< a number that is NaN becomes the mean */
    mst_output normalization; /**< of table_layers_add */
} table_layers;

/** What the columns of DATA, whose inputs have the schema TEXT (NULL: none), need: columns with more than EMBED_ABOVE
 *  categories are embedded (0: none). num_columns is 0 where DATA is no table. Free it also after a failure. */
MST_CHECKED mst_status table_layers_find(const mst_dataset *data, const char *text, int64_t embed_above,
                                         table_layers *out);
void table_layers_free(table_layers *table);
/** Adds the layers, all of which Keras has, to MODEL, which is empty; nothing where TABLE is none. */
MST_CHECKED mst_status table_layers_add(table_layers *table, mst_model *model);
/** Lets them learn from DATA, the rows that are trained on. */
MST_CHECKED mst_status table_layers_adapt(table_layers *table, mst_dataset *data);

/** Columns that they make of a row. */
int64_t table_layers_features(const table_layers *table);
/** Columns of categories that are one-hot (EMBEDDED false) or embedded, and in *FEATURES what they make. */
int64_t table_layers_count(const table_layers *table, bool embedded, int64_t *features);

#endif
