#include "kernel/cpu/base/depthwise.h"

#include <string.h>

#include "base/simd.h"
#include "op/norm/channel_blocks.h"
#include "tensor/buffer.h"

enum { SIZE = MST_DEPTHWISE_SIZE, MOST_STRIDE = 2, RING_ROWS = 3, LEAST_CHANNELS = 8 };

static bool window_is_depthwise(const mst_window *w) {
    return w->size == SIZE && w->dilation == 1 && w->before < SIZE && w->after < SIZE;
}

bool mst_is_depthwise(const mst_infer *c, const mst_shape *dst) {
    if (c->src[1].dtype != MST_F32) return false;
    for (int i = 0; i < c->num_src; i++)
        if (mst_shape_count(c->src[i].shape) == 0) return false;
    const mst_conv conv = mst_conv_make(c->options, &c->src[0].shape, &c->src[1].shape, dst);
    const mst_window *h = &conv.window[0], *w = &conv.window[1];
    return conv.groups == conv.in_channels && conv.out_channels == conv.groups && conv.groups >= LEAST_CHANNELS &&
           !mst_window_is_deep(&conv.depth) && window_is_depthwise(h) && window_is_depthwise(w) &&
           h->stride == w->stride && w->stride <= MOST_STRIDE;
}

int64_t mst_depthwise_chunk(int64_t examples) {
    enum { MOST_PARTS = 16 };
    return (examples + MOST_PARTS - 1) / MOST_PARTS;
}

/* ---- rings of rows ---- */

static int64_t at_least_none(int64_t columns) {
    return columns > 0 ? columns : 0;
}

mst_row_ring mst_depthwise_source(const mst_conv *conv) {
    const mst_window *w = &conv->window[1];
    return (mst_row_ring){.height = conv->window[0].in,
                          .width = w->in,
                          .channels = conv->in_channels,
                          .before = w->before,
                          .after = at_least_none((w->out - 1) * w->stride + SIZE - w->before - w->in)};
}

/* The gradient of column x of the source depends on columns (x + before - k) / stride of the output's gradient, for
 * those k from 0 to SIZE - 1 for which the division leaves no remainder. */
mst_row_ring mst_depthwise_gradient(const mst_conv *conv) {
    const mst_window *w = &conv->window[1];
    return (mst_row_ring){.height = conv->window[0].out,
                          .width = w->out,
                          .channels = conv->out_channels,
                          .before = SIZE - 1,
                          .after = at_least_none((w->in - 1 + w->before) / w->stride + 1 - w->out)};
}

static int64_t ring_row(const mst_row_ring *ring) {
    return (ring->before + ring->width + ring->after) * ring->channels;
}

size_t mst_row_ring_bytes(const mst_row_ring *ring) {
    return mst_align((size_t)ring_row(ring) * (RING_ROWS + 1) * sizeof(float));
}

void mst_row_ring_begin(mst_row_ring *ring, void *memory) {
    const size_t row = (size_t)ring_row(ring), column = (size_t)ring->channels;
    ring->rows = memory;
    for (size_t k = 0; k < RING_ROWS; k++) {
        float *begin = ring->rows + k * row, *end = begin + row;
        memset(begin, 0, (size_t)ring->before * column * sizeof(float));
        memset(end - (size_t)ring->after * column, 0, (size_t)ring->after * column * sizeof(float));
    }
    memset(ring->rows + RING_ROWS * row, 0, row * sizeof(float));
}

const float *mst_row_ring_row(const mst_row_ring *ring, int64_t y) {
    return ring->rows + ring_row(ring) * (y < 0 || y >= ring->height ? RING_ROWS : y % RING_ROWS);
}

float *mst_row_ring_inside(const mst_row_ring *ring, int64_t y) {
    return ring->rows + ring_row(ring) * (y % RING_ROWS) + ring->before * ring->channels;
}

