/** Products of small matrices that are in a cache. */
#ifndef MUSTER_KERNEL_BLOCK_PRODUCT_H
#define MUSTER_KERNEL_BLOCK_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

enum { MST_PRODUCT_VECTOR = 16 };

/** C = A B, or C + A B: [m, n], [m, k] and [k, n]. Steps are in elements. */
typedef struct mst_block_product {
    int64_t m, n, k; /**< n: a multiple of MST_PRODUCT_VECTOR */
    const float *a, *b;
    float *c;
    int64_t a_row, a_step; /**< from row to row of A, and from column to column */
    int64_t b_row, c_row;
    bool adds; /**< to C */
} mst_block_product;

/** Each element is summed over k from the first to the last, whatever m, n and the other elements are. */
void mst_block_multiply(const mst_block_product *p);

#endif
