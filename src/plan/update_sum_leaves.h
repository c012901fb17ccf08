/* The sum of the leaves of a tree, for element type T; included once for each. */

/* Elements AT to AT + COUNT of the sum over shards FIRST to FIRST + SHARDS - 1, whose leaves begin at *LEAF;
 * into OUT. */
static void MST_NAME(sum_tree)(const mst_kernel_args *a, int32_t first, int32_t shards, int *leaf, int64_t at,
                               int64_t count, T *out) {
    const mst_leaf *leaves = ((const mst_sum_leaves_options *)a->options)->leaf;
    if (leaves[*leaf].first == first && leaves[*leaf].count == shards) {
        memcpy(out, (const T *)a->src[*leaf].data + at, (size_t)count * sizeof(T));
        ++*leaf;
        return;
    }
    T right[BLOCK];
    const int32_t half = mst_tree_half(shards);
    MST_NAME(sum_tree)(a, first, half, leaf, at, count, out);
    MST_NAME(sum_tree)(a, first + half, shards - half, leaf, at, count, right);
    for (int64_t i = 0; i < count; i++) out[i] += right[i];
}

static void MST_NAME(sum_all)(const mst_kernel_args *a, int64_t begin, int64_t end) {
    const int32_t shards = ((const mst_sum_leaves_options *)a->options)->num_shards;
    for (int64_t at = begin; at < end; at += BLOCK) {
        int leaf = 0;
        const int64_t count = end - at < BLOCK ? end - at : BLOCK;
        MST_NAME(sum_tree)(a, 0, shards, &leaf, at, count, (T *)a->dst[0].data + at);
    }
}
