#include "cli/model/label_kind.h"

#include <math.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "data/column_report.h"

enum { BATCH = 1000, FEW_CLASSES = 20, ROWS_OF_A_CLASS = 10 };

/* Whether DATA is a table whose labels are numbers. */
static mst_status has_numbers(const mst_dataset *data, bool *out) {
    mst_column_report *column;
    int count;
    MST_TRY(mst_column_reports(mst_dataset_schema(data), &column, &count));
    free(column);
    *out = count > 1 && mst_dataset_num_components(data) >= 2 && !mst_dataset_num_classes(data, 1) &&
           mst_dataset_spec(data, 1).dtype != MST_STRING && mst_dataset_num_rows(data) > 0 &&
           mst_dataset_spec(data, 1).shape.ndim <= 1;
    return MST_OK;
}

static mst_status read_labels(mst_dataset *data, double *label, int64_t rows) {
    mst_dataset *batches;
    mst_iterator *iterator = NULL;
    const mst_batch *batch = NULL;
    MST_TRY(mst_dataset_batch(data, BATCH, false, &batches));
    mst_status status = mst_iterator_create(batches, 0, &iterator);
    for (int64_t row = 0; !status && !(status = mst_iterator_next(iterator, &batch)) && batch;) {
        mst_tensor *labels;
        status = mst_batch_tensor(batch, 1, &labels);
        for (int64_t i = 0; !status && i < mst_tensor_count(labels) && row < rows; i++)
            label[row++] = mst_tensor_get(labels, i);
        if (!status) mst_tensor_release(labels);
    }
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    return status;
}

static int compare_labels(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static label_kind kind_of(double *label, int64_t rows) {
    int64_t different = 0, once = 0;
    qsort(label, (size_t)rows, sizeof *label, compare_labels);
    for (int64_t i = 0, next; i < rows; i = next) {
        if (label[i] != floor(label[i])) return (label_kind){.are_numbers = true};
        for (next = i + 1; next < rows && label[next] == label[i];) next++;
        different++;
        once += next == i + 1;
    }
    if (different <= FEW_CLASSES) return (label_kind){.are_numbers = false};
    const bool sparse = label[rows - 1] >= 2 * (double)different;
    const bool numbers =
        label[0] < 0 || sparse || rows / different < ROWS_OF_A_CLASS || once > different / ROWS_OF_A_CLASS;
    return (label_kind){.are_numbers = numbers, .different = different};
}

mst_status label_kind_find(mst_dataset *data, label_kind *out) {
    bool are_numbers;
    *out = (label_kind){.are_numbers = false};
    MST_TRY(has_numbers(data, &are_numbers));
    if (!are_numbers) return MST_OK;
    if (mst_shape_count(mst_dataset_spec(data, 1).shape) != 1) { /* several labels are numbers */
        out->are_numbers = true;
        return MST_OK;
    }
    const int64_t rows = mst_dataset_num_rows(data);
    double *label = calloc((size_t)rows, sizeof *label);
    if (!label) return MST_NO_MEMORY("for %lld labels", (long long)rows);
    const mst_status status = read_labels(data, label, rows);
    if (!status) *out = kind_of(label, rows);
    free(label);
    return status;
}
