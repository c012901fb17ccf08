/* The update of ftrl, for elements T; included once for each type. */

typedef struct MST_NAME(constants) {
    T learning_rate, l1, l2, shrinkage;
} MST_NAME(constants);

static inline MST_NAME(constants) MST_NAME(constants_of)(const double *scalar) {
    return (MST_NAME(constants)){.learning_rate = (T)scalar[LEARNING_RATE],
                                 .l1 = (T)scalar[L1],
                                 .l2 = (T)scalar[L2],
                                 .shrinkage = (T)scalar[SHRINKAGE]};
}

/* The new weight and linear term of an element, of whose accumulator p is BEFORE and, with the gradient G added,
 * AFTER. */
static inline void MST_NAME(step)(MST_NAME(constants) c, T g, T before, T after, T *w, T *linear) {
    const T l = *linear + (g + c.shrinkage * *w - (after - before) / c.learning_rate * *w);
    const T low = l > -c.l1 ? l : -c.l1;
    const T clipped = low < c.l1 ? low : c.l1;
    *w = (clipped - l) / (after / c.learning_rate + c.l2);
    *linear = l;
}

/* p(x) = sqrt(x) */
MST_SIMD static void MST_NAME(with_root)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict accumulator = tile->slot[0], *restrict linear = tile->slot[1];
    const T *restrict g = tile->gradient, *restrict r = tile->root;
    const MST_NAME(constants) c = MST_NAME(constants_of)(tile->scalar);
    for (int64_t i = 0; i < tile->count; i++) {
        const T n = accumulator[i] + r[i] * r[i];
        MST_NAME(step)(c, g[i], sqrt(accumulator[i]), sqrt(n), &w[i], &linear[i]);
        accumulator[i] = n;
    }
}

/* p(x) = x^power */
static void MST_NAME(with_power)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict accumulator = tile->slot[0], *restrict linear = tile->slot[1];
    const T *restrict g = tile->gradient, *restrict r = tile->root;
    const MST_NAME(constants) c = MST_NAME(constants_of)(tile->scalar);
    const T power = (T)tile->scalar[POWER];
    for (int64_t i = 0; i < tile->count; i++) {
        const T n = accumulator[i] + r[i] * r[i];
        MST_NAME(step)(c, g[i], pow(accumulator[i], power), pow(n, power), &w[i], &linear[i]);
        accumulator[i] = n;
    }
}

static void MST_NAME(update)(const mst_optimizer *o, const mst_rule_tile *tile) {
    (o->learning_rate_power == -0.5 ? MST_NAME(with_root) : MST_NAME(with_power))(tile);
}
