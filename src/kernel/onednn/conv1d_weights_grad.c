/* conv2d_weights_grad for pictures of one row (from conv1d), computed as a product of matrices:
 *
 *      dst[j, c, f] = sum over n, x of read[n, x, j, c] * gradient[n, x, f]
 *      read[n, x, j, c] = src[n, x s + j d - left, c]       s, d: stride and dilation; left: padding before src
 *
 * Without AVX-512 oneDNN's convolution reaches only half the speed of its products. The examples are cut into parts as
 * for a convolution. The products of the parts are added up in the order of the parts. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/simd.h"
#include "kernel/kernel.h"
#include "kernel/onednn/base/conv_parts.h"
#include "kernel/onednn/base/product.h"
#include "op/conv/conv.h"
#include "op/op.h"
#include "op/share.h"
#include "tensor/buffer.h"

enum { SRC, WEIGHTS, GRADIENT };
enum { WHOLE, REST, NUM_SIZES }; /* WHOLE: parts of `chunk` examples; REST: the last part */

typedef struct conv1d_weights_grad_state {
    mst_conv conv;
    mst_product *product[NUM_SIZES];
    int64_t parts, chunk;
    int64_t width; /* width of the matrix `read`: window times channels */
    /* Sizes and places in the workspace. It has the products of the parts. Then for each thread it has the matrix that
     * a part reads, and the product's workspace. */
    size_t product_step, threads, read_bytes, thread_step;
} conv1d_weights_grad_state;

static void conv1d_release(void *context) {
    conv1d_weights_grad_state *s = context;
    if (!s) return;
    for (int i = 0; i < NUM_SIZES; i++) mst_product_destroy(s->product[i]);
    free(s);
}

static mst_status make_product(const conv1d_weights_grad_state *s, int64_t examples, int num_threads, const char *name,
                               mst_product **out) {
    const int64_t rows = examples * s->conv.window[1].out, filters = s->conv.out_channels;
    mst_product_shape p = {.ndim = 2};
    mst_product_operand(&p, MST_PRODUCT_A, mst_shape_make(2, (const int64_t[]){rows, s->width}), true);
    mst_product_operand(&p, MST_PRODUCT_B, mst_shape_make(2, (const int64_t[]){rows, filters}), false);
    mst_product_operand(&p, MST_PRODUCT_C, mst_shape_make(2, (const int64_t[]){s->width, filters}), false);
    return mst_product_create(&p, 0, s->width, num_threads, name, out);
}

static mst_conv conv_of(const mst_infer *c) {
    return mst_conv_make(c->options, &c->src[SRC].shape, &c->src[WEIGHTS].shape, &c->src[GRADIENT].shape);
}

static mst_status make_state(conv1d_weights_grad_state *s, const mst_infer *c, int num_threads) {
    s->conv = conv_of(c);
    s->width = s->conv.window[1].size * s->conv.in_channels;
    s->chunk = mst_conv_chunk(&s->conv);
    s->parts = (s->conv.n + s->chunk - 1) / s->chunk;
    const int64_t rest = s->conv.n - (s->parts - 1) * s->chunk;
    size_t workspace = 0;
    MST_TRY(make_product(s, s->chunk, num_threads, c->name, &s->product[WHOLE]));
    if (rest != s->chunk) MST_TRY(make_product(s, rest, num_threads, c->name, &s->product[REST]));
    for (int i = 0; i < NUM_SIZES; i++)
        if (s->product[i] && mst_product_workspace(s->product[i]) > workspace)
            workspace = mst_product_workspace(s->product[i]);
    s->product_step = mst_align((size_t)(s->width * s->conv.out_channels) * sizeof(float));
    s->threads = (size_t)s->parts * s->product_step;
    s->read_bytes = mst_align((size_t)(s->chunk * s->conv.window[1].out * s->width) * sizeof(float));
    s->thread_step = s->read_bytes + mst_align(workspace);
    return MST_OK;
}

