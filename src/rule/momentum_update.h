/* The update of momentum, for elements T; included once for each type. */

MST_SIMD static void MST_NAME(plain)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict b = tile->slot[0];
    const T *restrict g = tile->gradient;
    const T learning_rate = (T)tile->scalar[LEARNING_RATE];
    const T momentum = (T)tile->scalar[MOMENTUM];
    for (int64_t i = 0; i < tile->count; i++) {
        b[i] = b[i] * momentum + g[i];
        w[i] -= learning_rate * b[i];
    }
}

MST_SIMD static void MST_NAME(with_nesterov)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict b = tile->slot[0];
    const T *restrict g = tile->gradient;
    const T learning_rate = (T)tile->scalar[LEARNING_RATE];
    const T momentum = (T)tile->scalar[MOMENTUM];
    for (int64_t i = 0; i < tile->count; i++) {
        b[i] = b[i] * momentum + g[i];
        w[i] -= g[i] * learning_rate + b[i] * momentum * learning_rate;
    }
}

static void MST_NAME(update)(const mst_optimizer *o, const mst_rule_tile *tile) {
    (o->nesterov ? MST_NAME(with_nesterov) : MST_NAME(plain))(tile);
}
