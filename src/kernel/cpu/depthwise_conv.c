/* Depthwise convolutions with windows of 3x3, row by row. If the source is the output of a batch norm, each of its rows
 * is computed when it is needed, so the source is never in memory as a whole. The statistics of a batch norm after the
 * convolution are computed while a row is in the cache. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "kernel/cpu/base/depthwise.h"
#include "kernel/kernel.h"
#include "op/conv/conv2d_statistics.h"
#include "op/conv/fused_conv2d.h"
#include "op/conv/normalized_conv.h"
#include "op/list.h"
#include "op/op.h"
#include "op/share.h"
#include "tensor/buffer.h"

typedef struct depthwise_conv_state {
    mst_conv conv;
    mst_row_ring source;
    /* Number of the source that has, for each channel, mean, scale and beta of the batch norm before this convolution
     * (MST_BATCH_TERMS in op/norm/batch_norm.h); 0: there is none. */
    int terms;
    /* A part is `chunk` examples. If there are fewer examples than threads, it is only a band of `band_rows` rows of
     * each of them, and there are `bands` such bands. A row has the same bits in any part. */
    int64_t chunk, bands, band_rows, parts;
    /* For conv2d_statistics: the statistics of the batch norm that follows are summed over parts of their own
     * (mst_batch_rows). `measured_of_part` is how many of these lie in one part of this kernel; 0: some of them lie in
     * several parts of this kernel, so they are measured after all rows. */
    mst_batch_rows rows;
    int64_t measured_of_part;
    /* Places in the workspace. For each thread it has the ring, and, if the output is bf16, one row of it as f32, which
     * is then rounded. After that come the sums of the statistics. */
    size_t row, thread_step, sums;
} depthwise_conv_state;

static mst_status depthwise_conv_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    depthwise_conv_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    s->conv = mst_conv_make(c->options, &c->src[0].shape, &c->src[1].shape, &c->dst[0].shape);
    s->source = mst_depthwise_source(&s->conv);
    s->terms = mst_conv_src_terms(c->op, c->num_src);
    const mst_window *h = &s->conv.window[0], *w = &s->conv.window[1];
    const int64_t n = s->conv.n;
    s->chunk = mst_depthwise_chunk(n);
    s->bands = n < num_threads ? (num_threads + n - 1) / n : 1;
    if (s->bands > h->out) s->bands = h->out;
    s->band_rows = (h->out + s->bands - 1) / s->bands;
    const int64_t shares = (n + s->chunk - 1) / s->chunk;
    s->parts = shares * s->bands;
    const bool rounded = c->dst[0].dtype == MST_BF16, measures = c->op == &mst_op_conv2d_statistics;
    s->rows = mst_batch_rows_of(&c->dst[0].shape);
    s->row = mst_row_ring_bytes(&s->source);
    s->thread_step = s->row + (rounded ? mst_align((size_t)(w->out * s->conv.out_channels) * sizeof(float)) : 0);
    s->sums = *workspace = (size_t)num_threads * s->thread_step;
    *out = s;
    if (!measures) return MST_OK;
    if (s->bands == 1) s->measured_of_part = mst_batch_parts_of_share(&s->rows, shares, s->chunk * h->out * w->out);
    *workspace += (size_t)mst_batch_sums_count(&s->rows) * sizeof(float);
    return MST_OK;
}

static void depthwise_conv_release(void *context) {
    free(context);
}

static mst_batch_statistics statistics_of(const mst_kernel_args *a) {
    mst_batch_statistics statistics = mst_conv2d_statistics_of(a);
    statistics.sums = (char *)a->workspace + ((const depthwise_conv_state *)a->state)->sums;
    return statistics;
}

/* Memory at offset AT in THREAD's share of the workspace. */
static float *workspace_at(const mst_kernel_args *a, int thread, size_t at) {
    return (float *)(void *)((char *)a->workspace +
                             (size_t)thread * ((const depthwise_conv_state *)a->state)->thread_step + at);
}

static mst_status measure_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_batch_statistics statistics = statistics_of(a);
    (void)thread;
    mst_kept_measure(&statistics, a->dst[0].dtype == MST_BF16, begin, end);
    return MST_OK;
}

/* The memory and progress of one thread. */
typedef struct depthwise_conv_work {
    mst_row_ring source;
    float *row; /* a row of the output before it is rounded */
    /* Of the batch norm that follows, if measured_of_part is not 0: its statistics, and how many of its parts are
     * measured. */
    mst_batch_statistics statistics;
    int64_t measured;
} depthwise_conv_work;

