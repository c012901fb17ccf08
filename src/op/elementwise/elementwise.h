/** Elementwise ops with NumPy broadcasting: shared parts of their inference, gradients and kernels.
 *
 *  Templates define the kernels from a formula in x (and y):
 *
 *      #define OP reciprocal
 *      #define FORMULA 1 / x
 *      #include "op/unary/unary_floats.inc"
 *
 *  defines reciprocal_reference for f32 and f64: one plain loop over contiguous memory for each dtype. The loops are in
 *  op/unary/unary.inc and op/binary/binary.inc, which list the other macros that may be defined, such as WORK. Beside
 *  them are files that include them for some dtypes: ..._floats.inc, ..._numbers.inc, and ..._math.inc for formulas
 *  that call functions of base/simd_math.h. A formula may use the macros of op/numbers.inc, such as IS_NAN. Functions
 *  have the types of <tgmath.h>: exp(x) of a float is computed as a float.
 *
 *  The output is computed in rows. In each row, a source has either one element for each element of the output, or one
 *  element for all of them. */
#ifndef MUSTER_OP_ELEMENTWISE_H
#define MUSTER_OP_ELEMENTWISE_H

#include <math.h>
#include <string.h>
#include <tgmath.h>

#include "base/join.h"
#include "base/simd.h"
#include "base/simd_math.h"
#include "op/op.h"

/* ---- inference and gradients ---------------------------------------------------------------------- */

/** dst[0] is like source 0, whose dtype the op lists. */
MST_CHECKED mst_status mst_infer_unary(mst_infer *c);
/** dst[0] has the shape of source 0, whose dtype the op lists, and is bool. */
MST_CHECKED mst_status mst_infer_predicate(mst_infer *c);
/** dst[0] has the shape to which sources 0 and 1 broadcast, and their dtype, which must be the same and listed. */
MST_CHECKED mst_status mst_infer_binary(mst_infer *c);
/** As mst_infer_binary, with a bool output. */
MST_CHECKED mst_status mst_infer_comparison(mst_infer *c);
/** dst[0] has the dtype and shape of sources 0 and 1, which must be the same. */
MST_CHECKED mst_status mst_infer_same_spec(mst_infer *c);

/* Gradients that are separate ops, internal to the library. GRADIENT is the gradient of the op's OUTPUT. */
mst_value mst_relu_grad(mst_value gradient, mst_value output);
mst_value mst_relu6_grad(mst_value gradient, mst_value output);
mst_value mst_sigmoid_grad(mst_value gradient, mst_value output);
mst_value mst_tanh_grad(mst_value gradient, mst_value output);

/** NUMBER as a scalar of LIKE's dtype. */
static inline mst_value mst_number(mst_value like, double number) {
    return mst_scalar(mst_value_graph(like), mst_value_spec(like).dtype, number);
}

/* ---- rows of broadcast arrays --------------------------------------------------------------------- */

enum { MST_BROADCAST_SRC = 3 }; /**< most sources that broadcast */

/** An iteration over the rows of output 0. Neighbouring dimensions along which the same sources vary are merged into
 *  one. */
typedef struct mst_broadcast {
    int num_src;
    int64_t inner;                                   /**< elements of a row */
    bool varies[MST_BROADCAST_SRC];                  /**< along the row; else the source stays at one element */
    int64_t offset[MST_BROADCAST_SRC];               /**< of the row in each source, in elements */
    int ndim;                                        /**< dimensions outside the row */
    int64_t dim[MST_MAX_NDIM], index[MST_MAX_NDIM];  /**< their lengths, and the place of the row in them */
    int64_t stride[MST_BROADCAST_SRC][MST_MAX_NDIM]; /**< elements of a source from one index to the next */
} mst_broadcast;

/** Begins at the first row. Output 0 must not be empty. */
mst_broadcast mst_broadcast_make(const mst_kernel_args *a);
/** Goes to the next row; false after the last. */
bool mst_broadcast_next(mst_broadcast *b);

/** Computes a row of an op with two sources: COUNT elements of DST. Of a source that does not vary along the row, the
 *  first element is used for all. At least one source varies, unless the row has one element. */
typedef void (*mst_binary_row)(const void *xs, bool x_varies, const void *ys, bool y_varies, void *dst, int64_t count);

/** Computes output 0 row by row from sources 0 and 1, which broadcast. */
void mst_binary_rows(const mst_kernel_args *a, mst_binary_row row);
/** Sets output 0 to whether the strings of sources 0 and 1 are equal, or whether they differ if EQUAL is false. */
void mst_compare_strings(const mst_kernel_args *a, bool equal);

/* ---- examples ------------------------------------------------------------------------------------- */

/** Examples for every op of two sources that broadcast: no elements, shapes that do not fit, two dtypes. */
#define MST_BINARY_EXAMPLES                                                                            \
    {.name = "empty",                                                                                  \
     .num_src = 2,                                                                                     \
     .src = {{.ndim = 2, .dim = {0, 3}}, {.ndim = 1, .dim = {3}, .low = 1, .high = 3}}},               \
        {.name = "shapes that do not broadcast",                                                       \
         .num_src = 2,                                                                                 \
         .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 1, .dim = {2}}},                                 \
         .fails = MST_INVALID},                                                                        \
    {                                                                                                  \
        .name = "dtypes differ", .num_src = 2,                                                         \
        .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_I32, .ndim = 1, .dim = {2}}}, \
        .fails = MST_INVALID                                                                           \
    }

#endif
