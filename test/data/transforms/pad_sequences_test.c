/* Rows of any length become rows of one length, padded and cut at the front or the end: the numbers are those that
 * pad_sequences of Keras 3.15 gives. */
#include "muster/data.h"
#include "support/test.h"

enum { ROWS = 3, LENGTH = 4 };

/* A row of ROW numbers of two columns, 10 * ROW, 10 * ROW + 1, ..., and its number. */
static mst_status count_up(const mst_array *in, mst_array *out, void *context) {
    const int64_t row = *(const int64_t *)in[0].data, n = 3 * row;
    (void)context;
    int32_t *number = mst_map_alloc((size_t)(2 * n) * sizeof *number);
    if (!number) return MST_OUT_OF_MEMORY;
    for (int64_t i = 0; i < 2 * n; i++) number[i] = (int32_t)(10 * row + i);
    out[0].data = number;
    out[0].count = 2 * n;
    out[0].shape = MST_SHAPE(n, 2);
    *(int64_t *)out[1].data = row;
    return MST_OK;
}

/* Rows of 0, 3 and 6 pairs. */
static mst_dataset *ragged(void) {
    mst_tensor *number;
    const mst_spec outputs[] = {{MST_I32, MST_SHAPE(-1, 2)}, {MST_I64, MST_SCALAR}};
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(ROWS), &number));
    for (int64_t i = 0; i < ROWS; i++) mst_tensor_set(number, i, (double)i);
    mst_dataset *rows = mst_data_map(mst_data_from_tensors(&number, 1), count_up, NULL, outputs, 2);
    mst_tensor_release(number);
    return rows;
}

static void expect_rows(mst_pad_sequences_options options, const int32_t *expected) {
    mst_dataset *batches = mst_data_batch(mst_data_pad_sequences_with(ragged(), &options), ROWS, false);
    mst_iterator *it;
    const mst_batch *batch;
    int32_t number[ROWS * LENGTH * 2];
    int64_t row[ROWS];
    EXPECT_OK(mst_dataset_check(batches));
    EXPECT_OK(mst_iterator_create(batches, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 0, 0, ROWS, number));
    assert_memory_equal(number, expected, sizeof number);
    EXPECT_OK(mst_batch_copy(batch, 1, 0, ROWS, row));
    for (int64_t i = 0; i < ROWS; i++) assert_int_equal(row[i], i);
    mst_iterator_destroy(it);
    mst_dataset_release(batches);
}

static void rows_are_padded_and_cut_in_front(void **state) {
    (void)state;
    const int32_t expected[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31};
    expect_rows((mst_pad_sequences_options){.length = LENGTH}, expected);
}

static void rows_are_padded_and_cut_behind_where_so_chosen(void **state) {
    (void)state;
    const int32_t expected[] = {-7, -7, -7, -7, -7, -7, -7, -7, 10, 11, 12, 13,
                                14, 15, -7, -7, 20, 21, 22, 23, 24, 25, 26, 27};
    expect_rows((mst_pad_sequences_options){.length = LENGTH, .value = -7, .pad_back = true, .truncate_back = true},
                expected);
}

static void names_and_other_lengths_stay(void **state) {
    (void)state;
    const char *const names[] = {"a", "b", "c"};
    mst_dataset *named = mst_data_pad_sequences(mst_data_name_classes(ragged(), 1, names, 3), .length = LENGTH);
    EXPECT_OK(mst_dataset_check(named));
    assert_string_equal(mst_dataset_class_name(named, 1, 2), "c");
    mst_dataset_release(named);
    mst_dataset *parts[] = {ragged(), ragged()};
    mst_dataset *both = mst_data_pad_sequences(mst_data_zip(parts, 2), .component = 2, .length = LENGTH);
    mst_iterator *it;
    const mst_batch *batch;
    mst_tensor *tensor;
    EXPECT_OK(mst_iterator_create(both, 0, &it));
    for (int i = 0; i < 3; i++) EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_tensor(batch, 0, &tensor));
    assert_true(mst_shape_equal(mst_tensor_shape(tensor), MST_SHAPE(6, 2)));
    assert_int_equal(mst_tensor_get(tensor, 11), 31);
    mst_tensor_release(tensor);
    EXPECT_OK(mst_batch_tensor(batch, 2, &tensor));
    assert_true(mst_shape_equal(mst_tensor_shape(tensor), MST_SHAPE(4, 2)));
    assert_int_equal(mst_tensor_get(tensor, 0), 24);
    mst_tensor_release(tensor);
    mst_iterator_destroy(it);
    mst_dataset_release(both);
}

static void expect_error(mst_pad_sequences_options options, const char *text) {
    mst_dataset *rows = ragged(), *padded;
    EXPECT_ERROR(mst_dataset_pad_sequences(rows, &options, &padded), MST_INVALID, text);
    assert_null(padded);
    mst_dataset_release(rows);
}

static void what_cannot_be_padded_is_refused(void **state) {
    (void)state;
    expect_error((mst_pad_sequences_options){.length = 0}, "length is 0, it must be at least 1");
    expect_error((mst_pad_sequences_options){.component = 2, .length = 1}, "component 2, the dataset has 0 to 1");
    expect_error((mst_pad_sequences_options){.component = 1, .length = 1}, "component 1 is i64[]");
    expect_error((mst_pad_sequences_options){.length = 1, .value = 0.5}, "value is 0.5, which i32 cannot hold");
    mst_dataset *batches, *rows = ragged(), *padded;
    EXPECT_OK(mst_dataset_padded_batch(rows, 2, false, NULL, &batches));
    EXPECT_ERROR(mst_dataset_pad_sequences(batches, &(mst_pad_sequences_options){.length = 1}, &padded), MST_INVALID,
                 "put pad_sequences before batch");
    mst_dataset_release(batches);
    mst_dataset_release(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_padded_and_cut_in_front),
        cmocka_unit_test(rows_are_padded_and_cut_behind_where_so_chosen),
        cmocka_unit_test(names_and_other_lengths_stay),
        cmocka_unit_test(what_cannot_be_padded_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
