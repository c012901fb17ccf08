#include "bench/bare_convolution.h"

#include <stdlib.h>
#include <string.h>

#include "base/openmp.h"
#include "bench/table.h"
#include "kernel/onednn/base/description.h"

enum { SRC, WEIGHTS, DST, OPERANDS };

typedef struct bare {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t descriptor;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[OPERANDS];
    dnnl_exec_arg_t args[OPERANDS];
    size_t size[OPERANDS];  /* bytes */
    float *first[OPERANDS]; /* of the copies of an array */
    int copies[OPERANDS];
} bare;

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t describe(bare *b, bare_kind kind, mst_description *d, const dnnl_dim_t *stride,
                              const dnnl_dim_t *before, const dnnl_dim_t *after) {
    const dnnl_dims_t none = {0};
    const dnnl_alg_kind_t direct = dnnl_convolution_direct;
    dnnl_primitive_desc_t forward = NULL;
    dnnl_status_t status =
        dnnl_convolution_forward_primitive_desc_create(&forward, b->engine, dnnl_forward_training, direct, d[SRC],
                                                       d[WEIGHTS], NULL, d[DST], stride, none, before, after, NULL);
    if (kind == BARE_FORWARD) {
        b->descriptor = forward;
        return status;
    }
    if (!status && kind == BARE_SRC_GRAD)
        status = dnnl_convolution_backward_data_primitive_desc_create(
            &b->descriptor, b->engine, direct, d[SRC], d[WEIGHTS], d[DST], stride, none, before, after, forward, NULL);
    else if (!status)
        status = dnnl_convolution_backward_weights_primitive_desc_create(&b->descriptor, b->engine, direct, d[SRC],
                                                                         d[WEIGHTS], NULL, d[DST], stride, none, before,
                                                                         after, forward, NULL);
    if (forward) dnnl_primitive_desc_destroy(forward);
    return status;
}

#else

static dnnl_status_t describe(bare *b, bare_kind kind, mst_description *d, const dnnl_dim_t *stride,
                              const dnnl_dim_t *before, const dnnl_dim_t *after) {
    const dnnl_alg_kind_t direct = dnnl_convolution_direct;
    dnnl_convolution_desc_t desc;
    dnnl_status_t status;
    if (kind == BARE_FORWARD)
        status = dnnl_convolution_forward_desc_init(&desc, dnnl_forward_training, direct, &d[SRC], &d[WEIGHTS], NULL,
                                                    &d[DST], stride, before, after);
    else if (kind == BARE_SRC_GRAD)
        status = dnnl_convolution_backward_data_desc_init(&desc, direct, &d[SRC], &d[WEIGHTS], &d[DST], stride, before,
                                                          after);
    else
        status = dnnl_convolution_backward_weights_desc_init(&desc, direct, &d[SRC], &d[WEIGHTS], NULL, &d[DST], stride,
                                                             before, after);
    return status ? status : dnnl_primitive_desc_create(&b->descriptor, &desc, NULL, b->engine, NULL);
}

#endif

static int64_t rows(const bare_convolution *c) {
    return (c->height + c->top + c->bottom - c->window_height) / c->stride + 1;
}

static int64_t columns(const bare_convolution *c) {
    return (c->width + c->left + c->right - c->window_width) / c->stride + 1;
}

int64_t bare_convolution_outputs(const bare_convolution *c) {
    return c->n * c->filters * rows(c) * columns(c);
}

