/** Products of matrices in f32, or with factors in bf16, cut into parts. They use the matmul primitive of oneDNN, in
 *  versions 2 and 3 of its C API.
 *
 *  A product C = A B (+ bias) of batches of matrices is cut along one axis of C into parts of a given number of
 *  indices. A part is a call of its own, on one thread. Parts may run in any order and on any thread: their bits do not
 *  depend on this. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_PRODUCT_H
#define MUSTER_KERNEL_ONEDNN_BASE_PRODUCT_H

#include "muster/op.h"

enum { MST_PRODUCT_A, MST_PRODUCT_B, MST_PRODUCT_BIAS, MST_PRODUCT_C, MST_PRODUCT_OPERANDS };

/** The operands as strided views with NDIM dimensions: A [..., m, k], B [..., k, n], bias [1, ..., n], C [..., m, n].
 *  The dimensions of A and B before the last two are those of C, or 1. */
typedef struct mst_product_shape {
    int ndim;
    int64_t dim[MST_PRODUCT_OPERANDS][MST_MAX_NDIM], stride[MST_PRODUCT_OPERANDS][MST_MAX_NDIM]; /* in elements */
    bool has_bias;
    bool bf16;   /* A and B are bf16; products are summed in f32, and bias and C are f32 */
    bool packed; /* B is in the layout that oneDNN chooses: mst_product_pack */
} mst_product_shape;

typedef struct mst_product mst_product;

/** Whether the processor has instructions for products of bf16, and oneDNN uses them. */
bool mst_dnnl_has_bf16(void);

/** Whether oneDNN uses AMX for products of bf16. */
bool mst_dnnl_has_amx(void);

/** Whether oneDNN uses AVX-512. */
bool mst_dnnl_has_avx512(void);

/** Describes operand WHICH as a row-major array of SHAPE; its last dimensions are the last of P. TRANSPOSED: the last
 *  two dimensions are swapped. */
void mst_product_operand(mst_product_shape *p, int which, mst_shape shape, bool transposed);
/** Prepares the product in parts of CHUNK indices of AXIS of C (the last part may be smaller), for NUM_THREADS threads.
 *  NAME is for messages. */
MST_CHECKED mst_status mst_product_create(const mst_product_shape *shape, int axis, int64_t chunk, int num_threads,
                                          const char *name, mst_product **out);
void mst_product_destroy(mst_product *product);
/** Rearranges B into the layout that oneDNN reads fastest, separately for each part. *PACKED is a u8 tensor that the
 *  caller owns, and that *PRODUCT takes as B from now on. *PACKED is NULL if B stays as it is: oneDNN reads it fastest
 *  so, or the other layout is much larger. */
MST_CHECKED mst_status mst_product_pack(mst_product **product, const void *b, mst_tensor **packed);
int64_t mst_product_parts(const mst_product *product);
/** Bytes of workspace for each thread. */
size_t mst_product_workspace(const mst_product *product);
/** Runs part PART on thread THREAD, with its own WORKSPACE. A, B and BIAS are whole operands. C_PART is the place of
 *  the part itself, in C or elsewhere with the same strides. */
MST_CHECKED mst_status mst_product_run(mst_product *product, int64_t part, int thread, void *workspace, const void *a,
                                       const void *b, const float *bias, float *c_part);
/** The element of C at which part PART begins. */
int64_t mst_product_offset(const mst_product *product, int64_t part);

#endif
