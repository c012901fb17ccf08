/* The module `png`: PNG files by libspng. */
#include <math.h>
#include <spng.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "format/image.h"
#include "module/module.h"

/* ---- reading ---- */

/* Gray as tf.io.decode_png makes it: by libpng's png_set_rgb_to_gray with the weights 0.299 (red) and 0.587 (green), in
 * fixed point with 15 bits of fraction. A pixel whose three values are equal keeps that value. If the file has a gamma
 * (gAMA, sRGB) that is not near 1, the weighted sum is computed in linear light. The gamma has no other effect. Source:
 * libpng, pngrtran (png_do_rgb_to_gray), png.c (png_build_8bit_table). */
enum { RED = 9797, GREEN = 19234, BLUE = 32768 - RED - GREEN, HALF = 16384, SRGB_GAMMA = 45455 };

typedef struct light {
    bool is_linear; /* the values are linear already, and there are no tables */
    uint8_t to_linear[256], from_linear[256];
} light;

static void fill_table(uint8_t table[256], double exponent) {
    for (int i = 0; i < 256; i++) table[i] = (uint8_t)floor(255 * pow(i / 255., exponent) + 0.5);
}

/* Makes the tables for the gamma of the file. libpng computes with gammas in units of 1/100000. */
static void find_light(spng_ctx *context, light *out) {
    const double unit = 100000, least = 95000, most = 105000;
    uint8_t intent;
    double gamma = 1;
    const bool srgb = spng_get_srgb(context, &intent) == 0;
    if (!srgb && spng_get_gama(context, &gamma)) gamma = 1;
    const double stored = srgb ? SRGB_GAMMA : floor(gamma * unit + 0.5);
    out->is_linear = stored < 1 || (stored >= least && stored <= most);
    if (out->is_linear) return;
    fill_table(out->to_linear, floor(unit * unit / stored + 0.5) / unit);
    fill_table(out->from_linear, stored / unit);
}

/* Like libpng, rounds the sum if the tables are used, and truncates it if not. */
static void make_gray(uint8_t *gray, const uint8_t *rgb, int64_t count, const light *l) {
    for (int64_t i = 0; i < count; i++, rgb += 3) {
        const uint8_t *to = l->to_linear;
        if (rgb[0] == rgb[1] && rgb[1] == rgb[2])
            gray[i] = rgb[0];
        else if (l->is_linear)
            gray[i] = (uint8_t)((RED * rgb[0] + GREEN * rgb[1] + BLUE * rgb[2]) >> 15);
        else
            gray[i] = l->from_linear[(RED * to[rgb[0]] + GREEN * to[rgb[1]] + BLUE * to[rgb[2]] + HALF) >> 15];
    }
}

/* For 16 bits per value: the sum is computed with 16 bits, then cut to its upper 8 bits. The gamma has no effect. */
static void make_gray_of_16(uint8_t *gray, const uint16_t *rgba, int64_t count) {
    for (int64_t i = 0; i < count; i++, rgba += 4)
        gray[i] =
            (uint8_t)(((uint32_t)RED * rgba[0] + (uint32_t)GREEN * rgba[1] + (uint32_t)BLUE * rgba[2] + HALF) >> 23);
}

static mst_status png_damaged(const char *name, int failed) {
    return MST_FAIL(MST_CORRUPT, "'%s': is no intact PNG: %s", name, spng_strerror(failed));
}

/* Unpacks ROWS rows of WIDTH numbers to one byte per number. PACKED has DEPTH bits per number, and each of its rows
 * begins with a new byte. */
static void unpack(const uint8_t *packed, int64_t rows, int64_t width, int depth, uint8_t *dst) {
    const int64_t stride = (width * depth + 7) / 8;
    for (int64_t y = 0; y < rows; y++, packed += stride)
        for (int64_t x = 0; x < width; x++) {
            const int64_t bit = x * depth;
            *dst++ = (uint8_t)((packed[bit / 8] >> (8 - depth - bit % 8)) & ((1 << depth) - 1));
        }
}

/* Decodes indices of a palette, or gray values, as they are stored. They have at most 8 bits. */
static mst_status decode_stored(spng_ctx *context, const char *name, size_t size, const struct spng_ihdr *header,
                                mst_image *out) {
    size_t bytes;
    int failed = spng_decoded_image_size(context, SPNG_FMT_PNG, &bytes);
    if (failed) return png_damaged(name, failed);
    MST_TRY(mst_image_alloc(name, size, header->height, header->width, out));
    uint8_t *packed = malloc(bytes);
    if (!packed) return MST_NO_MEMORY("for the pixels of '%s'", name);
    failed = spng_decode_image(context, packed, bytes, SPNG_FMT_PNG, 0);
    if (!failed) failed = spng_decode_chunks(context);
    if (!failed) unpack(packed, header->height, header->width, header->bit_depth, out->pixels);
    free(packed);
    return failed ? png_damaged(name, failed) : MST_OK;
}

