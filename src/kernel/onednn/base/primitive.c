/* The table of oneDNN's matmul primitives, shared by shape in the whole process with a count of references.
 *
 * A new primitive is run once, on zeros, before it is given out. oneDNN makes some of its code in the first run, and
 * ends the process if there is no memory for that. Products that an update computes while variables are written must
 * not fail at all. They use dnnl_sgemm, which gives the same bits, and returns if it gets no memory. */
#include "kernel/onednn/base/primitive.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/openmp.h"
#include "device/onednn_isa.h"
#include "kernel/onednn/base/description.h"
#include "kernel/onednn/base/implementation.h"
#include "tensor/buffer.h"

enum { A = MST_PRODUCT_A, B = MST_PRODUCT_B, BIAS = MST_PRODUCT_BIAS, C = MST_PRODUCT_C };
enum { BUCKETS = 512 };

struct mst_primitive {
    mst_product_shape shape; /* the key of the table */
    int64_t references;
    dnnl_primitive_t primitive;
    dnnl_primitive_desc_t descriptor; /* owns the scratchpad's description */
    bool sgemm;                       /* mst_primitive_is_sgemm */
    mst_description description[MST_PRODUCT_OPERANDS];
    struct mst_primitive *next;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static dnnl_engine_t engine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mst_primitive *table[BUCKETS];

/* By default oneDNN keeps 1024 primitives that are no longer used, about 30 kB each. Here the primitives that plans
 * share are in the table. A few others are worth keeping for plans that are made again. */
enum { MOST_KEPT = 64 };

static void make_engine(void) {
    mst_onednn_fix_isa();
    if (dnnl_set_primitive_cache_capacity(MOST_KEPT) != dnnl_success) {
        /* this build of oneDNN has no cache, so it keeps nothing */
    }
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) engine = NULL;
}

dnnl_engine_t mst_dnnl_engine(void) {
    pthread_once(&once, make_engine);
    return engine;
}

