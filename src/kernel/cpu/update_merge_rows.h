/* merge_rows for element type T; included once for each. */

static void MST_NAME(add_rows)(T *sum, const T *left, const T *right, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] = left[i] + right[i];
}

/* Row ROW of the sum, into OUT; PLACE is where it is, or would be, in each source. A row that a source does not have is
 * NULL: x + 0 is x, since sum_rows, which begins with 0, gives no -0. */
static void MST_NAME(sum_row)(const work *w, int64_t row, int64_t *place, T *stack, T *out) {
    const mst_merge_rows_options *o = w->options;
    const int64_t columns = w->state->columns;
    const T *sum[MST_SHARD_LEVELS] = {NULL};
    int32_t height = 0;
    for (int32_t i = 0; i < w->state->num_leaves; i++) {
        const int64_t *number = numbers(w->args, i);
        const bool has = place[i] < number[-1] && number[place[i]] == row;
        sum[height++] = has ? (const T *)w->args->src[2 * (int64_t)i].data + place[i]++ * columns : NULL;
        for (mst_shards s = o->leaf[i]; height > 1 && mst_shards_is_right(s, o->num_shards);
             s = mst_shards_parent(s, o->num_shards)) {
            const T *left = sum[--height - 1], *right = sum[height];
            T *both = stack + (height - 1) * columns;
            if (left && right) MST_NAME(add_rows)(both, left, right, columns);
            sum[height - 1] = !left ? right : !right ? left : both;
        }
    }
    if (sum[0]) memcpy(out, sum[0], (size_t)columns * sizeof(T)); /* a source has it */
}

static void MST_NAME(sum_all)(const work *w, int64_t begin, int64_t end, int64_t *place, void *stack) {
    for (int64_t r = begin; r < end; r++)
        MST_NAME(sum_row)(w, w->number[r], place, stack, (T *)w->args->dst[0].data + r * w->state->columns);
}
