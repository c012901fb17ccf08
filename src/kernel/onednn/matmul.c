/* matmul and fused_matmul by oneDNN.
 *
 * A product is cut along its longer side, or along its batches. The cut is the same on any number of threads, so they
 * give the same bits. The gradient of a weight (with A transposed) is cut into runs of rows that fit into a cache.
 *
 * The factors are both f32 or both bf16 (plan/autocast.c); everything else is f32.
 *
 * The bias is part of the primitive. The activation is not, because oneDNN's activations turn NaN into 0, which hides
 * that a step has gone wrong. The activation is a pass over the product while the product is in the cache. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "base/simd.h"
#include "kernel/kernel.h"
#include "kernel/onednn/base/product.h"
#include "op/list.h"
#include "op/matrix/fused_matmul.h"
#include "op/op.h"
#include "op/state/update.h"

typedef struct matmul_state {
    mst_product *product;
    int activation;
    int num_threads;
} matmul_state;

static mst_product_shape describe(const mst_infer *c, bool *transpose_a, int *activation) {
    mst_product_shape p = {
        .ndim = c->dst[0].shape.ndim, .has_bias = c->op == &mst_op_fused_matmul, .bf16 = c->src[0].dtype == MST_BF16};
    bool transpose_b;
    if (p.has_bias) {
        const mst_fused_matmul_options *o = c->options;
        *transpose_a = o->transpose_a;
        transpose_b = o->transpose_b;
        *activation = o->activation;
        mst_product_operand(&p, MST_PRODUCT_BIAS, c->src[2].shape, false);
    } else {
        const mst_matmul_options *o = c->options;
        *transpose_a = o->transpose_a;
        transpose_b = o->transpose_b;
        *activation = MST_FUSED_NONE;
    }
    mst_product_operand(&p, MST_PRODUCT_A, c->src[0].shape, *transpose_a);
    mst_product_operand(&p, MST_PRODUCT_B, c->src[1].shape, transpose_b);
    mst_product_operand(&p, MST_PRODUCT_C, c->dst[0].shape, false);
    return p;
}

static int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Chooses the axis along which the product is cut, and the number of indices in a part. Both depend only on the shape,
 * because the order in which oneDNN sums depends on the size of a part. Parts of these sizes cost a single thread 0 to
 * 2 % of its time. */
static int64_t choose_chunk(const mst_infer *c, const mst_product_shape *p, bool transpose_a, int *axis) {
    enum { MOST_PARTS = 16, BATCHES = 8 };
    enum { COLUMNS = 112, ROWS = 224 };    /* least in a part; with fewer rows, B is packed too often */
    enum { GROUP = 16 };                   /* rows or columns that oneDNN's loops handle at once */
    static const double LEAST_FLOPS = 4e6; /* tens of microseconds on one core */
    const int64_t *dim = c->dst[0].shape.dim;
    const int last = p->ndim - 1;
    *axis = last - 1;
    if (p->ndim == 2 && transpose_a) return mst_gradient_rows(dim[0], dim[1]);
    const double flops = 2 * (double)mst_shape_count(c->dst[0].shape) * (double)p->dim[MST_PRODUCT_A][last];
    int64_t most = flops < MOST_PARTS * LEAST_FLOPS ? (int64_t)(flops / LEAST_FLOPS) : MOST_PARTS;
    if (p->ndim > 2 && dim[0] >= BATCHES) {
        *axis = 0;
        most = least_of(most, dim[0]);
    } else if (dim[last] >= dim[last - 1]) {
        *axis = last;
        most = least_of(most, dim[last] / COLUMNS);
    } else {
        most = least_of(most, dim[last - 1] / ROWS);
    }
    int64_t parts = 1; /* a power of two, as numbers of threads often are */
    while (2 * parts <= most) parts *= 2;
    const int64_t even = (dim[*axis] + parts - 1) / parts;
    return parts == 1 || *axis == 0 ? even : (even + GROUP - 1) / GROUP * GROUP;
}

static void matmul_release(void *context) {
    matmul_state *s = context;
    if (s) mst_product_destroy(s->product);
    free(s);
}

static mst_status matmul_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    matmul_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    bool transpose_a;
    int axis;
    const mst_product_shape shape = describe(c, &transpose_a, &s->activation);
    const int64_t chunk = choose_chunk(c, &shape, transpose_a, &axis);
    s->num_threads = num_threads;
    mst_status status = mst_product_create(&shape, axis, chunk, num_threads, c->name, &s->product);
    if (status) {
        matmul_release(s);
        return mst_error_at(c->name, NULL);
    }
    *workspace = (size_t)num_threads * mst_product_workspace(s->product);
    *out = s;
    return MST_OK;
}

/* Packs the right factor if it is so large that rearranging it in each step would take noticeable time. */
static mst_status pack(void *context, int src, const mst_tensor *constant, mst_tensor **packed, size_t *workspace) {
    enum { SMALL = 64 << 10 };
    matmul_state *s = context;
    *packed = NULL;
    if (src != 1 || mst_tensor_shape(constant).ndim != 2 || mst_tensor_bytes(constant) < SMALL) return MST_OK;
    MST_TRY(mst_product_pack(&s->product, mst_tensor_data(constant), packed));
    *workspace = (size_t)s->num_threads * mst_product_workspace(s->product);
    return MST_OK;
}

/* relu, written so that NaN stays NaN */
MST_SIMD static void relu(float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) x[i] = x[i] < 0 ? 0 : x[i];
}

MST_SIMD static void relu6(float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const float y = x[i] < 0 ? 0 : x[i];
        x[i] = y > 6 ? 6 : y;
    }
}

static mst_status activate(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const matmul_state *s = a->state;
    (void)thread;
    (s->activation == MST_FUSED_RELU ? relu : relu6)((float *)a->dst[0].data + begin, end - begin);
    return MST_OK;
}

static mst_status multiply(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const matmul_state *s = a->state;
    char *workspace = (char *)a->workspace + (size_t)thread * mst_product_workspace(s->product);
    for (int64_t part = begin; part < end; part++)
        MST_TRY(mst_product_run(s->product, part, thread, workspace, a->src[0].data, a->src[1].data,
                                a->num_src > 2 ? a->src[2].data : NULL,
                                (float *)a->dst[0].data + mst_product_offset(s->product, part)));
    return MST_OK;
}

static mst_status matmul_run(const mst_kernel_args *a) {
    enum { ACTIVATION_CHUNK = 1 << 14 };
    const matmul_state *s = a->state;
    mst_kernel_args *args = (mst_kernel_args *)(uintptr_t)a;
    if (mst_parallel(a, mst_product_parts(s->product), 1, multiply, args))
        return mst_error_prefix("%s '%s'", a->op->name, a->name);
    return s->activation == MST_FUSED_NONE ? MST_OK
                                           : mst_parallel(a, a->dst[0].count, ACTIVATION_CHUNK, activate, args);
}

static mst_kernel_function matmul_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    if (c->dst[0].dtype != MST_F32 || c->dst[0].shape.ndim < 2) return NULL;
    if (c->src[0].shape.ndim < 2 || c->src[1].shape.ndim < 2) return NULL;
    for (int i = 0; i < c->num_src; i++)
        if (mst_shape_count(c->src[i].shape) == 0) return NULL;
    return matmul_run;
}

const mst_kernel mst_kernel_onednn_matmul = {
    .engine = "onednn",
    .ops = (const char *const[]){"matmul", "fused_matmul", NULL},
    .select = matmul_choose,
    .prepare = matmul_prepare,
    .pack = pack,
    .release = matmul_release,
};
