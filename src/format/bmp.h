/** BMP files: 1, 4, 8, 16, 24 or 32 bits per pixel, with a table of colors, masks, or runs (RLE).
 *
 *      "BM", bytes of the file (4), 0 (4), offset of the pixels (4)
 *      bytes of the header (4): 12 (OS/2), or 40 and more (Windows)
 *      width, height, planes, bits of a pixel: 2 bytes each of 12; otherwise 4, 4, 2, 2. A negative height: the first
 *          row is the uppermost one, otherwise the last one is
 *      of 40 and more: compression (4), bytes of the pixels (4), resolution (8), colors (4), important ones (4)
 *      masks of red, green and blue (4 each), with the compression 3; of 52 and more they are part of the header
 *      the table of colors: blue, green, red, and a byte more unless the header has 12 bytes
 *
 *  Rows are padded to a multiple of 4 bytes. Numbers are little-endian.
 *
 *  Source: Microsoft, "Bitmap Storage" and "Bitmap Compression". */
#ifndef MUSTER_FORMAT_BMP_H
#define MUSTER_FORMAT_BMP_H

#include "format/image.h"

/** Whether the SIZE bytes at DATA begin as a BMP file does. */
bool mst_bmp_begins(const void *data, size_t size);

/** Decodes as the codecs of modules do (mst_codec in format/image.h). Values are Pillow's, and tf.io.decode_bmp's where
 *  that reads the file. MST_UNIMPLEMENTED for pixels that are a JPEG or PNG inside. */
MST_CHECKED mst_status mst_bmp_decode(const char *name, const void *data, size_t size, const mst_image_want *want,
                                      mst_image *out);

#endif
