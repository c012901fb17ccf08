/** Writes PNG, the format of images in event files. */
#ifndef MUSTER_FORMAT_PNG_ENCODE_H
#define MUSTER_FORMAT_PNG_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** Makes a PNG of HEIGHT x WIDTH pixels, row-major, with 1 to 4 u8 channels (gray, gray and alpha, RGB, RGBA). *DATA
 *  has *SIZE bytes; the caller frees it with free(). MST_UNAVAILABLE if the module `png` cannot be loaded. */
MST_CHECKED mst_status mst_png_encode(const void *pixels, int64_t height, int64_t width, int64_t channels, void **data,
                                      size_t *size);

#endif