/* Measures those parts of the batch norm that follows which row Y of EXAMPLE completes. */
static void measure_row(const mst_kernel_args *a, depthwise_conv_work *k, int64_t example, int64_t y) {
    const depthwise_conv_state *s = a->state;
    const mst_window *h = &s->conv.window[0], *w = &s->conv.window[1];
    const int64_t whole = mst_batch_parts_before(&s->rows, (example * h->out + y + 1) * w->out);
    mst_kept_measure(&k->statistics, a->dst[0].dtype == MST_BF16, k->measured, whole);
    k->measured = whole;
}

/* Computes rows BEGIN to END - 1 of EXAMPLE. */
static void convolve(const mst_kernel_args *a, depthwise_conv_work *k, int64_t example, int64_t begin, int64_t end) {
    const depthwise_conv_state *s = a->state;
    const mst_window *h = &s->conv.window[0];
    const int64_t count = s->conv.window[1].out * s->conv.out_channels;
    const mst_normalized_conv_options *o = a->options;
    const float *terms = s->terms ? a->src[s->terms].data : NULL;
    const mst_batch_limits limits = mst_batch_limits_for(s->terms ? o->activation : MST_BATCH_LINEAR);
    const mst_kept_array src = mst_kept_array_of(&a->src[0]), dst = mst_kept_array_of(&a->dst[0]);
    const float *weights = a->src[1].data, *zeros = mst_row_ring_row(&k->source, -1);
    int64_t read = begin * h->stride - h->before; /* next row of the source to normalize */
    if (read < 0) read = 0;
    for (int64_t y = begin; y < end; y++) {
        const int64_t first = (example * h->out + y) * count;
        float *made = dst.bf16 ? k->row : (float *)dst.data + first;
        if (terms) {
            for (; read < h->in && read < y * h->stride - h->before + MST_DEPTHWISE_SIZE; read++)
                mst_row_ring_read(&k->source, src, terms, limits, example, read);
            mst_depthwise_row(&s->conv, &k->source, weights, y, made);
        } else {
            const int64_t pixels = h->in * s->conv.window[1].in;
            mst_depthwise_row_of(&s->conv, (const float *)src.data + example * pixels * s->conv.in_channels, zeros,
                                 weights, y, made);
        }
        if (dst.bf16) mst_round_to_bf16(made, (uint16_t *)dst.data + first, count);
        if (a->op == &mst_op_fused_conv2d) mst_fused_conv2d_finish_f32(a, first, count);
        if (s->measured_of_part) measure_row(a, k, example, y);
    }
}

static mst_status convolve_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const depthwise_conv_state *s = a->state;
    depthwise_conv_work k = {.source = s->source};
    if (s->measured_of_part) k.statistics = statistics_of(a);
    mst_row_ring_begin(&k.source, workspace_at(a, thread, 0));
    k.row = workspace_at(a, thread, s->row);
    for (int64_t part = begin; part < end; part++) {
        const int64_t first = part / s->bands * s->chunk, row = part % s->bands * s->band_rows;
        const int64_t last = first + s->chunk < s->conv.n ? first + s->chunk : s->conv.n;
        const int64_t out = s->conv.window[0].out, row_end = row + s->band_rows < out ? row + s->band_rows : out;
        k.measured = part * s->measured_of_part;
        for (int64_t example = first; example < last; example++) convolve(a, &k, example, row, row_end);
    }
    return MST_OK;
}

static mst_status depthwise_conv_run(const mst_kernel_args *a) {
    const depthwise_conv_state *s = a->state;
    MST_TRY(mst_parallel(a, s->parts, 1, convolve_parts, mst_context_of(a)));
    if (a->op != &mst_op_conv2d_statistics) return MST_OK;
    const mst_batch_statistics statistics = statistics_of(a);
    if (!s->measured_of_part) MST_TRY(mst_parallel(a, s->rows.parts, 1, measure_parts, mst_context_of(a)));
    mst_batch_conclude_f32(&statistics);
    return MST_OK;
}

static mst_kernel_function depthwise_conv_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return mst_is_depthwise(c, &c->dst[0].shape) ? depthwise_conv_run : NULL;
}

const mst_kernel mst_kernel_cpu_depthwise_conv = {
    .engine = "cpu",
    .ops = (const char *const[]){"conv2d", "conv2d_statistics", "fused_conv2d", "normalized_conv2d", NULL},
    .select = depthwise_conv_choose,
    .prepare = depthwise_conv_prepare,
    .release = depthwise_conv_release,
};
