/* Labels with a class for each position, such as masks of pictures and tags of words: their losses and metrics, and the
 * positions that do not count. The numbers of Keras are those of Keras 3 for the same labels and logits. */
#include <math.h>

#include "muster/ops.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 4, STEPS = 3, CLASSES = 3, ELEMENTS = ROWS * STEPS };

static const double labels[ELEMENTS] = {0, 2, -1, 1, -1, -1, 2, 2, 0, -1, -1, -1};
static const double by_example[ROWS] = {1, 2, 0.5, 3};
static const double by_position[ELEMENTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

/* Logits sin(7 x), x from -1 to 1. */
static mst_tensor *logits(void) {
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(ROWS, STEPS, CLASSES), NULL);
    for (int i = 0; i < ELEMENTS * CLASSES; i++) mst_tensor_set(tensor, i, sin(7 * (-1 + 2.0 * i / 35)));
    return tensor;
}

/* Labels as DTYPE, in which OTHER stands for -1. */
static mst_tensor *labels_of(mst_dtype dtype, double other) {
    mst_tensor *tensor = engine_tensor(dtype, MST_SHAPE(ROWS, STEPS), NULL);
    for (int i = 0; i < ELEMENTS; i++) mst_tensor_set(tensor, i, labels[i] < 0 ? other : labels[i]);
    return tensor;
}

static mst_dataset *data_of(mst_tensor *inputs, mst_tensor *classes, mst_tensor *weights) {
    mst_dataset *data;
    mst_tensor *tensor[] = {inputs, classes, weights};
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2 + (weights != NULL), &data));
    for (int i = 0; i < 2 + (weights != NULL); i++) mst_tensor_release(tensor[i]);
    return data;
}

/* Evaluates DATA, whose inputs are the logits. CONFUSION may be NULL. */
static mst_result evaluated(mst_dataset *data, int64_t batch_size, double ignore_class, bool weights,
                            mst_tensor **confusion) {
    mst_model *model;
    mst_result result;
    EXPECT_OK(mst_model_create(&model));
    mst_activate(model, MST_LINEAR);
    EXPECT_OK(mst_compile(model, .ignore_class = ignore_class,
                          .metric = {MST_METRIC_ACCURACY, MST_METRIC_MEAN_IO_U, MST_METRIC_RECALL},
                          .sample_weights = weights, .session = {.devices = "cpu:2/1"}, .strategy = {.num_shards = 2}));
    EXPECT_OK(mst_evaluate(model, data, batch_size, &result, confusion));
    mst_model_destroy(model);
    mst_dataset_release(data);
    return result;
}

static void expect_near(double value, double expected) {
    if (!(fabs(value - expected) <= 2e-5)) fail_msg("%.9g, expected %.9g", value, expected);
}

static void positions_have_the_losses_and_metrics_of_keras(void **state) {
    (void)state;
    mst_tensor *confusion;
    mst_result result = evaluated(data_of(logits(), labels_of(MST_I64, 0), NULL), ROWS, 0, false, &confusion);
    expect_near(result.loss, 1.124780535697937);
    expect_near(result.metric[0], 6.0 / 12);
    expect_near(result.metric[1], 0.22857142984867096);
    assert_true(mst_tensor_get(confusion, 0) == 4 && mst_tensor_get(confusion, 2) == 4);
    mst_tensor_release(confusion);
    mst_tensor *weights = engine_tensor(MST_F32, MST_SHAPE(ROWS), by_example);
    result = evaluated(data_of(logits(), labels_of(MST_U8, 0), weights), ROWS, 0, true, NULL);
    expect_near(result.loss, 1.9340338706970215);
    weights = engine_tensor(MST_F32, MST_SHAPE(ROWS, STEPS), by_position);
    result = evaluated(data_of(logits(), labels_of(MST_F32, 0), weights), ROWS, 0, true, NULL);
    expect_near(result.loss, 6.272439956665039);
}

