/** Pictures in folders that cannot be decoded. They end the reading, or with skip_corrupt are left out when the folder
 *  is opened. All pictures are decoded then, so that every process and every number of devices has the same rows. */
#ifndef MUSTER_DATA_SOURCES_DAMAGED_PICTURES_H
#define MUSTER_DATA_SOURCES_DAMAGED_PICTURES_H

#include "data/dataset.h"
#include "data/sources/image_folder.h"

/** Returns STATUS, that of decoding a picture. If the picture is damaged and none is left out, the message is made to
 *  name the option. */
MST_CHECKED mst_status mst_damaged_name_option(mst_status status, const mst_images_options *options);

/** Calls FIT with the path of the first picture in FILES; while that is damaged, with the next one, as often as OPTIONS
 *  allow. */
MST_CHECKED mst_status mst_damaged_fit(const mst_image_folder *files, const mst_images_options *options,
                                       mst_status (*fit)(void *context, const char *path), void *context);

/** Decodes the files of one row. *LIST becomes the number of the list whose file is being decoded. */
typedef mst_status (*mst_damaged_read)(void *context, int64_t row, int *list);
/** Leaves those rows out of the NUM_LISTS lists FILES of which READ finds a file damaged. Row i is file i of each list.
 *  DATASET counts them; *FIRST becomes the path of the first such file, owned by the caller. MST_CORRUPT if there are
 *  more than skip_corrupt of OPTIONS. */
MST_CHECKED mst_status mst_damaged_leave_out(mst_dataset *dataset, mst_image_folder *const *files, int num_lists,
                                             const mst_images_options *options, mst_damaged_read read, void *context,
                                             char **first);

#endif