static dnnl_status_t make(bare *b, const bare_convolution *c, bare_kind kind) {
    const dnnl_dim_t src[] = {c->n, c->channels, c->height, c->width}, dst[] = {c->n, c->filters, rows(c), columns(c)};
    const dnnl_dim_t weights[] = {c->groups, c->filters / c->groups, c->channels / c->groups, c->window_height,
                                  c->window_width};
    const dnnl_dims_t stride = {c->stride, c->stride}, before = {c->top, c->left}, after = {c->bottom, c->right};
    static const dnnl_query_t query[3][OPERANDS] = {
        {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md},
        {dnnl_query_diff_src_md, dnnl_query_weights_md, dnnl_query_diff_dst_md},
        {dnnl_query_src_md, dnnl_query_diff_weights_md, dnnl_query_diff_dst_md}};
    static const int argument[3][OPERANDS] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                                              {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
                                              {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}};
    const int first = c->groups == 1;
    mst_description d[OPERANDS];
    memset(d, 0, sizeof d);
    dnnl_status_t status = dnnl_engine_create(&b->engine, dnnl_cpu, 0);
    if (!status) status = dnnl_stream_create(&b->stream, b->engine, dnnl_stream_default_flags);
    if (!status) status = mst_describe_any(&d[SRC], dnnl_f32, 4, src);
    if (!status) status = mst_describe_any(&d[WEIGHTS], dnnl_f32, 5 - first, weights + first);
    if (!status) status = mst_describe_any(&d[DST], dnnl_f32, 4, dst);
    if (!status) status = describe(b, kind, d, stride, before, after);
    for (int i = 0; i < OPERANDS; i++) mst_forget(&d[i]);
    if (!status) status = dnnl_primitive_create(&b->primitive, b->descriptor);
    for (int i = 0; i < OPERANDS && !status; i++) {
        const mst_const_description chosen = dnnl_primitive_desc_query_md(b->descriptor, query[kind][i], 0);
        status = dnnl_memory_create(&b->memory[i], chosen, b->engine, DNNL_MEMORY_NONE);
        b->size[i] = dnnl_memory_desc_get_size(chosen);
        b->args[i] = (dnnl_exec_arg_t){argument[kind][i], b->memory[i]};
    }
    return status;
}

/* Places for the copies of each array. There is one of those that a step has touched right before: they stay where they
 * are, in the cache as far as they fit. */
static bool place(bare *b, bare_kind kind, bare_memory *memory) {
    enum { LINE = 64 };
    static const bool just_touched[3][OPERANDS] = {
        [BARE_FORWARD] = {[SRC] = true}, /* the output is kept for the gradients, where nothing was for long */
        [BARE_SRC_GRAD] = {[SRC] = true, [DST] = true},
        [BARE_WEIGHTS_GRAD] = {[DST] = true},
    };
    const int written = kind == BARE_FORWARD ? DST : kind == BARE_SRC_GRAD ? SRC : WEIGHTS;
    size_t touched = 0, size[BARE_MEMORIES] = {0};
    for (int i = 0; i < OPERANDS; i++) touched += b->size[i] = (b->size[i] + LINE - 1) / LINE * LINE;
    for (int i = 0; i < OPERANDS; i++) {
        b->copies[i] = just_touched[kind][i] ? 1 : (int)(memory->span / touched) + 1;
        size[i == written ? BARE_WRITTEN : BARE_READ] += b->size[i] * (size_t)b->copies[i];
    }
    float *read = bare_memory_take(memory, BARE_READ, size[BARE_READ]);
    float *to = bare_memory_take(memory, BARE_WRITTEN, size[BARE_WRITTEN]);
    for (int i = 0; i < OPERANDS && read && to; i++) {
        b->first[i] = i == written ? to : read;
        if (i != written) read += b->size[i] / sizeof(float) * (size_t)b->copies[i];
    }
    return read && to;
}

/* The next copies. */
static dnnl_status_t turn(const bare *b, int64_t time) {
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < OPERANDS && !status; i++)
        status = dnnl_memory_set_data_handle(b->memory[i],
                                             b->first[i] + b->size[i] / sizeof(float) * (size_t)(time % b->copies[i]));
    return status;
}

double bare_convolution_seconds(const bare_convolution *convolution, bare_kind kind, double seconds,
                                bare_memory *memory) {
    bare b = {0};
    int threads;
    double best = -1;
    if (mst_openmp_begin(&threads)) return best;
    dnnl_status_t status = make(&b, convolution, kind);
    if (!status && !place(&b, kind, memory)) status = dnnl_out_of_memory;
    const double start = bench_now();
    for (int64_t i = 0; !status && (i < 3 || bench_now() - start < seconds); i++) {
        status = turn(&b, i);
        const double before = bench_now();
        if (!status) status = dnnl_primitive_execute(b.primitive, b.stream, OPERANDS, b.args);
        const double took = bench_now() - before;
        if (i > 0 && (best < 0 || took < best)) best = took;
    }
    mst_openmp_end(threads);
    for (int i = 0; i < OPERANDS; i++)
        if (b.memory[i]) dnnl_memory_destroy(b.memory[i]);
    if (b.primitive) dnnl_primitive_destroy(b.primitive);
    if (b.descriptor) dnnl_primitive_desc_destroy(b.descriptor);
    if (b.stream) dnnl_stream_destroy(b.stream);
    if (b.engine) dnnl_engine_destroy(b.engine);
    return status ? -1 : best;
}
