#include "format/png_encode.h"

#include "base/no_memory.h"

#ifdef MST_HAVE_SPNG
#include <spng.h>

static int encode(spng_ctx *context, struct spng_ihdr *header, const void *pixels, size_t bytes, void **data,
                  size_t *size) {
    int failed = spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
    if (!failed) failed = spng_set_ihdr(context, header);
    if (!failed) failed = spng_encode_image(context, pixels, bytes, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    if (!failed) *data = spng_get_png_buffer(context, size, &failed);
    return failed;
}

mst_status mst_png_encode(const void *pixels, int64_t height, int64_t width, int64_t channels, void **data,
                          size_t *size) {
    static const uint8_t types[] = {0, SPNG_COLOR_TYPE_GRAYSCALE, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA,
                                    SPNG_COLOR_TYPE_TRUECOLOR, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
    *data = NULL;
    if (channels < 1 || channels > 4 || height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX)
        return MST_FAIL(MST_INVALID, "an image of %lld x %lld pixels and %lld channels cannot be written as PNG",
                        (long long)height, (long long)width, (long long)channels);
    spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
    if (!context) return MST_NO_MEMORY("to write a PNG");
    struct spng_ihdr header = {
        .width = (uint32_t)width, .height = (uint32_t)height, .bit_depth = 8, .color_type = types[channels]};
    const int failed = encode(context, &header, pixels, (size_t)(height * width * channels), data, size);
    spng_ctx_free(context);
    return failed ? MST_FAIL(MST_INVALID, "an image cannot be written as PNG: %s", spng_strerror(failed)) : MST_OK;
}
#else
mst_status mst_png_encode(const void *pixels, int64_t height, int64_t width, int64_t channels, void **data,
                          size_t *size) {
    (void)pixels, (void)height, (void)width, (void)channels;
    *data = NULL;
    *size = 0;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "images need libspng, which this Muster was built without: install libspng-dev "
                    "and build again");
}
#endif
