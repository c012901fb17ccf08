/** Checks of a tensor's dtype and shape, and large tensors in untouched memory. */
#ifndef MUSTER_TENSOR_TENSOR_CHECK_H
#define MUSTER_TENSOR_TENSOR_CHECK_H

#include "muster/tensor.h"

/** Fails unless a tensor can have DTYPE and SHAPE. The dtype must be valid. There may be at most MST_MAX_NDIM
 *  dimensions, none of them negative, and no more elements than can be addressed. *COUNT is the number of elements. */
MST_CHECKED mst_status mst_tensor_check(mst_dtype dtype, mst_shape shape, int64_t *count);
/** As mst_tensor_create, but the memory of a large tensor is not touched before the caller fills it
 *  (mst_pages_alloc). */
MST_CHECKED mst_status mst_tensor_create_untouched(mst_dtype dtype, mst_shape shape, mst_tensor **out);

#endif
