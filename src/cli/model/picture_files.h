/** Pictures that are named on the command line, as inputs of a model. */
#ifndef MUSTER_CLI_MODEL_PICTURE_FILES_H
#define MUSTER_CLI_MODEL_PICTURE_FILES_H

#include "muster/dataset.h"

/** The pictures of N paths, files and folders, as rows of shape INPUT, which is height and width, these and 1 or 3
 *  channels, or the product of them all; a dimension of -1 is any. SIZE: height and width, which INPUT must have where
 *  it tells them; 0: not known. FILES: the data set that knows the files (mst_dataset_file_paths), which ROWS keeps. */
MST_CHECKED mst_status picture_files_open(const char *const *paths, int n, mst_shape input, int64_t size,
                                          mst_dataset **rows, const mst_dataset **files);

#endif
