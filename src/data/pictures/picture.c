/* What transforms of pictures share: making and checking their datasets, the random numbers of a row, and the changes
 * of pixels themselves. For u8, brightness and contrast look up their results in a table of the 256 levels. The table
 * is computed with the arithmetic of tf.image, so its roundings are the same. */
#include "data/pictures/picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

enum { LEVELS = 256 };

/* ---- datasets ---- */

static mst_status picture_check(const mst_dataset *dataset, const char *transform, int component) {
    char text[MST_SHAPE_TEXT];
    if (component < 0 || component >= dataset->num_components)
        return MST_FAIL(MST_INVALID, "%s: component %d, the dataset has 0 to %d", transform, component,
                        dataset->num_components - 1);
    const mst_spec *row = &dataset->row[component];
    if (mst_shape_count(row->shape) < 0)
        return MST_FAIL(MST_INVALID,
                        "%s: component %d is %s%s, pictures are of one size: give it to mst_dataset_padded_batch, or "
                        "make it with mst_dataset_map",
                        transform, component, mst_dtype_name(row->dtype),
                        mst_shape_print(row->shape, text, sizeof text));
    if (row->dtype != MST_STRING && (row->shape.ndim == 2 || row->shape.ndim == 3)) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s: component %d is %s%s, pictures are [height, width, channels] or [height, width]",
                    transform, component, mst_dtype_name(row->dtype), mst_shape_print(row->shape, text, sizeof text));
}

mst_status mst_picture_derive(const mst_dataset_type *type, size_t size, mst_dataset *upstream, int component,
                              mst_picture_function function, void *out) {
    mst_picture_dataset **result = out;
    *result = NULL;
    MST_TRY(picture_check(upstream, type->name, component));
    MST_TRY(mst_dataset_derive(type, size, upstream, out));
    (*result)->stage = (mst_row_stage){.component = component, .change = function};
    (*result)->base.stage = &(*result)->stage;
    return MST_OK;
}

mst_status mst_picture_derive_random(const mst_dataset_type *type, size_t size, mst_dataset *upstream, int component,
                                     uint64_t seed, mst_picture_function function, void *out) {
    mst_picture_dataset **result = out;
    *result = NULL;
    const mst_dataset *d = upstream;
    do
        if (d->type->gives_values)
            return MST_FAIL(MST_INVALID, "%s: behind %s rows have no numbers: put %s before %s", type->name,
                            d->type->name, type->name, d->type->name);
    while ((d = d->upstream));
    MST_TRY(mst_picture_derive(type, size, upstream, component, function, out));
    (*result)->seed = mst_rng_mix(seed, mst_rng_hash_name(type->name));
    return MST_OK;
}

void mst_picture_settings(const mst_dataset *dataset, char *text, size_t size, const char *format, ...) {
    const mst_picture_dataset *d = (const mst_picture_dataset *)dataset;
    char own[128];
    va_list arguments;
    va_start(arguments, format);
    mst_format_list(own, sizeof own, format, arguments);
    va_end(arguments);
    const int used = snprintf(text, size, "component %d%s%s", d->stage.component, *own ? ", " : "", own);
    if (d->seed && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", seed %016llx", (unsigned long long)d->seed);
}

mst_status mst_picture_want_values(const mst_dataset *dataset, const char *transform, int component) {
    MST_TRY(picture_check(dataset, transform, component));
    const mst_dtype dtype = dataset->row[component].dtype;
    if (dtype == MST_U8 || dtype == MST_F32) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s: component %d is %s, u8 and f32 are possible", transform, component,
                    mst_dtype_name(dtype));
}

mst_status mst_picture_want_box(const mst_dataset *dataset, const char *transform, int component, int64_t padding,
                                int64_t top, int64_t left, int64_t height, int64_t width) {
    MST_TRY(picture_check(dataset, transform, component));
    const int64_t *dim = dataset->row[component].shape.dim;
    MST_TRY(mst_dataset_want_least(transform, "height", height, 1));
    MST_TRY(mst_dataset_want_least(transform, "width", width, 1));
    if (top >= -padding && left >= -padding && height <= dim[0] + 2 * padding && width <= dim[1] + 2 * padding &&
        top <= dim[0] + padding - height && left <= dim[1] + padding - width)
        return MST_OK;
    return MST_FAIL(MST_INVALID, "%s: a box of %lld x %lld pixels at [%lld, %lld] is not inside of %lld x %lld pixels",
                    transform, (long long)height, (long long)width, (long long)(top + padding),
                    (long long)(left + padding), (long long)(dim[0] + 2 * padding), (long long)(dim[1] + 2 * padding));
}

mst_status mst_picture_want_range(const char *transform, const char *what, double x, double least, double most) {
    if (x >= least && x <= most) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s: %s is %g, %g to %g are possible", transform, what, x, least, most);
}

mst_rng mst_picture_rng(const mst_dataset *dataset, const mst_row_key *key) {
    return mst_rng_make(((const mst_picture_dataset *)dataset)->seed, key->record, key->pass);
}

void mst_picture_draw(const mst_dataset *dataset, const mst_row_key *key, uint32_t word[4]) {
    const mst_rng rng = mst_picture_rng(dataset, key);
    mst_rng_blocks(&rng, 0, 1, 0, word);
}

