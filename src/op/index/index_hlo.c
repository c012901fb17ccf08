#include "op/index/index_hlo.h"

mst_dtype mst_index_dtype(int64_t count) {
    return count <= INT32_MAX ? MST_I32 : MST_I64;
}

mst_hlo_indexing mst_hlo_by_row(bool sorted, bool unique) {
    return (mst_hlo_indexing){.offset = MST_AXES(1),
                              .collapsed = MST_AXES(0),
                              .map = MST_AXES(0),
                              .vector_axis = 1,
                              .sorted = sorted,
                              .unique = unique};
}

mst_hlo mst_hlo_classes(mst_lower *l, mst_hlo x) {
    return mst_hlo_spec(l, x).dtype == MST_I64 ? x : mst_hlo_convert(l, x, MST_I32);
}

mst_hlo mst_hlo_outside(mst_lower *l, mst_hlo x, int64_t size) {
    const mst_dtype dtype = mst_hlo_spec(l, x).dtype;
    const mst_hlo below = mst_hlo_compare(l, "LT", x, mst_hlo_number(l, dtype, 0));
    if (dtype == MST_I32 && size > INT32_MAX) return below;
    return mst_hlo_binary(l, "or", below, mst_hlo_compare(l, "GE", x, mst_hlo_integer(l, dtype, size)));
}

mst_hlo mst_hlo_row_numbers(mst_lower *l, int64_t n) {
    const mst_shape *shape = &l->src_spec[1].shape;
    mst_shape rows = MST_SHAPE(1, shape->dim[shape->ndim - 1]);
    for (int k = 0; k < shape->ndim - 1; k++) rows.dim[0] *= shape->dim[k];
    mst_hlo_fault(l, mst_hlo_outside(l, l->src[1], n), MST_INVALID, "an index is out of range, 0 to %lld",
                  (long long)n - 1);
    return mst_hlo_reshape(l, l->src[1], rows);
}

/* ---- sorting ---- */

/* Whether the element ARGUMENT[0] comes before ARGUMENT[1]. */
static void comes_before(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    const bool *descending = context;
    const mst_hlo a = argument[0], b = argument[1];
    result[0] = mst_hlo_compare(l, *descending ? "GT" : "LT", a, b);
    if (!mst_dtype_is_float(mst_hlo_spec(l, a).dtype)) return;
    const mst_hlo only_b_is_nan =
        mst_hlo_binary(l, "and", mst_hlo_compare(l, "EQ", a, a), mst_hlo_compare(l, "NE", b, b));
    result[0] = mst_hlo_binary(l, "or", result[0], only_b_is_nan);
}

void mst_hlo_sort_rows(mst_lower *l, mst_hlo x, bool descending, mst_hlo *values, mst_hlo *indices) {
    const mst_shape shape = mst_hlo_spec(l, x).shape;
    const mst_hlo src[] = {x, mst_hlo_iota(l, MST_I32, shape, shape.ndim - 1)};
    mst_hlo sorted[2];
    mst_hlo_sort(l, 2, src, shape.ndim - 1, comes_before, &descending, sorted);
    *values = sorted[0];
    *indices = sorted[1];
}

/* ---- sums by number ---- */

/* X moved by DISTANCE along axis 1. The elements that become free are VALUE. */
static mst_hlo shifted(mst_lower *l, mst_hlo x, int64_t distance, double value) {
    const int64_t low[MST_MAX_NDIM] = {0, distance}, high[MST_MAX_NDIM] = {0, -distance};
    return mst_hlo_pad(l, x, mst_hlo_number_like(l, x, value), low, high, NULL);
}

/* Sorts *NUMBERS [batches, n, 1] and *ROWS [batches, n, columns] by the numbers. */
static void sort_by_number(mst_lower *l, mst_hlo *numbers, mst_hlo *rows) {
    bool descending = false;
    const mst_shape shape = mst_hlo_spec(l, *rows).shape;
    const int64_t n = shape.dim[1], columns = shape.dim[2];
    mst_hlo src[] = {*numbers, *rows}, sorted[2];
    if (columns != 1) src[1] = mst_hlo_iota(l, mst_index_dtype(n), MST_SHAPE(1, n, 1), 1);
    mst_hlo_sort(l, 2, src, 1, comes_before, &descending, sorted);
    *numbers = sorted[0];
    if (columns != 1) {
        const mst_hlo_indexing indexing = mst_hlo_by_row(false, false);
        const mst_hlo from = mst_hlo_reshape(l, sorted[1], MST_SHAPE(n));
        const mst_hlo flat = mst_hlo_reshape(l, *rows, MST_SHAPE(n, columns));
        sorted[1] = mst_hlo_gather(l, flat, from, &indexing, MST_SHAPE(1, columns), MST_SHAPE(n, columns));
    }
    *rows = mst_hlo_reshape(l, sorted[1], shape);
}

/* Adds to each row all rows before it with the same number. A number has at most MOST rows. The distance d doubles in
 * each step; after it, each row has the sum of up to 2 d rows. */
