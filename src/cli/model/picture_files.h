/** Opens pictures that are named on the command line as inputs of a model. */
#ifndef MUSTER_CLI_MODEL_PICTURE_FILES_H
#define MUSTER_CLI_MODEL_PICTURE_FILES_H

#include "muster/dataset.h"

/** The pictures that are opened. */
typedef struct picture_files {
    const char *const *paths; /**< files and folders */
    int count;                /**< number of paths */
    int64_t size;             /**< height and width, which must agree with the input; 0: not known */
    int64_t skip_corrupt;     /**< the most damaged pictures that are left out, as in mst_images_options */
} picture_files;

/** Opens PICTURES as rows of shape INPUT. INPUT is [height, width], [height, width, channels] with 1 or 3 channels, or
 *  one dimension, the product of these; -1 is a dimension of any size. *FILES becomes the dataset that has the paths of
 *  the files (mst_dataset_file_paths). *ROWS keeps it alive. */
MST_CHECKED mst_status picture_files_open(const picture_files *pictures, mst_shape input, mst_dataset **rows,
                                          const mst_dataset **files);

#endif
