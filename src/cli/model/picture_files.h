/** Opens pictures that are named on the command line as inputs of a model. */
#ifndef MUSTER_CLI_MODEL_PICTURE_FILES_H
#define MUSTER_CLI_MODEL_PICTURE_FILES_H

#include "muster/dataset.h"

/** The pictures that are opened. */
typedef struct picture_files {
    const char *const *paths; /**< files and folders */
    int count;                /**< of paths */
    int64_t size;             /**< height and width, which must agree with the input; 0: not known */
    int64_t skip_corrupt;     /**< damaged pictures that are left out, as in mst_images_options */
} picture_files;

/** Opens these pictures as rows of shape INPUT. INPUT is [height, width], [height, width, channels] with 1 or 3
 *  channels, or the product of them; -1 is a dimension of any size. *FILES becomes the dataset that knows the files
 *  (mst_dataset_file_paths). It is kept alive by *ROWS. */
MST_CHECKED mst_status picture_files_open(const picture_files *pictures, mst_shape input, mst_dataset **rows,
                                          const mst_dataset **files);

#endif
