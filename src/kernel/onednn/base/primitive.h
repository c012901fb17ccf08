/** Matmul primitives of oneDNN, each for one thread. All products of one shape in the process share a primitive. Making
 *  one takes longer than running a small one, and a step on many devices has thousands of equal products. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_PRIMITIVE_H
#define MUSTER_KERNEL_ONEDNN_BASE_PRIMITIVE_H

#include <dnnl.h>

#include "kernel/onednn/base/description.h"
#include "kernel/onednn/base/product.h"

typedef struct mst_primitive mst_primitive;

/** oneDNN's engine for the CPU; NULL if oneDNN could not make it. */
dnnl_engine_t mst_dnnl_engine(void);
/** Sets OUT to the primitive of SHAPE, with a reference for the caller. Several threads may call it at once. */
dnnl_status_t mst_primitive_get(const mst_product_shape *shape, mst_primitive **out);
/** Drops a reference; NULL is allowed. */
void mst_primitive_release(mst_primitive *primitive);
dnnl_primitive_t mst_primitive_handle(const mst_primitive *primitive);
/** The description of operand WHICH; for MST_PRODUCT_OPERANDS that of the scratchpad. */
mst_const_description mst_primitive_description(const mst_primitive *primitive, int which);
/** True if oneDNN's inner loop reads B in the primitive's layout, and would have to rearrange B in any other layout. */
bool mst_primitive_reads_packed(const mst_primitive *primitive);
/** True if this product is always computed by mst_primitive_sgemm. */
bool mst_primitive_is_sgemm(const mst_primitive *primitive);
/** Computes the product with oneDNN's function dnnl_sgemm. It makes no objects and allocates at most one buffer. If it
 *  gets no memory, it returns an error and has done nothing; executing the primitive would end the process. */
dnnl_status_t mst_primitive_sgemm(const mst_primitive *primitive, const void *a, const void *b, float *c);
/** Rearranges B from the strides of SHAPE to PRIMITIVE's layout of B. */
dnnl_status_t mst_primitive_pack(const mst_primitive *primitive, const mst_product_shape *shape, const void *b,
                                 void *packed);
/** Bytes of scratchpad that each call needs. */
size_t mst_primitive_scratchpad(const mst_primitive *primitive);

#endif
