/** Resizing of pictures, with the formulas and the roundings of tf.image.resize (half-pixel centers, no antialias).
 *  Source: TensorFlow, core/kernels/image/resize_{bilinear,area,nearest_neighbor}_op.cc.
 *
 *  A picture that was decoded to planes is resized plane by plane and becomes RGB afterwards. That is less work: only
 *  the pixels of the result change their color space, and planes of color usually have a quarter of the samples. Both
 *  steps are linear, so their order matters little (test/parity/images_test.py). */
#ifndef MUSTER_DATA_PICTURES_RESIZE_H
#define MUSTER_DATA_PICTURES_RESIZE_H

#include "format/image.h"
#include "muster/dataset.h"

/** Resizes IMAGE to DST, (HEIGHT, WIDTH, channels) of DTYPE: f32 with values from 0 to 255, or u8 with these values
 *  rounded. An image of planes needs MST_RESIZE_BILINEAR. Fails if memory runs out. */
MST_CHECKED mst_status mst_resize(mst_resize_method method, const mst_image *image, mst_dtype dtype, void *dst,
                                  int64_t height, int64_t width);

#endif
