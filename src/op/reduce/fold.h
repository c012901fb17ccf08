/* Folds contiguous elements T into one accumulator A; included once for each type. An accumulator begins as START,
 * takes an element with STEP(a, x) and is joined with another by COMBINE(a, b). */

static inline A MST_NAME(step)(A a, T x) {
    return STEP(a, x);
}

static inline A MST_NAME(combine)(A a, A b) {
    return COMBINE(a, b);
}

/* By 32 interleaved accumulators that are joined in a tree. */
MST_SIMD static A MST_NAME(fold)(const T *src, int64_t n) {
    enum { LANES = 32 };
    A lane[LANES];
    for (int k = 0; k < LANES; k++) lane[k] = START;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] = MST_NAME(step)(lane[k], src[i + k]);
    for (int k = 0; i + k < n; k++) lane[k] = MST_NAME(step)(lane[k], src[i + k]);
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++) lane[k] = MST_NAME(combine)(lane[k], lane[k + half]);
    return lane[0];
}
