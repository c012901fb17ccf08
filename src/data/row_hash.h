/** A hash of what is in the first rows of a dataset, by which tasks see whether their data are the same. */
#ifndef MUSTER_DATA_ROW_HASH_H
#define MUSTER_DATA_ROW_HASH_H

#include "muster/data.h"

enum { MST_HASHED_ROWS = 256, MST_HASHED_FILES = 256 };

/** The hash of the first MST_HASHED_ROWS rows of DATASET, whose elements are rows; *ROWS: how many there were. Reads
 *  them anew. If the source makes its rows as they are asked for, that may take time, or have effects that others see.
 *  Exported for the command. */
MST_API MST_CHECKED mst_status mst_dataset_hash_rows(mst_dataset *dataset, uint64_t *hash, int *rows);
/** Of N files at PATH: of the first MST_HASHED_FILES of them their names without folders, their lengths, and 4 KiB at
 *  the begin, in the middle and at the end. A file that cannot be read counts as an empty one: reading its rows gives
 *  the error. */
uint64_t mst_hash_files(const char *const *path, int64_t n);

#endif
