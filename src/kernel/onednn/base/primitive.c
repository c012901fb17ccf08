#include "kernel/onednn/base/primitive.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { A = MST_PRODUCT_A, B = MST_PRODUCT_B, BIAS = MST_PRODUCT_BIAS, C = MST_PRODUCT_C };
enum { BUCKETS = 512 };

struct mst_primitive {
    mst_product_shape shape; /* the key */
    int64_t references;
    dnnl_primitive_t primitive;
    dnnl_primitive_desc_t descriptor; /* the scratchpad's description is its */
    mst_description description[MST_PRODUCT_OPERANDS];
    struct mst_primitive *next;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static dnnl_engine_t engine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mst_primitive *table[BUCKETS];

static void make_engine(void) {
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) engine = NULL;
}

dnnl_engine_t mst_dnnl_engine(void) {
    pthread_once(&once, make_engine);
    return engine;
}

/* ---- what differs between the versions of oneDNN ---- */

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t describe(mst_description *out, int ndim, const dnnl_dim_t *dim, const dnnl_dim_t *stride) {
    return dnnl_memory_desc_create_with_strides(out, ndim, dim, dnnl_f32, stride);
}

static void forget(mst_description *d) {
    if (*d) dnnl_memory_desc_destroy(*d);
}

static dnnl_status_t create_descriptor(dnnl_primitive_desc_t *out, mst_description *d, bool has_bias,
                                       dnnl_primitive_attr_t attributes) {
    return dnnl_matmul_primitive_desc_create(out, engine, d[A], d[B], has_bias ? d[BIAS] : NULL, d[C], attributes);
}

static mst_const_description as_given(const mst_description *d) {
    return *d;
}

#else

static dnnl_status_t describe(mst_description *out, int ndim, const dnnl_dim_t *dim, const dnnl_dim_t *stride) {
    return dnnl_memory_desc_init_by_strides(out, ndim, dim, dnnl_f32, stride);
}

static void forget(mst_description *d) {
    (void)d;
}

static dnnl_status_t create_descriptor(dnnl_primitive_desc_t *out, mst_description *d, bool has_bias,
                                       dnnl_primitive_attr_t attributes) {
    dnnl_matmul_desc_t matmul;
    dnnl_status_t status = dnnl_matmul_desc_init(&matmul, &d[A], &d[B], has_bias ? &d[BIAS] : NULL, &d[C]);
    return status ? status : dnnl_primitive_desc_create(out, &matmul, attributes, engine, NULL);
}

static mst_const_description as_given(const mst_description *d) {
    return d;
}

#endif

/* ---- making ---- */

static void destroy(mst_primitive *p) {
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++) forget(&p->description[i]);
    if (p->primitive) dnnl_primitive_destroy(p->primitive);
    if (p->descriptor) dnnl_primitive_desc_destroy(p->descriptor);
    free(p);
}

static dnnl_status_t make(mst_primitive *p) {
    const mst_product_shape *shape = &p->shape;
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (!status) status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    for (int i = 0; i < MST_PRODUCT_OPERANDS && !status; i++)
        if (i != BIAS || shape->has_bias)
            status = describe(&p->description[i], shape->ndim, shape->dim[i], shape->stride[i]);
    if (!status) status = create_descriptor(&p->descriptor, p->description, shape->has_bias, attributes);
    if (!status) status = dnnl_primitive_create(&p->primitive, p->descriptor);
    if (attributes) dnnl_primitive_attr_destroy(attributes);
    return status;
}

static dnnl_status_t create(const mst_product_shape *shape, mst_primitive **out) {
    mst_primitive *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p) return dnnl_out_of_memory;
    p->shape = *shape;
    p->references = 1;
    const int before = omp_get_max_threads(); /* a primitive is made for the number of threads that run it */
    if (before != 1) omp_set_num_threads(1);
    const dnnl_status_t status = mst_dnnl_engine() ? make(p) : dnnl_runtime_error;
    if (before != 1) omp_set_num_threads(before);
    if (status)
        destroy(p);
    else
        *out = p;
    return status;
}

/* ---- the table ---- */

/* SHAPE with zeros behind its dimensions: the arrays of equal shapes have equal bytes. */
static void normalize(const mst_product_shape *shape, mst_product_shape *out) {
    memset(out, 0, sizeof *out);
    out->ndim = shape->ndim;
    out->has_bias = shape->has_bias;
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++)
        for (int k = 0; k < shape->ndim && (i != BIAS || shape->has_bias); k++) {
            out->dim[i][k] = shape->dim[i][k];
            out->stride[i][k] = shape->stride[i][k];
        }
}

static mst_primitive **bucket_of(const mst_product_shape *shape) {
    uint64_t h = (uint64_t)shape->has_bias;
    for (int i = 0; i < MST_PRODUCT_OPERANDS; i++)
        for (int k = 0; k < shape->ndim; k++)
            h = (h ^ (uint64_t)shape->dim[i][k] ^ (uint64_t)shape->stride[i][k] << 32) * 0x9e3779b97f4a7c15u;
    return &table[h >> 32 & (BUCKETS - 1)];
}

static bool are_equal(const mst_product_shape *a, const mst_product_shape *b) {
    return a->ndim == b->ndim && a->has_bias == b->has_bias && memcmp(a->dim, b->dim, sizeof a->dim) == 0 &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0;
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
    return as_given(&primitive->description[which]);
}

size_t mst_primitive_scratchpad(const mst_primitive *primitive) {
    return dnnl_memory_desc_get_size(mst_primitive_description(primitive, MST_PRODUCT_OPERANDS));
}
