/** Resizing of pictures, with the formulas and the roundings of tf.image.resize (half-pixel centers, no antialias).
 *  Source: TensorFlow, core/kernels/image/resize_{bilinear,area,nearest_neighbor}_op.cc. */
#ifndef MUSTER_DATA_RESIZE_H
#define MUSTER_DATA_RESIZE_H

#include "muster/dataset.h"

/** Bytes of scratch that mst_resize needs. */
size_t mst_resize_scratch(int64_t height, int64_t width);
/** SRC, u8 (height, width, CHANNELS), to DST, f32 (NEW_HEIGHT, NEW_WIDTH, CHANNELS), with values 0 to 255. SCRATCH has
 *  mst_resize_scratch(NEW_HEIGHT, NEW_WIDTH) bytes, aligned for any type. */
void mst_resize(mst_resize_method method, const uint8_t *src, int64_t height, int64_t width, int channels, float *dst,
                int64_t new_height, int64_t new_width, void *scratch);

#endif
