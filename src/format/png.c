/* The module `png`: PNG files by libspng. */
#include <spng.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "format/image.h"
#include "module/module.h"

/* ---- reading ---- */

/* The luma of libjpeg, in 16 bits of fraction. A gray pixel keeps its value. */
static void make_gray(uint8_t *gray, const uint8_t *rgb, int64_t count) {
    for (int64_t i = 0; i < count; i++, rgb += 3)
        gray[i] = (uint8_t)((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16);
}

static mst_status damaged(const char *name, int failed) {
    return MST_FAIL(MST_CORRUPT, "'%s': is no intact PNG: %s", name, spng_strerror(failed));
}

static mst_status decode(spng_ctx *context, const char *name, const void *data, size_t size, mst_image *out) {
    struct spng_ihdr header;
    mst_image rgb = {.channels = 3};
    int failed = spng_set_png_buffer(context, data, size);
    if (!failed) failed = spng_set_chunk_limits(context, (size_t)1 << 24, (size_t)1 << 26);
    if (!failed) failed = spng_get_ihdr(context, &header);
    if (failed) return damaged(name, failed);
    MST_TRY(mst_image_alloc(name, size, header.height, header.width, out->channels == 3 ? out : &rgb));
    uint8_t *pixels = out->channels == 3 ? out->pixels : rgb.pixels;
    const int64_t count = (int64_t)header.height * header.width;
    failed = spng_decode_image(context, pixels, 3 * (size_t)count, SPNG_FMT_RGB8, 0);
    mst_status status = failed ? damaged(name, failed) : MST_OK;
    if (!status && out->channels == 1) {
        status = mst_image_alloc(name, size, header.height, header.width, out);
        if (!status) make_gray(out->pixels, pixels, count);
    }
    free(rgb.pixels);
    return status;
}

static mst_status decode_png(const char *name, const void *data, size_t size, const mst_image_want *want,
                             mst_image *out) {
    (void)want; /* OUT has its channels, and there is no smaller size to decode at */
    spng_ctx *context = spng_ctx_new(0);
    if (!context) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory to read '%s'", name);
    const mst_status status = decode(context, name, data, size, out);
    spng_ctx_free(context);
    return status;
}

/* ---- writing ---- */

static int encode(spng_ctx *context, struct spng_ihdr *header, const void *pixels, size_t bytes, void **data,
                  size_t *size) {
    int failed = spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
    if (!failed) failed = spng_set_ihdr(context, header);
    if (!failed) failed = spng_encode_image(context, pixels, bytes, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    if (!failed) *data = spng_get_png_buffer(context, size, &failed);
    return failed;
}

static mst_status encode_png(const void *pixels, int64_t height, int64_t width, int64_t channels, void **data,
                             size_t *size) {
    static const uint8_t types[] = {0, SPNG_COLOR_TYPE_GRAYSCALE, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA,
                                    SPNG_COLOR_TYPE_TRUECOLOR, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
    spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
    if (!context) return MST_NO_MEMORY("to write a PNG");
    struct spng_ihdr header = {
        .width = (uint32_t)width, .height = (uint32_t)height, .bit_depth = 8, .color_type = types[channels]};
    const int failed = encode(context, &header, pixels, (size_t)(height * width * channels), data, size);
    spng_ctx_free(context);
    return failed ? MST_FAIL(MST_INVALID, "an image cannot be written as PNG: %s", spng_strerror(failed)) : MST_OK;
}

static const mst_codec codec = {.decode = decode_png, .encode = encode_png};

extern const mst_module mst_module_png;
const mst_module mst_module_png = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "png", .version = MST_VERSION, .interface = &codec};
