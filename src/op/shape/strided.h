/** Copying elements between row-major arrays and parts of them, on the threads of the device, and the inference,
 *  gradients and StableHLO that such ops share. Source and destination must not overlap. */
#ifndef MUSTER_OP_STRIDED_H
#define MUSTER_OP_STRIDED_H

#include "muster/hlo.h"
#include "muster/op.h"

/* ---- copying ---- */

/** Most dimensions of a strided copy: tile gives each dimension of an array two. */
enum { MST_MAX_STRIDED = 2 * MST_MAX_NDIM };

/** Row-major strides of SHAPE, in elements. */
void mst_strides(const mst_shape *shape, int64_t *stride);

/** Product of the dimensions before AXIS (a negative one counts from the end): the rows of an array that is cut along
 *  it. */
int64_t mst_rows_before(const mst_shape *shape, int axis);

/** memcpy, if DST is not SRC. */
MST_CHECKED mst_status mst_copy(const mst_kernel_args *a, void *dst, const void *src, size_t bytes);
/** All BYTES of DST = 0. */
MST_CHECKED mst_status mst_zero(const mst_kernel_args *a, void *dst, size_t bytes);
/** All elements of DST = VALUE, converted to its dtype (bool: VALUE != 0). */
MST_CHECKED mst_status mst_array_fill(const mst_kernel_args *a, const mst_array *dst, double value);

/** dst[sum i_k * dst_stride[k]] = src[sum i_k * src_stride[k]] for all 0 <= i_k < dim[k]. Strides are in elements, and
 *  may be negative, or 0 in src to repeat. ELEMENT is the size of an element in bytes. */
MST_CHECKED mst_status mst_strided_copy(const mst_kernel_args *a, size_t element, int ndim, const int64_t *dim,
                                        void *dst, const int64_t *dst_stride, const void *src,
                                        const int64_t *src_stride);
/** Copies between PART and as many elements of WHOLE, from BEGIN on: to PART or from it. */
MST_CHECKED mst_status mst_slice_copy(const mst_kernel_args *a, const mst_array *whole, const mst_shape *begin,
                                      const mst_array *part, bool to_part);
/** Copies between WHOLE and NUM parts, whose elements lie side by side in each of its ROWS rows:
 *
 *      whole  |part 0, row 0|part 1, row 0|part 0, row 1|part 1, row 1|...
 *
 *  to WHOLE or from it. */
MST_CHECKED mst_status mst_parts_copy(const mst_kernel_args *a, const mst_array *whole, const mst_array *part, int num,
                                      int64_t rows, bool to_whole);

/** Options of slice_like. */
typedef struct mst_slice_like_options {
    int zero_;
    mst_shape begin;
} mst_slice_like_options;

/** What split and unstack share. Both cut source 0 along an axis. Here are their options, `count_dst` and kernel. */
typedef struct mst_parts_options {
    int zero_;
    int num;
    int axis;
} mst_parts_options;
enum { MST_MOST_PARTS = 1 << 20 };
int mst_parts_count(const void *options, int num_src);
MST_CHECKED mst_status mst_parts_cut(const mst_kernel_args *a);

/** Copies source 0 to output 0, if they are not the same memory: the kernel of views. */
mst_status mst_view_copy(const mst_kernel_args *a);

/* ---- inference and gradients ---- */

/** Error unless source PART fits into source WHOLE at BEGIN. */
MST_CHECKED mst_status mst_infer_part(mst_infer *c, const mst_shape *begin, int whole, int part);

/** Error unless VALUE can be stored as DTYPE. WHAT is the name of the option that has this value. */
MST_CHECKED mst_status mst_infer_storable(mst_infer *c, double value, mst_dtype dtype, const char *what);
/** *OUT = the dtype and shape that all sources have, except for the size of dimension AXIS (-1: no exception). Known
 *  dimensions replace open ones. */
MST_CHECKED mst_status mst_infer_sources_alike(mst_infer *c, int axis, mst_spec *out);

/** Joins the gradients of all outputs along AXIS. JOIN is mst_concat or mst_stack. An output on which nothing depends
 *  counts as zeros. */
mst_value mst_join_gradients(const mst_grad *c, mst_value (*join)(const mst_value *, int, int), int axis);

/* ---- StableHLO ---- */

/** The number VALUE, an option, as a kernel stores it: truncated if DTYPE is an integer. */
mst_hlo mst_hlo_option(mst_lower *l, mst_dtype dtype, double value);
/** SHAPE as three dimensions: those before AXIS, AXIS, and those after it. */
mst_shape mst_parts_around(mst_shape shape, int axis);
/** The `lower` of views: output 0 is source 0 with another shape. */
void mst_view_lower(mst_lower *l);
/** The `lower` of split and unstack. */
void mst_parts_lower(mst_lower *l);
/** Output 0 = the elements of source 0 from BEGIN on. */
void mst_slice_lower(mst_lower *l, const mst_shape *begin);
/** Returns what output 0 is if its elements from BEGIN on are source 0, and all others are VALUE. */
mst_hlo mst_place_lower(mst_lower *l, const mst_shape *begin, double value);

/* Gradients that are ops of their own, internal to the library; see the files of their ops. */
mst_value mst_concat_grad(mst_value gradient, const mst_value *values, int n, int axis, int index);
mst_value mst_slice_grad(mst_value gradient, mst_value like, mst_shape begin);
mst_value mst_tile_grad(mst_value gradient, mst_value like, mst_shape multiples);

#endif