static void ignored_labels_count_nowhere(void **state) {
    (void)state;
    static const struct {
        mst_dtype dtype;
        double other;
    } kinds[] = {{MST_I64, -1}, {MST_I32, -1}, {MST_U8, 255}, {MST_F32, -1}, {MST_I64, 255}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const mst_dtype dtype = kinds[i].dtype;
        const double other = kinds[i].other;
        mst_tensor *confusion;
        mst_result result = evaluated(data_of(logits(), labels_of(dtype, other), NULL), ROWS, other, false, &confusion);
        expect_near(result.loss, 1.0601099729537964);
        expect_near(result.metric[0], 3.0 / 6);
        expect_near(result.metric[1], 0.25);
        double all = 0;
        assert_true(mst_shape_equal(mst_tensor_shape(confusion), MST_SHAPE(CLASSES, CLASSES)));
        for (int k = 0; k < CLASSES * CLASSES; k++) all += mst_tensor_get(confusion, k);
        assert_true(all == 6);
        mst_tensor_release(confusion);
        mst_tensor *weights = engine_tensor(MST_F32, MST_SHAPE(ROWS, 1), by_example);
        result = evaluated(data_of(logits(), labels_of(dtype, other), weights), ROWS, other, true, NULL);
        expect_near(result.loss, 1.0186861753463745);
        weights = engine_tensor(MST_F64, MST_SHAPE(ROWS, STEPS), by_position);
        result = evaluated(data_of(logits(), labels_of(dtype, other), weights), ROWS, other, true, NULL);
        expect_near(result.loss, 3.991534471511841);
    }
    mst_result result = evaluated(data_of(logits(), labels_of(MST_I64, 0), NULL), 2, MST_ZERO, false, NULL);
    expect_near(result.metric[1], 0.2222222238779068); /* over two batches */
}

static void a_batch_of_which_nothing_counts_has_no_loss(void **state) {
    (void)state;
    mst_tensor *none = engine_tensor(MST_I64, MST_SHAPE(ROWS, STEPS), NULL);
    for (int i = 0; i < ELEMENTS; i++) mst_tensor_set(none, i, 255);
    const mst_result result = evaluated(data_of(logits(), none, NULL), ROWS, 255, false, NULL);
    assert_true(result.loss == 0 && result.metric[0] == 0 && result.metric[1] == 0);
}

/* The hash of the weights after a training in which many labels are ignored, and the shards have different numbers of
 * labels that count. */
static void train_on(const char *devices, mst_target target, char sha[65]) {
    mst_model *model;
    mst_tensor *inputs = engine_random(MST_F32, MST_SHAPE(ROWS, STEPS, 5), -1, 1, 4);
    mst_dataset *data = data_of(inputs, labels_of(MST_I64, -1), NULL);
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, CLASSES, .name = "out");
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.5), .target = {target},
                          .session = {.devices = devices}, .strategy = {.num_shards = 4}, .seed = 1));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = ROWS, .epochs = 3));
    EXPECT_OK(mst_model_sha256(model, sha));
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void ignored_labels_train_to_the_same_bits_on_every_device_count(void **state) {
    (void)state;
    static const double class_weight[CLASSES] = {1, 5, 0.5};
    for (int weights = 0; weights < 2; weights++) {
        const mst_target target = {.ignore_class = -1,
                                   .class_weight = weights ? class_weight : NULL,
                                   .num_class_weights = weights ? CLASSES : 0};
        char one[65], four[65];
        train_on("cpu:1", target, one);
        train_on("cpu:4/1", target, four);
        assert_string_equal(one, four);
    }
}

/* The gradient is that of (losses that count) / (their number in the whole batch): with one shard for each of the four
 * rows, one step gives the weights that are worked out here in double precision. */
static void the_gradient_is_of_the_mean_over_what_counts(void **state) {
    (void)state;
    enum { FEATURES = 2 };
    mst_model *model;
    mst_tensor *inputs = engine_random(MST_F32, MST_SHAPE(ROWS, STEPS, FEATURES), -1, 1, 4), *kernel;
    double x[ELEMENTS][FEATURES], expected[FEATURES][CLASSES] = {{0}};
    for (int i = 0; i < ELEMENTS * FEATURES; i++) x[i / FEATURES][i % FEATURES] = mst_tensor_get(inputs, i);
    for (int i = 0; i < ELEMENTS; i++)
        for (int k = 0; k < CLASSES && labels[i] >= 0; k++)
            for (int f = 0; f < FEATURES; f++)
                expected[f][k] -= x[i][f] * (1.0 / CLASSES - (labels[i] == (double)k)) / 6; /* 6 labels count */
    mst_dataset *data = data_of(inputs, labels_of(MST_I64, -1), NULL);
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, CLASSES, .name = "out", .kernel_initializer = mst_zeros_initializer(), .no_bias = true);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 1), .ignore_class = -1,
                          .session = {.devices = "cpu:2/1"}, .strategy = {.num_shards = 4}));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = ROWS));
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, "out/kernel", &kernel));
    for (int i = 0; i < FEATURES * CLASSES; i++)
        expect_near(mst_tensor_get(kernel, i), expected[i / CLASSES][i % CLASSES]);
    mst_tensor_release(kernel);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* A model whose output has the mask of its inputs, or with IS_PLAIN none. */
