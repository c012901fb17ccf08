/* mst_dataset_split: which rows are in which part, and that a part can be iterated like any dataset. */
#include <stdlib.h>
#include <string.h>

#include "support/pipeline.h"
#include "support/test.h"

enum { MOST = 4096, NUM_CLASSES = 3 };

/* The rows of pipeline_numbers, N of them, at most 250, and CLASS of each as component 2, i32 or one-hot f32. */
static mst_dataset *rows_of_classes(const int *class, int64_t n, bool one_hot) {
    mst_tensor *tensor[3];
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(n, 2), &tensor[0]));
    EXPECT_OK(mst_tensor_create(MST_U8, MST_SHAPE(n), &tensor[1]));
    EXPECT_OK(one_hot ? mst_tensor_create(MST_F32, MST_SHAPE(n, NUM_CLASSES), &tensor[2])
                      : mst_tensor_create(MST_I32, MST_SHAPE(n), &tensor[2]));
    for (int64_t i = 0; i < n; i++) {
        mst_tensor_set(tensor[0], 2 * i, (double)(10 * i));
        mst_tensor_set(tensor[0], 2 * i + 1, (double)(10 * i + 1));
        mst_tensor_set(tensor[1], i, (double)i);
        for (int k = 0; one_hot && k < NUM_CLASSES; k++)
            mst_tensor_set(tensor[2], i * NUM_CLASSES + k, k == class[i] ? 1 : 0);
        if (!one_hot) mst_tensor_set(tensor[2], i, class[i]);
    }
    EXPECT_OK(mst_dataset_from_tensors(tensor, 3, &data));
    for (int i = 0; i < 3; i++) mst_tensor_release(tensor[i]);
    return data;
}

typedef struct parts {
    int64_t row[2][MOST], count[2];
} parts;

/* Splits DATA and lists the rows of both parts, ascending. */
static parts split_of(mst_dataset *data, mst_split_options options, mst_split_report *report) {
    mst_dataset *part[2];
    parts p;
    EXPECT_OK(mst_dataset_split(data, &options, &part[0], &part[1], report));
    for (int i = 0; i < 2; i++) {
        p.count[i] = pipeline_rows(part[i], 0, p.row[i], MOST, NULL);
        assert_int_equal(p.count[i], mst_dataset_num_rows(part[i]));
        for (int64_t r = 1; r < p.count[i]; r++) assert_true(p.row[i][r - 1] < p.row[i][r]);
        mst_dataset_release(part[i]);
    }
    return p;
}

/* Each of N rows is in one part. */
static void expect_all_rows(const parts *p, int64_t n) {
    static int seen[MOST];
    memset(seen, 0, sizeof seen);
    assert_int_equal(p->count[0] + p->count[1], n);
    for (int i = 0; i < 2; i++)
        for (int64_t r = 0; r < p->count[i]; r++) assert_int_equal(seen[p->row[i][r]]++, 0);
}

static void each_row_is_in_one_part_and_sizes_are_those_of_keras(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        double fraction;
        int64_t second; /* n - int(n * (1 - fraction)), computed by Python */
    } cases[] = {{10, 0.2, 2}, {7, 0.5, 4}, {430, 0.005, 3}, {1000, 0.1, 100}, {2, 0.5, 1}, {999, 0.333, 333}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int last = 0; last < 2; last++) {
            mst_dataset *data = pipeline_numbers(cases[i].n);
            const parts p = split_of(data, (mst_split_options){.fraction = cases[i].fraction, .last = last}, NULL);
            expect_all_rows(&p, cases[i].n);
            assert_int_equal(p.count[1], cases[i].second);
            if (last) assert_int_equal(p.row[1][0], cases[i].n - cases[i].second);
            mst_dataset_release(data);
        }
    }
}

static void seed_decides_which_rows(void **state) {
    (void)state;
    mst_dataset *data = pipeline_numbers(200);
    const parts a = split_of(data, (mst_split_options){.fraction = 0.2, .seed = 1}, NULL);
    const parts b = split_of(data, (mst_split_options){.fraction = 0.2, .seed = 1}, NULL);
    const parts c = split_of(data, (mst_split_options){.fraction = 0.2, .seed = 2}, NULL);
    assert_memory_equal(a.row[1], b.row[1], 40 * sizeof(int64_t));
    assert_memory_not_equal(a.row[1], c.row[1], 40 * sizeof(int64_t));
    assert_true(a.row[1][0] < 160 && a.row[1][39] - a.row[1][0] > 40); /* neither the last nor a block */
    mst_dataset_release(data);
}

