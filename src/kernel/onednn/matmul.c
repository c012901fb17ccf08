/* matmul and fused_matmul by the matmul primitive of oneDNN, versions 2 and 3 of its C API.
 *
 * One primitive is prepared for a node; its scratchpad is the node's workspace. The bias is part of the primitive. The
 * activation is not: those of oneDNN make 0 of NaN, so that a step that has gone wrong looks right. It is a pass over
 * the product while that is in cache. */
#include <dnnl.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/denormal.h"
#include "base/simd.h"
#include "kernel/kernel.h"
#include "op/fused_matmul.h"
#include "op/op.h"

enum { A, B, BIAS, DST, SCRATCHPAD, NUM_ARGS };

typedef struct state {
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_memory_t memory[NUM_ARGS];
    void *data[NUM_ARGS]; /* address the memory object has now */
    dnnl_exec_arg_t args[NUM_ARGS];
    int num_args;
    int num_threads; /* that it is worth */
    int activation;
} state;

/* The three matrices as strided views with a common number of dimensions. */
typedef struct problem {
    int ndim;
    dnnl_dims_t dim[DST + 1], stride[DST + 1];
    bool has_bias;
    int activation;
} problem;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static dnnl_engine_t engine;

static void make_engine(void) {
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) engine = NULL;
}

static void row_major(problem *p, int which, mst_shape shape, bool transposed) {
    int lead = p->ndim - shape.ndim; /* dimensions of 1 in front */
    for (int i = 0; i < p->ndim; i++) p->dim[which][i] = i < lead ? 1 : shape.dim[i - lead];
    int64_t stride = 1;
    for (int i = p->ndim - 1; i >= 0; i--) {
        p->stride[which][i] = stride;
        stride *= p->dim[which][i];
    }
    if (!transposed) return;
    dnnl_dim_t dim = p->dim[which][p->ndim - 1], step = p->stride[which][p->ndim - 1];
    p->dim[which][p->ndim - 1] = p->dim[which][p->ndim - 2];
    p->stride[which][p->ndim - 1] = p->stride[which][p->ndim - 2];
    p->dim[which][p->ndim - 2] = dim;
    p->stride[which][p->ndim - 2] = step;
}

static problem describe(const mst_infer *c) {
    problem p = {.ndim = c->dst[0].shape.ndim};
    bool transpose_a, transpose_b;
    if (c->op == &mst_op_fused_matmul) {
        const mst_fused_matmul_options *o = c->options;
        transpose_a = o->transpose_a;
        transpose_b = o->transpose_b;
        p.activation = o->activation;
        p.has_bias = true;
        row_major(&p, BIAS, c->src[2].shape, false);
    } else {
        const mst_matmul_options *o = c->options;
        transpose_a = o->transpose_a;
        transpose_b = o->transpose_b;
    }
    row_major(&p, A, c->src[0].shape, transpose_a);
    row_major(&p, B, c->src[1].shape, transpose_b);
    row_major(&p, DST, c->dst[0].shape, false);
    return p;
}

static dnnl_status_t make_attributes(dnnl_primitive_attr_t *out) {
    dnnl_status_t status = dnnl_primitive_attr_create(out);
    return status ? status : dnnl_primitive_attr_set_scratchpad_mode(*out, dnnl_scratchpad_mode_user);
}

#if DNNL_VERSION_MAJOR >= 3
static dnnl_status_t make_primitive(const problem *p, dnnl_primitive_attr_t attributes, state *s, size_t *scratchpad) {
    dnnl_memory_desc_t description[DST + 1] = {NULL};
    dnnl_primitive_desc_t primitive = NULL;
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i <= DST && !status; i++)
        if (i != BIAS || p->has_bias)
            status = dnnl_memory_desc_create_with_strides(&description[i], p->ndim, p->dim[i], dnnl_f32, p->stride[i]);
    if (!status)
        status = dnnl_matmul_primitive_desc_create(&primitive, engine, description[A], description[B],
                                                   description[BIAS], description[DST], attributes);
    if (!status) status = dnnl_primitive_create(&s->primitive, primitive);
    for (int i = 0; i <= DST && !status; i++)
        if (description[i]) status = dnnl_memory_create(&s->memory[i], description[i], engine, DNNL_MEMORY_NONE);
    if (!status) {
        const_dnnl_memory_desc_t pad = dnnl_primitive_desc_query_md(primitive, dnnl_query_scratchpad_md, 0);
        *scratchpad = dnnl_memory_desc_get_size(pad);
        status = dnnl_memory_create(&s->memory[SCRATCHPAD], pad, engine, DNNL_MEMORY_NONE);
    }
    for (int i = 0; i <= DST; i++)
        if (description[i]) dnnl_memory_desc_destroy(description[i]);
    if (primitive) dnnl_primitive_desc_destroy(primitive);
    return status;
}
#else
static dnnl_status_t make_primitive(const problem *p, dnnl_primitive_attr_t attributes, state *s, size_t *scratchpad) {
    dnnl_memory_desc_t description[DST + 1];
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_desc_t primitive = NULL;
    dnnl_status_t status = dnnl_success;
    memset(description, 0, sizeof description);
    for (int i = 0; i <= DST && !status; i++)
        if (i != BIAS || p->has_bias)
            status = dnnl_memory_desc_init_by_strides(&description[i], p->ndim, p->dim[i], dnnl_f32, p->stride[i]);
    if (!status)
        status = dnnl_matmul_desc_init(&matmul, &description[A], &description[B],
                                       p->has_bias ? &description[BIAS] : NULL, &description[DST]);
    if (!status) status = dnnl_primitive_desc_create(&primitive, &matmul, attributes, engine, NULL);
    if (!status) status = dnnl_primitive_create(&s->primitive, primitive);
    for (int i = 0; i <= DST && !status; i++)
        if (i != BIAS || p->has_bias)
            status = dnnl_memory_create(&s->memory[i], &description[i], engine, DNNL_MEMORY_NONE);
    if (!status) {
        const dnnl_memory_desc_t *pad = dnnl_primitive_desc_query_md(primitive, dnnl_query_scratchpad_md, 0);
        *scratchpad = dnnl_memory_desc_get_size(pad);
        status = dnnl_memory_create(&s->memory[SCRATCHPAD], pad, engine, DNNL_MEMORY_NONE);
    }
    if (primitive) dnnl_primitive_desc_destroy(primitive);
    return status;
}
#endif

