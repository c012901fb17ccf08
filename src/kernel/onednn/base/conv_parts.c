#include "kernel/onednn/base/conv_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/no_memory.h"
#include "base/simd.h"
#include "kernel/onednn/base/primitive.h"
#include "op/op.h"
#include "tensor/buffer.h"

enum { SRC = MST_CONVOLUTION_SRC, WEIGHTS = MST_CONVOLUTION_WEIGHTS, DST = MST_CONVOLUTION_DST };

void mst_conv_parts_free(mst_conv_parts *s) {
    for (int k = 0; s->calls && k < s->num_threads * MST_CONV_SIZES; k++) {
        for (int i = 0; i < MST_CONV_PART_ARGS; i++)
            if (s->calls[k].memory[i]) dnnl_memory_destroy(s->calls[k].memory[i]);
        if (s->calls[k].stream) dnnl_stream_destroy(s->calls[k].stream);
    }
    if (s->plain) dnnl_memory_destroy(s->plain);
    if (s->chosen) dnnl_memory_destroy(s->chosen);
    if (s->stream) dnnl_stream_destroy(s->stream);
    for (int i = 0; i < MST_CONV_SIZES; i++) mst_convolution_release(s->primitive[i]);
    free(s->calls);
}

/* ---- making ---- */

/* Examples of a part: a function of the shape alone. A part has enough work to be worth a call. */
static int64_t choose_chunk(const mst_conv *v) {
    enum { MOST_PARTS = 16 };
    static const double LEAST_FLOPS = 4e6; /* tens of microseconds on one core */
    const mst_window *d = &v->depth, *h = &v->window[0], *w = &v->window[1];
    const int64_t of_group = v->in_channels / v->groups;
    const double flops = 2.0 * (double)v->n * (double)h->out * (double)w->out * (double)v->out_channels *
                         (double)of_group * (double)h->size * (double)w->size * (double)d->out * (double)d->size;
    const int64_t enough = flops < MOST_PARTS * LEAST_FLOPS ? (int64_t)(flops / LEAST_FLOPS) : MOST_PARTS;
    const int64_t most = enough < v->n ? enough : v->n;
    int64_t parts = 1; /* a power of two, as numbers of threads often are */
    while (2 * parts <= most) parts *= 2;
    return (v->n + parts - 1) / parts;
}

static dnnl_status_t get_primitives(mst_conv_parts *s, int64_t chunk) {
    s->chunk = chunk;
    s->parts = (s->conv.n + chunk - 1) / chunk;
    const int64_t rest = s->conv.n - (s->parts - 1) * chunk;
    mst_conv part = s->conv;
    part.n = chunk;
    dnnl_status_t status = dnnl_success;
    if (s->parts > 1) status = mst_convolution_get(s->kind, &part, &s->primitive[MST_CONV_WHOLE]);
    part.n = rest;
    if (!status && (s->parts == 1 || rest != chunk))
        status = mst_convolution_get(s->kind, &part, &s->primitive[MST_CONV_REST]);
    return status;
}

/* The first that there is. */
static const mst_convolution *any_of(const mst_conv_parts *s) {
    return s->primitive[s->primitive[MST_CONV_WHOLE] ? MST_CONV_WHOLE : MST_CONV_REST];
}

/* All parts must want the weights in one layout; else the batch is one part. */
static dnnl_status_t choose_parts(mst_conv_parts *s) {
    dnnl_status_t status = get_primitives(s, choose_chunk(&s->conv));
    const bool both = !status && s->primitive[MST_CONV_WHOLE] && s->primitive[MST_CONV_REST];
    if (!both || dnnl_memory_desc_equal(mst_convolution_description(s->primitive[MST_CONV_WHOLE], WEIGHTS),
                                        mst_convolution_description(s->primitive[MST_CONV_REST], WEIGHTS)))
        return status;
    for (int i = 0; i < MST_CONV_SIZES; i++) {
        mst_convolution_release(s->primitive[i]);
        s->primitive[i] = NULL;
    }
    return get_primitives(s, s->conv.n);
}

static dnnl_status_t make_calls(mst_conv_parts *s, int size) {
    const mst_convolution *primitive = s->primitive[size];
    dnnl_status_t status = dnnl_success;
    for (int t = 0; t < s->num_threads && primitive && !status; t++) {
        mst_conv_call *k = &s->calls[t * MST_CONV_SIZES + size];
        status = dnnl_stream_create(&k->stream, mst_dnnl_engine(), dnnl_stream_default_flags);
        for (int i = 0; i < MST_CONV_PART_ARGS && !status; i++) {
            status = dnnl_memory_create(&k->memory[i], mst_convolution_description(primitive, i), mst_dnnl_engine(),
                                        DNNL_MEMORY_NONE);
            k->args[i] = (dnnl_exec_arg_t){mst_convolution_argument(s->kind, i), k->memory[i]};
        }
    }
    return status;
}

