/** Reductions: which elements go into which output, and how the work is cut.
 *
 *  The dimensions of the source are merged into groups: neighbouring dimensions that are all kept or all reduced. The
 *  innermost group is contiguous; its elements are a row. If it is reduced, each row is folded into a single value. If
 *  it is kept, rows are added to a row of accumulators (as in column sums).
 *
 *  If many elements go into one output, they are folded in segments, whose accumulators are then combined in the order
 *  of the segments. The number of segments and the order of all operations depend only on the shape and the dtype. The
 *  result is therefore the same on every machine and for every number of threads.
 */
#ifndef MUSTER_OP_REDUCE_H
#define MUSTER_OP_REDUCE_H

#include "base/simd.h"
#include "muster/hlo.h"
#include "muster/op.h"

enum { MST_MAX_REDUCED = 2 * MST_MAX_NDIM }; /**< the most dimensions of a source: tile's gradient cuts each in two */

typedef struct mst_loops {
    int num;
    int64_t dim[MST_MAX_REDUCED], stride[MST_MAX_REDUCED]; /**< strides in elements; the last loop is the innermost */
} mst_loops;

typedef struct mst_reduce_loops {
    mst_loops kept, reduced; /**< all groups but the innermost */
    int64_t inner;           /**< elements of the innermost group */
    bool inner_reduced;
    int64_t count;   /**< elements that go into one output */
    int64_t outputs; /**< number of outputs */
} mst_reduce_loops;

/** The functions of a reduction for elements and accumulators of one type. reduce_loops.inc defines them. The elements
 *  that go into an output are numbered in the order of the reduced loops. In to_accumulator and to_accumulators SRC
 *  points to element 0 of the output, or of the first of the outputs. */
typedef struct mst_reducer {
    size_t accumulator; /**< bytes of an accumulator, at most MST_MOST_ACCUMULATOR */
    /** Computes outputs BEGIN to END - 1, each from one or more contiguous rows. SRC is the whole source, DST
     *  output 0. */
    void (*to_values)(const mst_reduce_loops *r, const void *src, int64_t begin, int64_t end, void *dst);
    /** Folds elements BEGIN to END - 1 of one output, which lie in contiguous rows, into one accumulator. */
    void (*to_accumulator)(const mst_reduce_loops *r, const void *src, int64_t begin, int64_t end, void *accumulator);
    /** Folds elements BEGIN to END - 1 of each of N neighbouring outputs into N accumulators. */
    void (*to_accumulators)(const mst_reduce_loops *r, const void *src, int64_t begin, int64_t end, int64_t n,
                            void *accumulator);
    /** Computes N outputs. Output i comes from SEGMENTS accumulators: i, i + STRIDE, i + 2 STRIDE and so on. SEGMENTS
     *  is 0 for a reduction of no elements: each output then is the initial value, such as 0 for a sum. */
    void (*finish)(const mst_reduce_loops *r, const void *accumulator, int64_t segments, int64_t stride, int64_t n,
                   void *dst);
} mst_reducer;

enum { MST_MOST_ACCUMULATOR = sizeof(double) };

/** The reduction of an array with dimensions DIM [ndim] over the dimensions for which REDUCED [ndim] is true. */
mst_reduce_loops mst_reduce_loops_make(int ndim, const int64_t *dim, const bool *reduced);
/** Sets REDUCED[k] to whether axis k of NDIM is in AXES (none: all). AXES must be valid. */
void mst_reduce_mask(const mst_axes *axes, int ndim, bool *reduced);
/** The reduction of an array of SHAPE over AXES (none: all). AXES must be valid. */
mst_reduce_loops mst_reduce_loops_over(mst_shape shape, const mst_axes *axes);
/** Sets *KEPT and *REDUCED to all kept and all reduced groups of R, with the innermost one. */
void mst_reduce_loops_groups(const mst_reduce_loops *r, mst_loops *kept, mst_loops *reduced);