/* Decodes the class numbers of a PNG of any kind: see mst_image_want. */
static mst_status decode_classes(spng_ctx *context, const char *name, const void *data, size_t size, mst_image *out) {
    struct spng_ihdr header;
    int failed = spng_set_png_buffer(context, data, size);
    if (!failed) failed = spng_set_chunk_limits(context, (size_t)1 << 24, (size_t)1 << 26);
    if (!failed) failed = spng_get_ihdr(context, &header);
    if (failed) return png_damaged(name, failed);
    const bool stored = header.color_type == SPNG_COLOR_TYPE_INDEXED || header.color_type == SPNG_COLOR_TYPE_GRAYSCALE;
    if (header.bit_depth == 16)
        return MST_FAIL(MST_INVALID, "'%s': has 16 bits for a number, class numbers need at most 8: save it so", name);
    if (stored) return decode_stored(context, name, size, &header, out);
    mst_image color = {.channels = 3};
    MST_TRY(mst_image_alloc(name, size, header.height, header.width, &color));
    const int64_t count = (int64_t)header.height * header.width;
    failed = spng_decode_image(context, color.pixels, (size_t)(3 * count), SPNG_FMT_RGB8, 0);
    if (!failed) failed = spng_decode_chunks(context);
    mst_status status = failed ? png_damaged(name, failed) : MST_OK;
    if (!status) status = mst_image_alloc(name, size, header.height, header.width, out);
    for (int64_t i = 0; i < count && !status; i++) {
        const uint8_t *p = color.pixels + 3 * i;
        if (p[0] != p[1] || p[1] != p[2])
            status = MST_FAIL(MST_INVALID,
                              "'%s': has colors, such as (%d, %d, %d), where class numbers are due: save it with a "
                              "palette, or in gray with class numbers as values",
                              name, p[0], p[1], p[2]);
        else
            out->pixels[i] = p[0];
    }
    free(color.pixels);
    return status;
}

static mst_status decode(spng_ctx *context, const char *name, const void *data, size_t size, mst_image *out) {
    enum { RGB = 3, WIDE = 8 }; /* bytes of a pixel; WIDE: 16 bits each of red, green, blue and alpha */
    struct spng_ihdr header;
    int failed = spng_set_png_buffer(context, data, size);
    if (!failed) failed = spng_set_chunk_limits(context, (size_t)1 << 24, (size_t)1 << 26);
    if (!failed) failed = spng_get_ihdr(context, &header);
    if (failed) return png_damaged(name, failed);
    const bool gray = out->channels == 1;
    const bool wide = gray && header.bit_depth == 16 && (header.color_type & SPNG_COLOR_TYPE_TRUECOLOR);
    mst_image color = {.channels = wide ? WIDE : RGB}, *to = gray ? &color : out;
    MST_TRY(mst_image_alloc(name, size, header.height, header.width, to));
    const int64_t count = (int64_t)header.height * header.width;
    failed = spng_decode_image(context, to->pixels, (size_t)(to->channels * count),
                               wide ? SPNG_FMT_RGBA16 : SPNG_FMT_RGB8, 0);
    /* libspng stops after the last row, before it has checked the checksum of the chunk. So read to the end. */
    if (!failed) failed = spng_decode_chunks(context);
    mst_status status = failed ? png_damaged(name, failed) : MST_OK;
    if (!status && gray) status = mst_image_alloc(name, size, header.height, header.width, out);
    if (!status && gray) {
        light l;
        find_light(context, &l);
        if (wide)
            make_gray_of_16(out->pixels, (const uint16_t *)(const void *)color.pixels, count);
        else
            make_gray(out->pixels, color.pixels, count, &l);
    }
    free(color.pixels);
    return status;
}

static mst_status decode_png(const char *name, const void *data, size_t size, const mst_image_want *want,
                             mst_image *out) {
    /* out->channels is set already, and a PNG cannot be decoded at a smaller size */
    spng_ctx *context = spng_ctx_new(0);
    if (!context) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory to read '%s'", name);
    const mst_status status = (want->class_numbers ? decode_classes : decode)(context, name, data, size, out);
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
