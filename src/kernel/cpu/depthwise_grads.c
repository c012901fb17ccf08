/* Gradients of depthwise convolutions with windows of 3x3, row by row. All of this is computed for a row while the row
 * is in the cache: the gradient of the output, if a batch norm follows; the row that the convolution reads, if a batch
 * norm comes before; both gradients; and their contribution to the sums of the batch norm before. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/simd.h"
#include "kernel/cpu/base/depthwise.h"
#include "kernel/kernel.h"
#include "op/conv/conv2d_grads.h"
#include "op/conv/normalized_conv.h"
#include "op/list.h"
#include "op/op.h"
#include "op/share.h"
#include "tensor/buffer.h"

enum { SRC = MST_CONV2D_GRADS_SRC, WEIGHTS = MST_CONV2D_GRADS_WEIGHTS, GRADIENT = MST_CONV2D_GRADS_GRADIENT };

typedef struct depthwise_grads_state {
    mst_conv conv;
    mst_row_ring source, gradient;
    int of_src, of_weights; /* numbers of the outputs; -1: not computed. of_src is 0 or -1 */
    /* Number of the source that has, for each channel, mean, scale and beta of the batch norm before the convolution
     * (MST_BATCH_TERMS in op/norm/batch_norm.h); 0: there is none. */
    int terms;
    bool norm_behind, sums; /* whether a batch norm follows; whether sums of the one before are computed */
    int64_t chunk, parts;   /* a part is `chunk` examples, the same on any number of threads */
    /* The sums of the batch norm before are added up over parts of their own (mst_batch_rows). `sums_of_part` is how
     * many of these lie in one part of this kernel; 0: some of them lie in several parts of this kernel, so they are
     * added up after all rows. */
    mst_batch_rows rows;
    int64_t sums_of_part;
    /* Places in the workspace. For each thread it has the ring of the source, the ring of the gradient, scratch memory
     * in which bf16 is converted to f32 (`blocks` of mst_kept_differentiate), one row of f32 that is then rounded to
     * bf16, and memory for one part of the sums (`parts` of mst_kept_add_up). After that come the contributions of the
     * parts to the gradient of the weights, and the sums. */
    size_t gradient_ring, blocks, row, added, thread_step, weights_at, sums_at;
} depthwise_grads_state;

/* Finds which outputs the node has, and which of its sources has terms. */
static void find_outputs(depthwise_grads_state *s, const mst_infer *c) {
    const bool both = c->op == &mst_op_conv2d_grads;
    const bool weights_only = both && ((const mst_conv2d_grads_options *)c->options)->weights_only;
    s->of_src = c->op == &mst_op_conv2d_src_grad || (both && !weights_only) ? 0 : -1;
    s->of_weights = both ? mst_conv2d_grads_of_weights(c->options) : s->of_src == 0 ? -1 : 0;
    s->terms = mst_conv_src_terms(c->op, c->num_src);
    s->norm_behind = both;
    s->sums = both && c->num_src > MST_CONV2D_GRADS_VARIANCE;
}

static mst_status depthwise_grads_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    depthwise_grads_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    s->conv = mst_conv_make(c->options, &c->src[SRC].shape, &c->src[WEIGHTS].shape, &c->src[GRADIENT].shape);
    s->source = mst_depthwise_source(&s->conv);
    s->gradient = mst_depthwise_gradient(&s->conv);
    find_outputs(s, c);
    s->chunk = mst_depthwise_chunk(s->conv.n);
    s->parts = (s->conv.n + s->chunk - 1) / s->chunk;
    s->gradient_ring = mst_row_ring_bytes(&s->source);
    s->blocks = s->gradient_ring + mst_row_ring_bytes(&s->gradient);
    s->row = s->blocks + mst_kept_blocks_bytes(s->conv.in_channels);
    const bool rounded = s->of_src == 0 && c->dst[0].dtype == MST_BF16;
    s->rows = mst_batch_rows_of(&c->src[SRC].shape);
    s->added = s->row;
    if (rounded) s->added += mst_align((size_t)(s->conv.window[1].in * s->conv.in_channels) * sizeof(float));
    s->thread_step = s->added;
    if (s->sums) s->thread_step += mst_kept_parts_bytes(&s->rows, c->src[SRC].dtype == MST_BF16, rounded);
    s->weights_at = (size_t)num_threads * s->thread_step;
    s->sums_at = s->weights_at;
    if (s->of_weights >= 0)
        s->sums_at += mst_align((size_t)(s->parts * MST_DEPTHWISE_TAPS * s->conv.in_channels) * sizeof(float));
    *workspace = s->sums_at;
    *out = s;
    if (!s->sums) return MST_OK;
    s->sums_of_part =
        mst_batch_parts_of_share(&s->rows, s->parts, s->chunk * s->conv.window[0].in * s->conv.window[1].in);
    *workspace += (size_t)mst_batch_sums_count(&s->rows) * sizeof(float);
    return MST_OK;
}

