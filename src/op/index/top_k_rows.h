/* top_k for elements T; included once for each type. */

static bool MST_NAME(is_nan)(T x) {
    const T same = x; /* compilers complain about x != x where T is an integer */
    return x != same;
}

/* True where element I of a row comes before element J: NaN is last. */
static bool MST_NAME(comes_before)(const T *row, int32_t i, int32_t j) {
    const bool nan_i = MST_NAME(is_nan)(row[i]), nan_j = MST_NAME(is_nan)(row[j]);
    if (nan_i || nan_j) return nan_i == nan_j ? i < j : nan_j;
    return row[i] == row[j] ? i < j : row[i] > row[j];
}

/* Moves the index at place AT of the heap down to where it belongs; all other places are in order. */
static void MST_NAME(sink)(const T *row, int32_t *heap, int32_t count, int32_t at) {
    const int32_t moved = heap[at];
    for (int64_t child; (child = 2 * (int64_t)at + 1) < count; at = (int32_t)child) {
        if (child + 1 < count && MST_NAME(comes_before)(row, heap[child], heap[child + 1])) child++;
        if (!MST_NAME(comes_before)(row, moved, heap[child])) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* Rows BEGIN to END - 1. The best elements so far are a heap of indices with the worst of them on top, so that a row
 * takes n log k steps and no memory beside the output; sorting it in place puts the best first. */
static void MST_NAME(top)(const mst_kernel_args *a, int64_t begin, int64_t end, int32_t n, int32_t k) {
    const T *row = (const T *)a->src[0].data + begin * n;
    T *values = (T *)a->dst[0].data + begin * k;
    int32_t *heap = (int32_t *)a->dst[1].data + begin * k;
    for (int64_t r = begin; r < end; r++, row += n, values += k, heap += k) {
        for (int32_t i = 0; i < k; i++) heap[i] = i;
        for (int32_t i = k / 2; i-- > 0;) MST_NAME(sink)(row, heap, k, i);
        T worst = row[heap[0]];
        for (int32_t i = k; i < n; i++) {
            if (row[i] <= worst || !MST_NAME(comes_before)(row, i, heap[0])) continue;
            heap[0] = i;
            MST_NAME(sink)(row, heap, k, 0);
            worst = row[heap[0]];
        }
        for (int32_t last = k - 1; last > 0; last--) {
            const int32_t worst = heap[0];
            heap[0] = heap[last];
            heap[last] = worst;
            MST_NAME(sink)(row, heap, last, 0);
        }
        for (int32_t i = 0; i < k; i++) values[i] = row[heap[i]];
    }
}