void mst_row_ring_read(const mst_row_ring *ring, mst_kept_array src, const float *terms, mst_batch_limits limits,
                       int64_t example, int64_t y) {
    const int64_t count = ring->width * ring->channels;
    const mst_kept_array from = mst_kept_array_from(src, (example * ring->height + y) * count);
    float *to = mst_row_ring_inside(ring, y);
    if (terms)
        mst_kept_normalize(terms, limits, from, count, ring->channels, (mst_kept_array){.data = to}, NULL);
    else
        memcpy(to, from.data, (size_t)count * sizeof *to);
}

/* ---- the output, and the gradient of the source if the stride is 1 ---- */

/* Computes COUNT columns of the output. COUNT is a constant: several columns together read each weight only once. Each
 * ROW begins at the first column that is read. Weight k is at w + k NEXT. */
MST_BLOCK_LOOP convolve_columns(const float *restrict row0, const float *restrict row1, const float *restrict row2,
                                const float *restrict w, int64_t next, int64_t n, int64_t stride, int64_t count,
                                float *restrict dst) {
    for (int64_t c = 0; c < n; c++) {
        const float *v = w + c;
        for (int64_t k = 0; k < count; k++) {
            const int64_t at = k * stride * n + c;
            float sum = row0[at] * v[0] + row0[at + n] * v[next] + row0[at + 2 * n] * v[2 * next];
            sum += row1[at] * v[3 * next] + row1[at + n] * v[4 * next] + row1[at + 2 * n] * v[5 * next];
            sum += row2[at] * v[6 * next] + row2[at + n] * v[7 * next] + row2[at + 2 * n] * v[8 * next];
            dst[k * n + c] = sum;
        }
    }
}

/* Computes WIDTH columns of the output. STRIDE is a constant. */
MST_BLOCK_LOOP convolve_row(const float *const row[SIZE], const float *w, int64_t next, int64_t width, int64_t n,
                            int64_t stride, float *dst) {
    enum { TOGETHER = 4 };
    int64_t x = 0;
    for (; x + TOGETHER <= width; x += TOGETHER) {
        const int64_t at = x * stride * n;
        convolve_columns(row[0] + at, row[1] + at, row[2] + at, w, next, n, stride, TOGETHER, dst + x * n);
    }
    for (; x < width; x++) {
        const int64_t at = x * stride * n;
        convolve_columns(row[0] + at, row[1] + at, row[2] + at, w, next, n, stride, 1, dst + x * n);
    }
}

MST_SIMD static void convolve(const float *const row[SIZE], const float *w, int64_t next, int64_t width, int64_t n,
                              int64_t stride, float *dst) {
    if (stride == 1)
        convolve_row(row, w, next, width, n, 1, dst);
    else
        convolve_row(row, w, next, width, n, MOST_STRIDE, dst);
}

void mst_depthwise_row(const mst_conv *conv, const mst_row_ring *source, const float *weights, int64_t y, float *dst) {
    const mst_window *h = &conv->window[0];
    const float *row[SIZE];
    for (int k = 0; k < SIZE; k++) row[k] = mst_row_ring_row(source, y * h->stride - h->before + k);
    convolve(row, weights, conv->out_channels, conv->window[1].out, conv->out_channels, h->stride, dst);
}

/* Computes one column of the output. W are the weights of the elements of the window. */
MST_SIMD static void convolve_column(const float *const tap[MST_DEPTHWISE_TAPS], const float *restrict w, int64_t n,
                                     float *restrict dst) {
    const float *restrict t0 = tap[0], *restrict t1 = tap[1], *restrict t2 = tap[2];
    const float *restrict t3 = tap[3], *restrict t4 = tap[4], *restrict t5 = tap[5];
    const float *restrict t6 = tap[6], *restrict t7 = tap[7], *restrict t8 = tap[8];
    for (int64_t c = 0; c < n; c++) {
        const float *v = w + c;
        float sum = t0[c] * v[0] + t1[c] * v[n] + t2[c] * v[2 * n];
        sum += t3[c] * v[3 * n] + t4[c] * v[4 * n] + t5[c] * v[5 * n];
        sum += t6[c] * v[6 * n] + t7[c] * v[7 * n] + t8[c] * v[8 * n];
        dst[c] = sum;
    }
}

