/* matmul and fused_matmul if A has one row, as when text is generated token by token: dst = activation(a B + bias).
 *
 * Reading B takes most of the time. So each thread reads a part of B once, from front to back: some columns of B, or
 * some rows if B is transposed. Each element of dst is a sum over k. Its order depends neither on the number of threads
 * nor on the other columns. oneDNN computes smaller products. */
#include <string.h>

#include "base/simd.h"
#include "kernel/kernel.h"
#include "op/list.h"
#include "op/matrix/fused_matmul.h"
#include "op/op.h"
#include "op/share.h"

enum {
    VECTOR = 16,
    ROWS = 8,        /* rows of B that are added at once */
    LEAST = 1 << 16, /* least number of elements of B for this kernel */
};

typedef float vector __attribute__((vector_size(VECTOR * sizeof(float))));
typedef float vector_anywhere __attribute__((vector_size(VECTOR * sizeof(float)), aligned(sizeof(float)), may_alias));

static bool is_transposed(const mst_op *op, const void *options) {
    return op == &mst_op_fused_matmul ? ((const mst_fused_matmul_options *)options)->transpose_b
                                      : ((const mst_matmul_options *)options)->transpose_b;
}

/* DST, [columns], += A[l] times row l of B, for l from 0 to ROWS - 1. Rows of B are N elements apart. */
__attribute__((always_inline)) static inline void add_rows(const float *a, const float *b, int64_t n, int64_t columns,
                                                           float *dst) {
    int64_t j = 0;
    for (; j + VECTOR <= columns; j += VECTOR) {
        vector sum = *(vector_anywhere *)(dst + j);
        for (int64_t l = 0; l < ROWS; l++) sum += a[l] * *(const vector_anywhere *)(b + l * n + j);
        *(vector_anywhere *)(dst + j) = sum;
    }
    for (; j < columns; j++)
        for (int64_t l = 0; l < ROWS; l++) dst[j] += a[l] * b[l * n + j];
}

/* DST, [columns] = A B for COLUMNS columns of B, [k, n]. */
MST_SIMD static void multiply_columns(const float *a, const float *b, int64_t k, int64_t n, int64_t columns,
                                      float *dst) {
    int64_t l = 0;
    memset(dst, 0, (size_t)columns * sizeof *dst);
    for (; l + ROWS <= k; l += ROWS) add_rows(a + l, b + l * n, n, columns, dst);
    for (; l < k; l++)
        for (int64_t j = 0; j < columns; j++) dst[j] += a[l] * b[l * n + j];
}

/* DST[j] = the inner product of A and row j of B, [rows, k]. */
MST_SIMD static void multiply_rows(const float *a, const float *b, int64_t k, int64_t rows, float *dst) {
    enum { PARTS = 4 };
    for (int64_t j = 0; j < rows; j++, b += k) {
        vector part[PARTS] = {{0}};
        float total = 0;
        int64_t l = 0;
        for (; l + PARTS * VECTOR <= k; l += PARTS * VECTOR)
            for (int i = 0; i < PARTS; i++)
                part[i] +=
                    *(const vector_anywhere *)(a + l + i * VECTOR) * *(const vector_anywhere *)(b + l + i * VECTOR);
        const vector sum = (part[0] + part[1]) + (part[2] + part[3]);
        for (int i = 0; i < VECTOR; i++) total += sum[i];
        for (; l < k; l++) total += a[l] * b[l];
        dst[j] = total;
    }
}

/* Adds BIAS, unless it is NULL, to N elements and applies the activation. The comparisons keep NaN as NaN. */
MST_SIMD static void finish(const float *bias, int activation, int64_t n, float *dst) {
    for (int64_t j = 0; j < n && bias; j++) dst[j] += bias[j];
    for (int64_t j = 0; j < n && activation != MST_FUSED_NONE; j++) dst[j] = dst[j] < 0 ? 0 : dst[j];
    for (int64_t j = 0; j < n && activation == MST_FUSED_RELU6; j++) dst[j] = dst[j] > 6 ? 6 : dst[j];
}

/* Computes columns BEGIN to END - 1 of dst. */
static mst_status multiply_part(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const int64_t k = a->src[0].count, n = a->dst[0].count;
    const bool has_bias = a->op == &mst_op_fused_matmul;
    const float *row = a->src[0].data, *b = a->src[1].data;
    float *dst = (float *)a->dst[0].data + begin;
    (void)thread;
    if (is_transposed(a->op, a->options))
        multiply_rows(row, b + begin * k, k, end - begin, dst);
    else
        multiply_columns(row, b + begin, k, n, end - begin, dst);
    finish(has_bias ? (const float *)a->src[2].data + begin : NULL,
           has_bias ? ((const mst_fused_matmul_options *)a->options)->activation : MST_FUSED_NONE, end - begin, dst);
    return MST_OK;
}

static mst_status row_product_run(const mst_kernel_args *a) {
    const int64_t n = a->dst[0].count, threads = a->num_threads > 0 ? a->num_threads : 1;
    const int64_t part = mst_grain_aligned((n + threads - 1) / threads, VECTOR);
    return mst_parallel(a, n, part, multiply_part, mst_context_of(a));
}

static mst_kernel_function row_product_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    if (c->dst[0].dtype != MST_F32 || c->src[0].dtype != MST_F32) return NULL;
    if (c->src[0].shape.ndim != 2 || c->src[1].shape.ndim != 2 || c->dst[0].shape.dim[0] != 1) return NULL;
    return mst_shape_count(c->src[1].shape) >= LEAST ? row_product_run : NULL;
}

const mst_kernel mst_kernel_cpu_row_product = {
    .engine = "cpu",
    .ops = (const char *const[]){"matmul", "fused_matmul", NULL},
    .select = row_product_choose,
};
