#include "format/image.h"

#ifdef MST_HAVE_SPNG
#include <spng.h>
#include <stdlib.h>

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

mst_status mst_png_decode(const char *name, const void *data, size_t size, mst_image *out) {
    spng_ctx *context = spng_ctx_new(0);
    if (!context) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory to read '%s'", name);
    const mst_status status = decode(context, name, data, size, out);
    spng_ctx_free(context);
    return status;
}
#else
mst_status mst_png_decode(const char *name, const void *data, size_t size, mst_image *out) {
    (void)data, (void)size, (void)out;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "'%s': PNG needs libspng, which this Muster was built without: install libspng-dev and build again",
                    name);
}
#endif
