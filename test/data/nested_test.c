/* Datasets as expressions: the rows that they give, who owns which dataset, and which call returns the first
 * mistake. */
#include <string.h>
#include <unistd.h>

#include "muster/muster.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 20 };

static mst_dataset *numbers(void) {
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(ROWS), NULL);
    for (int i = 0; i < ROWS; i++) mst_tensor_set(tensor, i, i);
    mst_dataset *data = mst_data_from_tensors(&tensor, 1);
    mst_tensor_release(tensor);
    return data;
}

static void a_pipeline_is_one_expression_with_one_release(void **state) {
    (void)state;
    mst_dataset *nested = mst_data_batch(
        mst_data_shuffle(mst_data_scale(mst_data_take(numbers(), 12), 0, MST_F64, 0.5), .seed = 3), 5, false);
    EXPECT_OK(mst_dataset_check(nested));
    /* the same with a variable and a release for each */
    mst_dataset *all = numbers(), *taken, *scaled, *mixed, *batches;
    EXPECT_OK(mst_dataset_take(all, 12, &taken));
    EXPECT_OK(mst_dataset_scale(taken, 0, MST_F64, 0.5, &scaled));
    EXPECT_OK(mst_dataset_shuffle(scaled, &(mst_shuffle_options){.seed = 3}, &mixed));
    EXPECT_OK(mst_dataset_batch(mixed, 5, false, &batches));
    mst_dataset_release(mixed);
    mst_dataset_release(scaled);
    mst_dataset_release(taken);
    mst_dataset_release(all);
    mst_iterator *a, *b;
    EXPECT_OK(mst_iterator_create(nested, 1, &a));
    EXPECT_OK(mst_iterator_create(batches, 1, &b));
    for (int n = 0;; n++) {
        const mst_batch *x, *y;
        double left[5], right[5];
        EXPECT_OK(mst_iterator_next(a, &x));
        EXPECT_OK(mst_iterator_next(b, &y));
        assert_true(!x == !y && (x ? n < 3 : n == 3));
        if (!x) break;
        assert_int_equal(mst_batch_size(x), mst_batch_size(y));
        EXPECT_OK(mst_batch_copy(x, 0, 0, mst_batch_size(x), left));
        EXPECT_OK(mst_batch_copy(y, 0, 0, mst_batch_size(y), right));
        assert_memory_equal(left, right, (size_t)mst_batch_size(x) * sizeof *left);
    }
    mst_iterator_destroy(a);
    mst_iterator_destroy(b);
    mst_dataset_release(batches);
    mst_dataset_release(nested);
}

static void a_dataset_that_is_retained_is_used_twice(void **state) {
    (void)state;
    mst_dataset *all = numbers();
    mst_dataset *first = mst_data_take(mst_dataset_retain(all), 15), *rest = mst_data_skip(all, 15);
    assert_int_equal(mst_dataset_num_rows(first), 15);
    assert_int_equal(mst_dataset_num_rows(rest), 5);
    mst_dataset *const both[] = {rest, mst_data_take(first, 5)};
    mst_dataset *pairs = mst_data_repeat(mst_data_zip(both, 2), 2);
    EXPECT_OK(mst_dataset_check(pairs));
    assert_int_equal(mst_dataset_num_components(pairs), 2);
    assert_int_equal(mst_dataset_num_rows(pairs), 10);
    mst_dataset_release(pairs);
}

static void a_split_gives_two_parts(void **state) {
    (void)state;
    const mst_split_options last = {.fraction = 0.25, .last = true};
    mst_dataset *rest, *first = mst_data_take(mst_data_split(numbers(), &last, &rest), 10);
    rest = mst_data_repeat(rest, 2);
    EXPECT_OK(mst_dataset_check(first));
    EXPECT_OK(mst_dataset_check(rest));
    assert_int_equal(mst_dataset_num_rows(first), 10);
    assert_int_equal(mst_dataset_num_rows(rest), 10);
    mst_dataset_release(first);
    mst_dataset_release(rest);
    first = mst_data_split(mst_data_scale(numbers(), 7, MST_F32, 1), &last, &rest);
    EXPECT_ERROR(mst_dataset_check(first), MST_INVALID, "scale: component 7");
    EXPECT_ERROR(mst_dataset_check(rest), MST_INVALID, "scale: component 7");
    mst_dataset_release(first);
    mst_dataset_release(rest);
    first = mst_data_split(numbers(), &(mst_split_options){.fraction = 0.99}, &rest);
    EXPECT_ERROR(mst_dataset_check(first), MST_INVALID, "leaves a part without rows");
    EXPECT_ERROR(mst_dataset_check(rest), MST_INVALID, "leaves a part without rows");
    mst_dataset_release(first);
    mst_dataset_release(rest);
    first = mst_data_split(numbers(), &last, NULL);
    EXPECT_ERROR(mst_dataset_check(first), MST_INVALID, "second is NULL");
    mst_dataset_release(first);
}

