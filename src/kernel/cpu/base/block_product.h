/** Products of small matrices of f32 that are in a cache. */
#ifndef MUSTER_KERNEL_BLOCK_PRODUCT_H
#define MUSTER_KERNEL_BLOCK_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

enum { MST_PRODUCT_VECTOR = 16 };

/** C = A B or C += A B, with A [m, k], B [k, n] and C [m, n]. Strides are in elements. */
typedef struct mst_block_product {
    int64_t m, n, k; /**< n: a multiple of MST_PRODUCT_VECTOR */
    const float *a, *b;
    float *c;
    int64_t a_row, a_step; /**< strides of A from row to row, and from column to column */
    int64_t b_row, c_row;  /**< strides from row to row; columns are contiguous */
    bool adds;             /**< C += A B */
} mst_block_product;

/** Computes C. Each element is a sum over k from the first to the last. Its bits depend neither on m and n nor on other
 *  elements. */
void mst_block_multiply(const mst_block_product *p);

#endif
