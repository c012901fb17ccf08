/* select for elements T; included once for each type. Both values are read before one is chosen: without branches the
 * loops become vector instructions. */

MST_SIMD static void MST_NAME(select_row)(const uint8_t *condition, const T *xs, const T *ys, const bool *varies,
                                          T *dst, int64_t count) {
    const bool x_varies = varies[1], y_varies = varies[2];
    if (!varies[0]) {
        const T *from = *condition ? xs : ys;
        const int64_t step = varies[*condition ? 1 : 2];
#pragma omp simd
        for (int64_t i = 0; i < count; i++) dst[i] = from[i * step];
    } else if (x_varies && y_varies) {
#pragma omp simd
        for (int64_t i = 0; i < count; i++) {
            const T x = xs[i], y = ys[i];
            dst[i] = condition[i] ? x : y;
        }
    } else if (x_varies) {
        const T y = *ys;
#pragma omp simd
        for (int64_t i = 0; i < count; i++) {
            const T x = xs[i];
            dst[i] = condition[i] ? x : y;
        }
    } else {
        const T x = *xs;
        const int64_t step = y_varies;
#pragma omp simd
        for (int64_t i = 0; i < count; i++) {
            const T y = ys[i * step];
            dst[i] = condition[i] ? x : y;
        }
    }
}

static mst_status MST_NAME(select)(const mst_kernel_args *a) {
    const uint8_t *condition = a->src[0].data;
    const T *xs = a->src[1].data, *ys = a->src[2].data;
    T *dst = a->dst[0].data;
    if (a->dst[0].count == 0) return MST_OK;
    mst_broadcast b = mst_broadcast_make(a);
    do {
        MST_NAME(select_row)(condition + b.offset[0], xs + b.offset[1], ys + b.offset[2], b.varies, dst, b.inner);
        dst += b.inner;
    } while (mst_broadcast_next(&b));
    return MST_OK;
}
