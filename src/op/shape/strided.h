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

/** The product of the dimensions before AXIS: the number of rows of an array that is cut along AXIS. A negative AXIS
 *  counts from the end. */
int64_t mst_rows_before(const mst_shape *shape, int axis);

/** As memcpy, on the threads of the device; does nothing if DST is SRC. */
MST_CHECKED mst_status mst_copy(const mst_kernel_args *a, void *dst, const void *src, size_t bytes);
/** Sets BYTES bytes of DST to 0. */
MST_CHECKED mst_status mst_zero(const mst_kernel_args *a, void *dst, size_t bytes);
/** Sets all elements of DST to VALUE, converted to its dtype (bool: VALUE != 0). */
MST_CHECKED mst_status mst_array_fill(const mst_kernel_args *a, const mst_array *dst, double value);

/** dst[sum i_k * dst_stride[k]] = src[sum i_k * src_stride[k]] for all 0 <= i_k < dim[k]. Strides are in elements, and
 *  may be negative, or 0 in src to repeat. ELEMENT is the size of an element in bytes. */
MST_CHECKED mst_status mst_strided_copy(const mst_kernel_args *a, size_t element, int ndim, const int64_t *dim,
                                        void *dst, const int64_t *dst_stride, const void *src,
                                        const int64_t *src_stride);
/** Copies between PART and the elements of WHOLE that a slice of PART's shape takes from BEGIN on. TO_PART: from WHOLE
 *  to PART, else from PART to WHOLE. */
MST_CHECKED mst_status mst_slice_copy(const mst_kernel_args *a, const mst_array *whole, const mst_shape *begin,
                                      const mst_array *part, bool to_part);
/** Copies between WHOLE and NUM parts. Each of the ROWS rows of WHOLE consists of a row of each part:
 *
 *      whole  |part 0, row 0|part 1, row 0|part 0, row 1|part 1, row 1|...
 *
 *  TO_WHOLE: from the parts to WHOLE, else from WHOLE to the parts. */
MST_CHECKED mst_status mst_parts_copy(const mst_kernel_args *a, const mst_array *whole, const mst_array *part, int num,
                                      int64_t rows, bool to_whole);

/** Options of slice_like. */
typedef struct mst_slice_like_options {
    int zero_;
    mst_shape begin;
} mst_slice_like_options;

/** Options of split and unstack, which cut source 0 along an axis. Their `count_dst` and kernel follow. */
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

/** Fails unless source PART fits into source WHOLE at BEGIN. */
MST_CHECKED mst_status mst_infer_part(mst_infer *c, const mst_shape *begin, int whole, int part);

/** Fails unless VALUE can be stored as DTYPE. WHAT is the name of the option that has this value. */
MST_CHECKED mst_status mst_infer_storable(mst_infer *c, double value, mst_dtype dtype, const char *what);
/** Sets *OUT to the dtype and shape of all sources, and fails if they differ. The size of dimension AXIS may differ
 *  (-1: none may). A dimension that is unknown in one source is taken from another. */
MST_CHECKED mst_status mst_infer_sources_alike(mst_infer *c, int axis, mst_spec *out);

/** Joins the gradients of all outputs along AXIS. JOIN is mst_concat or mst_stack. An output without a gradient counts
 *  as zeros. */
mst_value mst_join_gradients(const mst_grad *c, mst_value (*join)(const mst_value *, int, int), int axis);

/* ---- StableHLO ---- */

/** The number VALUE, an option, as a kernel stores it: truncated if DTYPE is an integer. */
mst_hlo mst_hlo_option(mst_lower *l, mst_dtype dtype, double value);
/** SHAPE as three dimensions: the product of those before AXIS, dimension AXIS, and the product of those after it. */
mst_shape mst_parts_around(mst_shape shape, int axis);
/** The `lower` of views: output 0 is source 0 with another shape. */
void mst_view_lower(mst_lower *l);
/** The `lower` of split and unstack. */
void mst_parts_lower(mst_lower *l);
/** Writes output 0: a slice of source 0 from BEGIN on. */
void mst_slice_lower(mst_lower *l, const mst_shape *begin);
/** Returns an array of output 0's shape: its elements from BEGIN on are source 0, and all others are VALUE. */
mst_hlo mst_place_lower(mst_lower *l, const mst_shape *begin, double value);

/* Gradients that are separate ops, internal to the library: see concat.c, slice.c and so on. */
mst_value mst_concat_grad(mst_value gradient, const mst_value *values, int n, int axis, int index);
mst_value mst_slice_grad(mst_value gradient, mst_value like, mst_shape begin);
mst_value mst_tile_grad(mst_value gradient, mst_value like, mst_shape multiples);

#endif
