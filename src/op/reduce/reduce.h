/** Reductions: which elements go into which output, and how the work is cut.
 *
 *  A reduction sees its source as groups of neighbouring dimensions that are all kept or all reduced. The innermost
 *  group is contiguous. If it is reduced, rows are folded into single values. If it is kept, rows are folded into an
 *  accumulator row (column sums).
 *
 *  If many elements go into one output they are folded in segments, whose accumulators are then combined in their
 *  order. The shape alone decides how many segments there are, and which elements meet in which order. The result is
 *  therefore the same on every machine and for every number of threads.
 */
#ifndef MUSTER_OP_REDUCE_H
#define MUSTER_OP_REDUCE_H

#include "base/simd.h"
#include "muster/hlo.h"
#include "muster/op.h"

enum { MST_MAX_REDUCED = 2 * MST_MAX_NDIM }; /**< the most dimensions of a source: tile's gradient cuts each in two */

typedef struct mst_loops {
    int num;
    int64_t dim[MST_MAX_REDUCED], stride[MST_MAX_REDUCED]; /**< in elements; the last runs fastest */
} mst_loops;

typedef struct mst_reduce_loops {
    mst_loops kept, reduced; /**< all groups but the innermost */
    int64_t inner;           /**< elements of the innermost group */
    bool inner_reduced;
    int64_t count;   /**< elements that go into one output */
    int64_t outputs; /**< number of outputs */
} mst_reduce_loops;

/** The functions of a reduction for elements and accumulators of one type. reduce_loops.inc makes them. Where a
 *  function folds only some elements, SRC points to element 0 of its output, or of the first of its outputs. The
 *  elements of an output are numbered in the order of the reduced loops. */
typedef struct mst_reducer {
    size_t accumulator; /**< bytes of one, at most MST_MOST_ACCUMULATOR */
    /** Makes outputs BEGIN to END - 1, each of one or more contiguous rows. SRC is the whole source, DST output 0. */
    void (*to_values)(const mst_reduce_loops *r, const void *src, int64_t begin, int64_t end, void *dst);
    /** Folds elements BEGIN to END - 1 of one output, which lie in contiguous rows, into one accumulator. */
    void (*to_accumulator)(const mst_reduce_loops *r, const void *src, int64_t begin, int64_t end, void *accumulator);
    /** Folds elements BEGIN to END - 1 of each of N neighbouring outputs into N accumulators. */
    void (*to_accumulators)(const mst_reduce_loops *r, const void *src, int64_t begin, int64_t end, int64_t n,
                            void *accumulator);
    /** Makes N outputs. Output i is made from SEGMENTS accumulators: i, i + STRIDE, i + 2 STRIDE and so on. SEGMENTS is
     *  0 for a reduction of no elements: each output then is what the reduction begins with, such as 0 for a sum. */
    void (*finish)(const mst_reduce_loops *r, const void *accumulator, int64_t segments, int64_t stride, int64_t n,
                   void *dst);
} mst_reducer;

enum { MST_MOST_ACCUMULATOR = sizeof(double) };

/** The reduction of an array of NDIM dimensions DIM over those for which REDUCED is true. */
mst_reduce_loops mst_reduce_loops_make(int ndim, const int64_t *dim, const bool *reduced);
/** REDUCED[k] = whether axis k of NDIM is in AXES (none: all), which are valid. */
void mst_reduce_mask(const mst_axes *axes, int ndim, bool *reduced);
/** The reduction of an array of SHAPE over AXES (none: all), which are valid. */
mst_reduce_loops mst_reduce_loops_over(mst_shape shape, const mst_axes *axes);
/** All kept and all reduced groups of R, the innermost too. */
void mst_reduce_loops_groups(const mst_reduce_loops *r, mst_loops *kept, mst_loops *reduced);

/** Reduces source 0 to output 0 on the threads of the device. */
MST_CHECKED mst_status mst_reduce(const mst_kernel_args *a, const mst_reduce_loops *r, const mst_reducer *reducer);
/** Bytes of workspace that mst_reduce needs for a source of DTYPE. */
size_t mst_reduce_loops_workspace(const mst_reduce_loops *r, mst_dtype dtype);

/** Goes to the next element of nested loops; false after the last. INDEX begins as zeros, *OFFSET as 0. */
static inline bool mst_loops_next(const mst_loops *loops, int64_t *index, int64_t *offset) {
    for (int k = loops->num - 1; k >= 0; k--) {
        *offset += loops->stride[k];
        if (++index[k] < loops->dim[k]) return true;
        *offset -= loops->stride[k] * loops->dim[k];
        index[k] = 0;
    }
    return false;
}

/** Goes to element AT of nested loops. */
static inline void mst_loops_seek(const mst_loops *loops, int64_t at, int64_t *index, int64_t *offset) {
    *offset = 0;
    for (int k = loops->num - 1; k >= 0; k--) {
        index[k] = at % loops->dim[k];
        at /= loops->dim[k];
        *offset += index[k] * loops->stride[k];
    }
}

/** The loops without the last; *N and *STRIDE are those of the last, or of one element if there is no loop. */
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

/** VALUE, which has the shape of output 0, with the reduced dimensions put back as 1, so that it broadcasts to source
 *  0. */
mst_value mst_reduce_restore_dims(const mst_grad *c, mst_value value);
/** How many elements of source 0 go into one element of output 0, as a scalar of its dtype. */
mst_value mst_reduce_count(const mst_grad *c);
/** The `grad` of reduce_max and reduce_min: equal shares for all elements that are the largest or smallest. */
mst_value mst_reduce_extreme_grad(mst_grad *c, int i);

/* ---- what other ops share ---- */

/** Checks AXES and gives dst[0] the shape and dtype of source 0 reduced over them. */
MST_CHECKED mst_status mst_reduce_infer_axes(mst_infer *c, const mst_axes *axes, bool keep_dims);
/** mst_reduce with sums. */
MST_CHECKED mst_status mst_reduce_sums(const mst_kernel_args *a, const mst_reduce_loops *r);

/** AXES (none: all), which are valid, of NDIM: ascending and not negative. */
mst_axes mst_reduce_axes(const mst_axes *axes, int ndim);
/** Source 0; f32 as f64, in which sums and products of all reductions are made. Their cost is that of reading the
 *  source. */
mst_hlo mst_reduce_wide(mst_lower *l);
/** X, which is like source 0, reduced by OPERATION of StableHLO, which leaves INITIAL as it is, over the axes of the
 *  options: in the shape of output 0. */
mst_hlo mst_reduce_lower(mst_lower *l, const char *operation, mst_hlo x, double initial);

/* Gradients of reduce_prod, ops that are internal to the library, see reduce_prod_others.c. */
mst_value mst_reduce_prod_others(mst_value src, mst_axes axes);
mst_value mst_reduce_prod_others_grad(mst_value gradient, mst_value src, mst_axes axes);

#endif
