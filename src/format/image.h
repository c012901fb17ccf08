/** Pictures in files: JPEG, PNG, WebP, GIF and BMP, recognised by their first bytes, decoded to rows of pixels. A
 *  codec that needs a library is a module (module/module.h) with the name of its format, loaded when the first picture
 *  of that format is read. */
#ifndef MUSTER_FORMAT_IMAGE_H
#define MUSTER_FORMAT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** The most bytes that the pixels of one picture may have. */
#define MST_IMAGE_MOST_BYTES ((int64_t)1 << 29)

/** The most pixels that one byte of a file can stand for. A PNG has at least one bit per pixel, and deflate compresses
 *  to 1/1032 at best: 8 * 1032. */
enum { MST_IMAGE_PIXELS_OF_BYTE = 8256 };

/** One of the planes of a picture: brightness, or difference to blue or to red (Y, Cb and Cr in JFIF). */
typedef struct mst_image_plane {
    const uint8_t *pixels;         /**< in the memory of the picture */
    int64_t height, width, stride; /**< stride: bytes from row to row */
    int x_step, y_step;            /**< pixels of the picture per sample, in x and in y */
} mst_image_plane;

typedef struct mst_image {
    uint8_t *pixels; /**< (height, width, channels), or the memory of the planes; free it with free() */
    int64_t height, width;
    int channels;             /**< 1: gray; 3: red, green, blue */
    mst_image_plane plane[3]; /**< of a picture that was decoded to planes; otherwise their pixels are NULL */
} mst_image;

/** Options for decoding. */
typedef struct mst_image_want {
    int channels;                      /**< 1 or 3 */
    int64_t least_height, least_width; /**< a JPEG is decoded at 1/2, 1/4 or 1/8 of its size if it then is at least this
                                            large; 0: at its full size. Sizes are rounded up, as by libjpeg */
    bool class_numbers; /**< with 1 channel, of a PNG: numbers of the palette, or gray values as they are stored; colors
                         *   are MST_INVALID */
    bool planes; /**< with 3 channels: a JPEG that consists of planes of brightness and color may be left as planes */
} mst_image_want;

/** Decodes the picture in SIZE bytes at DATA; NAME stands for the path in messages. Transparency is dropped, and 16
 *  bits become 8. Of an animation it is the first frame. *OUT is zero on failure: MST_CORRUPT if the bytes are no such
 *  picture, damaged or incomplete; MST_UNAVAILABLE if the codec's module cannot be loaded; MST_UNIMPLEMENTED for CMYK
 *  if gray is wanted, and for a BMP in a form that is not read. */
MST_CHECKED mst_status mst_image_decode(const char *name, const void *data, size_t size, const mst_image_want *want,
                                        mst_image *out);

/** Whether the SIZE bytes at DATA begin like a file of one of these formats. */
bool mst_image_begins(const void *data, size_t size);
/** The name of the format that the SIZE bytes at DATA begin like: "JPEG", "PNG", "WebP", "GIF" or "BMP"; NULL: none. */
const char *mst_image_format(const void *data, size_t size);
/** The formats, for messages: "PNG, JPEG, WebP, GIF and BMP". */
#define MST_IMAGE_FORMATS "PNG, JPEG, WebP, GIF and BMP"

/** The interface of a codec's module. */
typedef struct mst_codec {
    /** As mst_image_decode. OUT has the channels that are wanted; the function sets the other members, and may leave
     *  pixels on failure. */
    mst_status (*decode)(const char *name, const void *data, size_t size, const mst_image_want *want, mst_image *out);
    /** As mst_png_encode (format/png_encode.h). NULL: the codec can only read. */
    mst_status (*encode)(const void *pixels, int64_t height, int64_t width, int64_t channels, void **data,
                         size_t *size);
} mst_codec;

/** For codecs: MST_CORRUPT if a file of SIZE bytes cannot hold the HEIGHT x WIDTH pixels that its header announces. */
MST_CHECKED mst_status mst_image_check_header(const char *name, size_t size, int64_t height, int64_t width);
/** The same, and fails too if pixels with CHANNELS channels would need more than MST_IMAGE_MOST_BYTES. */
MST_CHECKED mst_status mst_image_check(const char *name, size_t size, int64_t height, int64_t width, int channels);
/** For codecs: converts IMAGE from RGB to gray in place, as Pillow's convert("L") does: 0.299 red, 0.587
 *  green, 0.114 blue, in fixed point with 16 bits of fraction, rounded. */
void mst_image_make_gray(mst_image *image);
/** For codecs: checks the size as above, and allocates HEIGHT x WIDTH pixels for OUT. */
MST_CHECKED mst_status mst_image_alloc(const char *name, size_t size, int64_t height, int64_t width, mst_image *out);

#endif
