/** orthonormalize: makes the rows of src orthogonal to one another and of length 1: dst[i] is src[i] minus its
 *  projections on dst[0] to dst[i - 1], divided by its length
 *
 *  src  f32 or f64, [m, n], m <= n
 *  dst  like src; src = L dst with a triangular L, whose diagonal is positive. A row that depends linearly on the rows
 *       before it becomes 0
 *
 *  By the modified Gram-Schmidt process, in f64. No gradient flows through.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_orthonormalize(mst_value src);
#endif
#include <math.h>

#include "base/simd.h"
#include "op/op.h"
#include "op/share.h"

static mst_status orthonormalize_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_want_ndim(c, 0, 2));
    const int64_t *dim = c->src[0].shape.dim;
    if (dim[0] >= 0 && dim[1] >= 0 && dim[0] > dim[1])
        return mst_infer_fail(c, "%lld rows of %lld elements cannot all be orthogonal", (long long)dim[0],
                              (long long)dim[1]);
    c->dst[0] = c->src[0];
    return MST_OK;
}

static size_t orthonormalize_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return sizeof(double) * (size_t)(mst_shape_count(c->src[0].shape) + c->src[0].shape.dim[0]);
}

MST_SIMD static void subtract(double factor, const double *restrict from, double *restrict row, int64_t n) {
    for (int64_t j = 0; j < n; j++) row[j] -= factor * from[j];
}

/* Sums in eight interleaved lanes. */
MST_SIMD static double dot(const double *restrict a, const double *restrict b, int64_t n) {
    enum { LANES = 8 };
    double lane[LANES] = {0}, sum = 0;
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += a[j + k] * b[j + k];
    for (; j < n; j++) sum += a[j] * b[j];
    for (int k = 0; k < LANES; k++) sum += lane[k];
    return sum;
}

typedef struct panel {
    double *rows, *length; /* all rows, and their original lengths */
    int64_t n, first, end;
} panel;

/* Subtracts from each row after the panel its projections on the rows of the panel. Threads share whole rows. */
static mst_status project(void *context, int64_t begin, int64_t end, int thread) {
    const panel *p = context;
    (void)thread;
    for (int64_t i = p->end + begin; i < p->end + end; i++) {
        double *row = p->rows + i * p->n;
        for (int64_t k = p->first; k < p->end; k++) {
            const double *on = p->rows + k * p->n;
            subtract(dot(on, row, p->n), on, row, p->n);
        }
    }
    return MST_OK;
}

/* Makes the rows of the panel orthogonal to one another, and of length 1. */
static void finish_panel(const panel *p) {
    for (int64_t i = p->first; i < p->end; i++) {
        double *row = p->rows + i * p->n;
        for (int64_t k = p->first; k < i; k++) {
            const double *on = p->rows + k * p->n;
            subtract(dot(on, row, p->n), on, row, p->n);
        }
        const double length = sqrt(dot(row, row, p->n));
        for (int64_t j = 0; j < p->n; j++) row[j] = length > p->length[i] * 1e-12 ? row[j] / length : 0;
    }
}

static mst_status orthonormalize_reference(const mst_kernel_args *a) {
    enum { PANEL = 16 };
    const int64_t m = a->src[0].shape.dim[0], count = a->src[0].count;
    const bool wide = a->src[0].dtype == MST_F64;
    double *const rows = a->workspace;
    panel p = {.rows = rows, .length = rows + count, .n = a->src[0].shape.dim[1]};
    for (int64_t i = 0; i < count; i++)
        p.rows[i] = wide ? ((const double *)a->src[0].data)[i] : (double)((const float *)a->src[0].data)[i];
    for (int64_t i = 0; i < m; i++) p.length[i] = sqrt(dot(rows + i * p.n, rows + i * p.n, p.n));
    for (; p.first < m; p.first = p.end) {
        p.end = p.first + PANEL < m ? p.first + PANEL : m;
        finish_panel(&p);
        MST_TRY(mst_parallel(a, m - p.end, mst_grain(m - p.end, 2 * PANEL * p.n), project, &p));
    }
    for (int64_t i = 0; i < count; i++)
        if (wide)
            ((double *)a->dst[0].data)[i] = p.rows[i];
        else
            ((float *)a->dst[0].data)[i] = (float)p.rows[i];
    return MST_OK;
}

static const mst_example orthonormalize_examples[] = {
    {.name = "two rows",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){3, 0, 4, 5, 3, 0}}},
     .expect = {(const double[]){0.6, 0, 0.8, 0.64, 0.6, -0.48}}},
    {.name = "a square",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){0, -2, 3, 5}}},
     .expect = {(const double[]){0, -1, 1, 0}}},
    {.name = "a row that depends on the first",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){3, 4, -6, -8}}},
     .expect = {(const double[]){0.6, 0.8, 0, 0}}},
    {.name = "several panels", .num_src = 1, .src = {{.ndim = 2, .dim = {20, 40}}}},
    {.name = "more rows than elements", .num_src = 1, .src = {{.ndim = 2, .dim = {3, 2}}}, .fails = MST_INVALID},
    {.name = "a vector", .num_src = 1, .src = {{.ndim = 1, .dim = {3}}}, .fails = MST_INVALID},
};

const mst_op mst_op_orthonormalize = {
    .name = "orthonormalize",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .infer = orthonormalize_infer,
    .workspace = orthonormalize_workspace,
    .reference = orthonormalize_reference,
    MST_EXAMPLES(orthonormalize_examples),
};

mst_value mst_orthonormalize(mst_value src) {
    return mst_call(NULL, &mst_op_orthonormalize, 1, &src, NULL);
}
