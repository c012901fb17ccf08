/** Layers at the beginning of a model that encode the columns of a table: numbers are standardized, categories become
 *  one-hot rows or embeddings.
 *
 *      [n, columns] -> take: numbers  -> normalization ------------> concatenate -> [n, features]
 *                   -> take: a category -> one-hot ------------------^
 *                   -> take: a category -> plus 1 -> embedding ------^
 *
 *  A category that did not occur in training is -1. It becomes a one-hot row of zeros or the embedding's first row.
 */
#ifndef MUSTER_CLI_MODEL_TABLE_LAYERS_H
#define MUSTER_CLI_MODEL_TABLE_LAYERS_H

#include "muster/model.h"

typedef struct table_category {
    int64_t column, count; /**< the column of the input; the number of categories */
    int64_t size;          /**< the size of a row of its embedding; 0: it is one-hot */
} table_category;

typedef struct table_layers {
    int64_t num_columns; /**< columns of the input; 0: the data is not a table, or its columns stay unchanged */
    double *number;      /**< [num_numbers], indices of the columns of numbers */
    int64_t num_numbers;
    table_category *category; /**< [num_categories] */
    int64_t num_categories;
    bool fill_missing;        /**< a number that is NaN becomes the mean of its column */
    mst_output normalization; /**< set by table_layers_add */
} table_layers;

/** Decides how each column of DATA is encoded. TEXT is the schema of the inputs; NULL: there is none. Columns with more
 *  than EMBED_ABOVE categories are embedded; EMBED_ABOVE 0: no column is. num_columns of OUT is 0 if DATA is not a
 *  table. Free OUT also after a failure. */
MST_CHECKED mst_status table_layers_find(const mst_dataset *data, const char *text, int64_t embed_above,
                                         table_layers *out);
void table_layers_free(table_layers *table);
/** Adds the layers to MODEL, which is empty. All of them exist in Keras. Does nothing if num_columns is 0. */
MST_CHECKED mst_status table_layers_add(table_layers *table, mst_model *model);
/** Lets the layers learn means and variances from DATA, the rows of the training. */
MST_CHECKED mst_status table_layers_adapt(table_layers *table, mst_dataset *data);

/** The number of features that the layers make from a row. */
int64_t table_layers_features(const table_layers *table);
/** The number of columns of categories that are embedded or, if EMBEDDED is false, one-hot. *FEATURES becomes the
 *  number of features that they give. */
int64_t table_layers_count(const table_layers *table, bool embedded, int64_t *features);

#endif