static mst_hlo sum_runs(mst_lower *l, mst_hlo numbers, mst_hlo rows, int64_t most) {
    for (int64_t distance = 1; distance < most; distance *= 2) {
        const mst_hlo is_same = mst_hlo_compare(l, "EQ", numbers, shifted(l, numbers, distance, -1));
        const mst_hlo sum = mst_hlo_binary(l, "add", shifted(l, rows, distance, 0), rows);
        rows = mst_hlo_select(l, is_same, sum, rows);
    }
    return rows;
}

/* Whether each row is the last of its number. */
static mst_hlo ends_run(mst_lower *l, mst_hlo numbers) {
    return mst_hlo_compare(l, "NE", numbers, shifted(l, numbers, -1, -1));
}

/* The numbers of the rows in the result, numbered over all batches. With LAST_ONLY, only the last row of each run with
 * the same number is written: the others get different numbers beyond the result, so scatter ignores them. */
static mst_hlo places_of(mst_lower *l, mst_hlo numbers, int64_t size, bool last_only) {
    const mst_spec spec = mst_hlo_spec(l, numbers);
    const int64_t batches = spec.shape.dim[0], n = spec.shape.dim[1];
    mst_hlo places = numbers;
    if (batches > 1) {
        const mst_hlo batch = mst_hlo_iota(l, spec.dtype, spec.shape, 0);
        const mst_hlo first = mst_hlo_binary(l, "multiply", batch, mst_hlo_integer(l, spec.dtype, size));
        places = mst_hlo_binary(l, "add", numbers, first);
    }
    places = mst_hlo_reshape(l, places, MST_SHAPE(batches * n));
    if (!last_only) return places;
    const mst_hlo is_last = ends_run(l, numbers);
    const mst_hlo order = mst_hlo_iota(l, spec.dtype, MST_SHAPE(batches * n), 0);
    const mst_hlo behind = mst_hlo_binary(l, "add", order, mst_hlo_integer(l, spec.dtype, batches * size));
    return mst_hlo_select(l, mst_hlo_reshape(l, is_last, MST_SHAPE(batches * n)), places, behind);
}

mst_hlo mst_hlo_sum_by_number(mst_lower *l, mst_hlo numbers, mst_hlo rows, int64_t size) {
    const mst_spec spec = mst_hlo_spec(l, rows);
    const int64_t batches = spec.shape.dim[0], n = spec.shape.dim[1], columns = spec.shape.dim[2];
    const bool is_float = mst_dtype_is_float(spec.dtype); /* sums of integers are the same in any order */
    if (batches > 1 && columns > 1) return mst_hlo_fail(l, "sums of several batches and columns");
    const mst_hlo zeros = mst_hlo_fill(l, spec.dtype, MST_SHAPE(batches * size, columns), 0);
    if (batches * n == 0 || size * columns == 0) return zeros;
    numbers = mst_hlo_convert(l, numbers, mst_index_dtype(batches * (size + n)));
    numbers = mst_hlo_reshape(l, numbers, MST_SHAPE(batches, n, 1));
    if (is_float && n > 1) {
        sort_by_number(l, &numbers, &rows);
        rows = sum_runs(l, numbers, rows, n);
    }
    const mst_hlo_indexing indexing = mst_hlo_by_row(false, is_float);
    return mst_hlo_scatter(l, is_float ? NULL : "add", zeros, places_of(l, numbers, size, is_float),
                           mst_hlo_reshape(l, rows, MST_SHAPE(batches * n, columns)), &indexing);
}

/* The last row of each run has the sum. The other rows of the run get the number NONE, and a second sort moves the sums
 * to the front. */
void mst_hlo_sum_same(mst_lower *l, mst_hlo *numbers, mst_hlo *rows, int64_t none, int64_t most, int64_t count) {
    const mst_spec number = mst_hlo_spec(l, *numbers), row = mst_hlo_spec(l, *rows);
    const int64_t n = number.shape.dim[0], columns = row.shape.dim[1];
    const mst_hlo last = mst_hlo_integer(l, number.dtype, none);
    mst_hlo key = mst_hlo_reshape(l, *numbers, MST_SHAPE(1, n, 1));
    mst_hlo sum = mst_hlo_reshape(l, *rows, MST_SHAPE(1, n, columns));
    if (n == 0) return;
    if (most > n) most = n;
    sort_by_number(l, &key, &sum);
    if (most > 1) {
        sum = sum_runs(l, key, sum, most);
        key = mst_hlo_select(l, ends_run(l, key), key, last);
        sort_by_number(l, &key, &sum);
    }
    *numbers = mst_hlo_slice_axis(l, mst_hlo_reshape(l, key, MST_SHAPE(n)), 0, 0, count);
    sum = mst_hlo_slice_axis(l, mst_hlo_reshape(l, sum, row.shape), 0, 0, count);
    const mst_hlo is_sum = mst_hlo_compare(l, "LT", mst_hlo_reshape(l, *numbers, MST_SHAPE(count, 1)), last);
    *rows = mst_hlo_select(l, is_sum, sum, mst_hlo_number(l, row.dtype, 0));
}
