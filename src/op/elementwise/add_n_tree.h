/* add_n for elements T; included once for each type. */

MST_SIMD static void MST_NAME(add_two)(const MODULAR *a, const MODULAR *b, MODULAR *out, int64_t length) {
    for (int64_t i = 0; i < length; i++) out[i] = (MODULAR)(a[i] + b[i]);
}

/* Elements AT to AT + LENGTH - 1 of the sum: of one source itself, else in STACK, a block for each level. */
static const MODULAR *MST_NAME(add_block)(const mst_kernel_args *a, int64_t at, int64_t length,
                                          MODULAR (*stack)[BLOCK]) {
    const MODULAR *sum[MST_SHARD_LEVELS];
    int32_t height = 0;
    for (int32_t i = 0; i < a->num_src; i++) {
        sum[height++] = (const MODULAR *)a->src[i].data + at;
        for (mst_shards s = {i, 1}; mst_shards_is_right(s, a->num_src); s = mst_shards_parent(s, a->num_src)) {
            MODULAR *both = stack[--height - 1];
            MST_NAME(add_two)(sum[height - 1], sum[height], both, length);
            sum[height - 1] = both;
        }
    }
    return sum[0];
}

static mst_status MST_NAME(add)(const mst_kernel_args *a) {
    MODULAR stack[MST_SHARD_LEVELS][BLOCK], *dst = a->dst[0].data;
    for (int64_t at = 0; at < a->dst[0].count; at += BLOCK) {
        const int64_t left = a->dst[0].count - at, length = left < BLOCK ? left : BLOCK;
        memmove(dst + at, MST_NAME(add_block)(a, at, length, stack), (size_t)length * sizeof(MODULAR));
    }
    return MST_OK;
}