int64_t mst_picture_channels(const mst_array *picture) {
    return picture->shape.ndim == 3 ? picture->shape.dim[2] : 1;
}

mst_picture_size mst_picture_size_of(const mst_array *picture) {
    return (mst_picture_size){picture->shape.dim[0], picture->shape.dim[1],
                              mst_picture_channels(picture) * (int64_t)mst_dtype_size(picture->dtype)};
}

void mst_picture_resize(mst_dataset *dataset, int component, int64_t height, int64_t width) {
    dataset->row[component].shape.dim[0] = height;
    dataset->row[component].shape.dim[1] = width;
}

/* ---- pixels ---- */

static inline void flip_row(const char *src, int64_t width, size_t pixel, char *dst) {
    src += (size_t)width * pixel;
    for (int64_t x = 0; x < width; x++, dst += pixel) memcpy(dst, src -= pixel, pixel);
}

void mst_picture_flip(const void *src, mst_picture_size size, bool left_right, bool up_down, void *dst) {
    const int64_t row = size.width * size.pixel;
    for (int64_t y = 0; y < size.height; y++) {
        const char *from = (const char *)src + (up_down ? size.height - 1 - y : y) * row;
        char *to = (char *)dst + y * row;
        switch (left_right ? size.pixel : 0) { /* copies of a size known at compile time */
            case 0: memcpy(to, from, (size_t)row); break;
            case 1: flip_row(from, size.width, 1, to); break;
            case 3: flip_row(from, size.width, 3, to); break;
            case 4: flip_row(from, size.width, 4, to); break;
            case 12: flip_row(from, size.width, 12, to); break;
            default: flip_row(from, size.width, (size_t)size.pixel, to);
        }
    }
}

static int64_t within(int64_t i, int64_t n) {
    return i < 0 ? 0 : i < n ? i : n;
}

void mst_picture_crop(const void *src, mst_picture_size size, int64_t top, int64_t left, int64_t height, int64_t width,
                      void *dst) {
    const size_t pixel = (size_t)size.pixel, row = (size_t)width * pixel;
    /* columns before FIRST and from LAST on are outside of SRC */
    const int64_t first = within(-left, width), last = within(size.width - left, width);
    char *to = dst;
    for (int64_t y = 0; y < height; y++, to += row) {
        const bool outside = y + top < 0 || y + top >= size.height || first >= last;
        const size_t begin = outside ? row : (size_t)first * pixel, end = outside ? row : (size_t)last * pixel;
        memset(to, 0, begin);
        if (begin < end)
            memcpy(to + begin, (const char *)src + (size_t)((y + top) * size.width + left + first) * pixel,
                   end - begin);
        memset(to + end, 0, row - end);
    }
}

/* As tf.image.convert_image_dtype with saturate=True: to_unit from u8 to f32, from_unit from f32 to u8. */
static float to_unit(int level) {
    return (float)level * (1.0f / 255);
}

static uint8_t from_unit(float value) {
    const float scaled = value * 255.5f;
    return (uint8_t)(scaled >= 255 ? 255 : scaled > 0 ? scaled : 0);
}

void mst_picture_brighten(const mst_array *src, float delta, mst_array *dst) {
    if (src->dtype == MST_F32) {
        const float *from = src->data;
        float *to = dst->data;
        for (int64_t i = 0; i < src->count; i++) to[i] = from[i] + delta;
        return;
    }
    const uint8_t *from = src->data;
    uint8_t *to = dst->data, of_level[LEVELS];
    for (int level = 0; level < LEVELS; level++) of_level[level] = from_unit(to_unit(level) + delta);
    for (int64_t i = 0; i < src->count; i++) to[i] = of_level[from[i]];
}

/* Sums are f64, so that their order does not affect the f32 mean. */
static void contrast_f32(const float *src, int64_t pixels, int64_t channels, float factor, float *dst) {
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0;
        for (int64_t i = 0; i < pixels; i++) sum += (double)src[i * channels + c];
        const float mean = (float)(sum / (double)pixels);
        for (int64_t i = c; i < pixels * channels; i += channels) dst[i] = (src[i] - mean) * factor + mean;
    }
}

/* There are only 256 levels: they are counted for the mean, and each level is changed once. */
static void contrast_u8(const uint8_t *src, int64_t pixels, int64_t channels, float factor, uint8_t *dst) {
    for (int64_t c = 0; c < channels; c++) {
        int64_t count[LEVELS] = {0};
        uint8_t of_level[LEVELS];
        double sum = 0;
        for (int64_t i = c; i < pixels * channels; i += channels) count[src[i]]++;
        for (int level = 0; level < LEVELS; level++) sum += (double)count[level] * (double)to_unit(level);
        const float mean = (float)(sum / (double)pixels);
        for (int level = 0; level < LEVELS; level++)
            of_level[level] = from_unit((to_unit(level) - mean) * factor + mean);
        for (int64_t i = c; i < pixels * channels; i += channels) dst[i] = of_level[src[i]];
    }
}

void mst_picture_contrast(const mst_array *src, float factor, mst_array *dst) {
    const int64_t channels = mst_picture_channels(src), pixels = src->shape.dim[0] * src->shape.dim[1];
    if (src->dtype == MST_F32)
        contrast_f32(src->data, pixels, channels, factor, dst->data);
    else
        contrast_u8(src->data, pixels, channels, factor, dst->data);
}
