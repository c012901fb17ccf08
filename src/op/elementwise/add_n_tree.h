/* add_n for elements T; included once for each type. */

MST_SIMD static void MST_NAME(add_two)(const MODULAR *a, const MODULAR *b, MODULAR *out, int64_t length) {
    for (int64_t i = 0; i < length; i++) out[i] = (MODULAR)(a[i] + b[i]);
}

/* Sums elements AT to AT + LENGTH - 1 of N sources into OUT, which must not be a source. The larger power of two of the
 * sources is summed in OUT, the others in a block of their own. */
static void MST_NAME(add_tree)(const mst_array *src, int n, int64_t at, MODULAR *out, int64_t length) {
    MODULAR right[BLOCK];
    int half = 1;
    while (2 * half < n) half *= 2;
    if (n == 1) {
        memcpy(out, (const MODULAR *)src[0].data + at, (size_t)length * sizeof(MODULAR));
    } else if (n == 2) {
        MST_NAME(add_two)((const MODULAR *)src[0].data + at, (const MODULAR *)src[1].data + at, out, length);
    } else {
        MST_NAME(add_tree)(src, half, at, out, length);
        MST_NAME(add_tree)(src + half, n - half, at, right, length);
        MST_NAME(add_two)(out, right, out, length);
    }
}

static mst_status MST_NAME(add)(const mst_kernel_args *a) {
    MODULAR block[BLOCK], *dst = a->dst[0].data;
    for (int64_t at = 0; at < a->dst[0].count; at += BLOCK) {
        const int64_t left = a->dst[0].count - at, length = left < BLOCK ? left : BLOCK;
        MST_NAME(add_tree)(a->src, a->num_src, at, block, length);
        memcpy(dst + at, block, (size_t)length * sizeof(MODULAR));
    }
    return MST_OK;
}
