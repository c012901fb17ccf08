/** Gives rows the paths of their files: see mst_dataset_file_paths. */
#ifndef MUSTER_DATA_TRANSFORMS_NAME_FILES_H
#define MUSTER_DATA_TRANSFORMS_NAME_FILES_H

#include "data/dataset.h"

/** DATASET whose row i, of N rows, comes from the file PATHS[i]. The paths are copied. */
MST_CHECKED mst_status mst_dataset_name_files(mst_dataset *dataset, const char *const *paths, int64_t n,
                                              mst_dataset **out);

#endif