/* The second mistake, a batch of no rows, is not looked at any more. */
static mst_dataset *broken(void) {
    return mst_data_batch(mst_data_scale(mst_data_take(numbers(), 12), 7, MST_F32, 1), 0, false);
}

static void the_first_mistake_sticks_and_comes_out_of_all_that_takes_it(void **state) {
    (void)state;
    static const char text[] = "scale: component 7, the dataset has 0 to 0";
    mst_dataset *data = broken(), *out, *second;
    mst_iterator *iterator;
    EXPECT_ERROR(mst_dataset_check(data), MST_INVALID, text);
    EXPECT_ERROR(mst_iterator_create(data, 0, &iterator), MST_INVALID, text);
    EXPECT_ERROR(mst_dataset_batch(data, 3, false, &out), MST_INVALID, text);
    EXPECT_ERROR(mst_dataset_scale(data, 0, MST_F32, 1, &out), MST_INVALID, text);
    EXPECT_ERROR(mst_dataset_take(data, 3, &out), MST_INVALID, text);
    EXPECT_ERROR(mst_dataset_split(data, &(mst_split_options){.fraction = 0.5}, &out, &second, NULL), MST_INVALID,
                 text);
    EXPECT_ERROR(mst_dataset_write("npz:never.npz", data, NULL, NULL), MST_INVALID, text);
    assert_int_equal(access("never.npz", F_OK), -1);
    mst_model *model = training_model(4, 2, 0);
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1/1"}));
    mst_dataset *good = training_data(10, 3, 2, 1);
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = 5), MST_INVALID, text);
    EXPECT_ERROR(mst_fit(model, .data = good, .validation = data, .batch_size = 5), MST_INVALID, text);
    EXPECT_ERROR(mst_evaluate(model, data, 5, NULL, NULL), MST_INVALID, text);
    assert_int_equal(mst_dataset_num_components(data), 0);
    mst_dataset *const both[] = {good, data};
    mst_dataset *zipped = mst_data_zip(both, 2); /* takes both */
    EXPECT_ERROR(mst_dataset_check(zipped), MST_INVALID, text);
    mst_dataset_release(zipped);
    mst_model_destroy(model);
}

static void a_source_that_is_not_there_is_named(void **state) {
    (void)state;
    mst_dataset *data = mst_data_batch(mst_data_from_csv("/nowhere/prices.csv", NULL), 10, false);
    EXPECT_ERROR(mst_dataset_check(data), MST_NOT_FOUND, "/nowhere/prices.csv");
    mst_dataset_release(data);
    data = mst_data_cache(mst_data_open("fashion-mnits", "train"));
    EXPECT_ERROR(mst_dataset_check(data), MST_INVALID, "fashion-mnist");
    mst_dataset_release(data);
    data = mst_data_from_idx("/nowhere/images", NULL);
    EXPECT_ERROR(mst_dataset_check(data), MST_NOT_FOUND, "/nowhere/images");
    mst_dataset_release(data);
    data = mst_data_from_npz("/nowhere/all.npz", (const char *const[]){"x"}, 1);
    EXPECT_ERROR(mst_dataset_check(data), MST_NOT_FOUND, "/nowhere/all.npz");
    mst_dataset_release(data);
    data = mst_data_prefetch_with(mst_data_batch(numbers(), 5, false), 0, &(mst_prefetch_options){.threads = 2});
    EXPECT_ERROR(mst_dataset_check(data), MST_INVALID, "prefetch");
    mst_dataset_release(data);
    data = mst_data_prefetch(NULL, 2);
    EXPECT_ERROR(mst_dataset_check(data), MST_INVALID, "dataset is NULL");
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_is_one_expression_with_one_release),
        cmocka_unit_test(a_dataset_that_is_retained_is_used_twice),
        cmocka_unit_test(a_split_gives_two_parts),
        cmocka_unit_test(the_first_mistake_sticks_and_comes_out_of_all_that_takes_it),
        cmocka_unit_test(a_source_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