static mst_status conv1d_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    conv1d_weights_grad_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    const mst_status status = make_state(s, c, num_threads);
    if (status) {
        conv1d_release(s);
        return mst_error_at(c->name, NULL);
    }
    *workspace = s->threads + (size_t)num_threads * s->thread_step;
    *out = s;
    return MST_OK;
}

/* Copies the elements that the window at column X of a row reads. */
static void read_window(const mst_window *w, int64_t channels, const float *row, int64_t x, float *to) {
    const int64_t first = x * w->stride - w->before, last = first + (w->size - 1) * w->dilation;
    if (w->dilation == 1 && first >= 0 && last < w->in) {
        memcpy(to, row + first * channels, (size_t)(w->size * channels) * sizeof *to);
        return;
    }
    for (int64_t j = 0; j < w->size; j++, to += channels) {
        const int64_t at = first + j * w->dilation;
        if (at >= 0 && at < w->in)
            memcpy(to, row + at * channels, (size_t)channels * sizeof *to);
        else
            memset(to, 0, (size_t)channels * sizeof *to);
    }
}

static mst_status run_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const conv1d_weights_grad_state *s = a->state;
    const mst_window *w = &s->conv.window[1];
    const int64_t channels = s->conv.in_channels;
    char *own = (char *)a->workspace + s->threads + (size_t)thread * s->thread_step;
    for (int64_t part = begin; part < end; part++) {
        const int64_t first = part * s->chunk, last = first + s->chunk < s->conv.n ? first + s->chunk : s->conv.n;
        float *to = (float *)own;
        for (int64_t n = first; n < last; n++)
            for (int64_t x = 0; x < w->out; x++, to += s->width)
                read_window(w, channels, (const float *)a->src[SRC].data + n * w->in * channels, x, to);
        float *sum = s->parts == 1 ? a->dst[0].data : (float *)((char *)a->workspace + (size_t)part * s->product_step);
        MST_TRY(mst_product_run(s->product[last - first == s->chunk ? WHOLE : REST], 0, thread, own + s->read_bytes,
                                own, (const float *)a->src[GRADIENT].data + first * w->out * s->conv.out_channels, NULL,
                                sum));
    }
    return MST_OK;
}

MST_SIMD static void add_two(const float *restrict a, const float *restrict b, float *restrict sum, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] = a[i] + b[i];
}

MST_SIMD static void add_to(const float *restrict a, float *restrict sum, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] += a[i];
}

/* Adds up elements BEGIN to END - 1 of the gradient: first part 0 and part 1, then part 2, and so on. */
static mst_status add_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const conv1d_weights_grad_state *s = a->state;
    const char *part = (const char *)a->workspace + (size_t)begin * sizeof(float);
    float *sum = (float *)a->dst[0].data + begin;
    (void)thread;
    add_two((const float *)part, (const float *)(part + s->product_step), sum, end - begin);
    for (int64_t i = 2; i < s->parts; i++)
        add_to((const float *)(part + (size_t)i * s->product_step), sum, end - begin);
    return MST_OK;
}

static mst_status conv1d_run(const mst_kernel_args *a) {
    const conv1d_weights_grad_state *s = a->state;
    if (mst_parallel(a, s->parts, 1, run_parts, mst_context_of(a)))
        return mst_error_prefix("%s '%s'", a->op->name, a->name);
    if (s->parts == 1) return MST_OK;
    return mst_parallel(a, a->dst[0].count, mst_grain(a->dst[0].count, s->parts), add_parts, mst_context_of(a));
}

static mst_kernel_function conv1d_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    if (c->src[0].dtype != MST_F32 || mst_shape_count(c->src[SRC].shape) == 0 ||
        mst_shape_count(c->src[GRADIENT].shape) == 0 || mst_shape_count(c->src[WEIGHTS].shape) == 0)
        return NULL;
    const mst_conv conv = conv_of(c);
    return mst_conv_grad_is_product(&conv) ? conv1d_run : NULL;
}

const mst_kernel mst_kernel_onednn_conv1d_weights_grad = {
    .engine = "onednn",
    .ops = (const char *const[]){"conv2d_weights_grad", NULL},
    .select = conv1d_choose,
    .prepare = conv1d_prepare,
    .release = conv1d_release,
};