/* Computes column X of the output. Its window may reach beyond both ends of the rows of the source. */
static void convolve_end(const mst_conv *conv, const float *const row[SIZE], const float *zeros, const float *weights,
                         int64_t x, float *dst) {
    const mst_window *w = &conv->window[1];
    const int64_t n = conv->in_channels, first = x * w->stride - w->before;
    const float *tap[MST_DEPTHWISE_TAPS];
    for (int i = 0; i < MST_DEPTHWISE_TAPS; i++) {
        const int64_t at = first + i % SIZE;
        tap[i] = at < 0 || at >= w->in ? zeros : row[i / SIZE] + at * n;
    }
    convolve_column(tap, weights, n, dst + x * n);
}

void mst_depthwise_row_of(const mst_conv *conv, const float *example, const float *zeros, const float *weights,
                          int64_t y, float *dst) {
    const mst_window *h = &conv->window[0], *w = &conv->window[1];
    const int64_t n = conv->in_channels, stride = w->stride, last = w->in + w->before - SIZE; /* last whole window */
    int64_t begin = (w->before + stride - 1) / stride, end = last < 0 ? 0 : last / stride + 1;
    if (begin > w->out) begin = w->out;
    if (end > w->out) end = w->out;
    if (end < begin) end = begin;
    const float *row[SIZE], *inside[SIZE];
    for (int k = 0; k < SIZE; k++) {
        const int64_t at = y * h->stride - h->before + k;
        row[k] = at < 0 || at >= h->in ? zeros : example + at * w->in * n;
        inside[k] = row[k] + (begin * stride - w->before) * n;
    }
    for (int64_t x = 0; x < begin; x++) convolve_end(conv, row, zeros, weights, x, dst);
    if (begin < end) convolve(inside, weights, n, end - begin, n, stride, dst + begin * n);
    for (int64_t x = end; x < w->out; x++) convolve_end(conv, row, zeros, weights, x, dst);
}

/* ---- the gradient of the source if the stride is 2 ---- */

/* Computes two columns of the source's gradient. EVEN, column 2 O - before, gets column O of the output's gradient
 * times weight 0 of a row, plus column O - 1 times weight 2. ODD, the next column, gets column O times weight 1. Each
 * of ROWS rows of the gradient has its row of weights; ROWS is a constant. If EVEN or ODD is NULL, this column does not
 * exist. */
MST_BLOCK_LOOP spread_column(const float *const *row, const float *const *w, int64_t rows, int64_t n, int64_t o,
                             float *restrict even, float *restrict odd) {
    const float *restrict g0 = row[0] + o * n, *restrict g1 = rows > 1 ? row[1] + o * n : g0;
    const float *restrict w0 = w[0], *restrict w1 = rows > 1 ? w[1] : w0;
    if (even)
        for (int64_t c = 0; c < n; c++) {
            float sum = g0[c] * w0[c] + g0[c - n] * w0[c + 2 * n];
            if (rows > 1) sum += g1[c] * w1[c] + g1[c - n] * w1[c + 2 * n];
            even[c] = sum;
        }
    if (odd)
        for (int64_t c = 0; c < n; c++) {
            float sum = g0[c] * w0[c + n];
            if (rows > 1) sum += g1[c] * w1[c + n];
            odd[c] = sum;
        }
}

