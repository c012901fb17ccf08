/* conv2d, conv3d and their gradients by oneDNN.
 *
 * The examples of a batch are cut into parts in the same way on any number of threads, so that they give the same bits.
 * Each part is a call of its own, on one thread. The gradient of the weights is a sum over the examples: each part's
 * goes to a place of its own, and they are added up in the order of the parts.
 *
 * The weights are rearranged in each step, once for all parts, to the layout that oneDNN reads fastest. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "base/simd.h"
#include "kernel/kernel.h"
#include "kernel/onednn/base/convolution.h"
#include "kernel/onednn/base/primitive.h"
#include "op/list.h"
#include "op/op.h"
#include "tensor/buffer.h"

enum { SRC = MST_CONVOLUTION_SRC, WEIGHTS = MST_CONVOLUTION_WEIGHTS, DST = MST_CONVOLUTION_DST };
enum { NUM_ARGS = MST_CONVOLUTION_OPERANDS + 1 };
enum { WHOLE, REST, NUM_SIZES }; /* parts of CHUNK examples, and the last one */

/* What one thread gives to a primitive. */
typedef struct call {
    dnnl_stream_t stream;
    dnnl_memory_t memory[NUM_ARGS];
    dnnl_exec_arg_t args[NUM_ARGS];
} call;

typedef struct state {
    mst_convolution_kind kind;
    mst_conv conv;
    mst_convolution *primitive[NUM_SIZES];
    call *calls; /* [num_threads][NUM_SIZES] */
    dnnl_stream_t stream;
    dnnl_memory_t plain, chosen; /* weights */
    int num_threads;
    int64_t parts, chunk;
    int64_t src_step, dst_step; /* elements from one part to the next */
    /* The workspace: weights in the layout of the primitive, or their gradients, one of each part; then the scratchpads
     * of the threads. */
    size_t weights_step, scratchpads, scratchpad_step;
} state;

static void conv_release(void *context) {
    state *s = context;
    if (!s) return;
    for (int k = 0; s->calls && k < s->num_threads * NUM_SIZES; k++) {
        for (int i = 0; i < NUM_ARGS; i++)
            if (s->calls[k].memory[i]) dnnl_memory_destroy(s->calls[k].memory[i]);
        if (s->calls[k].stream) dnnl_stream_destroy(s->calls[k].stream);
    }
    if (s->plain) dnnl_memory_destroy(s->plain);
    if (s->chosen) dnnl_memory_destroy(s->chosen);
    if (s->stream) dnnl_stream_destroy(s->stream);
    for (int i = 0; i < NUM_SIZES; i++) mst_convolution_release(s->primitive[i]);
    free(s->calls);
    free(s);
}

/* ---- parts ---- */

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

static dnnl_status_t get_primitives(state *s, int64_t chunk) {
    s->chunk = chunk;
    s->parts = (s->conv.n + chunk - 1) / chunk;
    const int64_t rest = s->conv.n - (s->parts - 1) * chunk;
    mst_conv part = s->conv;
    part.n = chunk;
    dnnl_status_t status = dnnl_success;
    if (s->parts > 1) status = mst_convolution_get(s->kind, &part, &s->primitive[WHOLE]);
    part.n = rest;
    if (!status && (s->parts == 1 || rest != chunk)) status = mst_convolution_get(s->kind, &part, &s->primitive[REST]);
    return status;
}

/* The first that there is. */
static const mst_convolution *any_of(const state *s) {
    return s->primitive[s->primitive[WHOLE] ? WHOLE : REST];
}

/* All parts must want the weights in one layout; else the batch is one part. */
static dnnl_status_t choose_parts(state *s) {
    dnnl_status_t status = get_primitives(s, choose_chunk(&s->conv));
    const bool both = !status && s->primitive[WHOLE] && s->primitive[REST];
    if (!both || dnnl_memory_desc_equal(mst_convolution_description(s->primitive[WHOLE], WEIGHTS),
                                        mst_convolution_description(s->primitive[REST], WEIGHTS)))
        return status;
    for (int i = 0; i < NUM_SIZES; i++) {
        mst_convolution_release(s->primitive[i]);
        s->primitive[i] = NULL;
    }
    return get_primitives(s, s->conv.n);
}