static void depthwise_grads_release(void *context) {
    free(context);
}

static mst_batch_sums sums_of(const mst_kernel_args *a) {
    mst_batch_sums sums = mst_conv2d_grads_sums(a);
    sums.sums = (char *)a->workspace + ((const depthwise_grads_state *)a->state)->sums_at;
    return sums;
}

/* Memory at offset AT in THREAD's share of the workspace. */
static float *workspace_at(const mst_kernel_args *a, int thread, size_t at) {
    return (float *)(void *)((char *)a->workspace +
                             (size_t)thread * ((const depthwise_grads_state *)a->state)->thread_step + at);
}

static void add_up_kept(const mst_kernel_args *a, const mst_batch_sums *sums, int64_t begin, int64_t end,
                        float *parts) {
    mst_kept_add_up(sums, a->src[SRC].dtype == MST_BF16, a->dst[0].dtype == MST_BF16, begin, end, parts);
}

static mst_status add_up_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_batch_sums sums = sums_of(a);
    add_up_kept(a, &sums, begin, end, workspace_at(a, thread, ((const depthwise_grads_state *)a->state)->added));
    return MST_OK;
}

/* The memory and progress of one thread. */
typedef struct depthwise_grads_work {
    mst_row_ring source, gradient;
    float *blocks, *row, *parts;
    float *dweights; /* contribution of the part to the gradient of the weights */
    /* Of the batch norm before, if sums_of_part is not 0: its sums, and how many of its parts are added up. */
    mst_batch_sums sums;
    int64_t added_up;
} depthwise_grads_work;

/* Adds up those parts of the sums of the batch norm before which row Y of EXAMPLE completes. */
static void add_up_row(const mst_kernel_args *a, depthwise_grads_work *k, int64_t example, int64_t y) {
    const depthwise_grads_state *s = a->state;
    const mst_window *h = &s->conv.window[0], *w = &s->conv.window[1];
    const int64_t whole = mst_batch_parts_before(&s->rows, (example * h->in + y + 1) * w->in);
    add_up_kept(a, &k->sums, k->added_up, whole, k->parts);
    k->added_up = whole;
}

/* Reads row Y of EXAMPLE of the convolution's source into the ring. */
static void read_source(const mst_kernel_args *a, const depthwise_grads_work *k, int64_t example, int64_t y) {
    const depthwise_grads_state *s = a->state;
    const int activation = !s->terms        ? MST_BATCH_LINEAR
                           : s->norm_behind ? ((const mst_conv2d_grads_options *)a->options)->src_activation
                                            : ((const mst_normalized_conv_options *)a->options)->activation;
    mst_row_ring_read(&k->source, mst_kept_array_of(&a->src[SRC]), s->terms ? a->src[s->terms].data : NULL,
                      mst_batch_limits_for(activation), example, y);
}

/* Reads row Y of EXAMPLE of the output's gradient into the ring. */
static void read_gradient(const mst_kernel_args *a, const depthwise_grads_work *k, int64_t example, int64_t y) {
    const mst_row_ring *ring = &k->gradient;
    const int64_t count = ring->width * ring->channels, first = (example * ring->height + y) * count;
    const mst_kept_array gradient = mst_kept_array_of(&a->src[GRADIENT]), to = {.data = mst_row_ring_inside(ring, y)};
    mst_batch_limits storage;
    if (!((const depthwise_grads_state *)a->state)->norm_behind) {
        mst_row_ring_read(ring, gradient, NULL, mst_batch_limits_for(MST_BATCH_LINEAR), example, y);
        return;
    }
    mst_kept_differentiate(a->src[MST_CONV2D_GRADS_TERMS].data,
                           mst_batch_grad_limits(((const mst_conv2d_grads_options *)a->options)->activation, &storage),
                           mst_kept_array_from(mst_kept_array_of(&a->src[MST_CONV2D_GRADS_OUTPUT]), first),
                           mst_kept_array_from(gradient, first), count, ring->channels, to, k->blocks);
}