static mst_model *tagger(bool is_plain, double ignore_class) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_input(model, MST_SHAPE(STEPS), .dtype = MST_I32);
    mst_embedding(model, 5, 4, .mask_zero = !is_plain);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.5), .ignore_class = ignore_class,
                          .metric = {MST_METRIC_ACCURACY, MST_METRIC_MACRO_F1}, .session = {.devices = "cpu:2/1"},
                          .strategy = {.num_shards = 2}, .seed = 5));
    return model;
}

static void masked_steps_count_as_little_as_ignored_labels(void **state) {
    (void)state;
    static const double words[ELEMENTS] = {1, 2, 0, 3, 0, 0, 4, 1, 2, 0, 0, 0}; /* 0 where a label is -1 */
    mst_result result[2];
    mst_tensor *confusion[2];
    double weights[2];
    for (int k = 0; k < 2; k++) {
        mst_model *model = tagger(k, k ? -1 : 0);
        mst_tensor *inputs = engine_tensor(MST_I32, MST_SHAPE(ROWS, STEPS), words), *kernel;
        mst_dataset *data = data_of(inputs, labels_of(MST_I64, k ? -1 : 0), NULL);
        EXPECT_OK(mst_fit(model, .data = data, .batch_size = ROWS, .epochs = 3));
        EXPECT_OK(mst_evaluate(model, data, ROWS, &result[k], &confusion[k]));
        EXPECT_OK(mst_store_get(mst_model_store(model), NULL, "dense/kernel", &kernel));
        weights[k] = mst_tensor_get(kernel, 0);
        mst_tensor_release(kernel);
        mst_model_destroy(model);
        mst_dataset_release(data);
    }
    expect_near(result[0].loss, result[1].loss);
    expect_near(result[0].metric[0], result[1].metric[0]);
    expect_near(result[0].metric[1], result[1].metric[1]);
    expect_near(weights[0], weights[1]);
    assert_memory_equal(mst_tensor_data(confusion[0]), mst_tensor_data(confusion[1]), mst_tensor_bytes(confusion[0]));
    mst_tensor_release(confusion[0]);
    mst_tensor_release(confusion[1]);
}

static void wrong_labels_and_weights_of_positions_are_named(void **state) {
    (void)state;
    mst_model *model;
    mst_tensor *weights = engine_random(MST_F32, MST_SHAPE(ROWS, 2), 0, 1, 1);
    mst_dataset *data = data_of(logits(), labels_of(MST_I64, 0), weights);
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .sample_weights = true));
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = ROWS), MST_INVALID,
                 "sample_weights are f32[?, 2], and the losses f32[?, 3]");
    mst_dataset_release(data);
    data = data_of(logits(), labels_of(MST_I64, -1), NULL);
    EXPECT_OK(mst_compile(model, .seed = 1));
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = ROWS, .no_shuffle = true), MST_INVALID,
                 "label -1 of row 0 of the data is not one of the 3 classes");
    EXPECT_OK(mst_compile(model, .loss = MST_LOSS_MEAN_SQUARED_ERROR, .ignore_class = -1));
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = ROWS), MST_INVALID,
                 "mean_squared_error: ignore_class is for labels that are class numbers");
    mst_dataset_release(data);
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_have_the_losses_and_metrics_of_keras),
        cmocka_unit_test(ignored_labels_count_nowhere),
        cmocka_unit_test(a_batch_of_which_nothing_counts_has_no_loss),
        cmocka_unit_test(ignored_labels_train_to_the_same_bits_on_every_device_count),
        cmocka_unit_test(the_gradient_is_of_the_mean_over_what_counts),
        cmocka_unit_test(masked_steps_count_as_little_as_ignored_labels),
        cmocka_unit_test(wrong_labels_and_weights_of_positions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
