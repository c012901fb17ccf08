/* The update of rmsprop, for elements T; included once for each type. */

MST_SIMD static void MST_NAME(plain)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict rms = tile->slot[0];
    const T *restrict g = tile->gradient, *restrict r = tile->root;
    const T learning_rate = (T)tile->scalar[LEARNING_RATE], epsilon = (T)tile->scalar[EPSILON];
    const T rho = (T)tile->scalar[RHO], rest = (T)tile->scalar[REST];
    for (int64_t i = 0; i < tile->count; i++) {
        rms[i] = rho * rms[i] + rest * (r[i] * r[i]);
        w[i] -= learning_rate * g[i] / sqrt(rms[i] + epsilon);
    }
}

MST_SIMD static void MST_NAME(with_momentum)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict rms = tile->slot[0], *restrict m = tile->slot[1];
    const T *restrict g = tile->gradient, *restrict r = tile->root;
    const T learning_rate = (T)tile->scalar[LEARNING_RATE], epsilon = (T)tile->scalar[EPSILON];
    const T rho = (T)tile->scalar[RHO], rest = (T)tile->scalar[REST];
    const T momentum = (T)tile->scalar[MOMENTUM];
    for (int64_t i = 0; i < tile->count; i++) {
        rms[i] = rho * rms[i] + rest * (r[i] * r[i]);
        m[i] = momentum * m[i] + learning_rate * g[i] / sqrt(rms[i] + epsilon);
        w[i] -= m[i];
    }
}

MST_SIMD static void MST_NAME(with_centered)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict rms = tile->slot[0], *restrict m = tile->slot[1];
    T *restrict mg = tile->slot[2];
    const T *restrict g = tile->gradient, *restrict r = tile->root;
    const T learning_rate = (T)tile->scalar[LEARNING_RATE], epsilon = (T)tile->scalar[EPSILON];
    const T rho = (T)tile->scalar[RHO], rest = (T)tile->scalar[REST];
    const T momentum = (T)tile->scalar[MOMENTUM];
    for (int64_t i = 0; i < tile->count; i++) {
        rms[i] = rho * rms[i] + rest * (r[i] * r[i]);
        mg[i] = rho * mg[i] + rest * g[i];
        m[i] = momentum * m[i] + learning_rate * g[i] / sqrt(rms[i] - mg[i] * mg[i] + epsilon);
        w[i] -= m[i];
    }
}

static void MST_NAME(update)(const mst_optimizer *o, const mst_rule_tile *tile) {
    (o->centered ? MST_NAME(with_centered) : o->momentum != 0 ? MST_NAME(with_momentum) : MST_NAME(plain))(tile);
}
