#include "kernel/cpu/base/attention_row.h"

#include <math.h>

#include "base/simd.h"
#include "op/softmax/softmax.h"

enum { VECTOR = 16 };

typedef float vector __attribute__((vector_size(VECTOR * sizeof(float))));
typedef float vector_anywhere __attribute__((vector_size(VECTOR * sizeof(float)), aligned(sizeof(float)), may_alias));

/* The sum of the products of X and Y, in VECTOR interleaved parts. */
__attribute__((always_inline)) static inline float inner_product(const float *x, const float *y, int64_t n) {
    vector sum = {0};
    int64_t i = 0;
    float total = 0;
    for (; i + VECTOR <= n; i += VECTOR) sum += *(const vector_anywhere *)(x + i) * *(const vector_anywhere *)(y + i);
    for (int k = 0; k < VECTOR; k++) total += sum[k];
    for (; i < n; i++) total += x[i] * y[i];
    return total;
}

MST_SIMD void mst_row_products(const float *query, const float *key, int64_t keys, int64_t depth, float scale,
                               float *products) {
    for (int64_t k = 0; k < keys; k++) products[k] = scale * inner_product(query, key + k * depth, depth);
}

MST_SIMD float mst_row_weights(float *products, int64_t keys, float *base) {
    float most = -INFINITY, sum = 0;
    for (int64_t k = 0; k < keys; k++) most = products[k] > most ? products[k] : most;
    *base = most == -INFINITY ? 0 : most;
    for (int64_t k = 0; k < keys; k++) products[k] = mst_exp_negative(products[k] - *base);
    for (int64_t k = 0; k < keys; k++) sum += products[k];
    return sum;
}

MST_SIMD void mst_row_add(const float *weights, const float *value, int64_t keys, int64_t columns, float *restrict dst,
                          bool clears) {
    for (int64_t j = 0; j < columns && clears; j++) dst[j] = 0;
    for (int64_t k = 0; k < keys; k++) {
        const float weight = weights[k];
        for (int64_t j = 0; j < columns; j++) dst[j] += weight * value[k * columns + j];
    }
}
