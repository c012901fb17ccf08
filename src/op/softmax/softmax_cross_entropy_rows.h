/* Loss and derivative of ROWS rows of N logits of type T; included once for each type. With m the maximum of a row, s the
 * sum of exp(x - m) and S that of the labels: loss = S log s - sum(labels (x - m)), over the labels that are not 0, so
 * that a logit of -Inf may have the label 0. */

SIMD static void MST_NAME(rows)(const T *x, const T *labels, T *loss, T *slope, int64_t rows, int64_t n) {
    for (int64_t row = 0; row < rows; row++, x += n, labels += n, slope += n) {
        loss[row] = 0;
        if (n == 0) continue;
        const T most = MST_NAME(mst_softmax_max)(x, n), sum = MST_NAME(mst_softmax_exp)(x, most, n, slope);
        T total = 0, inner = 0;
        for (int64_t j = 0; j < n; j++) {
            total += labels[j];
            if (labels[j] != 0) inner += labels[j] * (x[j] - most);
        }
        const T scale = total / sum;
        for (int64_t j = 0; j < n; j++) slope[j] = slope[j] * scale - labels[j];
        loss[row] = total * LOG(sum) - inner;
    }
}
