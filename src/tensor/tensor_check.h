/** Checks of a tensor's dtype and shape, and large tensors whose memory nobody has touched yet. */
#ifndef MUSTER_TENSOR_TENSOR_CHECK_H
#define MUSTER_TENSOR_TENSOR_CHECK_H

#include "muster/tensor.h"

/** Error unless there can be a tensor of DTYPE and SHAPE: a dtype that is one, at most MST_MAX_NDIM dimensions, none of
 *  them negative, and no more elements than can be addressed. *COUNT is their number. */
MST_CHECKED mst_status mst_tensor_check(mst_dtype dtype, mst_shape shape, int64_t *count);
/** A tensor of zeros, as mst_tensor_create makes it; a large one in memory that nobody has touched, for a reader that
 *  fills it at once. */
MST_CHECKED mst_status mst_tensor_create_untouched(mst_dtype dtype, mst_shape shape, mst_tensor **out);

#endif
