/* Products of small matrices. Only this file is compiled with floating-point contraction: processors with FMA compute
 * a * b + c in one instruction. All elements go through the same loop, so all are rounded in the same way. */
#include "kernel/cpu/base/block_product.h"

#include "base/simd.h"

enum { TILE = 6 /* rows that are computed at once: accumulators and factors fit into 16 registers */ };

typedef float vector __attribute__((vector_size(MST_PRODUCT_VECTOR * sizeof(float))));
typedef float vector_anywhere
    __attribute__((vector_size(MST_PRODUCT_VECTOR * sizeof(float)), aligned(sizeof(float)), may_alias));

__attribute__((always_inline)) static inline void multiply_tile(int rows, const mst_block_product *p, const float *a,
                                                                const float *b, float *c) {
    vector sum[TILE];
    for (int r = 0; r < rows; r++) {
        if (p->adds)
            sum[r] = *(const vector_anywhere *)(c + r * p->c_row);
        else
            sum[r] = (vector){0};
    }
    for (int64_t k = 0; k < p->k; k++, a += p->a_step, b += p->b_row) {
        const vector factor = *(const vector_anywhere *)b;
        for (int r = 0; r < rows; r++) sum[r] += a[r * p->a_row] * factor;
    }
    for (int r = 0; r < rows; r++) *(vector_anywhere *)(c + r * p->c_row) = sum[r];
}

MST_SIMD void mst_block_multiply(const mst_block_product *p) {
    for (int64_t j = 0; j < p->n; j += MST_PRODUCT_VECTOR) {
        const float *a = p->a, *b = p->b + j;
        float *c = p->c + j;
        int64_t left = p->m;
        for (; left >= TILE; left -= TILE, a += TILE * p->a_row, c += TILE * p->c_row) multiply_tile(TILE, p, a, b, c);
        switch (left) {
            case 5: multiply_tile(5, p, a, b, c); break;
            case 4: multiply_tile(4, p, a, b, c); break;
            case 3: multiply_tile(3, p, a, b, c); break;
            case 2: multiply_tile(2, p, a, b, c); break;
            case 1: multiply_tile(1, p, a, b, c); break;
            default: break;
        }
    }
}
