/* The product of two matrices of elements T; included once for each type. */

/* dst += factor * b */
MST_SIMD static void MST_NAME(axpy)(T factor, const T *restrict b, T *restrict dst, int64_t n) {
    for (int64_t j = 0; j < n; j++) dst[j] += factor * b[j];
}

/* ROWS rows of dst. All variants add over k in ascending order, so that swapping changes no bit. */
static void MST_NAME(multiply)(const product *p, const T *a, const T *b, T *dst, int64_t rows) {
    for (int64_t i = 0; i < rows; i++, a += p->a_row, dst += p->n) {
        for (int64_t j = 0; j < p->n; j++) dst[j] = 0;
        if (p->b_column == 1) {
            for (int64_t k = 0; k < p->k; k++) MST_NAME(axpy)(a[k * p->a_column], b + k * p->b_row, dst, p->n);
            continue;
        }
        for (int64_t j = 0; j < p->n; j++)
            for (int64_t k = 0; k < p->k; k++) dst[j] += a[k * p->a_column] * b[k * p->b_row + j * p->b_column];
    }
}
