/** Convolution primitives of oneDNN, each for one thread. All convolutions of one shape in the process share a
 *  primitive, like products (primitive.h). Source and output are [n, height, width, channels]; the weights are in the
 *  layout that oneDNN chooses.
 *
 *  The first implementation of oneDNN that computes correctly is used (implementation.h).
 *
 *  A 1 x 1 convolution with stride 1, without padding, is a matrix product in which each pixel is a row. In bf16 it is
 *  computed as a product, because oneDNN has faster code for that. With AMX, the weight gradients of MobileNetV2 then
 *  take 0.4 times as long. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_CONVOLUTION_H
#define MUSTER_KERNEL_ONEDNN_BASE_CONVOLUTION_H

#include "kernel/onednn/base/description.h"
#include "kernel/onednn/base/implementation.h"
#include "op/conv/conv.h"

enum { MST_CONVOLUTION_SRC, MST_CONVOLUTION_WEIGHTS, MST_CONVOLUTION_DST, MST_CONVOLUTION_OPERANDS };

typedef struct mst_convolution {
    mst_convolution_kind kind;
    mst_conv conv; /* together with the kind, the key of the table */
    int64_t references;
    struct mst_convolution *next;
    dnnl_primitive_t primitive;
    dnnl_primitive_desc_t descriptor;
    mst_description description[MST_CONVOLUTION_OPERANDS];
    mst_description plain;    /* weights [height, width, channels / groups, filters] */
    dnnl_primitive_t reorder; /* rearranges the weights to the primitive's layout or, for their gradient, from it; NULL:
                                 the layouts are the same */
    dnnl_primitive_desc_t reorder_descriptor;
} mst_convolution;

/** Sets OUT to the primitive of this convolution, with a reference for the caller. Several threads may call it at
 *  once. */
dnnl_status_t mst_convolution_get(mst_convolution_kind kind, const mst_conv *conv, mst_convolution **out);
/** Drops a reference; NULL is allowed. */
void mst_convolution_release(mst_convolution *convolution);
/** Bytes of scratchpad that each call needs. */
size_t mst_convolution_scratchpad(const mst_convolution *convolution);
/** Bytes of the weights in the primitive's layout, including its padding. */
size_t mst_convolution_weights_bytes(const mst_convolution *convolution);
mst_const_description mst_convolution_description(const mst_convolution *convolution, int which);
/** The primitive's argument for operand WHICH; for MST_CONVOLUTION_OPERANDS that for the scratchpad. */
int mst_convolution_argument(const mst_convolution *convolution, int which);

#endif
