/* The update of adam, for elements T; included once for each type. */

/* What is the same for all elements of step T. */
static void MST_NAME(scalars)(const mst_optimizer *o, double learning_rate, int64_t t, double *scalar) {
    const T power_1 = pow((T)o->beta_1, (T)t), power_2 = pow((T)o->beta_2, (T)t);
    const T correction = sqrt(1 - power_2);
    scalar[MST_NAME(alpha)] = (double)((T)learning_rate * correction / (1 - power_1));
    scalar[MST_NAME(epsilon)] = o->epsilon;
    if (o->epsilon_kind == MST_EPSILON_CORRECTED) scalar[MST_NAME(epsilon)] *= (double)correction;
}

MST_SIMD static void MST_NAME(plain)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict m = tile->slot[0], *restrict v = tile->slot[1];
    const T *restrict g = tile->gradient, *restrict r = tile->root;
    const T alpha = (T)tile->scalar[MST_NAME(alpha)], epsilon = (T)tile->scalar[MST_NAME(epsilon)];
    const T rest_1 = (T)tile->scalar[REST_1], rest_2 = (T)tile->scalar[REST_2];
    for (int64_t i = 0; i < tile->count; i++) {
        m[i] += (g[i] - m[i]) * rest_1;
        v[i] += (r[i] * r[i] - v[i]) * rest_2;
        w[i] -= m[i] * alpha / (sqrt(v[i]) + epsilon);
    }
}

MST_SIMD static void MST_NAME(with_amsgrad)(const mst_rule_tile *tile) {
    T *restrict w = tile->weight, *restrict m = tile->slot[0], *restrict v = tile->slot[1];
    T *restrict vhat = tile->slot[2];
    const T *restrict g = tile->gradient, *restrict r = tile->root;
    const T alpha = (T)tile->scalar[MST_NAME(alpha)], epsilon = (T)tile->scalar[MST_NAME(epsilon)];
    const T rest_1 = (T)tile->scalar[REST_1], rest_2 = (T)tile->scalar[REST_2];
    for (int64_t i = 0; i < tile->count; i++) {
        m[i] += (g[i] - m[i]) * rest_1;
        v[i] += (r[i] * r[i] - v[i]) * rest_2;
        vhat[i] = vhat[i] > v[i] ? vhat[i] : v[i]; /* NaN in v goes on */
        w[i] -= m[i] * alpha / (sqrt(vhat[i]) + epsilon);
    }
}

static void MST_NAME(update)(const mst_optimizer *o, const mst_rule_tile *tile) {
    (o->amsgrad ? MST_NAME(with_amsgrad) : MST_NAME(plain))(tile);
}
