/* The search for the first element than which none is better, among elements T; included once for each type. Defines
 * `static const mst_arg_searcher MST_NAME(searcher)`. BETTER(x, best) compares elements; where neither is better than
 * the other, they are equal. */

static int64_t MST_NAME(in_short_row)(const T *src, int64_t n) {
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (BETTER(src[i], src[at])) at = i;
    return at;
}

/* The best is found first, in MST_ARG_SEARCH_LANES interleaved parts, then its place. */
MST_SIMD static int64_t MST_NAME(in_long_row)(const T *src, int64_t n) {
    T lane[MST_ARG_SEARCH_LANES];
    int64_t i = 0;
    for (int k = 0; k < MST_ARG_SEARCH_LANES; k++) lane[k] = src[0];
    for (; i + MST_ARG_SEARCH_LANES <= n; i += MST_ARG_SEARCH_LANES)
        for (int k = 0; k < MST_ARG_SEARCH_LANES; k++) {
            const T x = src[i + k], best = lane[k];
            lane[k] = BETTER(x, best) ? x : best;
        }
    T most = lane[0];
    for (int k = 1; k < MST_ARG_SEARCH_LANES; k++) most = BETTER(lane[k], most) ? lane[k] : most;
    for (; i < n; i++) most = BETTER(src[i], most) ? src[i] : most;
    for (i = 0; i + MST_ARG_SEARCH_LANES <= n; i += MST_ARG_SEARCH_LANES) {
        int found = 0;
        for (int k = 0; k < MST_ARG_SEARCH_LANES; k++) found |= !(BETTER(most, src[i + k]));
        if (found) break;
    }
    while (BETTER(most, src[i])) i++;
    return i;
}

static void MST_NAME(in_rows)(const void *src, int64_t n, int64_t begin, int64_t end, int64_t *at) {
    const T *row = (const T *)src + begin * n;
    for (int64_t i = begin; i < end; i++, row += n)
        *at++ = n < MST_ARG_SEARCH_LANES ? MST_NAME(in_short_row)(row, n) : MST_NAME(in_long_row)(row, n);
}

MST_SIMD static void MST_NAME(in_columns)(const void *src, int64_t stride, int64_t n, int64_t begin, int64_t end,
                                          int64_t *at) {
    const T *row = (const T *)src + begin * stride;
    if (stride == 1) { /* one column: a row */
        *at = begin +
              (end - begin < MST_ARG_SEARCH_LANES ? MST_NAME(in_short_row) : MST_NAME(in_long_row))(row, end - begin);
        return;
    }
    T best[MST_ARG_SEARCH_WIDTH];
    int64_t place[MST_ARG_SEARCH_WIDTH]; /* local, so that the compiler may write it without a branch */
    for (int64_t j = 0; j < n; j++) {
        best[j] = row[j];
        place[j] = begin;
    }
    for (int64_t i = begin + 1; i < end; i++) {
        row += stride;
        for (int64_t j = 0; j < n; j++) {
            const T x = row[j], old = best[j];
            const bool is_better = BETTER(x, old);
            best[j] = is_better ? x : old;
            place[j] = is_better ? i : place[j];
        }
    }
    memcpy(at, place, (size_t)n * sizeof *at);
}

static void MST_NAME(join)(const void *src, int64_t stride, int64_t n, const int64_t *other, int64_t *at) {
    for (int64_t j = 0; j < n; j++) {
        const T *column = (const T *)src + j;
        if (BETTER(column[other[j] * stride], column[at[j] * stride])) at[j] = other[j];
    }
}

static const mst_arg_searcher MST_NAME(searcher) = {
    .in_rows = MST_NAME(in_rows),
    .in_columns = MST_NAME(in_columns),
    .join = MST_NAME(join),
};