/* As scikit-learn's StratifiedKFold: each row is kept out once, and each fold has the share of each class. */
static void folds_are_a_stratified_partition(void **state) {
    (void)state;
    enum { N = 250 };
    static const int64_t sizes[NUM_CLASSES] = {183, 60, 7};
    int class[N];
    for (int i = 0; i < N; i++) class[i] = i < 7 ? 2 : i % 4 ? 0 : 1;
    for (int i = 0, ones = 0; i < N; i++) {
        if (class[i] == 1 && ++ones > 60) class[i] = 0;
    }
    int64_t have[NUM_CLASSES] = {0};
    for (int i = 0; i < N; i++) have[class[i]]++;
    for (int k = 0; k < NUM_CLASSES; k++) assert_int_equal(have[k], sizes[k]);
    for (int folds = 2; folds < 12; folds += 3) {
        mst_dataset *data = rows_of_classes(class, N, folds % 2);
        int kept[N] = {0};
        for (int fold = 0; fold < folds; fold++) {
            const mst_split_options o = {.num_folds = folds, .fold = fold, .seed = 5, .labels = 2};
            const parts p = split_of(data, o, NULL);
            int64_t got[NUM_CLASSES] = {0};
            expect_all_rows(&p, N);
            assert_true(p.count[1] == N / folds || p.count[1] == N / folds + 1);
            for (int64_t r = 0; r < p.count[1]; r++) {
                kept[p.row[1][r]]++;
                got[class[p.row[1][r]]]++;
            }
            for (int k = 0; k < NUM_CLASSES; k++)
                assert_true(got[k] == sizes[k] / folds || got[k] == sizes[k] / folds + 1);
        }
        for (int i = 0; i < N; i++) assert_int_equal(kept[i], 1);
        mst_dataset_release(data);
    }
}

static void folds_follow_the_seed(void **state) {
    (void)state;
    mst_dataset *data = pipeline_numbers(200);
    const parts a = split_of(data, (mst_split_options){.num_folds = 5, .fold = 1, .seed = 1}, NULL);
    const parts b = split_of(data, (mst_split_options){.num_folds = 5, .fold = 1, .seed = 1}, NULL);
    const parts c = split_of(data, (mst_split_options){.num_folds = 5, .fold = 1, .seed = 2}, NULL);
    assert_memory_equal(a.row[1], b.row[1], 40 * sizeof(int64_t));
    assert_memory_not_equal(a.row[1], c.row[1], 40 * sizeof(int64_t));
    mst_dataset_release(data);
}

static void wrong_folds_are_refused(void **state) {
    (void)state;
    static const mst_split_options wrong[] = {{.num_folds = 1},
                                              {.num_folds = 3, .fold = 3},
                                              {.num_folds = 3, .fold = -1},
                                              {.num_folds = 3, .fraction = 0.5},
                                              {.num_folds = 3, .last = true},
                                              {.num_folds = 11}};
    mst_dataset *data = pipeline_numbers(10), *first, *second;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(mst_dataset_split(data, &wrong[i], &first, &second, NULL), MST_INVALID);
    mst_dataset_release(data);
}

/* As scikit-learn's train_test_split(stratify=y): each class gets its share, rounded down or up. */
static void each_class_gets_its_share(void **state) {
    (void)state;
    enum { N = 250 };
    static const int sizes[NUM_CLASSES] = {167, 68, 15};
    int class[N];
    for (int i = 0, k = 0, left = sizes[0]; i < N; i++) { /* sorted by class */
        while (!left) left = sizes[++k];
        class[i] = k;
        left--;
    }
    for (int one_hot = 0; one_hot < 2; one_hot++) {
        mst_dataset *data = rows_of_classes(class, N, one_hot);
        for (int percent = 7; percent < 90; percent += 13) {
            mst_split_report report;
            const parts p =
                split_of(data, (mst_split_options){.fraction = percent / 100.0, .seed = (uint64_t)percent, .labels = 2},
                         &report);
            int64_t got[NUM_CLASSES] = {0};
            expect_all_rows(&p, N);
            for (int64_t r = 0; r < p.count[1]; r++) got[class[p.row[1][r]]]++;
            for (int k = 0; k < NUM_CLASSES; k++) {
                const int64_t low = sizes[k] * p.count[1] / N;
                assert_true(got[k] == low || got[k] == low + 1);
            }
            assert_int_equal(report.num_missing, 0);
            assert_string_equal(report.warning, "");
        }
        mst_dataset_release(data);
    }
}

