/** A hash of the first rows of a dataset, by which tasks check that they have the same data. */
#ifndef MUSTER_DATA_ROW_HASH_H
#define MUSTER_DATA_ROW_HASH_H

#include "muster/data.h"

enum { MST_HASHED_ROWS = 256, MST_HASHED_FILES = 256 };

/** The hash of the first MST_HASHED_ROWS rows of DATASET, whose elements are rows; *ROWS is how many there were. Reads
 *  these rows again. If the source makes its rows when they are asked for, that may take time or have side effects.
 *  Exported for the command. */
MST_API MST_CHECKED mst_status mst_dataset_hash_rows(mst_dataset *dataset, uint64_t *hash, int *rows);
/** A hash of the first MST_HASHED_FILES of the N files at PATH. It covers their names without folders, their lengths,
 *  and 4 KiB each at the beginning, in the middle and at the end. A file that cannot be read counts as an empty one:
 *  reading its rows later gives the error. */
uint64_t mst_hash_files(const char *const *path, int64_t n);

#endif
