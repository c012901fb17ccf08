/** Schemas: what the numbers of a dataset stand for, as text that can be kept with a model (mst_dataset_schema).
 *
 *      {"columns": [{"name": "petal", "type": "float"},
 *                   {"name": "species", "type": "category", "categories": ["setosa", "virginica"]}]}
 *
 *  Numbers in another notation than that of C have "decimal": ",", "thousands": ".", "sign": "%". A column of type
 *  "date" has a "part", which is the number: "year", "month", "weekday" or "seconds"; and "first", which says whether
 *  3/4/2024 begins with the "day" or the "month".
 *
 *  The column of labels is the last. Text that is no UTF-8 is written as {"hex": "636166e9"}.
 */
#ifndef MUSTER_DATA_SCHEMA_H
#define MUSTER_DATA_SCHEMA_H

#include "base/arena.h"
#include "data/dataset.h"

typedef struct mst_schema_column {
    const char *name;
    const char *type;
    const char **category; /**< number i stands for category[i]; NULL: it has none */
    int64_t num_categories;
    const char *decimal, *thousands, *sign; /**< of numbers; NULL: as in C */
    const char *part, *first;               /**< of a date; else NULL */
} mst_schema_column;

/** A schema that was read. Zero-initialised is empty. */
typedef struct mst_schema {
    mst_arena arena;
    mst_schema_column *column;
    int num_columns; /**< at least 1 */
} mst_schema;

/** MST_INVALID if TEXT is no schema. Free it also after a failure. */
MST_CHECKED mst_status mst_schema_read(const char *text, mst_schema *out);
void mst_schema_free(mst_schema *schema);
/** The text, to be freed with free(). */
MST_CHECKED mst_status mst_schema_write(const mst_schema_column *columns, int num_columns, char **out);

/** DATASET with a schema: TEXT, which is taken, also if it fails. */
MST_CHECKED mst_status mst_dataset_add_schema(mst_dataset *dataset, char *text, mst_dataset **out);

#endif
