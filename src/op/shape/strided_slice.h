/** What strided_slice and its gradient share; defined in strided_slice.c. */
#ifndef MUSTER_OP_STRIDED_SLICE_H
#define MUSTER_OP_STRIDED_SLICE_H

#include "op/op.h"

extern const mst_field mst_strided_slice_fields[];

/** The shape of what the node's options take of WHOLE. */
MST_CHECKED mst_status mst_strided_slice_infer(mst_infer *c, const mst_shape *whole, mst_shape *part);
/** Copies between the elements that the node's options take of WHOLE and PART. */
MST_CHECKED mst_status mst_strided_slice_copy(const mst_kernel_args *a, const mst_array *whole, const mst_array *part,
                                              bool to_part);

/** Node of strided_slice_grad, see there. It is not in muster/ops.h. */
mst_value mst_strided_slice_grad(mst_value gradient, mst_value like, const mst_strided_slice_options *slice);

#endif
