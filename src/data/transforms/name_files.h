/** A dataset with the path of the file of each row: mst_dataset_file_paths returns these paths. */
#ifndef MUSTER_DATA_TRANSFORMS_NAME_FILES_H
#define MUSTER_DATA_TRANSFORMS_NAME_FILES_H

#include "data/dataset.h"

/** Sets OUT to a dataset with the rows of DATASET; row i of its N rows comes from the file PATHS[i]. The paths are
 *  copied. */
MST_CHECKED mst_status mst_dataset_name_files(mst_dataset *dataset, const char *const *paths, int64_t n,
                                              mst_dataset **out);

#endif