static void release(void *context) {
    state *s = context;
    if (!s) return;
    for (int i = 0; i < NUM_ARGS; i++)
        if (s->memory[i]) dnnl_memory_destroy(s->memory[i]);
    if (s->primitive) dnnl_primitive_destroy(s->primitive);
    if (s->stream) dnnl_stream_destroy(s->stream);
    free(s);
}

/* Waking a team costs more than a small product. */
static bool worth_threads(const problem *p) {
    static const double LEAST_FLOPS = 4e6; /* tens of microseconds on one core */
    double flops = 2;
    for (int i = 0; i < p->ndim; i++) flops *= (double)p->dim[DST][i];
    return flops * (double)p->dim[A][p->ndim - 1] >= LEAST_FLOPS;
}

static mst_status prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    static const int argument[NUM_ARGS] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST,
                                           DNNL_ARG_SCRATCHPAD};
    state *s = calloc(1, sizeof *s);
    if (!s) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a kernel");
    problem p = describe(c);
    dnnl_primitive_attr_t attributes = NULL;
    /* a primitive is made for the number of threads that run it */
    int before = omp_get_max_threads();
    s->num_threads = worth_threads(&p) ? num_threads : 1;
    s->activation = p.activation;
    omp_set_num_threads(s->num_threads);
    dnnl_status_t status = make_attributes(&attributes);
    if (!status) status = make_primitive(&p, attributes, s, workspace);
    if (!status) status = dnnl_stream_create(&s->stream, engine, dnnl_stream_default_flags);
    omp_set_num_threads(before);
    if (attributes) dnnl_primitive_attr_destroy(attributes);
    if (status) {
        release(s);
        return MST_FAIL(MST_INTERNAL, "%s '%s': oneDNN made no primitive, status %d", c->op->name, c->name,
                        (int)status);
    }
    for (int i = 0; i < NUM_ARGS; i++)
        if (s->memory[i]) s->args[s->num_args++] = (dnnl_exec_arg_t){argument[i], s->memory[i]};
    *out = s;
    return MST_OK;
}

static dnnl_status_t set_data(state *s, int which, void *data) {
    if (s->data[which] == data) return dnnl_success;
    s->data[which] = data;
    return dnnl_memory_set_data_handle(s->memory[which], data);
}

/* written so that NaN stays NaN */
MST_SIMD static void relu(float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) x[i] = x[i] < 0 ? 0 : x[i];
}

MST_SIMD static void relu6(float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) x[i] = x[i] < 0 ? 0 : x[i] > 6 ? 6 : x[i];
}

static void activate(const state *s, const mst_array *dst) {
    enum { CHUNK = 8192 };
    float *data = dst->data;
    const int64_t chunks = (dst->count + CHUNK - 1) / CHUNK;
    void (*const apply)(float *x, int64_t count) = s->activation == MST_FUSED_RELU ? relu : relu6;
    if (s->num_threads > 1) {
#pragma omp parallel for schedule(static) num_threads(s->num_threads)
        for (int64_t i = 0; i < chunks; i++) apply(data + i * CHUNK, i + 1 < chunks ? CHUNK : dst->count - i * CHUNK);
    } else {
        apply(data, dst->count);
    }
}

static mst_status run(const mst_kernel_args *a) {
    state *s = a->state;
    dnnl_status_t status = set_data(s, A, a->src[0].data);
    if (!status) status = set_data(s, B, a->src[1].data);
    if (!status && a->num_src > 2) status = set_data(s, BIAS, a->src[2].data);
    if (!status) status = set_data(s, DST, a->dst[0].data);
    if (!status) status = set_data(s, SCRATCHPAD, a->workspace);
    if (s->num_threads != a->num_threads) omp_set_num_threads(s->num_threads);
    mst_flush_team(s->num_threads);
    if (!status) status = dnnl_primitive_execute(s->primitive, s->stream, s->num_args, s->args);
    if (s->num_threads != a->num_threads) omp_set_num_threads(a->num_threads);
    if (status) return mst_kernel_fail(a, MST_INTERNAL, "oneDNN failed with status %d", (int)status);
    if (s->activation != MST_FUSED_NONE) activate(s, &a->dst[0]);
    return MST_OK;
}

static mst_kernel_function choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    pthread_once(&once, make_engine);
    if (!engine || c->src[0].dtype != MST_F32 || c->dst[0].shape.ndim < 2) return NULL;
    if (c->src[0].shape.ndim < 2 || c->src[1].shape.ndim < 2) return NULL;
    for (int i = 0; i < c->num_src; i++)
        if (mst_shape_count(c->src[i].shape) == 0) return NULL;
    return run;
}

const mst_kernel mst_kernel_onednn_matmul = {
    .engine = "onednn",
    .device_type = "CPU",
    .ops = (const char *const[]){"matmul", "fused_matmul", NULL},
    .select = choose,
    .prepare = prepare,
    .release = release,
};
