/** Decides which of oneDNN's implementations of convolutions and products are used. Some of them have faults. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_IMPLEMENTATION_H
#define MUSTER_KERNEL_ONEDNN_BASE_IMPLEMENTATION_H

#include <dnnl.h>

#include "kernel/onednn/base/product.h"
#include "op/conv/conv.h"

typedef enum mst_convolution_kind {
    MST_CONVOLUTION,
    MST_CONVOLUTION_SRC_GRAD,
    MST_CONVOLUTION_WEIGHTS_GRAD
} mst_convolution_kind;

/** Whether the implementation of DESCRIPTOR stays inside its memory and computes the right result for CONV. */
bool mst_implementation_is_sound(mst_convolution_kind kind, const mst_conv *conv,
                                 const_dnnl_primitive_desc_t descriptor);
/** Whether the implementation of DESCRIPTOR computes the product SHAPE, a const mst_product_shape *, correctly. */
bool mst_implementation_multiplies(const void *shape, const_dnnl_primitive_desc_t descriptor);
/** Whether the name of the implementation of DESCRIPTOR begins with BEGINNING. */
bool mst_implementation_begins(const_dnnl_primitive_desc_t descriptor, const char *beginning);

#endif