static dnnl_status_t make_calls(state *s, int size) {
    const mst_convolution *primitive = s->primitive[size];
    dnnl_status_t status = dnnl_success;
    for (int t = 0; t < s->num_threads && primitive && !status; t++) {
        call *k = &s->calls[t * NUM_SIZES + size];
        status = dnnl_stream_create(&k->stream, mst_dnnl_engine(), dnnl_stream_default_flags);
        for (int i = 0; i < NUM_ARGS && !status; i++) {
            status = dnnl_memory_create(&k->memory[i], mst_convolution_description(primitive, i), mst_dnnl_engine(),
                                        DNNL_MEMORY_NONE);
            k->args[i] = (dnnl_exec_arg_t){mst_convolution_argument(s->kind, i), k->memory[i]};
        }
    }
    return status;
}

static dnnl_status_t make_state(state *s) {
    dnnl_status_t status = choose_parts(s);
    for (int i = 0; i < NUM_SIZES && !status; i++) {
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

static bool is_transposed(const mst_op *op) {
    return op == &mst_op_conv2d_transpose || op == &mst_op_conv3d_transpose;
}

static mst_status conv_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    enum { MOST_OF_A_PRIMITIVE = 16 << 20 }; /* bytes that oneDNN takes to make one, generously */
    MST_TRY(mst_memory_probe(MOST_OF_A_PRIMITIVE));
    const bool forward = c->op == &mst_op_conv2d || c->op == &mst_op_conv3d, transposed = is_transposed(c->op);
    state *s = calloc(1, sizeof *s);
    if (s) s->calls = calloc((size_t)num_threads * NUM_SIZES, sizeof *s->calls);
    if (!s || !s->calls) {
        free(s);
        return MST_NO_MEMORY("for a kernel");
    }
    s->num_threads = num_threads;
    s->kind = forward                                          ? MST_CONVOLUTION
              : transposed || c->op == &mst_op_conv2d_src_grad ? MST_CONVOLUTION_SRC_GRAD
                                                               : MST_CONVOLUTION_WEIGHTS_GRAD;
    s->conv = transposed ? mst_conv_make(c->options, &c->dst[0].shape, &c->src[1].shape, &c->src[0].shape)
                         : mst_conv_make(c->options, &c->src[0].shape, &c->src[1].shape,
                                         forward ? &c->dst[0].shape : &c->src[2].shape);
    const dnnl_status_t status = make_state(s);
    if (status) {
        conv_release(s);
        if (status == dnnl_out_of_memory)
            return MST_NO_MEMORY("for the convolution '%s': take a smaller batch or model", c->name);
        return MST_FAIL(MST_INTERNAL, "%s: oneDNN made no convolution, status %d", c->name, (int)status);
    }
    const mst_window *d = &s->conv.depth, *h = &s->conv.window[0], *w = &s->conv.window[1];
    s->src_step = s->chunk * d->in * h->in * w->in * s->conv.in_channels;
    s->dst_step = s->chunk * d->out * h->out * w->out * s->conv.out_channels;
    *workspace = s->scratchpads + (size_t)num_threads * s->scratchpad_step;
    *out = s;
    return MST_OK;
}

/* ---- running ---- */

static mst_status failed(const mst_kernel_args *a, dnnl_status_t status) {
    if (!status) return MST_OK;
    if (status == dnnl_out_of_memory) return MST_NO_MEMORY("for '%s': take a smaller batch or model", a->name);
    return MST_FAIL(MST_INTERNAL, "%s '%s': oneDNN failed with status %d", a->op->name, a->name, (int)status);
}

static dnnl_status_t rearrange(const state *s, const void *plain, const void *chosen) {
    const bool back = s->kind == MST_CONVOLUTION_WEIGHTS_GRAD;
    dnnl_status_t status = dnnl_memory_set_data_handle(s->plain, (void *)(uintptr_t)plain);
    if (!status) status = dnnl_memory_set_data_handle(s->chosen, (void *)(uintptr_t)chosen);
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, back ? s->chosen : s->plain},
                                    {DNNL_ARG_TO, back ? s->plain : s->chosen}};
    return status ? status : dnnl_primitive_execute(any_of(s)->reorder, s->stream, 2, args);
}