static dnnl_status_t make_parts(mst_conv_parts *s, int64_t chunk) {
    dnnl_status_t status = chunk ? get_primitives(s, chunk) : choose_parts(s);
    for (int i = 0; i < MST_CONV_SIZES && !status; i++) {
        status = make_calls(s, i);
        const size_t scratchpad = s->primitive[i] ? mst_align(mst_convolution_scratchpad(s->primitive[i])) : 0;
        if (scratchpad > s->scratchpad_step) s->scratchpad_step = scratchpad;
    }
    if (status) return status;
    const mst_convolution *any = any_of(s);
    const bool is_sum = s->kind == MST_CONVOLUTION_WEIGHTS_GRAD;
    if (any->reorder || (is_sum && s->parts > 1)) s->weights_step = mst_align(mst_convolution_weights_bytes(any));
    s->scratchpads = s->weights_step * (size_t)(is_sum ? s->parts : 1);
    if (!any->reorder) return status;
    status = dnnl_stream_create(&s->stream, mst_dnnl_engine(), dnnl_stream_default_flags);
    if (!status) status = dnnl_memory_create(&s->plain, mst_as_given(&any->plain), mst_dnnl_engine(), DNNL_MEMORY_NONE);
    if (!status)
        status = dnnl_memory_create(&s->chosen, mst_convolution_description(any, WEIGHTS), mst_dnnl_engine(),
                                    DNNL_MEMORY_NONE);
    return status;
}

/* Bytes of what a part reads of source or output, in bf16. */
static size_t rounded_bytes(const mst_conv_parts *s, int which) {
    if (which == (s->kind == MST_CONVOLUTION ? DST : SRC) && s->kind != MST_CONVOLUTION_WEIGHTS_GRAD) return 0;
    return mst_align((size_t)(which == SRC ? s->src_step : s->dst_step) * sizeof(uint16_t));
}

mst_status mst_conv_parts_make(mst_conv_parts *parts, mst_convolution_kind kind, const mst_conv *conv, int num_threads,
                               int64_t chunk, const char *name) {
    enum { MOST_OF_A_PRIMITIVE = 16 << 20 }; /* bytes that oneDNN takes to make one, generously */
    *parts = (mst_conv_parts){.kind = kind, .conv = *conv, .num_threads = num_threads};
    MST_TRY(mst_memory_probe(MOST_OF_A_PRIMITIVE));
    parts->calls = calloc((size_t)num_threads * MST_CONV_SIZES, sizeof *parts->calls);
    if (!parts->calls) return MST_NO_MEMORY("for a kernel");
    const dnnl_status_t status = make_parts(parts, chunk);
    if (status) {
        mst_conv_parts_free(parts);
        *parts = (mst_conv_parts){.calls = NULL};
        if (status == dnnl_unimplemented && conv->bf16) {
            mst_conv in_f32 = *conv;
            in_f32.bf16 = false;
            return mst_conv_parts_make(parts, kind, &in_f32, num_threads, chunk, name);
        }
        if (status == dnnl_out_of_memory)
            return MST_NO_MEMORY("for the convolution '%s': take a smaller batch or model", name);
        return MST_FAIL(MST_INTERNAL, "%s: oneDNN made no convolution, status %d", name, (int)status);
    }
    const mst_window *d = &conv->depth, *h = &conv->window[0], *w = &conv->window[1];
    parts->src_step = parts->chunk * d->in * h->in * w->in * conv->in_channels;
    parts->dst_step = parts->chunk * d->out * h->out * w->out * conv->out_channels;
    parts->rounded = parts->scratchpad_step;
    if (conv->bf16) parts->scratchpad_step += rounded_bytes(parts, SRC) + rounded_bytes(parts, DST);
    parts->workspace = parts->scratchpads + (size_t)num_threads * parts->scratchpad_step;
    return MST_OK;
}

/* ---- running ---- */

static mst_status failed(const mst_kernel_args *a, dnnl_status_t status) {
    if (!status) return MST_OK;
    if (status == dnnl_out_of_memory) return MST_NO_MEMORY("for '%s': take a smaller batch or model", a->name);
    return MST_FAIL(MST_INTERNAL, "%s '%s': oneDNN failed with status %d", a->op->name, a->name, (int)status);
}

