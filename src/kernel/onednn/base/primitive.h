/** Matmul primitives of oneDNN, each for one thread, shared by all products of one shape in the process: to make one
 *  takes longer than to run a small one, and a step on many devices has thousands of the same. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_PRIMITIVE_H
#define MUSTER_KERNEL_ONEDNN_BASE_PRIMITIVE_H

#include <dnnl.h>

#include "kernel/onednn/base/description.h"
#include "kernel/onednn/base/product.h"

typedef struct mst_primitive mst_primitive;

/** The CPU; NULL if oneDNN makes none. */
dnnl_engine_t mst_dnnl_engine(void);
/** The primitive of SHAPE, with a reference for the caller. May be called by several threads at once. */
dnnl_status_t mst_primitive_get(const mst_product_shape *shape, mst_primitive **out);
/** Drops a reference; NULL is allowed. */
void mst_primitive_release(mst_primitive *primitive);
dnnl_primitive_t mst_primitive_handle(const mst_primitive *primitive);
/** Description of operand WHICH, or of the scratchpad for MST_PRODUCT_OPERANDS. */
mst_const_description mst_primitive_description(const mst_primitive *primitive, int which);
/** True if oneDNN's inner loop reads B in the layout that the primitive has for it, and would rearrange any other.
 */
bool mst_primitive_reads_packed(const mst_primitive *primitive);
/** True if the product is made by mst_primitive_sgemm, on this and every other occasion. */
bool mst_primitive_is_sgemm(const mst_primitive *primitive);
/** The same product by oneDNN's function dnnl_sgemm. It makes no objects and takes one buffer at most. If it gets no
 *  memory for that, it returns and has done nothing; an execution of the primitive would end the process. */
dnnl_status_t mst_primitive_sgemm(const mst_primitive *primitive, const void *a, const void *b, float *c);
/** Rearranges B from the strides of SHAPE to the layout that PRIMITIVE has for it. */
dnnl_status_t mst_primitive_pack(const mst_primitive *primitive, const mst_product_shape *shape, const void *b,
                                 void *packed);
/** Bytes of scratchpad that each call needs. */
size_t mst_primitive_scratchpad(const mst_primitive *primitive);

#endif
