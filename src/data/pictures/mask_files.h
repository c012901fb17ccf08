/** Masks as picture files: a PNG of class numbers for each picture, as mst_dataset_from_masks reads them. */
#ifndef MUSTER_DATA_PICTURES_MASK_FILES_H
#define MUSTER_DATA_PICTURES_MASK_FILES_H

#include <stdint.h>

#include "muster/status.h"

/** Names of masks in a folder, in the order of the pictures. */
typedef struct mst_mask_names {
    char **name; /**< "a/1.png": the path of a picture within its folder, with the suffix of a PNG file */
    int64_t count;
} mst_mask_names;

/** Names the masks of the COUNT pictures at PATHS. A picture in one of the NUM_ROOTS folders ROOTS keeps its path
 *  within that folder. A picture in none of them keeps the last part of its path. Without roots, the folder that
 *  holds all pictures is the root. MST_INVALID if two masks would have one name, if a name would lead out of the
 *  folder, or if the file of that name in FOLDER is one of the pictures. Free OUT also after a failure. */
MST_API MST_CHECKED mst_status mst_mask_names_make(const char *const *paths, int64_t count, const char *const *roots,
                                                   int num_roots, const char *folder, mst_mask_names *out);
MST_API void mst_mask_names_free(mst_mask_names *names);

/** Writes the mask of the picture at PICTURE to the file NAME in FOLDER, which is made if it does not exist, as are
 *  folders in NAME. CLASSES are class numbers, [height, width], each below 256; they are resized to the size of the
 *  picture by MST_RESIZE_NEAREST. The file is a gray PNG of 8 bits. It appears under its name when it is complete.
 *  Fails as mst_image_decode, mst_png_encode and mst_file_write do. */
MST_API MST_CHECKED mst_status mst_mask_write(const char *folder, const char *name, const char *picture,
                                              uint8_t *classes, int64_t height, int64_t width);

#endif
