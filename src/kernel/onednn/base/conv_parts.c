#include "kernel/onednn/base/conv_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/openmp.h"
#include "base/simd.h"
#include "kernel/onednn/base/primitive.h"
#include "kernel/onednn/base/product.h"
#include "op/norm/kept.h"
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

/* ---- making parts ---- */

/* f32 elements that fit into the second cache of a core, beside other arrays of this size. */
enum { IN_CACHE = 1 << 17 };

/* The number of elements of the source or of the output, whichever is greater. */
static int64_t most_elements(const mst_conv *v) {
    const mst_window *d = &v->depth, *h = &v->window[0], *w = &v->window[1];
    const int64_t src = v->n * d->in * h->in * w->in * v->in_channels;
    const int64_t dst = v->n * d->out * h->out * w->out * v->out_channels;
    return src > dst ? src : dst;
}

static int64_t count_weights(const mst_conv *v) {
    return v->depth.size * v->window[0].size * v->window[1].size * (v->in_channels / v->groups) * v->out_channels;
}

static double flops_of(const mst_conv *v) {
    return 2.0 * (double)v->n * (double)v->depth.out * (double)v->window[0].out * (double)v->window[1].out *
           (double)count_weights(v);
}

/* The number of parts: at most MOST, each with at least LEAST_FLOPS. It is a power of two, as numbers of threads often
 * are, and depends only on the shape. */
static int64_t choose_count(const mst_conv *v, int64_t most, double least_flops) {
    const double flops = flops_of(v);
    const int64_t enough = flops < (double)most * least_flops ? (int64_t)(flops / least_flops) : most;
    int64_t parts = 1;
    if (enough < most) most = enough;
    while (2 * parts <= most) parts *= 2;
    return parts;
}

/* The number of examples in a part. There are enough parts for sixteen threads. If these parts do not fit into the
 * cache, there are more. But the gradients of the weights, one for each part, must stay smaller than the arrays from
 * which they are computed. */
int64_t mst_conv_chunk(const mst_conv *v) {
    enum { PARTS = 16 };
    static const double LEAST_FLOPS = 4e6; /* tens of microseconds on one core */
    const int64_t elements = most_elements(v), in_cache = elements / IN_CACHE, affordable = elements / count_weights(v);
    const int64_t small = in_cache < affordable ? in_cache : affordable, most = small > PARTS ? small : PARTS;
    const int64_t parts = choose_count(v, most < v->n ? most : v->n, LEAST_FLOPS);
    return (v->n + parts - 1) / parts;
}

bool mst_conv_grad_is_product(const mst_conv *v) {
    enum { LEAST_WIDTH = 16, LEAST_FILTERS = 8, LEAST_ROWS = 64 };
    const mst_window *h = &v->window[0], *w = &v->window[1];
    return !mst_dnnl_has_avx512() && !v->bf16 && v->groups == 1 && !mst_window_is_deep(&v->depth) && h->in == 1 &&
           h->size == 1 && h->out == 1 && w->size > 1 && w->size * v->in_channels >= LEAST_WIDTH &&
           v->out_channels >= LEAST_FILTERS && mst_conv_chunk(v) * w->out >= LEAST_ROWS;
}

/* A 1 x 1 convolution does not depend on where examples begin, if its stride from row to row is 1 and no rows are
 * padded. If one example is too large for the cache of a core, it is turned into several examples of fewer rows. */
