#include "data/pictures/affine.h"

#include <math.h>
#include <string.h>

/* ---- maps ---- */

mst_affine_map mst_affine_rotation(int64_t height, int64_t width, float degrees) {
    const float angle = degrees * (float)(3.14159265358979323846 / 180), cosine = cosf(angle), sine = sinf(angle);
    const float x = 0.5f * (float)(width - 1), y = 0.5f * (float)(height - 1);
    return (mst_affine_map){cosine, -sine, x - x * cosine - y * -sine, sine, cosine, y - x * sine - y * cosine};
}

mst_affine_map mst_affine_zoom(int64_t height, int64_t width, float height_zoom, float width_zoom) {
    const float x = ((float)width - 1) / 2, y = ((float)height - 1) / 2;
    return (mst_affine_map){width_zoom, 0, x * (1 - width_zoom), 0, height_zoom, y * (1 - height_zoom)};
}

mst_affine_map mst_affine_translation(float down, float right) {
    return (mst_affine_map){1, 0, -right, 0, 1, -down};
}

/* ---- coordinates outside of the picture ---- */

static float clamp(float at, float length) {
    return at < 0 ? 0 : at > length - 1 ? length - 1 : at;
}

/* d c b a | a b c d | d c b a */
static float reflect(float at, float length) {
    const float twice = 2 * length;
    if (at < 0) {
        if (at < twice) at = twice * truncf(-at / twice) + at;
        at = at < -length ? at + twice : -at - 1;
    } else if (at > length - 1) {
        at -= twice * truncf(at / twice);
        if (at >= length) at = twice - at - 1;
    }
    return clamp(at, length);
}

/* a b c d | a b c d | a b c d */
static float wrap(float at, float length) {
    if (at < 0)
        at += length * (truncf(-at / (length - 1)) + 1);
    else if (at > length - 1)
        at -= length * truncf(at / (length - 1));
    return clamp(at, length);
}

static float inside(float at, int64_t length, mst_fill_mode mode) {
    if (mode == MST_FILL_CONSTANT) return at;
    if (length == 1) return 0;
    return mode == MST_FILL_REFLECT ? reflect(at, (float)length)
           : mode == MST_FILL_WRAP  ? wrap(at, (float)length)
                                    : clamp(at, (float)length);
}

/* ---- pixels ---- */

/* A picture that is mapped. */
typedef struct mapped {
    const mst_array *src;
    mst_picture_size size;
    int64_t channels;
    float fill;
} mapped;

static void put_element(void *dst, mst_dtype dtype, int64_t at, float value) {
    if (dtype == MST_F32)
        ((float *)dst)[at] = value;
    else if (dtype == MST_U8)
        ((uint8_t *)dst)[at] = (uint8_t)(value <= 0 ? 0 : value >= 255 ? 255 : value + 0.5f);
}

static void copy_nearest(const mapped *p, float y, float x, mst_array *dst, int64_t pixel) {
    const int64_t row = (int64_t)roundf(y), column = (int64_t)roundf(x);
    char *to = (char *)dst->data + pixel * p->size.pixel;
    if (row >= 0 && row < p->size.height && column >= 0 && column < p->size.width) {
        memcpy(to, (const char *)p->src->data + (row * p->size.width + column) * p->size.pixel, (size_t)p->size.pixel);
        return;
    }
    memset(to, 0, (size_t)p->size.pixel); /* for dtypes that have no other fill value */
    for (int64_t c = 0; c < p->channels; c++) put_element(dst->data, dst->dtype, pixel * p->channels + c, p->fill);
}

/* Element C of the pixel [ROW, COLUMN]. */
static inline float element(const mapped *p, int64_t row, int64_t column, int64_t c) {
    if (row < 0 || row >= p->size.height || column < 0 || column >= p->size.width) return p->fill;
    const int64_t at = (row * p->size.width + column) * p->channels + c;
    return p->src->dtype == MST_F32 ? ((const float *)p->src->data)[at] : (float)((const uint8_t *)p->src->data)[at];
}

static void mix_bilinear(const mapped *p, float y, float x, mst_array *dst, int64_t pixel) {
    const float top = floorf(y), left = floorf(x), bottom = top + 1, right = left + 1;
    const int64_t row = (int64_t)top, column = (int64_t)left;
    for (int64_t c = 0; c < p->channels; c++) {
        const float above = (right - x) * element(p, row, column, c) + (x - left) * element(p, row, column + 1, c);
        const float below =
            (right - x) * element(p, row + 1, column, c) + (x - left) * element(p, row + 1, column + 1, c);
        put_element(dst->data, dst->dtype, pixel * p->channels + c, (bottom - y) * above + (y - top) * below);
    }
}

void mst_picture_affine(const mst_array *src, const mst_affine_map *map, const mst_affine_options *options,
                        mst_array *dst) {
    const mapped p = {src, mst_picture_size_of(src), mst_picture_channels(src), (float)options->fill_value};
    for (int64_t i = 0; i < p.size.height; i++)
        for (int64_t j = 0; j < p.size.width; j++) {
            const float row = (float)i, column = (float)j;
            const float x = inside(map->a0 * column + map->a1 * row + map->a2, p.size.width, options->fill_mode);
            const float y = inside(map->b0 * column + map->b1 * row + map->b2, p.size.height, options->fill_mode);
            if (options->interpolation == MST_RESIZE_NEAREST)
                copy_nearest(&p, y, x, dst, i * p.size.width + j);
            else
                mix_bilinear(&p, y, x, dst, i * p.size.width + j);
        }
}

/* ---- what the transforms share ---- */

mst_status mst_affine_check(const mst_dataset *dataset, const char *transform, int component,
                            const mst_affine_options *options) {
    const bool nearest = options->interpolation == MST_RESIZE_NEAREST;
    if (options->fill_mode < MST_FILL_REFLECT || options->fill_mode > MST_FILL_WRAP)
        return MST_FAIL(MST_INVALID, "%s: fill_mode is %d: use MST_FILL_REFLECT, ...", transform,
                        (int)options->fill_mode);
    if (!nearest && options->interpolation != MST_RESIZE_BILINEAR)
        return MST_FAIL(MST_INVALID, "%s: interpolation is %d: use MST_RESIZE_BILINEAR, ...", transform,
                        (int)options->interpolation);
    MST_TRY(mst_picture_want_range(transform, "fill_value", options->fill_value, -1e6, 1e6));
    return nearest && options->fill_value == 0 ? MST_OK : mst_picture_want_values(dataset, transform, component);
}

void mst_affine_settings(const mst_dataset *dataset, double lower, double upper, const mst_affine_options *options,
                         char *text, size_t size) {
    mst_picture_settings(dataset, text, size, "%.9g to %.9g, width %.9g to %.9g, fill %d %.9g, interpolation %d", lower,
                         upper, options->width_lower, options->width_upper, (int)options->fill_mode,
                         options->fill_value, (int)options->interpolation);
}

float mst_affine_draw(uint32_t word, double lower, double upper) {
    return (float)(lower + (upper - lower) * (double)mst_rng_unit_f32(word));
}
