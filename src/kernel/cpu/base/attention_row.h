/** The three steps of attention of a single query: products with the keys, weights, and the weighted sum of values. */
#ifndef MUSTER_KERNEL_ATTENTION_ROW_H
#define MUSTER_KERNEL_ATTENTION_ROW_H

#include <stdbool.h>
#include <stdint.h>

/** PRODUCTS[k] = SCALE times the inner product of QUERY and row k of KEY, [keys, depth]. */
void mst_row_products(const float *query, const float *key, int64_t keys, int64_t depth, float scale, float *products);
/** Replaces each of the KEYS products p by e^(p - base). Sets *BASE to base, the maximum of the products (0 if all are
 *  -Inf). Returns the sum of the results, added from the first to the last. */
float mst_row_weights(float *products, int64_t keys, float *base);
/** Adds to DST, [columns], WEIGHTS[k] times row k of VALUE, [keys, columns], for k from the first to the last. CLEARS:
 *  DST is set to 0 before. */
void mst_row_add(const float *weights, const float *value, int64_t keys, int64_t columns, float *dst, bool clears);

#endif