static mst_conv cut_examples(const mst_conv *conv) {
    mst_conv v = *conv;
    mst_window *h = &v.window[0];
    const mst_window *w = &v.window[1];
    if (mst_window_is_deep(&v.depth) || h->size != 1 || w->size != 1 || h->stride != 1 || h->in != h->out) return v;
    while (h->in % 2 == 0 && most_elements(&v) / v.n > IN_CACHE) {
        v.n *= 2;
        h->in /= 2;
        h->out = h->in;
    }
    return v;
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

/* The windows H, restricted to rows BEGIN to END - 1 of the output. */
static mst_window band_of(const mst_window *h, int64_t begin, int64_t end) {
    mst_window band = *h;
    const int64_t first = begin * h->stride - h->before;
    const int64_t last = (end - 1) * h->stride - h->before + (h->size - 1) * h->dilation;
    band.before = first < 0 ? -first : 0;
    band.after = last >= h->in ? last - h->in + 1 : 0;
    band.in = last + 1 - first - band.before - band.after;
    band.out = end - begin;
    return band;
}

/* Whether a batch of one example can be cut into bands of rows; *ROWS is the number of rows of a band. The first band
 * has the zeros above the example, the last band those below. False if there is only one band, if another band reads
 * some of these zeros too, or if the first or the last band reads only zeros. */
static bool choose_band(const mst_conv *v, int64_t *rows) {
    enum { MOST_BANDS = 16 };
    static const double LEAST_FLOPS = 2e6, LEAST_FLOPS_DEPTHWISE = 5e5; /* some microseconds: one picture is urgent */
    const mst_window *h = &v->window[0];
    const double least = v->in_channels == v->groups ? LEAST_FLOPS_DEPTHWISE : LEAST_FLOPS;
    const int64_t most = h->out < MOST_BANDS ? h->out : MOST_BANDS;
    const int64_t parts = v->n == 1 && !mst_window_is_deep(&v->depth) ? choose_count(v, most, least) : 1;
    const int64_t band = (h->out + parts - 1) / parts, num_bands = (h->out + band - 1) / band;
    *rows = band;
    const int64_t last = (num_bands - 1) * band;
    return num_bands > 1 && band_of(h, band, h->out).before == 0 && band_of(h, 0, last).after == 0 &&
           band_of(h, 0, band).in > 0 && band_of(h, last, h->out).in > 0;
}

static dnnl_status_t get_bands(mst_conv_parts *s, int64_t rows) {
    const mst_window *h = &s->conv.window[0];
    mst_conv part = s->conv;
    s->chunk = 1;
    s->band = rows;
    s->parts = (h->out + rows - 1) / rows;
    part.window[0] = band_of(h, 0, rows);
    dnnl_status_t status = mst_convolution_get(s->kind, &part, &s->primitive[MST_CONV_FIRST]);
    part.window[0] = band_of(h, rows, 2 * rows);
    if (!status && s->parts > 2) status = mst_convolution_get(s->kind, &part, &s->primitive[MST_CONV_WHOLE]);
    part.window[0] = band_of(h, (s->parts - 1) * rows, h->out);
    return status ? status : mst_convolution_get(s->kind, &part, &s->primitive[MST_CONV_REST]);
}

/* The first primitive that exists. */
static const mst_convolution *any_of(const mst_conv_parts *s) {
    return s->primitive[s->primitive[MST_CONV_WHOLE] ? MST_CONV_WHOLE : MST_CONV_REST];
}

/* Whether all parts read the weights in the same layout. */
static bool want_one_layout(const mst_conv_parts *s) {
    const mst_const_description first = mst_convolution_description(any_of(s), WEIGHTS);
    for (int i = 0; i < MST_CONV_SIZES; i++)
        if (s->primitive[i] && !dnnl_memory_desc_equal(first, mst_convolution_description(s->primitive[i], WEIGHTS)))
            return false;
    return true;
}

/* Makes the best parts that read the weights in the same layout. If their layouts differ, the whole batch is one
 * part. */
static dnnl_status_t choose_parts(mst_conv_parts *s, bool bands) {
    int64_t rows;
    bands = bands && !s->conv.bf16 && choose_band(&s->conv, &rows);
    if (!bands) s->conv = cut_examples(&s->conv);
    dnnl_status_t status = bands ? get_bands(s, rows) : get_primitives(s, mst_conv_chunk(&s->conv));
    if (status || want_one_layout(s)) return status;
    for (int i = 0; i < MST_CONV_SIZES; i++) {
        mst_convolution_release(s->primitive[i]);
        s->primitive[i] = NULL;
    }
    s->band = 0;
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
            k->args[i] = (dnnl_exec_arg_t){mst_convolution_argument(primitive, i), k->memory[i]};
        }
    }
    return status;
}