/* Where the weights of part PART are for the primitive. */
static void *weights_of(const mst_kernel_args *a, int64_t part) {
    const state *s = a->state;
    if (s->kind == MST_CONVOLUTION_WEIGHTS_GRAD)
        return s->weights_step ? (char *)a->workspace + (size_t)part * s->weights_step : a->dst[0].data;
    return s->weights_step ? a->workspace : a->src[1].data;
}

static mst_status run_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const state *s = a->state;
    float *src = s->kind == MST_CONVOLUTION_SRC_GRAD ? a->dst[0].data : a->src[0].data;
    const bool transposed = is_transposed(a->op); /* its source is what the others call the gradient */
    float *dst = s->kind == MST_CONVOLUTION ? a->dst[0].data : a->src[transposed ? 0 : 2].data;
    for (int64_t part = begin; part < end; part++) {
        const int size = s->primitive[REST] && part == s->parts - 1 ? REST : WHOLE;
        call *k = &s->calls[thread * NUM_SIZES + size];
        void *data[NUM_ARGS] = {src + part * s->src_step, weights_of(a, part), dst + part * s->dst_step,
                                (char *)a->workspace + s->scratchpads + (size_t)thread * s->scratchpad_step};
        dnnl_status_t status = dnnl_success;
        for (int i = 0; i < NUM_ARGS && !status; i++) status = dnnl_memory_set_data_handle(k->memory[i], data[i]);
        if (!status) status = dnnl_primitive_execute(s->primitive[size]->primitive, k->stream, NUM_ARGS, k->args);
        MST_TRY(failed(a, status));
    }
    return MST_OK;
}

MST_SIMD static void add(const float *restrict from, float *restrict to, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

/* Elements BEGIN to END - 1 of the gradient: those of part 0, then added to them those of part 1, ... */
static mst_status add_parts(void *context, int64_t begin, int64_t end, int thread) {
    enum { BLOCK = 2048 };
    const mst_kernel_args *a = context;
    (void)thread;
    for (int64_t i = begin; i < end; i += BLOCK) {
        const int64_t count = end - i < BLOCK ? end - i : BLOCK;
        for (int64_t part = 1; part < ((const state *)a->state)->parts; part++)
            add((const float *)weights_of(a, part) + i, (float *)weights_of(a, 0) + i, count);
    }
    return MST_OK;
}

static mst_status conv_run(const mst_kernel_args *a) {
    enum { GRAIN = 1 << 13 };
    const state *s = a->state;
    const bool is_sum = s->kind == MST_CONVOLUTION_WEIGHTS_GRAD;
    mst_kernel_args *args = (mst_kernel_args *)(uintptr_t)a;
    const mst_convolution *any = any_of(s);
    if (any->reorder && !is_sum) MST_TRY(failed(a, rearrange(s, a->src[1].data, a->workspace)));
    MST_TRY(mst_parallel(a, s->parts, 1, run_parts, args));
    if (!is_sum || !s->weights_step) return MST_OK;
    const int64_t count = (int64_t)(mst_convolution_weights_bytes(any) / sizeof(float));
    if (s->parts > 1) MST_TRY(mst_parallel(a, count, GRAIN, add_parts, args));
    if (any->reorder) return failed(a, rearrange(s, a->dst[0].data, a->workspace));
    memcpy(a->dst[0].data, a->workspace, (size_t)a->dst[0].count * sizeof(float));
    return MST_OK;
}

static mst_kernel_function conv_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    if (c->src[0].dtype != MST_F32) return NULL;
    for (int i = 0; i < c->num_src; i++)
        if (mst_shape_count(c->src[i].shape) == 0) return NULL;
    return conv_run;
}

const mst_kernel mst_kernel_onednn_conv = {
    .engine = "onednn",
    .ops = (const char *const[]){"conv2d", "conv2d_src_grad", "conv2d_transpose", "conv2d_weights_grad", "conv3d",
                                 "conv3d_transpose", NULL},
    .select = conv_choose,
    .prepare = conv_prepare,
    .release = conv_release,
};
