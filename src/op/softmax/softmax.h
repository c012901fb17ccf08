/** The row loops that softmax, log_softmax and the cross entropies of softmax share.
 *
 *  A row of n logits x is read twice: for its maximum m, and for exp(x - m) and their sum. Maxima and sums are computed
 *  in MST_SOFTMAX_LANES interleaved parts, which are combined at the end. So compilers can vectorize the loops, and the
 *  order of the sum depends only on n.
 */
#ifndef MUSTER_OP_SOFTMAX_H
#define MUSTER_OP_SOFTMAX_H

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "muster/hlo.h"
#include "muster/op.h"
#include "op/share.h"

enum { MST_SOFTMAX_LANES = 32 };

/* The functions are in softmax.c. */

/** dst[0] is like source 0, floats of at least one dimension. */
MST_CHECKED mst_status mst_softmax_infer(mst_infer *c);
/** The gradient of softmax: p (u - sum of u p over the row). p is SOFTMAX, its output; u is UPSTREAM, the gradient of
 *  the output. */
mst_value mst_softmax_project(mst_value softmax, mst_value upstream);

/** Rows of logits in StableHLO. */
typedef struct mst_softmax_row {
    mst_hlo shifted; /**< the logits minus the largest of the row */
    mst_hlo power;   /**< e^shifted */
    mst_hlo sum;     /**< the sum of `power` over the row, in a last dimension of 1 */
} mst_softmax_row;
mst_softmax_row mst_softmax_lower(mst_lower *l, mst_hlo logits);

/** exp(x) for x <= 0, with an error of at most 2 units in the last place; 0 if the result is below the least normal
 *  number; NaN for NaN. With n = round(x / log 2) and r = x - n log 2, it is 2^n exp(r), and exp(r) = 1 + r + r^2 p(r).
 *  p is the polynomial of degree 4 through the Chebyshev points of [-log 2 / 2, log 2 / 2]. There are no branches and
 *  no calls, so that compilers can vectorize a loop of it. */
static inline float mst_exp_negative(float x) {
    const float shift = 0x1.8p23f; /* adding it rounds to an integer, which is then in the lowest bits */
    const float shifted = x * 1.44269504088896341f + shift, n = shifted - shift;
    const float r = (x - n * 0x1.62e4p-1f) - n * 1.42860682030941723e-6f; /* log 2 in two parts */
    const float p = 0.5f + r * (0.16666576989698878f +
                                r * (0.04166655460720730f + r * (0.00836317905270300f + r * 0.00139261835879f)));
    const float y = 1.0f + (r + r * r * p);
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23; /* 2^n */
    float power;
    memcpy(&power, &bits, sizeof power);
    return x < -87.3365f ? 0.0f : y * power;
}

/* defines mst_softmax_max_f32, mst_softmax_exp_f32, mst_softmax_max_f64 and mst_softmax_exp_f64 */
#define MST_TEMPLATE "op/softmax/softmax_row.inc"
#include "op/softmax/softmax_floats.inc"

/** The number of elements of a row (the last dimension), and the number of rows, of an array that is not a scalar. */
static inline int64_t mst_num_classes(const mst_array *array) {
    return array->shape.dim[array->shape.ndim - 1];
}

static inline int64_t mst_num_rows(const mst_array *array) {
    return array->count ? array->count / mst_num_classes(array) : 0;
}

/** The grain of mst_parallel over ROWS rows. */
static inline int64_t mst_softmax_grain(int64_t rows, int64_t classes) {
    return mst_grain(rows, 4 * classes);
}

/** Computes ROWS rows of N elements of DST from the rows of SRC. */
typedef void mst_softmax_rows_f32(const float *src, float *dst, int64_t rows, int64_t n);
typedef void mst_softmax_rows_f64(const double *src, double *dst, int64_t rows, int64_t n);
/** Computes the rows of output 0 from the rows of source 0, on the threads of the device. */
MST_CHECKED mst_status mst_softmax_run(const mst_kernel_args *a, mst_softmax_rows_f32 *rows_f32,
                                       mst_softmax_rows_f64 *rows_f64);

#endif
