/* The module `webp`: decodes WebP files by libwebp. Of an animation, it decodes the first frame, on a black canvas.
 *
 * A WebP of one color needs no bits for its pixels, so the number of bytes does not bound the number of pixels. A WebP
 * may have FREE_PIXELS pixels more than a file of other formats with as many bytes (mst_image_check). */
#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

#include "base/no_memory.h"
#include "format/image.h"
#include "module/module.h"

enum { FREE_PIXELS = 1 << 24, RGB = 3 };

static mst_status damaged(const char *name) {
    return MST_FAIL(MST_CORRUPT, "'%s': the WebP is damaged or ends too early: get it again", name);
}

static mst_status no_memory(const char *name) {
    return MST_NO_MEMORY("for the pixels of '%s'", name);
}

static mst_status check_webp_size(const char *name, size_t size, int64_t height, int64_t width) {
    return mst_image_check(name, size + FREE_PIXELS / MST_IMAGE_PIXELS_OF_BYTE, height, width, RGB);
}

/* Decodes the still picture of SIZE bytes at DATA, which has WIDTH x HEIGHT pixels. The first pixel is written at
 * PIXELS; the rows begin STRIDE bytes apart. */
static mst_status decode_still(const char *name, const uint8_t *data, size_t size, int width, int height,
                               uint8_t *pixels, int64_t stride) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return MST_FAIL(MST_UNAVAILABLE, "libwebp has another version than its headers");
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){
        .rgba = pixels, .stride = (int)stride, .size = (size_t)(stride * (height - 1) + (int64_t)RGB * width)};
    const VP8StatusCode code = WebPDecode(data, size, &config);
    WebPFreeDecBuffer(&config.output);
    if (code == VP8_STATUS_OUT_OF_MEMORY) return no_memory(name);
    return code == VP8_STATUS_OK ? MST_OK : damaged(name);
}

/* Decodes the first frame, which may cover a part of the canvas. */
static mst_status decode_frame(const char *name, size_t size, WebPDemuxer *demuxer, mst_image *out) {
    WebPIterator frame;
    const int64_t height = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT);
    const int64_t width = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH);
    MST_TRY(check_webp_size(name, size, height, width));
    if (!WebPDemuxGetFrame(demuxer, 1, &frame)) return damaged(name);
    const int64_t row = RGB * width;
    mst_status status = MST_OK;
    if (!frame.complete || frame.x_offset < 0 || frame.y_offset < 0 || frame.width < 1 || frame.height < 1 ||
        frame.x_offset + (int64_t)frame.width > width || frame.y_offset + (int64_t)frame.height > height)
        status = damaged(name);
    if (!status && !(out->pixels = calloc((size_t)height, (size_t)row))) status = no_memory(name);
    if (!status)
        status = decode_still(name, frame.fragment.bytes, frame.fragment.size, frame.width, frame.height,
                              out->pixels + frame.y_offset * row + (int64_t)RGB * frame.x_offset, row);
    WebPDemuxReleaseIterator(&frame);
    out->height = height;
    out->width = width;
    return status;
}

static mst_status decode_animation(const char *name, const void *data, size_t size, mst_image *out) {
    WebPDemuxer *demuxer = WebPDemux(&(WebPData){.bytes = data, .size = size});
    if (!demuxer) return damaged(name);
    const mst_status status = decode_frame(name, size, demuxer, out);
    WebPDemuxDelete(demuxer);
    return status;
}

static mst_status decode_picture(const char *name, const void *data, size_t size, const WebPBitstreamFeatures *is,
                                 mst_image *out) {
    MST_TRY(check_webp_size(name, size, is->height, is->width));
    out->height = is->height;
    out->width = is->width;
    out->pixels = malloc((size_t)(RGB * out->height * out->width));
    if (!out->pixels) return no_memory(name);
    return decode_still(name, data, size, is->width, is->height, out->pixels, RGB * out->width);
}

static mst_status decode_webp(const char *name, const void *data, size_t size, const mst_image_want *want,
                              mst_image *out) {
    WebPBitstreamFeatures is;
    (void)want; /* out->channels is set already, and a WebP is not decoded at a smaller size */
    if (WebPGetFeatures(data, size, &is) != VP8_STATUS_OK) return damaged(name);
    MST_TRY(is.has_animation ? decode_animation(name, data, size, out) : decode_picture(name, data, size, &is, out));
    if (out->channels == 1) mst_image_make_gray(out);
    return MST_OK;
}

static const mst_codec codec = {.decode = decode_webp};

extern const mst_module mst_module_webp;
const mst_module mst_module_webp = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "webp", .version = MST_VERSION, .interface = &codec};
