/* The update of sgd, for elements T; included once for each type. */

MST_SIMD static void MST_NAME(plain)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight;
    const T *restrict g = tile->gradient;
    const T learning_rate = (T)tile->scalar[LEARNING_RATE];
    for (int64_t i = 0; i < tile->count; i++) w[i] -= g[i] * learning_rate;
}

MST_SIMD static void MST_NAME(with_momentum)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict m = tile->slot[0];
    const T *restrict g = tile->gradient;
    const T learning_rate = (T)tile->scalar[LEARNING_RATE];
    const T momentum = (T)tile->scalar[MOMENTUM];
    for (int64_t i = 0; i < tile->count; i++) {
        m[i] = m[i] * momentum - g[i] * learning_rate;
        w[i] += m[i];
    }
}

MST_SIMD static void MST_NAME(with_nesterov)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict m = tile->slot[0];
    const T *restrict g = tile->gradient;
    const T learning_rate = (T)tile->scalar[LEARNING_RATE];
    const T momentum = (T)tile->scalar[MOMENTUM];
    for (int64_t i = 0; i < tile->count; i++) {
        T step = g[i] * learning_rate;
        m[i] = m[i] * momentum - step;
        w[i] += m[i] * momentum - step;
    }
}

static void MST_NAME(update)(const mst_optimizer *o, const mst_rule_tile *tile) {
    (o->momentum == 0 ? MST_NAME(plain) : o->nesterov ? MST_NAME(with_nesterov) : MST_NAME(with_momentum))(tile);
}