/* Computes a row of the source's gradient, DST. Each ROW is a row of the output's gradient, beginning at column 0. */
MST_SIMD static void spread(const float *const row[2], const float *const w[2], int64_t rows, int64_t width, int64_t n,
                            int64_t before, float *dst) {
    for (int64_t o = before / 2; 2 * o - before < width; o++) {
        const int64_t x = 2 * o - before;
        float *even = x >= 0 ? dst + x * n : NULL, *odd = x + 1 < width ? dst + (x + 1) * n : NULL;
        if (rows > 1)
            spread_column(row, w, 2, n, o, even, odd);
        else
            spread_column(row, w, 1, n, o, even, odd);
    }
}

/* Computes row y of the source's gradient. For each k for which the division leaves no remainder, row
 * (y + before - k) / 2 of the output's gradient is multiplied by row k of the weights. */
static void spread_row(const mst_conv *conv, const mst_row_ring *gradient, const float *weights, int64_t y,
                       float *dst) {
    const mst_window *h = &conv->window[0], *w = &conv->window[1];
    const float *row[2], *weights_row[2];
    int64_t rows = 0;
    for (int64_t k = (y + h->before) % 2; k < SIZE; k += 2) {
        row[rows] = mst_row_ring_row(gradient, (y + h->before - k) / 2) + gradient->before * gradient->channels;
        weights_row[rows++] = weights + k * SIZE * gradient->channels;
    }
    spread(row, weights_row, rows, w->in, gradient->channels, w->before, dst);
}

void mst_depthwise_source_row(const mst_conv *conv, const mst_row_ring *gradient, const float *weights, int64_t y,
                              float *dst) {
    const mst_window *h = &conv->window[0], *w = &conv->window[1];
    if (h->stride > 1) {
        spread_row(conv, gradient, weights, y, dst);
        return;
    }
    const float *row[SIZE]; /* column x reads columns x + before - 2 to x + before of the gradient */
    for (int k = 0; k < SIZE; k++)
        row[k] = mst_row_ring_row(gradient, y + h->before - (SIZE - 1) + k) + w->before * gradient->channels;
    const int64_t n = gradient->channels; /* the weights are read from the last to the first */
    convolve(row, weights + (MST_DEPTHWISE_TAPS - 1) * n, -n, w->in, n, 1, dst);
}

/* ---- the gradient of the weights ---- */

/* Adds the contribution of a row of SRC and a row of the output's gradient, G, to LANES channels of one row of the
 * weights' gradient, W. */
MST_BLOCK_LOOP weigh_block(const float *restrict src, const float *restrict g, int64_t width, int64_t n, int64_t stride,
                           int64_t lanes, float *restrict w) {
    float s0[MST_LANES] = {0}, s1[MST_LANES] = {0}, s2[MST_LANES] = {0};
    for (int64_t x = 0; x < width; x++)
        for (int64_t c = 0; c < lanes; c++) {
            const int64_t at = x * stride * n + c;
            const float here = g[x * n + c];
            s0[c] += src[at] * here;
            s1[c] += src[at + n] * here;
            s2[c] += src[at + 2 * n] * here;
        }
    for (int64_t c = 0; c < lanes; c++) {
        w[c] += s0[c];
        w[n + c] += s1[c];
        w[2 * n + c] += s2[c];
    }
}

MST_SIMD static void weigh(const float *const row[SIZE], const float *g, int64_t width, int64_t n, int64_t stride,
                           float *w) {
    for (int k = 0; k < SIZE; k++)
        MST_IN_BLOCKS(n, c, lanes, weigh_block(row[k] + c, g + c, width, n, stride, lanes, w + k * SIZE * n + c));
}

void mst_depthwise_weights_row(const mst_conv *conv, const mst_row_ring *source, const mst_row_ring *gradient,
                               int64_t y, float *dweights) {
    const mst_window *h = &conv->window[0];
    const float *row[SIZE];
    for (int k = 0; k < SIZE; k++) row[k] = mst_row_ring_row(source, y * h->stride - h->before + k);
    weigh(row, mst_row_ring_inside(gradient, y), conv->window[1].out, conv->out_channels, h->stride, dweights);
}
