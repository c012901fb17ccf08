/** Handles pictures in folders that cannot be decoded. Without skip_corrupt, reading such a picture fails. With
 *  skip_corrupt, all pictures are decoded when the folder is opened, and damaged ones are left out. So every process
 *  has the same rows, with any number of devices. */
#ifndef MUSTER_DATA_SOURCES_DAMAGED_PICTURES_H
#define MUSTER_DATA_SOURCES_DAMAGED_PICTURES_H

#include "data/dataset.h"
#include "data/sources/image_folder.h"

/** Returns STATUS, the result of decoding a picture. If the picture is damaged and skip_corrupt is not set, adds the
 *  name of that option to the message. */
MST_CHECKED mst_status mst_damaged_name_option(mst_status status, const mst_images_options *options);

/** Calls FIT with the path of the first picture in FILES; while that is damaged, with the next one, as often as OPTIONS
 *  allow. */
MST_CHECKED mst_status mst_damaged_fit(const mst_image_folder *files, const mst_images_options *options,
                                       mst_status (*fit)(void *context, const char *path), void *context);

/** Decodes the files of one row. *LIST becomes the number of the list whose file is being decoded. */
typedef mst_status (*mst_damaged_read)(void *context, int64_t row, int *list);
/** Row i is file i of each of the NUM_LISTS lists FILES. Leaves out each row in which READ finds a damaged file.
 *  DATASET counts them; *FIRST becomes the path of the first such file, owned by the caller. MST_CORRUPT if there are
 *  more than skip_corrupt of OPTIONS. */
MST_CHECKED mst_status mst_damaged_leave_out(mst_dataset *dataset, mst_image_folder *const *files, int num_lists,
                                             const mst_images_options *options, mst_damaged_read read, void *context,
                                             char **first);

#endif
