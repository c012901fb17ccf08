/** Functions that strided_slice and strided_slice_grad share. */
#ifndef MUSTER_OP_STRIDED_SLICE_H
#define MUSTER_OP_STRIDED_SLICE_H

#include "op/op.h"

extern const mst_field mst_strided_slice_fields[];

/** Sets *PART to the shape of the slice that the node's options take out of an array of shape WHOLE. */
MST_CHECKED mst_status mst_strided_slice_infer(mst_infer *c, const mst_shape *whole, mst_shape *part);
/** Copies between PART and the elements of WHOLE that the node's options take. TO_PART: to PART, else to WHOLE. */
MST_CHECKED mst_status mst_strided_slice_copy(const mst_kernel_args *a, const mst_array *whole, const mst_array *part,
                                              bool to_part);

/** The op strided_slice_grad, which is internal to the library. */
mst_value mst_strided_slice_grad(mst_value gradient, mst_value like, const mst_strided_slice_options *slice);

#endif