/** Reduces source 0 to output 0 on the threads of the device. */
MST_CHECKED mst_status mst_reduce(const mst_kernel_args *a, const mst_reduce_loops *r, const mst_reducer *reducer);
/** Bytes of workspace that mst_reduce needs for a source of DTYPE. */
size_t mst_reduce_loops_workspace(const mst_reduce_loops *r, mst_dtype dtype);

/** Moves INDEX and *OFFSET to the next element of nested loops; false after the last, when they are back at the first.
 *  Before the first call INDEX is all zeros and *OFFSET 0. */
static inline bool mst_loops_next(const mst_loops *loops, int64_t *index, int64_t *offset) {
    for (int k = loops->num - 1; k >= 0; k--) {
        *offset += loops->stride[k];
        if (++index[k] < loops->dim[k]) return true;
        *offset -= loops->stride[k] * loops->dim[k];
        index[k] = 0;
    }
    return false;
}

/** Moves INDEX and *OFFSET to element AT of nested loops. */
static inline void mst_loops_seek(const mst_loops *loops, int64_t at, int64_t *index, int64_t *offset) {
    *offset = 0;
    for (int k = loops->num - 1; k >= 0; k--) {
        index[k] = at % loops->dim[k];
        at /= loops->dim[k];
        *offset += index[k] * loops->stride[k];
    }
}

/** The loops without the last one, whose size and stride go to *N and *STRIDE. If there is no loop, *N is 1. */
static inline mst_loops mst_loops_without_last(mst_loops loops, int64_t *n, int64_t *stride) {
    *n = 1;
    *stride = 0;
    if (loops.num == 0) return loops;
    loops.num--;
    *n = loops.dim[loops.num];
    *stride = loops.stride[loops.num];
    return loops;
}

/* ---- what ops with mst_reduce_options share ---- */

/** The table of options, `infer` and `workspace` of reductions. */
extern const mst_field mst_reduce_fields[];
MST_CHECKED mst_status mst_reduce_infer(mst_infer *c);
size_t mst_reduce_workspace(const mst_infer *c, int num_threads);
/** mst_reduce over the axes of the options. */
MST_CHECKED mst_status mst_reduce_over_axes(const mst_kernel_args *a, const mst_reducer *reducer);

/** VALUE, which has the shape of output 0, with the reduced dimensions put back as 1. So it broadcasts to source 0. */
mst_value mst_reduce_restore_dims(const mst_grad *c, mst_value value);
/** How many elements of source 0 go into one element of output 0, as a scalar of source 0's dtype. */
mst_value mst_reduce_count(const mst_grad *c);
/** The `grad` of reduce_max and reduce_min: all elements that are the largest, or smallest, get equal shares. */
mst_value mst_reduce_extreme_grad(mst_grad *c, int i);

/* ---- what other ops share ---- */

/** Checks AXES and gives dst[0] the shape and dtype of source 0 reduced over them. */
MST_CHECKED mst_status mst_reduce_infer_axes(mst_infer *c, const mst_axes *axes, bool keep_dims);
/** mst_reduce with sums. */
MST_CHECKED mst_status mst_reduce_sums(const mst_kernel_args *a, const mst_reduce_loops *r);

/** AXES (none: all) of NDIM dimensions, in ascending order and not negative. AXES must be valid. */
mst_axes mst_reduce_axes(const mst_axes *axes, int ndim);
/** Source 0; f32 converted to f64. All reductions compute sums and products in f64. This costs no time, because reading
 *  the source takes longer. */
mst_hlo mst_reduce_wide(mst_lower *l);
/** X, which is like source 0, reduced over the axes of the options to the shape of output 0. OPERATION is an operation
 *  of StableHLO, such as "add", and INITIAL its neutral element. */
mst_hlo mst_reduce_lower(mst_lower *l, const char *operation, mst_hlo x, double initial);

/* These ops compute gradients of reduce_prod, and are internal to the library: see reduce_prod_others.c. */
mst_value mst_reduce_prod_others(mst_value src, mst_axes axes);
mst_value mst_reduce_prod_others_grad(mst_value gradient, mst_value src, mst_axes axes);

#endif
