/** Products of matrices, of f32 or with factors of bf16, by the matmul primitive of oneDNN, versions 2 and 3 of its C
 *  API, cut into parts.
 *
 *  A product C = A B (+ bias) of batches of matrices is cut along one axis of C into parts of so many indices. A part
 *  is a call of its own, on one thread: parts may run in any order, on any thread, and their bits do not depend on
 *  that. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_PRODUCT_H
#define MUSTER_KERNEL_ONEDNN_BASE_PRODUCT_H

#include "muster/op.h"

enum { MST_PRODUCT_A, MST_PRODUCT_B, MST_PRODUCT_BIAS, MST_PRODUCT_C, MST_PRODUCT_OPERANDS };

/** The operands as strided views with NDIM dimensions: A [..., m, k], B [..., k, n], bias [1, ..., n], C [..., m, n];
 *  dimensions of A and B before the last two are those of C, or 1. */
typedef struct mst_product_shape {
    int ndim;
    int64_t dim[MST_PRODUCT_OPERANDS][MST_MAX_NDIM], stride[MST_PRODUCT_OPERANDS][MST_MAX_NDIM]; /* in elements */
    bool has_bias;
    bool bf16;   /* of A and B; the products are summed in f32, and bias and C are f32 */
    bool packed; /* B is in the layout that oneDNN chooses, see mst_product_pack */
} mst_product_shape;

typedef struct mst_product mst_product;

/** Whether the processor has instructions for products of bf16, and oneDNN takes them. */
bool mst_dnnl_has_bf16(void);

/** Whether oneDNN uses AMX for them. */
bool mst_dnnl_has_amx(void);

/** Whether oneDNN uses AVX-512. */
bool mst_dnnl_has_avx512(void);

/** Operand WHICH as a row-major array of SHAPE, aligned to the last dimensions; TRANSPOSED: with the last two
 *  swapped. */
void mst_product_operand(mst_product_shape *p, int which, mst_shape shape, bool transposed);
/** Prepares the product in parts of CHUNK indices of AXIS of C (the last part may be smaller), for NUM_THREADS threads.
 *  NAME is for messages. */
MST_CHECKED mst_status mst_product_create(const mst_product_shape *shape, int axis, int64_t chunk, int num_threads,
                                          const char *name, mst_product **out);
void mst_product_destroy(mst_product *product);
/** Rearranges B into the layout that oneDNN reads fastest, each part's on its own. *PACKED: u8, for the caller. From
 *  now on *PRODUCT takes it as B. NULL if oneDNN reads B as it is, or its layout is much larger. */
MST_CHECKED mst_status mst_product_pack(mst_product **product, const void *b, mst_tensor **packed);
int64_t mst_product_parts(const mst_product *product);
/** Bytes of workspace for each thread. */
size_t mst_product_workspace(const mst_product *product);
/** Part PART by thread THREAD with WORKSPACE of its own. The operands begin at their DATA as a whole; C_PART is where
 *  the part itself begins: in C, or elsewhere with the same strides. */
MST_CHECKED mst_status mst_product_run(mst_product *product, int64_t part, int thread, void *workspace, const void *a,
                                       const void *b, const float *bias, float *c_part);
/** Where part PART begins in C, in elements. */
int64_t mst_product_offset(const mst_product *product, int64_t part);

#endif
