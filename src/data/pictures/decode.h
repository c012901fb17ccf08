/** Bytes of PNG and JPEG files to pictures of one size: what sources and transforms of picture files share. */
#ifndef MUSTER_DATA_PICTURES_DECODE_H
#define MUSTER_DATA_PICTURES_DECODE_H

#include "muster/dataset.h"

/** Fills in what O leaves open, and checks it; MST_INVALID, naming WHO, if it is not possible. */
MST_CHECKED mst_status mst_picture_fill_options(const char *who, mst_images_options *o);
/** Sets height and width as .fit says, by the picture in SIZE bytes at DATA. NAME is for messages. Fails as
 *  mst_image_decode. */
MST_CHECKED mst_status mst_picture_fit(const char *name, const void *data, size_t size, mst_images_options *o);
/** The picture in SIZE bytes at DATA to DST, (height, width, channels) of the dtype of O, which is filled in. Fails as
 *  mst_image_decode, and if memory runs out. */
MST_CHECKED mst_status mst_picture_decode(const char *name, const void *data, size_t size, const mst_images_options *o,
                                          void *dst);

#endif
