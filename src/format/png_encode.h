/** PNG, for writing: what images in event files are. */
#ifndef MUSTER_FORMAT_PNG_ENCODE_H
#define MUSTER_FORMAT_PNG_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** A PNG of HEIGHT rows of WIDTH pixels of 1 to 4 u8 channels (gray, gray and alpha, RGB, RGBA), row-major. *DATA, of
 *  *SIZE bytes, is freed by the caller with free(). MST_UNAVAILABLE where the module `png` cannot be loaded. */
MST_CHECKED mst_status mst_png_encode(const void *pixels, int64_t height, int64_t width, int64_t channels, void **data,
                                      size_t *size);

#endif
