/** Schemas: what the numbers of a dataset stand for, as text that can be kept with a model (mst_dataset_schema).
 *
 *      {"columns": [{"name": "petal", "type": "float"},
 *                   {"name": "species", "type": "category", "categories": ["setosa", "virginica"]}]}
 *
 *  Columns whose numbers are not written as in C also have "decimal": ",", "thousands": ".", "sign": "%", as needed.
 *  A column of type "date" has a "part", the number that is taken from a date: "year", "month", "weekday" or
 *  "seconds". Its "first" says whether 3/4/2024 begins with the "day" or the "month".
 *
 *  The column of labels is the last one. If there are several, they are the last ones, and "labels" says how many.
 *  Text that is not UTF-8 is written as {"hex": "636166e9"}.
 */
#ifndef MUSTER_DATA_SCHEMA_H
#define MUSTER_DATA_SCHEMA_H

#include "base/arena.h"
#include "data/dataset.h"

typedef struct mst_schema_column {
    const char *name;
    const char *type;
    const char **category; /**< number i stands for category[i]; NULL: the column has no categories */
    int64_t num_categories;
    const char *decimal, *thousands, *sign; /**< notation of numbers; NULL: as in C */
    const char *part, *first;               /**< for a date; else NULL */
} mst_schema_column;

/** A schema that has been read. Zero-initialised is empty. */
typedef struct mst_schema {
    mst_arena arena;
    mst_schema_column *column;
    int num_columns; /**< at least 1 */
    int num_labels;  /**< the last num_labels columns are labels; at least 1 */
} mst_schema;

/** Reads TEXT. MST_INVALID if it is not a schema. Free OUT also after a failure. */
MST_CHECKED mst_status mst_schema_read(const char *text, mst_schema *out);
void mst_schema_free(mst_schema *schema);
/** Writes the columns as text to *OUT; free it with free(). The last NUM_LABELS columns (at least 1) are labels. */
MST_CHECKED mst_status mst_schema_write(const mst_schema_column *columns, int num_columns, int num_labels, char **out);

/** Sets *OUT to DATASET with the schema TEXT. *OUT owns TEXT; TEXT is freed if this fails. */
MST_CHECKED mst_status mst_dataset_add_schema(mst_dataset *dataset, char *text, mst_dataset **out);

#endif
