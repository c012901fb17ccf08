/* Labels as classes: fractions are refused, and confusion matrices count one-hot and binary labels too. */
#include <math.h>

#include "support/test.h"
#include "support/training.h"

enum { ROWS = 24, FEATURES = 4, CLASSES = 3, BATCH = 10 };

/* Labels of training_data as LABELS of DTYPE: numbers, a column of them, or one-hot rows. */
static mst_dataset *data_with(mst_dtype dtype, mst_shape row, int64_t wrong_row, double wrong) {
    mst_tensor *tensor[2], *labels;
    mst_dataset *data;
    training_tensors(ROWS, FEATURES, CLASSES, 1, tensor);
    mst_shape shape = {.ndim = row.ndim + 1, .dim = {ROWS, row.dim[0]}};
    const int64_t width = row.ndim ? row.dim[0] : 1;
    EXPECT_OK(mst_tensor_create(dtype, shape, &labels));
    for (int64_t i = 0; i < ROWS * width; i++) {
        const double class = mst_tensor_get(tensor[1], i / width);
        mst_tensor_set(labels, i, width == CLASSES ? class == (double)(i % width) : class);
    }
    if (wrong_row >= 0) mst_tensor_set(labels, wrong_row, wrong);
    EXPECT_OK(mst_dataset_from_tensors((mst_tensor *[]){tensor[0], labels}, 2, &data));
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    mst_tensor_release(labels);
    return data;
}

static mst_model *model_of(mst_loss loss, int64_t outputs, mst_metric metric) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, outputs);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.05), .loss = loss, .metric = {metric},
                          .session = {.devices = "cpu:2"}, .strategy = {.num_shards = 2}, .seed = 3));
    return model;
}

static const mst_loss sparse = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;

static void label_that_is_a_fraction_is_named(void **state) {
    (void)state;
    static const double wrong[] = {0.5, 1.000001, -0.25, 2.5, NAN, INFINITY, 3, -1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        for (int column = 0; column < 2; column++) {
            mst_dataset *data = data_with(i % 2 ? MST_F64 : MST_F32, column ? MST_SHAPE(1) : MST_SCALAR, 17, wrong[i]);
            mst_model *model = model_of(sparse, CLASSES, MST_METRIC_ACCURACY);
            const mst_status fitted = mst_fit(model, .data = data, .batch_size = BATCH);
            assert_int_equal(fitted, MST_INVALID);
            assert_non_null(strstr(mst_error()->message, "of row 17 of the data is not one of the 3 classes, 0 to 2"));
            EXPECT_ERROR(mst_evaluate(model, data, BATCH, NULL, NULL), MST_INVALID, "of row 17 of the data is not one");
            mst_model_destroy(model);
            mst_dataset_release(data);
        }
    }
}

static void whole_numbers_of_any_dtype_give_the_same_weights(void **state) {
    (void)state;
    static const mst_dtype dtypes[] = {MST_I64, MST_I32, MST_U8, MST_F32, MST_F64};
    char first[65], sha[65];
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        mst_dataset *data = data_with(dtypes[i], MST_SCALAR, -1, 0);
        mst_model *model = model_of(sparse, CLASSES, MST_METRIC_ACCURACY);
        EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 2));
        EXPECT_OK(mst_model_sha256(model, i ? sha : first));
        if (i) assert_string_equal(sha, first);
        mst_model_destroy(model);
        mst_dataset_release(data);
    }
}

/* After a short training with DATA; owned by the caller. */
static mst_tensor *confusion_of(mst_loss loss, int64_t outputs, mst_metric metric, mst_dataset *data,
                                mst_result *result) {
    mst_tensor *confusion;
    mst_model *model = model_of(loss, outputs, metric);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 5));
    EXPECT_OK(mst_evaluate(model, data, BATCH, result, &confusion));
    mst_model_destroy(model);
    mst_dataset_release(data);
    return confusion;
}

static double right_in(const mst_tensor *confusion, int64_t classes) {
    double right = 0, all = 0;
    assert_true(mst_shape_equal(mst_tensor_shape(confusion), MST_SHAPE(classes, classes)));
    for (int64_t i = 0; i < classes * classes; i++) all += mst_tensor_get(confusion, i);
    for (int64_t i = 0; i < classes; i++) right += mst_tensor_get(confusion, i * classes + i);
    assert_true(all == ROWS);
    return right / ROWS;
}

static void one_hot_rows_have_the_confusion_matrix_of_class_numbers(void **state) {
    (void)state;
    static const mst_dtype dtypes[] = {MST_U8, MST_I64, MST_F32};
    mst_result result;
    mst_tensor *want =
        confusion_of(sparse, CLASSES, MST_METRIC_ACCURACY, data_with(MST_I64, MST_SCALAR, -1, 0), &result);
    assert_true(fabs(right_in(want, CLASSES) - result.metric[0]) < 1e-9);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        mst_dataset *data = data_with(dtypes[i], MST_SHAPE(CLASSES), -1, 0);
        mst_tensor *have =
            confusion_of(MST_LOSS_CATEGORICAL_CROSSENTROPY, CLASSES, MST_METRIC_CATEGORICAL_ACCURACY, data, &result);
        assert_memory_equal(mst_tensor_data(have), mst_tensor_data(want), mst_tensor_bytes(want));
        mst_tensor_release(have);
    }
    mst_tensor_release(want);
}

static void binary_output_has_a_matrix_of_2_by_2(void **state) {
    (void)state;
    mst_dataset *data = data_with(MST_F32, MST_SCALAR, -1, 0), *two;
    mst_result result;
    mst_tensor *tensor[2], *labels, *confusion;
    training_tensors(ROWS, FEATURES, 2, 1, tensor);
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS), &labels));
    for (int64_t i = 0; i < ROWS; i++) mst_tensor_set(labels, i, mst_tensor_get(tensor[1], i));
    EXPECT_OK(mst_dataset_from_tensors((mst_tensor *[]){tensor[0], labels}, 2, &two));
    confusion = confusion_of(MST_LOSS_BINARY_CROSSENTROPY, 1, MST_METRIC_BINARY_ACCURACY, two, &result);
    assert_true(fabs(right_in(confusion, 2) - result.metric[0]) < 1e-9);
    mst_tensor_release(confusion);
    /* a regression has none */
    confusion = confusion_of(MST_LOSS_MEAN_SQUARED_ERROR, 1, MST_METRIC_MEAN_ABSOLUTE_ERROR, data, &result);
    assert_null(confusion);
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    mst_tensor_release(labels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(label_that_is_a_fraction_is_named),
        cmocka_unit_test(whole_numbers_of_any_dtype_give_the_same_weights),
        cmocka_unit_test(one_hot_rows_have_the_confusion_matrix_of_class_numbers),
        cmocka_unit_test(binary_output_has_a_matrix_of_2_by_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
