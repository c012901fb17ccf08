/** A hash of what is in the first rows of a dataset, by which tasks see whether their data are the same. */
#ifndef MUSTER_DATA_ROW_HASH_H
#define MUSTER_DATA_ROW_HASH_H

#include "muster/data.h"

enum { MST_HASHED_ROWS = 256 };

/** Of the first MST_HASHED_ROWS rows of DATASET, whose elements are rows; *ROWS: how many they are. Reads them anew: of
 *  a source that makes its rows as they are asked for, that may cost, or be seen. Exported for the command. */
MST_API MST_CHECKED mst_status mst_dataset_hash_rows(mst_dataset *dataset, uint64_t *hash, int *rows);

#endif