static void class_that_is_missing_in_a_part_is_reported(void **state) {
    (void)state;
    static const int one_of_class_2[] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 2}, sorted[] = {0, 0, 0, 0, 0, 1, 1, 1, 2, 2};
    static const char *const names[] = {"cat", "dog", "bird"};
    mst_split_report report;
    mst_dataset *data = rows_of_classes(one_of_class_2, 10, false), *named;
    split_of(data, (mst_split_options){.fraction = 0.2, .labels = 2}, &report);
    assert_int_equal(report.num_missing, 1);
    assert_non_null(strstr(report.warning, "class 2, with 1 row, has none in the part that is kept for validation"));
    mst_dataset_release(data);
    data = rows_of_classes(sorted, 10, false);
    EXPECT_OK(mst_dataset_name_classes(data, 2, names, 3, &named));
    split_of(named, (mst_split_options){.fraction = 0.2, .labels = 2, .last = true}, &report);
    assert_int_equal(report.num_missing, 3);
    assert_string_equal(report.warning,
                        "class 0 (cat), with 5 rows, has none in the part that is kept for validation; there are 3 "
                        "such classes");
    mst_dataset_release(named);
    mst_dataset_release(data);
}

static void part_can_be_skipped_saved_and_restored_anywhere(void **state) {
    (void)state;
    mst_dataset *data = pipeline_numbers(50), *part[2], *batches;
    int64_t whole[MOST], rest[MOST];
    EXPECT_OK(mst_dataset_split(data, &(mst_split_options){.fraction = 0.4, .seed = 5}, &part[0], &part[1], NULL));
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(mst_dataset_batch(part[i], 3, false, &batches));
        const int64_t n = pipeline_rows(batches, 0, whole, MOST, NULL);
        assert_int_equal(n, i ? 20 : 30);
        for (int64_t skipped = 0; skipped < 11; skipped++) {
            const int64_t at = 3 * skipped < n ? 3 * skipped : n;
            mst_iterator *it, *again;
            mst_tensor *position;
            const mst_batch *batch;
            int64_t pair[2];
            assert_int_equal(pipeline_rows_after(batches, 0, skipped, rest, MOST), n - at);
            assert_memory_equal(rest, whole + at, (size_t)(n - at) * sizeof *rest);
            EXPECT_OK(mst_iterator_create(batches, 0, &it));
            EXPECT_OK(mst_iterator_skip(it, skipped));
            EXPECT_OK(mst_iterator_save(it, &position));
            EXPECT_OK(mst_iterator_restore(batches, position, &again));
            EXPECT_OK(mst_iterator_next(again, &batch));
            assert_int_equal(batch != NULL, at < n);
            if (batch) {
                EXPECT_OK(mst_batch_copy(batch, 0, 0, 1, pair));
                assert_int_equal(pair[0], 10 * whole[at]);
            }
            mst_iterator_destroy(again);
            mst_iterator_destroy(it);
            mst_tensor_release(position);
        }
        mst_dataset_release(batches);
    }
    mst_dataset_release(part[0]);
    mst_dataset_release(part[1]);
    mst_dataset_release(data);
}

static void what_cannot_be_split_says_so(void **state) {
    (void)state;
    mst_dataset *data = pipeline_numbers(10), *batches, *endless, *a, *b;
    EXPECT_OK(mst_dataset_batch(data, 3, false, &batches));
    EXPECT_OK(mst_dataset_repeat(data, -1, &endless));
    EXPECT_ERROR(mst_dataset_split(batches, &(mst_split_options){.fraction = 0.5}, &a, &b, NULL), MST_INVALID,
                 "split: works on rows");
    EXPECT_ERROR(mst_dataset_split(endless, &(mst_split_options){.fraction = 0.5}, &a, &b, NULL), MST_INVALID,
                 "has no end");
    EXPECT_ERROR(mst_dataset_split(data, &(mst_split_options){.fraction = 1.5}, &a, &b, NULL), MST_INVALID,
                 "above 0 and below 1");
    EXPECT_ERROR(mst_dataset_split(data, &(mst_split_options){.fraction = 0.99}, &a, &b, NULL), MST_INVALID,
                 "0.99 of 10 rows leaves a part without rows");
    EXPECT_ERROR(mst_dataset_split(data, &(mst_split_options){.fraction = 0.5, .labels = 2}, &a, &b, NULL), MST_INVALID,
                 "component 2, the dataset has 0 to 1");
    assert_null(a);
    assert_null(b);
    mst_dataset_release(endless);
    mst_dataset_release(batches);
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_in_one_part_and_sizes_are_those_of_keras),
        cmocka_unit_test(seed_decides_which_rows),
        cmocka_unit_test(folds_are_a_stratified_partition),
        cmocka_unit_test(folds_follow_the_seed),
        cmocka_unit_test(wrong_folds_are_refused),
        cmocka_unit_test(each_class_gets_its_share),
        cmocka_unit_test(class_that_is_missing_in_a_part_is_reported),
        cmocka_unit_test(part_can_be_skipped_saved_and_restored_anywhere),
        cmocka_unit_test(what_cannot_be_split_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