bool mst_dnnl_has_avx512(void) {
    return (mst_onednn_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
}

bool mst_dnnl_has_bf16(void) {
    return (mst_onednn_isa() & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16;
}

bool mst_dnnl_has_amx(void) {
    return (mst_onednn_isa() & dnnl_cpu_isa_avx512_core_amx) == dnnl_cpu_isa_avx512_core_amx;
}

/* ---- gradients of weights ---- */

/* Products A^T B of two matrices are computed by dnnl_sgemm, because updates compute them while variables are written.
 * The choice depends only on the shape, so that every caller gets the same bits. The primitive gives these bits too if
 * it calls the same function ("gemm") or sums in the same order. "brg" sums in this order up to ROWS rows of A and B.
 * With more rows an update computes only parts of a product: the factors of a gradient that is a single unit would be
 * larger than the gradient, and then the plan leaves the product as a node (plan/update_gradients.c). A part has some
 * columns of A, so its rows are further apart than they are long. */
static bool choose_sgemm(const mst_primitive *p) {
    enum { ROWS = 384 };
    const mst_product_shape *s = &p->shape;
    const bool transposed = s->ndim == 2 && s->stride[A][0] == 1 && s->stride[A][1] >= s->dim[A][0];
    if (!transposed || s->bf16 || s->has_bias || s->packed || s->stride[B][1] != 1 || s->stride[C][1] != 1)
        return false;
    /* the rows of a transposed matrix of one column have one element, and are less than a row apart */
    if (s->stride[B][0] < s->dim[B][1] || s->stride[C][0] < s->dim[C][1]) return false;
    return s->dim[A][1] <= ROWS || s->stride[A][1] > s->dim[A][0] || mst_implementation_begins(p->descriptor, "gemm");
}

bool mst_primitive_is_sgemm(const mst_primitive *primitive) {
    return primitive->sgemm;
}

dnnl_status_t mst_primitive_sgemm(const mst_primitive *primitive, const void *a, const void *b, float *c) {
    const mst_product_shape *s = &primitive->shape;
    return dnnl_sgemm('T', 'N', s->dim[C][0], s->dim[C][1], s->dim[A][1], 1, a, s->stride[A][1], b, s->stride[B][0], 0,
                      c, s->stride[C][0]);
}

/* ---- making primitives ---- */

static void destroy(mst_primitive *p) {
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++) mst_forget(&p->description[i]);
    if (p->primitive) dnnl_primitive_destroy(p->primitive);
    if (p->descriptor) dnnl_primitive_desc_destroy(p->descriptor);
    free(p);
}

static dnnl_data_type_t type_of(const mst_product_shape *shape, int which) {
    return shape->bf16 && (which == A || which == B) ? dnnl_bf16 : dnnl_f32;
}

static dnnl_status_t make(mst_primitive *p) {
    const mst_product_shape *shape = &p->shape;
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (!status) status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    for (int i = 0; i < MST_PRODUCT_OPERANDS && !status; i++)
        if (i == B && shape->packed)
            status = mst_describe_any(&p->description[i], type_of(shape, i), shape->ndim, shape->dim[i]);
        else if (i != BIAS || shape->has_bias)
            status = mst_describe(&p->description[i], type_of(shape, i), shape->ndim, shape->dim[i], shape->stride[i]);
    const mst_description *d = p->description;
    if (!status)
        status = mst_describe_product(&p->descriptor, engine, &d[A], &d[B], shape->has_bias ? &d[BIAS] : NULL, &d[C],
                                      attributes, mst_implementation_multiplies, shape);
    if (!status && shape->packed) {
        mst_forget(&p->description[B]);
        status = mst_describe_copy(&p->description[B],
                                   dnnl_primitive_desc_query_md(p->descriptor, dnnl_query_weights_md, 0));
    }
    if (!status) status = dnnl_primitive_create(&p->primitive, p->descriptor);
    if (attributes) dnnl_primitive_attr_destroy(attributes);
    return status;
}

static dnnl_status_t primitive_run(const mst_primitive *p, void *const *data) {
    static const int argument[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
    dnnl_stream_t stream = NULL;
    dnnl_exec_arg_t args[MST_PRODUCT_OPERANDS + 1];
    int count = 0;
    dnnl_status_t status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    for (int i = 0; i <= MST_PRODUCT_OPERANDS && !status; i++) {
        if (i == BIAS && !p->shape.has_bias) continue;
        status = dnnl_memory_create(&args[count].memory, mst_primitive_description(p, i), engine, data[i]);
        args[count].arg = argument[i];
        if (!status) count++;
    }
    if (!status) status = dnnl_primitive_execute(p->primitive, stream, count, args);
    for (int i = 0; i < count; i++) dnnl_memory_destroy(args[i].memory);
    if (stream) dnnl_stream_destroy(stream);
    return status;
}

/* Runs a new primitive once, on zeros. oneDNN makes a part of its code in the first run, and ends the process if there
 * is no memory for that. Here an error can still be returned to a caller. */
static dnnl_status_t run_first(const mst_primitive *p) {
    size_t offset[MST_PRODUCT_OPERANDS + 1], size = MST_ALIGNMENT;
    void *data[MST_PRODUCT_OPERANDS + 1];
    for (int i = 0; i <= MST_PRODUCT_OPERANDS; i++) {
        offset[i] = size;
        if (i != BIAS || p->shape.has_bias)
            size += mst_align(dnnl_memory_desc_get_size(mst_primitive_description(p, i)));
    }
    char *zeros = calloc(size, 1); /* rounded down to an aligned address, so that the first operand still lies inside */
    if (!zeros) return dnnl_out_of_memory;
    char *first = zeros - (uintptr_t)zeros % MST_ALIGNMENT;
    for (int i = 0; i <= MST_PRODUCT_OPERANDS; i++) data[i] = first + offset[i];
    const dnnl_status_t status = p->sgemm ? mst_primitive_sgemm(p, data[A], data[B], data[C]) : primitive_run(p, data);
    free(zeros);
    return status;
}

static dnnl_status_t create(const mst_product_shape *shape, mst_primitive **out) {
    mst_primitive *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p) return dnnl_out_of_memory;
    p->shape = *shape;
    p->references = 1;
    int before; /* a primitive is made for the number of threads that will run it */
    dnnl_status_t status = mst_openmp_begin(&before) ? dnnl_out_of_memory : dnnl_success;
    if (!status) status = mst_dnnl_engine() ? make(p) : dnnl_runtime_error;
    if (!status) p->sgemm = choose_sgemm(p);
    if (!status) status = run_first(p);
    mst_openmp_end(before);
    if (status)
        destroy(p);
    else
        *out = p;
    return status;
}

/* ---- the table ---- */

/* Copies SHAPE to OUT with zeros after its dimensions, so that the arrays of equal shapes have equal bytes. */
static void normalize(const mst_product_shape *shape, mst_product_shape *out) {
    memset(out, 0, sizeof *out);
    out->ndim = shape->ndim;
    out->has_bias = shape->has_bias;
    out->packed = shape->packed;
    out->bf16 = shape->bf16;
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++)
        for (int k = 0; k < shape->ndim && (i != BIAS || shape->has_bias); k++) {
            out->dim[i][k] = shape->dim[i][k];
            if (i != B || !shape->packed) out->stride[i][k] = shape->stride[i][k];
        }
}

