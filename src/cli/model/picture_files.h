/** Opens pictures that are named on the command line as inputs of a model. */
#ifndef MUSTER_CLI_MODEL_PICTURE_FILES_H
#define MUSTER_CLI_MODEL_PICTURE_FILES_H

#include "muster/dataset.h"

/** Opens the pictures of N paths, which are files and folders, as rows of shape INPUT. INPUT is [height, width],
 *  [height, width, channels] with 1 or 3 channels, or the product of them; -1 is a dimension of any size. SIZE is the
 *  height and width, which must agree with INPUT; 0: not known. *FILES becomes the dataset that knows the files
 *  (mst_dataset_file_paths). It is kept alive by *ROWS. */
MST_CHECKED mst_status picture_files_open(const char *const *paths, int n, mst_shape input, int64_t size,
                                          mst_dataset **rows, const mst_dataset **files);

#endif