static dnnl_status_t make_parts(mst_conv_parts *s, int64_t chunk, bool bands) {
    dnnl_status_t status = chunk ? get_primitives(s, chunk) : choose_parts(s, bands);
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

/* The operand that the convolution or gradient writes. */
static int made_by(const mst_conv_parts *s) {
    return s->kind == MST_CONVOLUTION ? DST : SRC;
}

static int64_t step_of(const mst_conv_parts *s, int which) {
    return which == SRC ? s->src_step : s->dst_step;
}

/* Prepares rounding: the operand is computed in f32 at the end of a part's scratchpad, and then rounded to bf16. */
static void round_made(mst_conv_parts *s) {
    const size_t bytes = mst_align((size_t)step_of(s, made_by(s)) * sizeof(float));
    s->rounds_made = true;
    s->made = s->scratchpad_step;
    s->scratchpad_step += bytes;
    s->workspace += (size_t)s->num_threads * bytes;
}

/* Bytes of operand WHICH, source or output, that a part rounds to bf16 before it reads it. */
static size_t rounded_bytes(const mst_conv_parts *s, int which) {
    if (s->given_rounded[which]) return 0;
    if (which == made_by(s) && s->kind != MST_CONVOLUTION_WEIGHTS_GRAD) return 0;
    return mst_align((size_t)step_of(s, which) * sizeof(uint16_t));
}

mst_status mst_conv_parts_make(mst_conv_parts *parts, mst_convolution_kind kind, const mst_conv *conv, int num_threads,
                               int64_t chunk, bool bands, const char *name) {
    enum { MOST_OF_A_PRIMITIVE = 16 << 20 }; /* a generous estimate of oneDNN's bytes for a primitive */
    *parts = (mst_conv_parts){.kind = kind, .conv = *conv, .num_threads = num_threads};
    MST_TRY(mst_memory_probe(MOST_OF_A_PRIMITIVE));
    parts->calls = calloc((size_t)num_threads * MST_CONV_SIZES, sizeof *parts->calls);
    if (!parts->calls) return MST_NO_MEMORY("for a kernel");
    const bool mixed = conv->made_bf16 && !conv->bf16; /* oneDNN has no such implementation */
    const dnnl_status_t status = mixed ? dnnl_unimplemented : make_parts(parts, chunk, bands);
    if (status) {
        mst_conv_parts_free(parts);
        *parts = (mst_conv_parts){.calls = NULL};
        if (status == dnnl_unimplemented && (conv->bf16 || conv->made_bf16)) {
            mst_conv in_f32 = *conv;
            in_f32.bf16 = in_f32.made_bf16 = false;
            MST_TRY(mst_conv_parts_make(parts, kind, &in_f32, num_threads, chunk, bands && !conv->made_bf16, name));
            if (conv->made_bf16) round_made(parts);
            return MST_OK;
        }
        if (status == dnnl_out_of_memory)
            return MST_NO_MEMORY("for the convolution '%s': take a smaller batch or model", name);
        return MST_FAIL(MST_INTERNAL, "%s: oneDNN made no convolution, status %d", name, (int)status);
    }
    const mst_window *d = &conv->depth, *h = &parts->conv.window[0], *w = &conv->window[1];
    const int64_t src_row = w->in * conv->in_channels, dst_row = w->out * conv->out_channels;
    parts->src_step = parts->chunk * d->in * h->in * src_row;
    parts->dst_step = parts->chunk * d->out * h->out * dst_row;
    if (parts->band) {
        parts->src_step = parts->band * h->stride * src_row;
        parts->dst_step = parts->band * dst_row;
        parts->src_before = h->before * src_row;
    }
    parts->rounded = parts->scratchpad_step;
    if (conv->bf16) parts->scratchpad_step += rounded_bytes(parts, SRC) + rounded_bytes(parts, DST);
    parts->workspace = parts->scratchpads + (size_t)num_threads * parts->scratchpad_step;
    return MST_OK;
}

void mst_conv_parts_take_rounded(mst_conv_parts *parts, int which) {
    if (!parts->conv.bf16) return;
    const size_t saved = rounded_bytes(parts, which);
    parts->given_rounded[which] = true;
    parts->scratchpad_step -= saved;
    parts->workspace -= (size_t)parts->num_threads * saved;
}

static dnnl_status_t rearrange(const mst_conv_parts *s, const void *plain, const void *chosen) {
    const bool back = s->kind == MST_CONVOLUTION_WEIGHTS_GRAD;
    dnnl_status_t status = dnnl_memory_set_data_handle(s->plain, (void *)(uintptr_t)plain);
    if (!status) status = dnnl_memory_set_data_handle(s->chosen, (void *)(uintptr_t)chosen);
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, back ? s->chosen : s->plain},
                                    {DNNL_ARG_TO, back ? s->plain : s->chosen}};
    return status ? status : dnnl_primitive_execute(any_of(s)->reorder, s->stream, 2, args);
}

mst_status mst_conv_parts_pack(mst_conv_parts *parts, const void *weights, mst_tensor **packed) {
    const mst_convolution *any = any_of(parts);
    int before;
    *packed = NULL;
    if (!any->reorder) return MST_OK;
    const int64_t bytes = (int64_t)mst_convolution_weights_bytes(any);
    MST_TRY(mst_tensor_create(MST_U8, mst_shape_make(1, &bytes), packed));
    dnnl_status_t status = mst_openmp_begin(&before) ? dnnl_out_of_memory : dnnl_success;
    if (!status) status = rearrange(parts, weights, mst_tensor_data(*packed));
    mst_openmp_end(before);
    if (status) {
        mst_tensor_release(*packed);
        *packed = NULL;
        if (status == dnnl_out_of_memory) return MST_NO_MEMORY("for the packed weights of a convolution");
        return MST_FAIL(MST_INTERNAL, "oneDNN packed no weights, status %d", (int)status);
    }
    parts->packed = true;
    parts->workspace -= parts->scratchpads;
    parts->weights_step = parts->scratchpads = 0;
    return MST_OK;
}