static mst_primitive **bucket_of(const mst_product_shape *shape) {
    uint64_t h = (uint64_t)shape->bf16 << 2 | (uint64_t)shape->has_bias << 1 | (uint64_t)shape->packed;
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++)
        for (int k = 0; k < shape->ndim; k++)
            h = (h ^ (uint64_t)shape->dim[i][k] ^ (uint64_t)shape->stride[i][k] << 32) * 0x9e3779b97f4a7c15u;
    return &table[h >> 32 & (BUCKETS - 1)];
}

static bool are_equal(const mst_product_shape *a, const mst_product_shape *b) {
    return a->ndim == b->ndim && a->has_bias == b->has_bias && a->bf16 == b->bf16 &&
           memcmp(a->dim, b->dim, sizeof a->dim) == 0 && memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

dnnl_status_t mst_primitive_get(const mst_product_shape *shape, mst_primitive **out) {
    mst_product_shape key;
    dnnl_status_t status = dnnl_success;
    normalize(shape, &key);
    mst_primitive **bucket = bucket_of(&key);
    pthread_mutex_lock(&lock);
    mst_primitive *p = *bucket;
    while (p && !are_equal(&p->shape, &key)) p = p->next;
    if (p) {
        p->references++;
    } else {
        status = create(&key, &p);
        if (p) {
            p->next = *bucket;
            *bucket = p;
        }
    }
    pthread_mutex_unlock(&lock);
    *out = p;
    return status;
}

void mst_primitive_release(mst_primitive *primitive) {
    if (!primitive) return;
    pthread_mutex_lock(&lock);
    const bool last = --primitive->references == 0;
    mst_primitive **at = bucket_of(&primitive->shape);
    while (last && *at != primitive) at = &(*at)->next;
    if (last) *at = primitive->next;
    pthread_mutex_unlock(&lock);
    if (last) destroy(primitive);
}

dnnl_primitive_t mst_primitive_handle(const mst_primitive *primitive) {
    return primitive->primitive;
}

mst_const_description mst_primitive_description(const mst_primitive *primitive, int which) {
    if (which == MST_PRODUCT_OPERANDS)
        return dnnl_primitive_desc_query_md(primitive->descriptor, dnnl_query_scratchpad_md, 0);
    return mst_as_given(&primitive->description[which]);
}

size_t mst_primitive_scratchpad(const mst_primitive *primitive) {
    return dnnl_memory_desc_get_size(mst_primitive_description(primitive, MST_PRODUCT_OPERANDS));
}

/* ---- B in the layout that oneDNN chooses ---- */

/* "brg:avx512_core" in version 2, "brg_matmul:avx512_core" in version 3. */
bool mst_primitive_reads_packed(const mst_primitive *primitive) {
    return mst_implementation_begins(primitive->descriptor, "brg:") ||
           mst_implementation_begins(primitive->descriptor, "brg_matmul:");
}

static dnnl_status_t reorder(dnnl_primitive_t primitive, const mst_description *from, mst_const_description to,
                             const void *b, void *packed) {
    dnnl_stream_t stream = NULL;
    dnnl_memory_t memory[2] = {NULL, NULL};
    dnnl_status_t status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    if (!status) status = dnnl_memory_create(&memory[0], mst_as_given(from), engine, (void *)(uintptr_t)b);
    if (!status) status = dnnl_memory_create(&memory[1], to, engine, packed);
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, memory[0]}, {DNNL_ARG_TO, memory[1]}};
    if (!status) status = dnnl_primitive_execute(primitive, stream, 2, args);
    if (!status) status = dnnl_stream_wait(stream);
    for (int i = 0; i < 2; i++)
        if (memory[i]) dnnl_memory_destroy(memory[i]);
    if (stream) dnnl_stream_destroy(stream);
    return status;
}

static dnnl_status_t rearrange(const mst_primitive *primitive, const mst_product_shape *shape, const void *b,
                               void *packed) {
    const mst_const_description to = mst_as_given(&primitive->description[B]);
    mst_description from = {0};
    dnnl_primitive_desc_t descriptor = NULL;
    dnnl_primitive_t made = NULL;
    dnnl_status_t status = mst_describe(&from, type_of(shape, B), shape->ndim, shape->dim[B], shape->stride[B]);
    if (!status) status = mst_describe_reorder(&descriptor, engine, mst_as_given(&from), to);
    if (!status) status = dnnl_primitive_create(&made, descriptor);
    if (!status) status = reorder(made, &from, to, b, packed);
    if (made) dnnl_primitive_destroy(made);
    if (descriptor) dnnl_primitive_desc_destroy(descriptor);
    mst_forget(&from);
    return status;
}

dnnl_status_t mst_primitive_pack(const mst_primitive *primitive, const mst_product_shape *shape, const void *b,
                                 void *packed) {
    int before;
    const dnnl_status_t status =
        mst_openmp_begin(&before) ? dnnl_out_of_memory : rearrange(primitive, shape, b, packed);
    mst_openmp_end(before);
    return status;
}
