/* Resizes a picture, one row of the result after the other. A row of the source is first resized to the columns of the
 * result; then such rows are blended. The last two are kept, since neighbouring rows of the result need the same ones.
 * Which rows and columns of the source contribute to one of the result, and with what weight, is computed once (struct
 * span). All memory is one block; a first call of lay_out only computes its size. */
#include "data/pictures/resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/simd.h"
#include "data/pictures/resize_columns.h"

enum { ALIGNMENT = 64, PLANES = 3 };

/* The rows (or columns) of the source that contribute to one of the result, and their weights. */
typedef struct span {
    int64_t first, last; /* bilinear: the two neighbours; area: all from first to last */
    float weight;        /* bilinear: the weight of last; area: of first */
    float last_weight;   /* area: the weight of last */
} span;

/* A plane being resized. Rows of the source are resized to the columns of the result (bilinear and area), and these
 * rows are blended. The last two are kept, since successive rows of the result share them. */
typedef struct pass {
    mst_resize_method method;
    mst_image_plane src;
    int channels;
    int64_t columns;   /* elements in a row of the result */
    span *y, *x;       /* x: for area and nearest, one span per pixel */
    mst_columns blend; /* for bilinear */
    uint8_t *padded;   /* bilinear: a row of the source with its first and last pixel doubled */
    float *row[2];     /* row v of the source, resized, is in row[v % 2] */
    int64_t held[2];   /* the numbers of the rows in row[]; -1: none */
    float scale;       /* for area */
} pass;

/* ---- which pixels ---- */

