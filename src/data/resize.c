#include "data/resize.h"

#include <math.h>

/* What of a row or column of the source goes into one of the result. */
typedef struct span {
    int64_t first, last; /* bilinear: the two neighbours; area: all from first to last */
    float weight;        /* bilinear: of last; area: of first */
    float last_weight;   /* area */
} span;

size_t mst_resize_scratch(int64_t height, int64_t width) {
    return (size_t)(height + width) * sizeof(span);
}

static int64_t bound(int64_t i, int64_t n) {
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static span bilinear_span(int64_t i, int64_t n, float scale) {
    const float at = ((float)i + 0.5f) * scale - 0.5f, floor = floorf(at);
    return (span){bound((int64_t)floor, n), bound((int64_t)ceilf(at), n), at - floor, 0};
}

/* The part of pixel V that lies between BEGIN and END. */
static float covered(int64_t v, float begin, float end, float scale) {
    const float next = (float)(v + 1);
    if ((float)v < begin) return next > end ? scale : next - begin;
    return next > end ? end - (float)v : 1;
}

static span area_span(int64_t i, float scale) {
    const float begin = (float)i * scale, end = (float)(i + 1) * scale;
    const int64_t first = (int64_t)floorf(begin), last = (int64_t)ceilf(end) - 1;
    return (span){first, last, covered(first, begin, end, scale), covered(last, begin, end, scale)};
}

static void bilinear(const uint8_t *src, int64_t width, int channels, const span *y, const span *x, float *dst,
                     int64_t new_height, int64_t new_width) {
    for (int64_t i = 0; i < new_height; i++) {
        const uint8_t *top = src + y[i].first * width * channels, *bottom = src + y[i].last * width * channels;
        for (int64_t j = 0; j < new_width; j++) {
            const int64_t left = x[j].first * channels, right = x[j].last * channels;
            for (int c = 0; c < channels; c++) {
                const float a = top[left + c], b = bottom[left + c];
                const float upper = a + ((float)top[right + c] - a) * x[j].weight;
                const float lower = b + ((float)bottom[right + c] - b) * x[j].weight;
                *dst++ = upper + (lower - upper) * y[i].weight;
            }
        }
    }
}

static float area_of_row(const uint8_t *row, int64_t width, int channels, const span *x) {
    float sum = (float)row[bound(x->first, width) * channels] * x->weight;
    for (int64_t j = x->first + 1; j < x->last; j++) sum += (float)row[bound(j, width) * channels];
    if (x->last > x->first) sum += (float)row[bound(x->last, width) * channels] * x->last_weight;
    return sum;
}

static void area(const uint8_t *src, int64_t height, int64_t width, int channels, const span *y, const span *x,
                 float *dst, int64_t new_height, int64_t new_width) {
    const float y_scale = (float)height / (float)new_height, x_scale = (float)width / (float)new_width;
    const float scale = (float)(1.0 / (y_scale * x_scale));
    for (int64_t i = 0; i < new_height; i++)
        for (int64_t j = 0; j < new_width; j++)
            for (int c = 0; c < channels; c++) {
                float sum = 0;
                for (int64_t v = y[i].first; v <= y[i].last; v++) {
                    const float weight = v == y[i].first ? y[i].weight : v == y[i].last ? y[i].last_weight : 1;
                    sum += area_of_row(src + bound(v, height) * width * channels + c, width, channels, &x[j]) * weight;
                }
                *dst++ = sum * scale;
            }
}

static void nearest(const uint8_t *src, int64_t height, int64_t width, int channels, float *dst, int64_t new_height,
                    int64_t new_width) {
    const float y_scale = (float)height / (float)new_height, x_scale = (float)width / (float)new_width;
    for (int64_t i = 0; i < new_height; i++) {
        const int64_t y = bound((int64_t)floorf(((float)i + 0.5f) * y_scale), height);
        for (int64_t j = 0; j < new_width; j++) {
            const int64_t x = bound((int64_t)floorf(((float)j + 0.5f) * x_scale), width);
            for (int c = 0; c < channels; c++) *dst++ = src[(y * width + x) * channels + c];
        }
    }
}

void mst_resize(mst_resize_method method, const uint8_t *src, int64_t height, int64_t width, int channels, float *dst,
                int64_t new_height, int64_t new_width, void *scratch) {
    span *y = scratch, *x = y + new_height;
    const float y_scale = (float)height / (float)new_height, x_scale = (float)width / (float)new_width;
    const bool is_area = method == MST_RESIZE_AREA;
    if (method == MST_RESIZE_NEAREST) {
        nearest(src, height, width, channels, dst, new_height, new_width);
        return;
    }
    for (int64_t i = 0; i < new_height; i++) y[i] = is_area ? area_span(i, y_scale) : bilinear_span(i, height, y_scale);
    for (int64_t j = 0; j < new_width; j++) x[j] = is_area ? area_span(j, x_scale) : bilinear_span(j, width, x_scale);
    if (is_area)
        area(src, height, width, channels, y, x, dst, new_height, new_width);
    else
        bilinear(src, width, channels, y, x, dst, new_height, new_width);
}
