/** Decodes picture files to pictures of one size, for sources and transforms of picture files. */
#ifndef MUSTER_DATA_PICTURES_DECODE_H
#define MUSTER_DATA_PICTURES_DECODE_H

#include "muster/dataset.h"

/** Replaces the members of O that are 0 by their defaults, and checks O; MST_INVALID, naming WHO, if a value is not
 *  possible. */
MST_CHECKED mst_status mst_picture_fill_options(const char *who, mst_images_options *o);
/** Decodes the picture in the file PATH to set *HEIGHT and *WIDTH to its size. Fails as mst_file_read
 *  and mst_image_decode do. */
MST_CHECKED mst_status mst_picture_size(const char *path, int64_t *height, int64_t *width);
/** Sets height and width of O as its option .fit says, from the picture in SIZE bytes at DATA. NAME is for messages.
 *  Fails as mst_image_decode does. */
MST_CHECKED mst_status mst_picture_fit(const char *name, const void *data, size_t size, mst_images_options *o);
/** Decodes the picture in SIZE bytes at DATA to DST, (height, width, channels) of the dtype of O. O must be filled in.
 *  Fails as mst_image_decode does, and if memory runs out. */
MST_CHECKED mst_status mst_picture_decode(const char *name, const void *data, size_t size, const mst_images_options *o,
                                          void *dst);

#endif
