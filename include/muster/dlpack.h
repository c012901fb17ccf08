/** DLPack: tensors to and from other libraries (PyTorch, NumPy, JAX, CuPy) without a copy.
 *
 *  A DLManagedTensor is the struct of dlpack.h, version 0.x of its ABI; include that header to look inside.
 */
#ifndef MUSTER_DLPACK_H
#define MUSTER_DLPACK_H

#include "muster/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;

/** A view of TENSOR, which is retained until the consumer calls the view's deleter. Device CPU, row-major, strides
 *  NULL. */
MST_API MST_CHECKED mst_status mst_tensor_to_dlpack(mst_tensor *tensor, struct DLManagedTensor **out);
/** A tensor over the memory of MANAGED, whose deleter is called when the last reference goes. Takes MANAGED over on
 *  success only. MST_UNIMPLEMENTED if it is not on the CPU, not dense and row-major, not aligned to its
 *  elements, or of another dtype. */
MST_API MST_CHECKED mst_status mst_tensor_from_dlpack(struct DLManagedTensor *managed, mst_tensor **out);

#ifdef __cplusplus
}
#endif
#endif
