/** Attention of a single query. */
#ifndef MUSTER_KERNEL_ATTENTION_ROW_H
#define MUSTER_KERNEL_ATTENTION_ROW_H

#include <stdbool.h>
#include <stdint.h>

/** PRODUCTS[k] = SCALE times the inner product of QUERY and row k of KEY, [keys, depth]. */
void mst_row_products(const float *query, const float *key, int64_t keys, int64_t depth, float scale, float *products);
/** Replaces each of KEYS products by e to its difference from their maximum, which *BASE becomes (0 if all are -Inf).
 *  Returns the sum of the results, added from the first to the last. */
float mst_row_weights(float *products, int64_t keys, float *base);
/** Adds to DST, [columns], the sum over k of WEIGHTS[k] times row k of VALUE, [keys, columns], from the first to the
 *  last. CLEARS: DST is set to 0 before. */
void mst_row_add(const float *weights, const float *value, int64_t keys, int64_t columns, float *dst, bool clears);

#endif
