/* sum_leaves for element type T; included once for each. */

/* Elements AT to AT + COUNT - 1 of the sum, into OUT. STACK: a block for each level. */
static void MST_NAME(sum_block)(const mst_kernel_args *a, int64_t at, int64_t count, T (*stack)[BLOCK], T *out) {
    const mst_sum_leaves_options *o = a->options;
    const T *sum[MST_SHARD_LEVELS] = {NULL};
    int32_t height = 0;
    for (int32_t i = 0; i < a->num_src; i++) {
        sum[height++] = (const T *)a->src[i].data + at;
        for (mst_shards s = o->leaf[i]; height > 1 && mst_shards_is_right(s, o->num_shards);
             s = mst_shards_parent(s, o->num_shards)) {
            const T *left = sum[--height - 1], *right = sum[height];
            T *both = stack[height - 1];
            for (int64_t k = 0; k < count; k++) both[k] = left[k] + right[k];
            sum[height - 1] = both;
        }
    }
    if (sum[0]) memcpy(out, sum[0], (size_t)count * sizeof(T));
}

static void MST_NAME(sum_all)(const mst_kernel_args *a, int64_t begin, int64_t end) {
    T stack[MST_SHARD_LEVELS][BLOCK];
    for (int64_t at = begin; at < end; at += BLOCK) {
        const int64_t count = end - at < BLOCK ? end - at : BLOCK;
        MST_NAME(sum_block)(a, at, count, stack, (T *)a->dst[0].data + at);
    }
}