/* Computes the gradients of one example, row after row of the source. A row of the output adds to the gradient of the
 * weights as soon as the last row of the source that it reads is in the ring. */
static void differentiate(const mst_kernel_args *a, depthwise_grads_work *k, int64_t example) {
    const depthwise_grads_state *s = a->state;
    const mst_window *h = &s->conv.window[0], *w = &s->conv.window[1];
    const int64_t count = w->in * s->conv.in_channels, reach = MST_DEPTHWISE_SIZE - 1 - h->before;
    int64_t read = 0, weighed = 0; /* numbers of rows of the output */
    for (int64_t y = 0; y < h->in; y++) {
        for (; read < h->out && read * h->stride <= y + h->before; read++) read_gradient(a, k, example, read);
        if (s->of_weights >= 0) read_source(a, k, example, y);
        for (; s->of_weights >= 0 && weighed < read && (weighed * h->stride + reach <= y || y == h->in - 1); weighed++)
            mst_depthwise_weights_row(&s->conv, &k->source, &k->gradient, weighed, k->dweights);
        if (s->of_src < 0) continue;
        const mst_kept_array dst = mst_kept_array_from(mst_kept_array_of(&a->dst[0]), (example * h->in + y) * count);
        float *made = dst.bf16 ? k->row : dst.data;
        mst_depthwise_source_row(&s->conv, &k->gradient, a->src[WEIGHTS].data, y, made);
        if (dst.bf16) mst_round_to_bf16(made, dst.data, count);
        if (s->sums_of_part) add_up_row(a, k, example, y);
    }
}

static mst_status differentiate_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const depthwise_grads_state *s = a->state;
    const int64_t count = MST_DEPTHWISE_TAPS * s->conv.in_channels;
    depthwise_grads_work k = {.source = s->source,
                              .gradient = s->gradient,
                              .blocks = workspace_at(a, thread, s->blocks),
                              .row = workspace_at(a, thread, s->row),
                              .parts = workspace_at(a, thread, s->added)};
    if (s->sums_of_part) k.sums = sums_of(a);
    mst_row_ring_begin(&k.source, workspace_at(a, thread, 0));
    mst_row_ring_begin(&k.gradient, workspace_at(a, thread, s->gradient_ring));
    for (int64_t part = begin; part < end; part++) {
        const int64_t first = part * s->chunk, last = first + s->chunk < s->conv.n ? first + s->chunk : s->conv.n;
        k.dweights = (float *)((char *)a->workspace + s->weights_at) + part * count;
        k.added_up = part * s->sums_of_part;
        if (s->of_weights >= 0) memset(k.dweights, 0, (size_t)count * sizeof *k.dweights);
        for (int64_t example = first; example < last; example++) differentiate(a, &k, example);
    }
    return MST_OK;
}

/* Adds up the gradients of the weights of all parts, in the order of the parts. */
MST_SIMD static void join_weights(const float *restrict of_parts, int64_t parts, int64_t count, float *restrict dst) {
    memcpy(dst, of_parts, (size_t)count * sizeof *dst);
    for (int64_t part = 1; part < parts; part++)
        for (int64_t i = 0; i < count; i++) dst[i] += of_parts[part * count + i];
}

static mst_status depthwise_grads_run(const mst_kernel_args *a) {
    const depthwise_grads_state *s = a->state;
    MST_TRY(mst_parallel(a, s->parts, 1, differentiate_parts, mst_context_of(a)));
    if (s->of_weights >= 0)
        join_weights((const float *)((char *)a->workspace + s->weights_at), s->parts, a->dst[s->of_weights].count,
                     a->dst[s->of_weights].data);
    if (!s->sums) return MST_OK;
    const mst_batch_sums sums = sums_of(a);
    if (!s->sums_of_part) MST_TRY(mst_parallel(a, sums.rows.parts, 1, add_up_parts, mst_context_of(a)));
    mst_batch_join_f32(&sums);
    return MST_OK;
}

static mst_kernel_function depthwise_grads_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return mst_is_depthwise(c, &c->src[GRADIENT].shape) ? depthwise_grads_run : NULL;
}

const mst_kernel mst_kernel_cpu_depthwise_grads = {
    .engine = "cpu",
    .ops = (const char *const[]){"conv2d_grads", "conv2d_src_grad", "conv2d_weights_grad",
                                 "normalized_conv2d_weights_grad", NULL},
    .select = depthwise_grads_choose,
    .prepare = depthwise_grads_prepare,
    .release = depthwise_grads_release,
};
