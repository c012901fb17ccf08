/** Pictures in files: JPEG and PNG, told by their first bytes, decoded to rows of pixels. Each codec is a module
 *  (module/module.h) of the name of its format, loaded when the first picture of that format is read. */
#ifndef MUSTER_FORMAT_IMAGE_H
#define MUSTER_FORMAT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** The most bytes that the pixels of one picture may have. */
#define MST_IMAGE_MOST_BYTES ((int64_t)1 << 29)

/** No byte of a file can stand for more pixels: a PNG of one bit a pixel, deflated as far as that goes (8 * 1032). */
enum { MST_IMAGE_PIXELS_OF_BYTE = 8256 };

/** One of the planes of a picture: brightness, or difference to blue or to red (JFIF's Y, Cb and Cr). */
typedef struct mst_image_plane {
    const uint8_t *pixels;         /**< in the memory of the picture */
    int64_t height, width, stride; /**< stride: bytes from row to row */
    int x_step, y_step;            /**< pixels of the picture that a sample covers */
} mst_image_plane;

typedef struct mst_image {
    uint8_t *pixels; /**< (height, width, channels), or else the memory of the planes; to be freed with free() */
    int64_t height, width;
    int channels;             /**< 1: gray; 3: red, green, blue */
    mst_image_plane plane[3]; /**< of a picture that was left as planes; pixels are NULL where it was not */
} mst_image;

/** How to decode. */
typedef struct mst_image_want {
    int channels;                      /**< 1 or 3 */
    int64_t least_height, least_width; /**< a JPEG is decoded at 1/2, 1/4 or 1/8 of its size where it is still at least
                                            so large; 0: at its size. Rounded up as libjpeg does */
    bool planes; /**< with 3 channels: a JPEG that has planes of brightness and color may be left as such */
} mst_image_want;

/** The picture in SIZE bytes at DATA; NAME stands for the path in messages. Transparency is left out, 16 bits become 8.
 *  *OUT is zero on failure: MST_CORRUPT where the bytes are no such picture, or damaged, or incomplete; MST_UNAVAILABLE
 *  where the codec's module cannot be loaded; MST_UNIMPLEMENTED where gray is wanted of CMYK. */
MST_CHECKED mst_status mst_image_decode(const char *name, const void *data, size_t size, const mst_image_want *want,
                                        mst_image *out);

/** Whether the SIZE bytes at DATA begin as a JPEG or PNG file does. */
bool mst_image_begins(const void *data, size_t size);

/** The interface of a codec's module. */
typedef struct mst_codec {
    /** As mst_image_decode; OUT has its channels, and takes the rest, also on failure. */
    mst_status (*decode)(const char *name, const void *data, size_t size, const mst_image_want *want, mst_image *out);
    /** As mst_png_encode (format/png_encode.h); NULL: the codec only reads. */
    mst_status (*encode)(const void *pixels, int64_t height, int64_t width, int64_t channels, void **data,
                         size_t *size);
} mst_codec;

/** For codecs: MST_CORRUPT where a file of SIZE bytes cannot hold the HEIGHT x WIDTH pixels that its header names. */
MST_CHECKED mst_status mst_image_check_header(const char *name, size_t size, int64_t height, int64_t width);
/** The same of pixels that are to be made, which may not be too many either. */
MST_CHECKED mst_status mst_image_check(const char *name, size_t size, int64_t height, int64_t width, int channels);
/** For codecs: memory for the pixels of OUT, HEIGHT x WIDTH, after that check. */
MST_CHECKED mst_status mst_image_alloc(const char *name, size_t size, int64_t height, int64_t width, mst_image *out);

#endif