static dnnl_status_t rearrange(const mst_conv_parts *s, const void *plain, const void *chosen) {
    const bool back = s->kind == MST_CONVOLUTION_WEIGHTS_GRAD;
    dnnl_status_t status = dnnl_memory_set_data_handle(s->plain, (void *)(uintptr_t)plain);
    if (!status) status = dnnl_memory_set_data_handle(s->chosen, (void *)(uintptr_t)chosen);
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, back ? s->chosen : s->plain},
                                    {DNNL_ARG_TO, back ? s->plain : s->chosen}};
    return status ? status : dnnl_primitive_execute(any_of(s)->reorder, s->stream, 2, args);
}

/* Where the weights of part PART are for the primitive. */
static void *weights_of(const mst_conv_parts *s, int64_t part, void *weights, void *workspace) {
    if (!s->weights_step) return weights;
    return (char *)workspace + (s->kind == MST_CONVOLUTION_WEIGHTS_GRAD ? (size_t)part * s->weights_step : 0);
}

mst_status mst_conv_parts_begin(const mst_conv_parts *parts, const mst_kernel_args *a, const void *weights,
                                void *workspace) {
    if (parts->kind == MST_CONVOLUTION_WEIGHTS_GRAD || !any_of(parts)->reorder) return MST_OK;
    return failed(a, rearrange(parts, weights, workspace));
}

MST_SIMD static void round_all(const float *restrict from, uint16_t *restrict to, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] = mst_bf16_of(from[i]);
}

/* Puts source and output of part PART, in DATA, as bf16 behind SCRATCHPAD where they are read. */
static void round_part(const mst_conv_parts *s, int64_t part, char *scratchpad, void **data) {
    const int64_t examples = part == s->parts - 1 ? s->conv.n - part * s->chunk : s->chunk;
    char *to = scratchpad + s->rounded;
    for (int i = SRC; i <= DST; i += DST - SRC) {
        const size_t bytes = rounded_bytes(s, i);
        if (!bytes) continue;
        round_all(data[i], (uint16_t *)(void *)to, (i == SRC ? s->src_step : s->dst_step) / s->chunk * examples);
        data[i] = to;
        to += bytes;
    }
}

mst_status mst_conv_parts_run(const mst_conv_parts *parts, const mst_kernel_args *a, int64_t part, int thread,
                              void *src, void *weights, void *dst, void *workspace) {
    const mst_conv_parts *s = parts;
    const int size = s->primitive[MST_CONV_REST] && part == s->parts - 1 ? MST_CONV_REST : MST_CONV_WHOLE;
    const mst_conv_call *k = &s->calls[thread * MST_CONV_SIZES + size];
    void *data[MST_CONV_PART_ARGS] = {src, weights_of(s, part, weights, workspace), dst,
                                      (char *)workspace + s->scratchpads + (size_t)thread * s->scratchpad_step};
    dnnl_status_t status = dnnl_success;
    if (s->conv.bf16) round_part(s, part, data[MST_CONVOLUTION_OPERANDS], data);
    for (int i = 0; i < MST_CONV_PART_ARGS && !status; i++) status = dnnl_memory_set_data_handle(k->memory[i], data[i]);
    if (!status) status = dnnl_primitive_execute(s->primitive[size]->primitive, k->stream, MST_CONV_PART_ARGS, k->args);
    return failed(a, status);
}

MST_SIMD static void add(const float *restrict from, float *restrict to, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

typedef struct adding {
    const mst_conv_parts *parts;
    void *workspace;
} adding;

/* Elements BEGIN to END - 1 of the gradient: those of part 0, then added to them those of part 1, ... */
static mst_status add_parts(void *context, int64_t begin, int64_t end, int thread) {
    enum { BLOCK = 2048 };
    const adding *sum = context;
    const mst_conv_parts *s = sum->parts;
    (void)thread;
    for (int64_t i = begin; i < end; i += BLOCK) {
        const int64_t count = end - i < BLOCK ? end - i : BLOCK;
        for (int64_t part = 1; part < s->parts; part++)
            add((const float *)weights_of(s, part, NULL, sum->workspace) + i,
                (float *)weights_of(s, 0, NULL, sum->workspace) + i, count);
    }
    return MST_OK;
}

mst_status mst_conv_parts_end(const mst_conv_parts *parts, const mst_kernel_args *a, void *weights, int64_t count,
                              void *workspace) {
    enum { GRAIN = 1 << 13 };
    adding sum = {.parts = parts, .workspace = workspace};
    const mst_convolution *any = any_of(parts);
    if (parts->kind != MST_CONVOLUTION_WEIGHTS_GRAD || !parts->weights_step) return MST_OK;
    const int64_t all = (int64_t)(mst_convolution_weights_bytes(any) / sizeof(float));
    if (parts->parts > 1) MST_TRY(mst_parallel(a, all, GRAIN, add_parts, &sum));
    if (any->reorder) return failed(a, rearrange(parts, weights, workspace));
    memcpy(weights, workspace, (size_t)count * sizeof(float));
    return MST_OK;
}