/* ---- running ---- */

static mst_status failed(const mst_kernel_args *a, dnnl_status_t status) {
    if (!status) return MST_OK;
    if (status == dnnl_out_of_memory) return MST_NO_MEMORY("for '%s': take a smaller batch or model", a->name);
    return MST_FAIL(MST_INTERNAL, "%s '%s': oneDNN failed with status %d", a->op->name, a->name, (int)status);
}

/* The memory with the weights of part PART for the primitive. */
static void *weights_of(const mst_conv_parts *s, int64_t part, void *weights, void *workspace) {
    if (!s->weights_step) return weights;
    return (char *)workspace + (s->kind == MST_CONVOLUTION_WEIGHTS_GRAD ? (size_t)part * s->weights_step : 0);
}

mst_status mst_conv_parts_begin(const mst_conv_parts *parts, const mst_kernel_args *a, const void *weights,
                                void *workspace) {
    if (parts->kind == MST_CONVOLUTION_WEIGHTS_GRAD || parts->packed || !any_of(parts)->reorder) return MST_OK;
    return failed(a, rearrange(parts, weights, workspace));
}

/* The number of elements of operand WHICH, source or output, in part PART. */
static int64_t elements_of(const mst_conv_parts *s, int which, int64_t part) {
    const int64_t examples = part == s->parts - 1 ? s->conv.n - part * s->chunk : s->chunk;
    return step_of(s, which) / s->chunk * examples;
}

/* Rounds source and output of part PART to bf16, into the workspace after SCRATCHPAD. Then DATA points there. */
static void round_part(const mst_conv_parts *s, int64_t part, char *scratchpad, void **data) {
    char *to = scratchpad + s->rounded;
    for (int i = SRC; i <= DST; i += DST - SRC) {
        const size_t bytes = rounded_bytes(s, i);
        if (!bytes) continue;
        mst_round_to_bf16(data[i], (uint16_t *)(void *)to, elements_of(s, i, part));
        data[i] = to;
        to += bytes;
    }
}

/* Brings the gradient of the source of a part into the cache, from its first to its last line. For a depthwise
 * convolution oneDNN writes it one block of channels after the other. If it were not in the cache, it would be loaded
 * in an order that the processor cannot predict. */
static void fetch_part(const mst_conv_parts *s, int64_t part, void *src) {
    enum { LEAST_BYTES = 1 << 20 };
    const int64_t examples = part == s->parts - 1 ? s->conv.n - part * s->chunk : s->chunk;
    const size_t bytes = (size_t)(s->src_step / s->chunk * examples) * sizeof(float);
    if (s->kind == MST_CONVOLUTION_SRC_GRAD && s->conv.groups > 1 && bytes >= LEAST_BYTES) memset(src, 0, bytes);
}

mst_status mst_conv_parts_run(const mst_conv_parts *parts, const mst_kernel_args *a, int64_t part, int thread,
                              void *src, void *weights, void *dst, void *workspace) {
    const mst_conv_parts *s = parts;
    const int size = s->primitive[MST_CONV_REST] && part == s->parts - 1 ? MST_CONV_REST
                     : s->primitive[MST_CONV_FIRST] && part == 0         ? MST_CONV_FIRST
                                                                         : MST_CONV_WHOLE;
    const mst_conv_call *k = &s->calls[thread * MST_CONV_SIZES + size];
    void *data[MST_CONV_PART_ARGS] = {src, weights_of(s, part, weights, workspace), dst,
                                      (char *)workspace + s->scratchpads + (size_t)thread * s->scratchpad_step};
    dnnl_status_t status = dnnl_success;
    if (s->conv.bf16) round_part(s, part, data[MST_CONVOLUTION_OPERANDS], data);
    fetch_part(s, part, src);
    void *made = data[made_by(s)];
    if (s->rounds_made) data[made_by(s)] = (char *)data[MST_CONVOLUTION_OPERANDS] + s->made;
    for (int i = 0; i < MST_CONV_PART_ARGS && !status; i++) status = dnnl_memory_set_data_handle(k->memory[i], data[i]);
    if (!status) status = dnnl_primitive_execute(s->primitive[size]->primitive, k->stream, MST_CONV_PART_ARGS, k->args);
    if (!status && s->rounds_made) mst_round_to_bf16(data[made_by(s)], made, elements_of(s, made_by(s), part));
    return failed(a, status);
}

MST_SIMD static void add(const float *restrict from, float *restrict to, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

typedef struct adding {
    const mst_conv_parts *parts;
    void *workspace;
} adding;

/* Adds up elements BEGIN to END - 1 of the gradient: first part 0, then part 1, and so on. */
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
