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

/** Makes a view of TENSOR, which is retained until the consumer calls the view's deleter. The view is on the CPU,
 *  row-major, with strides NULL. */
MST_API MST_CHECKED mst_status mst_tensor_to_dlpack(mst_tensor *tensor, struct DLManagedTensor **out);
/** Makes a tensor over the memory of MANAGED, whose deleter is called when the last reference is released. Takes
 *  MANAGED over on success only. MST_UNIMPLEMENTED if it is not on the CPU, not dense and row-major, not aligned to its
 *  elements, or of a dtype that Muster does not have. */
MST_API MST_CHECKED mst_status mst_tensor_from_dlpack(struct DLManagedTensor *managed, mst_tensor **out);

#ifdef __cplusplus
}
#endif
#endif