static int64_t bound(int64_t i, int64_t n) {
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static span bilinear_span(int64_t i, int64_t n, float scale) {
    const float at = ((float)i + 0.5f) * scale - 0.5f, floor = floorf(at);
    return (span){bound((int64_t)floor, n), bound((int64_t)ceilf(at), n), at - floor, 0};
}

/* How much of pixel V lies between BEGIN and END, where a pixel of the result is SCALE wide. */
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

static span nearest_span(int64_t i, int64_t n, float scale) {
    const int64_t at = bound((int64_t)floorf(((float)i + 0.5f) * scale), n);
    return (span){at, at, 0, 0};
}

static span make_span(mst_resize_method method, int64_t i, int64_t n, float scale) {
    if (method == MST_RESIZE_AREA) return area_span(i, scale);
    return method == MST_RESIZE_NEAREST ? nearest_span(i, n, scale) : bilinear_span(i, n, scale);
}

/* ---- rows ---- */

MST_SIMD static void blend_rows(const float *restrict upper, const float *restrict lower, float weight, int64_t n,
                                float *restrict dst) {
    for (int64_t i = 0; i < n; i++) dst[i] = upper[i] + (lower[i] - upper[i]) * weight;
}

MST_SIMD static void add_row(const float *restrict src, float weight, int64_t n, float *restrict dst) {
    for (int64_t i = 0; i < n; i++) dst[i] += src[i] * weight;
}

MST_SIMD static void scale_row(float scale, int64_t n, float *restrict dst) {
    for (int64_t i = 0; i < n; i++) dst[i] *= scale;
}

static inline float cut(float value) {
    value = value < 0 ? 0 : value;
    return value > 255 ? 255 : value;
}

/* Rounds to the nearest integer, ties to even: adding 1.5 * 2^23 leaves no bits for a fraction. */
MST_SIMD static void round_row(const float *restrict src, int64_t n, uint8_t *restrict dst) {
    for (int64_t i = 0; i < n; i++) {
        const float whole = cut(src[i]) + 0x1.8p23f;
        uint32_t bits;
        memcpy(&bits, &whole, sizeof bits);
        dst[i] = (uint8_t)bits;
    }
}

/* JFIF: JPEG File Interchange Format, version 1.02, page 3. */
MST_SIMD static void rgb_row(const float *restrict y, const float *restrict blue, const float *restrict red, int64_t n,
                             float *restrict dst) {
    for (int64_t i = 0; i < n; i++) {
        const float b = blue[i] - 128, r = red[i] - 128;
        dst[3 * i] = cut(y[i] + 1.402f * r);
        dst[3 * i + 1] = cut(y[i] - 0.344136f * b - 0.714136f * r);
        dst[3 * i + 2] = cut(y[i] + 1.772f * b);
    }
}

static void pad_row(const pass *p, const uint8_t *src) {
    const size_t pixel = (size_t)p->channels, n = (size_t)p->src.width * pixel;
    memcpy(p->padded, src, pixel);
    memcpy(p->padded + pixel, src, n);
    memcpy(p->padded + pixel + n, src + n - pixel, pixel);
}

static float area_of_row(const uint8_t *row, int64_t width, int channels, const span *x) {
    float sum = (float)row[bound(x->first, width) * channels] * x->weight;
    for (int64_t j = x->first + 1; j < x->last; j++) sum += (float)row[bound(j, width) * channels];
    if (x->last > x->first) sum += (float)row[bound(x->last, width) * channels] * x->last_weight;
    return sum;
}

/* Row V of the source, resized to the columns of the result. */
static const float *columns_of(pass *p, int64_t v) {
    float *row = p->row[v % 2];
    const uint8_t *src = p->src.pixels + v * p->src.stride;
    if (p->held[v % 2] == v) return row;
    p->held[v % 2] = v;
    if (p->method == MST_RESIZE_BILINEAR) {
        pad_row(p, src);
        mst_columns_blend(&p->blend, p->padded, row);
        return row;
    }
    for (int64_t j = 0; j < p->columns; j++) {
        const span *x = &p->x[j / p->channels];
        const uint8_t *from = src + j % p->channels;
        row[j] = p->method == MST_RESIZE_AREA ? area_of_row(from, p->src.width, p->channels, x)
                                              : (float)from[x->first * p->channels];
    }
    return row;
}

/* Computes row I of the result. */
static void make_row(pass *p, int64_t i, float *dst) {
    const span *y = &p->y[i];
    const size_t bytes = (size_t)p->columns * sizeof *dst;
    if (p->method == MST_RESIZE_BILINEAR) {
        const float *upper = columns_of(p, y->first);
        blend_rows(upper, columns_of(p, y->last), y->weight, p->columns, dst);
        return;
    }
    if (p->method == MST_RESIZE_NEAREST) {
        memcpy(dst, columns_of(p, y->first), bytes);
        return;
    }
    memset(dst, 0, bytes);
    for (int64_t v = y->first; v <= y->last; v++)
        add_row(columns_of(p, bound(v, p->src.height)),
                v == y->first  ? y->weight
                : v == y->last ? y->last_weight
                               : 1,
                p->columns, dst);
    scale_row(p->scale, p->columns, dst);
}

/* ---- whole pictures ---- */

/* Takes COUNT elements of SIZE bytes from MEMORY after its first *USED bytes, and adds to *USED. If MEMORY is NULL,
 * only adds to *USED. */
static void *resize_take(char *memory, size_t *used, int64_t count, size_t size) {
    char *taken = memory ? memory + *used : NULL;
    *used += ((size_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return taken;
}

/* Places the arrays of P in MEMORY, or if that is NULL only counts the bytes. */
static void lay_out(pass *p, int64_t height, int64_t width, char *memory, size_t *used) {
    p->y = resize_take(memory, used, height, sizeof *p->y);
    p->x = resize_take(memory, used, width, sizeof *p->x);
    p->blend = (mst_columns){.count = p->columns, .channels = p->channels};
    *used += mst_columns_lay_out(&p->blend, memory ? memory + *used : NULL);
    p->padded = resize_take(memory, used, (p->src.width + 2) * p->channels + MST_COLUMNS_BEYOND, sizeof *p->padded);
    for (int i = 0; i < 2; i++)
        p->row[i] = resize_take(memory, used, p->columns + MST_COLUMNS_AT_ONCE, sizeof **p->row);
}

static void resize_set_up(pass *p, int64_t height, int64_t width, float y_scale, float x_scale) {
    p->held[0] = p->held[1] = -1;
    p->scale = (float)(1.0 / (y_scale * x_scale));
    for (int64_t i = 0; i < height; i++) p->y[i] = make_span(p->method, i, p->src.height, y_scale);
    if (p->method == MST_RESIZE_BILINEAR)
        mst_columns_place(&p->blend, width, x_scale);
    else
        for (int64_t j = 0; j < width; j++) p->x[j] = make_span(p->method, j, p->src.width, x_scale);
}

/* The two planes of color usually have the same size: then the second one shares the spans of the first. */
static bool share_places(pass *p, const pass *like) {
    const mst_image_plane *a = &p->src, *b = &like->src;
    if (a->height != b->height || a->width != b->width || a->x_step != b->x_step || a->y_step != b->y_step)
        return false;
    p->y = like->y;
    p->blend = like->blend;
    p->held[0] = p->held[1] = -1;
    return true;
}

mst_status mst_resize(mst_resize_method method, const mst_image *image, mst_dtype dtype, void *dst, int64_t height,
                      int64_t width) {
    const bool planes = image->plane[0].pixels != NULL;
    const int num_passes = planes ? PLANES : 1;
    const int64_t row = width * image->channels;
    const float y_scale = (float)image->height / (float)height, x_scale = (float)image->width / (float)width;
    pass p[PLANES];
    float *made[PLANES + 1] = {NULL};
    char *memory = NULL;
    for (int count = 1; count >= 0; count--) { /* first counts the bytes, then places the arrays */
        size_t used = 0;
        for (int i = 0; i < num_passes; i++) {
            if (count)
                p[i] = (pass){.method = method,
                              .src = planes ? image->plane[i]
                                            : (mst_image_plane){image->pixels, image->height, image->width,
                                                                image->width * image->channels, 1, 1},
                              .channels = planes ? 1 : image->channels,
                              .columns = planes ? width : row};
            lay_out(&p[i], height, width, memory, &used);
            made[i] = resize_take(memory, &used, p[i].columns, sizeof(float));
        }
        made[PLANES] = resize_take(memory, &used, row, sizeof(float));
        if (count && !(memory = aligned_alloc(ALIGNMENT, used))) return MST_NO_MEMORY("to resize a picture");
    }
    for (int i = 0; i < num_passes; i++)
        if (i < 2 || !share_places(&p[i], &p[1]))
            resize_set_up(&p[i], height, width, y_scale / (float)p[i].src.y_step, x_scale / (float)p[i].src.x_step);
    for (int64_t i = 0; i < height; i++) {
        float *to = dtype == MST_F32 ? (float *)dst + i * row : made[PLANES];
        for (int k = 0; k < num_passes; k++) make_row(&p[k], i, planes ? made[k] : to);
        if (planes) rgb_row(made[0], made[1], made[2], width, to);
        if (dtype == MST_U8) round_row(to, row, (uint8_t *)dst + i * row);
    }
    free(memory);
    return MST_OK;
}
