/** Pictures in folders that cannot be decoded. They end the reading, or with skip_corrupt are left out when the folder
 *  is opened. All pictures are decoded then, so that every process and every number of devices has the same rows. */
#ifndef MUSTER_DATA_PICTURES_DAMAGED_H
#define MUSTER_DATA_PICTURES_DAMAGED_H

#include "data/dataset.h"

/** Returns STATUS, that of decoding a picture. If the picture is damaged and none is left out, the message is made to
 *  name the option. */
MST_CHECKED mst_status mst_damaged_name_option(mst_status status, const mst_images_options *options);
/** Counts *PATH, which was found damaged and becomes NULL, in DATASET; *FIRST, which is NULL or an earlier one, takes
 *  the string if it is the first. MST_CORRUPT if these are more than skip_corrupt of OPTIONS. */
MST_CHECKED mst_status mst_damaged_count(mst_dataset *dataset, const mst_images_options *options, char **path,
                                         char **first);

#endif
