/* Losses, weights and metrics of models with several inputs and outputs. */
#include <math.h>
#include <string.h>

#include "muster/ops.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 40, FEATURES = 3, CLASSES = 2, BATCH = 10 };

static mst_dataset *data_of(mst_tensor **tensor, int n) {
    mst_dataset *data;
    EXPECT_OK(mst_dataset_from_tensors(tensor, n, &data));
    for (int i = 0; i < n; i++) mst_tensor_release(tensor[i]);
    return data;
}

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    return model;
}

static void assert_close(double value, double expected, double tolerance) {
    if (fabs(value - expected) <= tolerance) return;
    print_error("%g, expected %g\n", value, expected);
    fail();
}

static void check_same_weights(mst_model *a, mst_model *b) {
    char left[65], right[65];
    EXPECT_OK(mst_model_sha256(a, left));
    EXPECT_OK(mst_model_sha256(b, right));
    assert_string_equal(left, right);
}

/* ---- several inputs and outputs ---- */

/* Inputs left and right, outputs "class" (labels 0 and 1) and "sum" (a number). */
static mst_model *two_by_two(const char *devices, mst_target sum) {
    mst_model *model = new_model();
    const mst_output left = mst_input(model, MST_SHAPE(FEATURES), .name = "left");
    const mst_output right = mst_input(model, MST_SHAPE(FEATURES), .name = "right");
    const mst_output x = mst_concatenate(MST_OUTPUTS(left, right));
    const mst_output class = mst_dense(x, CLASSES, .name = "class"), total = mst_dense(x, 1, .name = "sum");
    mst_model_outputs(model, MST_OUTPUTS(class, total));
    sum.output = "sum";
    sum.loss = MST_LOSS_MEAN_SQUARED_ERROR;
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.05), .target = {{.weight = 1}, sum},
                          .session = {.devices = devices}, .strategy = {.num_shards = 2}, .seed = 3));
    return model;
}

static mst_dataset *two_by_two_data(void) {
    mst_tensor *tensor[4] = {engine_random(MST_F32, MST_SHAPE(ROWS, FEATURES), -1, 1, 1),
                             engine_random(MST_F32, MST_SHAPE(ROWS, FEATURES), -1, 1, 2),
                             engine_tensor(MST_I32, MST_SHAPE(ROWS), NULL),
                             engine_tensor(MST_F32, MST_SHAPE(ROWS, 1), NULL)};
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int k = 0; k < FEATURES; k++)
            sum += mst_tensor_get(tensor[0], i * FEATURES + k) - mst_tensor_get(tensor[1], i * FEATURES + k);
        mst_tensor_set(tensor[2], i, sum > 0);
        mst_tensor_set(tensor[3], i, sum);
    }
    return data_of(tensor, 4);
}

static void a_model_with_two_inputs_and_outputs_learns_both(void **state) {
    (void)state;
    mst_dataset *data = two_by_two_data();
    mst_model *model = two_by_two("cpu:2/1", (mst_target){0});
    mst_result result;
    mst_history history = {0};
    EXPECT_OK(mst_fit_with(
        model, &(mst_fit_options){.data = data, .batch_size = BATCH, .epochs = 80, .history = &history}, NULL));
    EXPECT_OK(mst_evaluate(model, data, BATCH, &result, NULL));
    assert_int_equal(result.num_metrics, 2);
    assert_string_equal(result.metric_name[0], "class_loss");
    assert_string_equal(result.metric_name[1], "sum_loss");
    assert_true(result.metric[0] < 0.3 && result.metric[1] < 0.01);
    assert_close(result.loss, result.metric[0] + result.metric[1], 1e-5);
    assert_int_equal(history.num_epochs, 80);
    assert_true(mst_history_at(&history, 79, "sum_loss") < mst_history_at(&history, 0, "sum_loss"));
    assert_true(isnan(mst_history_at(&history, 79, "val_loss")) && isnan(mst_history_at(&history, 80, "loss")));
    assert_close(mst_history_at(&history, 0, "learning_rate"), 0.05, 1e-7);
    mst_history_free(&history);

    mst_tensor *out[2];
    EXPECT_OK(mst_predict_all(model, data, BATCH, out, 2));
    assert_int_equal(mst_tensor_shape(out[0]).dim[1], CLASSES);
    assert_int_equal(mst_tensor_shape(out[1]).dim[1], 1);
    for (int i = 0; i < 2; i++) mst_tensor_release(out[i]);
    EXPECT_ERROR(mst_predict(model, data, BATCH, &out[0]), MST_INVALID,
                 "num_outputs is 1, but the model has 2 outputs");
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void several_outputs_give_the_same_bits_on_every_device_count(void **state) {
    (void)state;
    mst_dataset *data = two_by_two_data();
    mst_model *one = two_by_two("cpu:1/1", (mst_target){.weight = 0.5}),
              *two = two_by_two("cpu:2/1", (mst_target){.weight = 0.5});
    EXPECT_OK(mst_fit(one, .data = data, .batch_size = BATCH, .epochs = 3));
    EXPECT_OK(mst_fit(two, .data = data, .batch_size = BATCH, .epochs = 3));
    check_same_weights(one, two);
    mst_model_destroy(one);
    mst_model_destroy(two);
    mst_dataset_release(data);
}

static void each_output_has_its_own_metrics(void **state) {
    (void)state;
    mst_dataset *data = two_by_two_data();
    mst_model *model = two_by_two("cpu:1/1", (mst_target){0});
    EXPECT_OK(mst_compile(model, .metric = {MST_METRIC_ACCURACY},
                          .target = {{.output = "class"},
                                     {.output = "sum",
                                      .loss = MST_LOSS_MEAN_SQUARED_ERROR,
                                      .metric = {MST_METRIC_MEAN_ABSOLUTE_ERROR, MST_METRIC_MEAN_SQUARED_ERROR}}},
                          .session = {.devices = "cpu:1/1"}));
    mst_result result;
    EXPECT_OK(mst_evaluate(model, data, BATCH, &result, NULL));
    static const char *const names[] = {"class_loss", "class_accuracy", "sum_loss", "sum_mean_absolute_error",
                                        "sum_mean_squared_error"};
    assert_int_equal(result.num_metrics, 5);
    for (int m = 0; m < 5; m++) assert_string_equal(result.metric_name[m], names[m]);
    assert_close(result.metric[2], result.metric[4], 1e-6);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* The areas are of counts of all batches, not means of those of batches: as of one batch of all rows. */
static void areas_under_curves_add_up_over_shards_batches_and_epochs(void **state) {
    (void)state;
    mst_dataset *data = two_by_two_data();
    mst_result whole, parts;
    mst_model *model = two_by_two("cpu:2/1", (mst_target){0});
    EXPECT_OK(mst_compile(model,
                          .target = {{.metric = {MST_METRIC_AUC, MST_METRIC_PR_AUC}},
                                     {.loss = MST_LOSS_MEAN_SQUARED_ERROR, .metric = {MST_METRIC_NONE}}},
                          .optimizer = mst_sgd(.learning_rate = 1e-30), .session = {.devices = "cpu:2/1"},
                          .strategy = {.num_shards = 2}));
    EXPECT_OK(mst_evaluate(model, data, ROWS, &whole, NULL));
    EXPECT_OK(mst_evaluate(model, data, 7, &parts, NULL));
    assert_string_equal(whole.metric_name[1], "class_auc");
    assert_true(whole.metric[1] > 0 && whole.metric[1] < 1 && whole.metric[2] > 0 && whole.metric[2] < 1);
    for (int m = 1; m < 3; m++) assert_close(parts.metric[m], whole.metric[m], 1e-12);
    EXPECT_OK(mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = 7, .epochs = 2}, &parts));
    for (int m = 1; m < 3; m++) assert_close(parts.metric[m], whole.metric[m], 1e-12);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* Data of the DTYPES of inputs and labels; the same rows whatever they are. */
static mst_dataset *data_in(mst_dtype inputs, mst_dtype labels) {
    mst_tensor *tensor[2] = {engine_tensor(inputs, MST_SHAPE(ROWS, FEATURES), NULL),
                             engine_tensor(labels, MST_SHAPE(ROWS), NULL)};
    for (int i = 0; i < ROWS * FEATURES; i++) mst_tensor_set(tensor[0], i, i * 7 % 5);
    for (int i = 0; i < ROWS; i++) mst_tensor_set(tensor[1], i, i % CLASSES);
    return data_of(tensor, 2);
}

static void dtypes_mix_where_no_bit_is_lost(void **state) {
    (void)state;
    static const mst_dtype inputs[] = {MST_F32, MST_U8}, labels[] = {MST_I64, MST_I32, MST_U8};
    mst_dataset *built = data_in(MST_F32, MST_I64);
    double wanted = 0;
    char sha[65], other[65];
    for (int i = 0; i < 2; i++)
        for (int l = 0; l < 3; l++) {
            mst_model *model = new_model();
            mst_dense(model, CLASSES);
            EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1/1"}, .seed = 2));
            EXPECT_OK(mst_build(model, built, true));
            mst_dataset *data = data_in(inputs[i], labels[l]), *batches;
            mst_result result;
            mst_tensor *outputs;
            EXPECT_OK(mst_fit(model, .data = data, .validation_split = 0.25, .batch_size = BATCH, .epochs = 2));
            EXPECT_OK(mst_dataset_batch(data, BATCH, false, &batches));
            EXPECT_OK(mst_fit(model, .data = batches, .validation = data, .epochs = 1));
            EXPECT_OK(mst_evaluate(model, data, BATCH, &result, NULL));
            EXPECT_OK(mst_predict(model, data, BATCH, &outputs));
            mst_tensor_release(outputs);
            EXPECT_OK(mst_model_sha256(model, i + l ? other : sha));
            if (i + l) {
                assert_string_equal(other, sha);
                assert_true(result.loss == wanted);
            }
            wanted = result.loss;
            mst_dataset_release(batches);
            mst_dataset_release(data);
            mst_model_destroy(model);
        }
    mst_model *model = new_model();
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1/1"}));
    EXPECT_OK(mst_build(model, built, true));
    mst_dataset *data = data_in(MST_F64, MST_I64);
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = BATCH), MST_INVALID,
                 "inputs are f64[3], the model was built for f32[3]");
    mst_dataset_release(data);
    data = data_in(MST_I64, MST_I64);
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = BATCH), MST_INVALID, "inputs are i64[3]");
    mst_dataset_release(data);
    mst_dataset_release(built);
    mst_model_destroy(model);
}

static void data_that_does_not_fit_the_model_is_named(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = two_by_two("cpu:1/1", (mst_target){0});
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = BATCH), MST_INVALID,
                 "has 2 components but needs 4: labels of 'class' are missing");
    EXPECT_ERROR(mst_compile(model, .target = {{.output = "klass"}}), MST_INVALID, "output 'klass'");
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* ---- losses and metrics of your own ---- */

static mst_value squared(void *context, mst_value labels, mst_value predictions) {
    ++*(int *)context;
    const mst_value error = mst_sub(predictions, mst_cast(labels, MST_F32));
    return mst_reduce_mean(mst_square(error), .axes = MST_AXES(-1));
}

static mst_dataset *line_data(void) {
    mst_tensor *tensor[2] = {engine_random(MST_F32, MST_SHAPE(ROWS, 2), -1, 1, 1),
                             engine_tensor(MST_F32, MST_SHAPE(ROWS, 1), NULL)};
    for (int i = 0; i < ROWS; i++) mst_tensor_set(tensor[1], i, 2 * mst_tensor_get(tensor[0], 2 * i));
    return data_of(tensor, 2);
}

static void a_loss_of_the_user_trains_as_the_same_loss_of_the_library(void **state) {
    (void)state;
    int calls = 0;
    mst_dataset *data = line_data();
    mst_model *model[2];
    mst_result result;
    for (int i = 0; i < 2; i++) {
        model[i] = new_model();
        mst_dense(model[i], 1);
        if (i == 0)
            EXPECT_OK(mst_compile(model[i], .loss = MST_LOSS_MEAN_SQUARED_ERROR, .seed = 1));
        else
            EXPECT_OK(mst_compile(model[i], .loss_function = squared, .loss_context = &calls,
                                  .custom_metric = {{.name = "squared", .function = squared, .context = &calls}},
                                  .seed = 1));
        EXPECT_OK(mst_fit(model[i], .data = data, .batch_size = BATCH, .epochs = 2));
    }
    check_same_weights(model[0], model[1]);
    EXPECT_OK(mst_evaluate(model[1], data, BATCH, &result, NULL));
    assert_string_equal(result.metric_name[0], "squared");
    assert_close(result.metric[0], result.loss, 1e-6);
    assert_true(calls > 0);
    for (int i = 0; i < 2; i++) mst_model_destroy(model[i]);
    mst_dataset_release(data);
}

/* ---- weights ---- */

/* A model that gives 0 for all classes, and does not learn: the loss of each example is ln 2. */
static mst_model *model_of_zeros(const double *class_weight, bool sample_weights) {
    mst_model *model = new_model();
    mst_dense(model, CLASSES, .kernel_initializer = mst_zeros_initializer());
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 1e-30), .class_weight = class_weight,
                          .num_class_weights = class_weight ? CLASSES : 0, .sample_weights = sample_weights));
    return model;
}

/* Trained with the mean weight TRAINED, and evaluated with the mean weight EVALUATED. */
static void expect_weights(mst_dataset *data, const double *class_weight, bool sample_weights, double trained,
                           double evaluated) {
    mst_model *model = model_of_zeros(class_weight, sample_weights);
    mst_result result;
    mst_history history = {0};
    EXPECT_OK(mst_fit(model, .data = data, .validation = data, .batch_size = BATCH, .history = &history));
    assert_close(mst_history_at(&history, 0, "loss"), log(2) * trained, 1e-5);
    assert_close(mst_history_at(&history, 0, "val_loss"), log(2) * evaluated, 1e-5);
    EXPECT_OK(mst_evaluate(model, data, BATCH, &result, NULL));
    assert_close(result.loss, log(2) * evaluated, 1e-5);
    mst_history_free(&history);
    mst_model_destroy(model);
}

static void classes_have_weights_in_training_only_and_examples_always(void **state) {
    (void)state;
    mst_tensor *tensor[3] = {engine_random(MST_F32, MST_SHAPE(ROWS, FEATURES), -1, 1, 1),
                             engine_tensor(MST_I32, MST_SHAPE(ROWS), NULL),
                             engine_tensor(MST_F32, MST_SHAPE(ROWS), NULL)};
    double class_sum = 0, sample_sum = 0, both = 0;
    const double class_weight[CLASSES] = {1, 5};
    for (int i = 0; i < ROWS; i++) {
        mst_tensor_set(tensor[1], i, i % 3 == 0);
        mst_tensor_set(tensor[2], i, i % 4);
        class_sum += class_weight[i % 3 == 0];
        sample_sum += i % 4;
        both += class_weight[i % 3 == 0] * (i % 4);
    }
    mst_dataset *data = data_of(tensor, 3);
    expect_weights(data, NULL, false, 1, 1);
    expect_weights(data, class_weight, false, class_sum / ROWS, 1);
    expect_weights(data, NULL, true, sample_sum / ROWS, sample_sum / ROWS);
    expect_weights(data, class_weight, true, both / ROWS, sample_sum / ROWS);
    mst_dataset_release(data);
}

/* Two outputs that are 0, with labels 1 and 2: their squared errors are 1 and 4. */
static mst_model *two_zeros(const mst_target target[2], bool sample_weights) {
    mst_model *model = new_model();
    const mst_output x = mst_input(model, MST_SHAPE(FEATURES));
    const mst_output a = mst_dense(x, 1, .name = "a", .kernel_initializer = mst_zeros_initializer());
    const mst_output b = mst_dense(x, 1, .name = "b", .kernel_initializer = mst_zeros_initializer());
    mst_model_outputs(model, MST_OUTPUTS(a, b));
    mst_compile_options options = {.loss = MST_LOSS_MEAN_SQUARED_ERROR, .sample_weights = sample_weights};
    memcpy(options.target, target, 2 * sizeof *target);
    EXPECT_OK(mst_compile_with(model, &options));
    return model;
}

static mst_dataset *one_and_two(void) {
    mst_tensor *tensor[4] = {
        engine_tensor(MST_F32, MST_SHAPE(ROWS, FEATURES), NULL), engine_tensor(MST_F32, MST_SHAPE(ROWS, 1), NULL),
        engine_tensor(MST_F32, MST_SHAPE(ROWS, 1), NULL), engine_tensor(MST_F32, MST_SHAPE(ROWS), NULL)};
    for (int i = 0; i < ROWS; i++) {
        mst_tensor_set(tensor[1], i, 1);
        mst_tensor_set(tensor[2], i, 2);
        mst_tensor_set(tensor[3], i, 3);
    }
    return data_of(tensor, 4);
}

static void expect_losses(mst_model *model, mst_dataset *data, double all, double a, double b) {
    mst_result result;
    EXPECT_OK(mst_evaluate(model, data, BATCH, &result, NULL));
    assert_close(result.loss, all, 1e-5);
    assert_close(result.metric[0], a, 1e-5);
    assert_close(result.metric[1], b, 1e-5);
    mst_model_destroy(model);
}

static void reported_loss_of_an_output_is_weighted_by_examples_and_not_by_its_target(void **state) {
    (void)state;
    mst_dataset *data = one_and_two();
    const mst_target half[2] = {{.loss = MST_LOSS_MEAN_SQUARED_ERROR},
                                {.loss = MST_LOSS_MEAN_SQUARED_ERROR, .weight = 0.5}};
    expect_losses(two_zeros(half, false), data, 1 + 2, 1, 4);
    expect_losses(two_zeros(half, true), data, 3 * (1 + 2), 3, 12);
    mst_dataset_release(data);
}

static void empty_target_keeps_the_loss_that_all_outputs_have(void **state) {
    (void)state;
    mst_dataset *data = one_and_two();
    const mst_target second[2] = {{0}, {.loss = MST_LOSS_MEAN_ABSOLUTE_ERROR}};
    const mst_target named[2] = {{0}, {.output = "a", .loss = MST_LOSS_MEAN_ABSOLUTE_ERROR, .weight = 2}};
    expect_losses(two_zeros(second, false), data, 1 + 2, 1, 2);
    expect_losses(two_zeros(named, false), data, 2 + 4, 1, 4);
    mst_dataset_release(data);
}

/* Two outputs that are 0: of classes, whose loss is ln 2, and of numbers that are 1. */
static void classes_of_one_of_several_outputs_have_weights(void **state) {
    (void)state;
    mst_tensor *tensor[3] = {engine_tensor(MST_F32, MST_SHAPE(ROWS, FEATURES), NULL),
                             engine_tensor(MST_I32, MST_SHAPE(ROWS), NULL),
                             engine_tensor(MST_F32, MST_SHAPE(ROWS, 1), NULL)};
    const double weight[CLASSES] = {1, 5};
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        mst_tensor_set(tensor[1], i, i % 3 == 0);
        mst_tensor_set(tensor[2], i, 1);
        sum += weight[i % 3 == 0];
    }
    mst_dataset *data = data_of(tensor, 3);
    mst_model *model = new_model();
    const mst_output x = mst_input(model, MST_SHAPE(FEATURES));
    const mst_output a = mst_dense(x, CLASSES, .name = "a", .kernel_initializer = mst_zeros_initializer());
    const mst_output b = mst_dense(x, 1, .name = "b", .kernel_initializer = mst_zeros_initializer());
    mst_model_outputs(model, MST_OUTPUTS(a, b));
    EXPECT_ERROR(mst_compile(model, .class_weight = weight, .num_class_weights = CLASSES), MST_INVALID,
                 "class_weight is for models with one output, this one has 2");
    EXPECT_OK(mst_compile(
        model, .optimizer = mst_sgd(.learning_rate = 1e-30),
        .target = {{.class_weight = weight, .num_class_weights = CLASSES}, {.loss = MST_LOSS_MEAN_SQUARED_ERROR}}));
    mst_history history = {0};
    EXPECT_OK(mst_fit(model, .data = data, .validation = data, .batch_size = BATCH, .history = &history));
    assert_close(mst_history_at(&history, 0, "loss"), log(2) * sum / ROWS + 1, 1e-5);
    assert_close(mst_history_at(&history, 0, "b_loss"), 1, 1e-5);
    assert_close(mst_history_at(&history, 0, "val_loss"), log(2) + 1, 1e-5);
    mst_history_free(&history);
    mst_tensor *confusion[2];
    EXPECT_ERROR(mst_evaluate_all(model, data, BATCH, NULL, confusion, 1), MST_INVALID,
                 "num_outputs is 1, but the model has 2 outputs");
    EXPECT_OK(mst_evaluate_all(model, data, BATCH, NULL, confusion, 2));
    assert_null(confusion[1]);
    const int of_1 = (ROWS + 2) / 3, count[CLASSES] = {ROWS - of_1, of_1};
    for (int label = 0; label < CLASSES; label++)
        assert_true(mst_tensor_get(confusion[0], 2 * label) + mst_tensor_get(confusion[0], 2 * label + 1) ==
                    count[label]);
    mst_tensor_release(confusion[0]);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* The largest error of all rows, as if it were a metric: counts by ten steps of a tenth. */
static mst_metric_values errors_by_size(void *context, mst_value labels, mst_value predictions) {
    ++*(int *)context;
    mst_graph *graph = mst_value_graph(predictions);
    const mst_value error = mst_reshape(mst_abs(mst_sub(predictions, labels)), MST_SHAPE(-1));
    const mst_value step = mst_cast(mst_clip(mst_scale(error, 10), 0, 9), MST_I64);
    const mst_value counts = mst_reduce_sum(mst_one_hot(step, .depth = 10, .dtype = MST_F64), .axes = MST_AXES(0));
    return (mst_metric_values){counts, mst_fill(graph, MST_F64, MST_SHAPE(10), 1)};
}

static double largest_step(void *context, const double *sum, const double *count, int64_t n) {
    int64_t i = n;
    (void)context, (void)count;
    while (i > 0 && sum[i - 1] == 0) i--;
    return (double)i;
}

static mst_metric_values one_number(void *context, mst_value labels, mst_value predictions) {
    (void)context, (void)labels;
    return (mst_metric_values){mst_reduce_sum(predictions), mst_reduce_sum(predictions)}; /* f32 */
}

static mst_value wrong_shapes(void *context, mst_value labels, mst_value predictions) {
    (void)context;
    return mst_matmul(labels, predictions);
}

static void a_metric_of_the_user_has_an_output_and_a_state_over_batches(void **state) {
    (void)state;
    int calls = 0;
    mst_dataset *data = two_by_two_data();
    mst_model *model = two_by_two("cpu:2/1", (mst_target){0});
    mst_tensor *out[2], *labels = engine_tensor(MST_F32, MST_SHAPE(ROWS, 1), NULL);
    mst_result result;
    const mst_custom_metric largest = {
        .name = "largest", .context = &calls, .output = "sum", .counts = errors_by_size, .result = largest_step};
    const mst_target sum = {.output = "sum", .loss = MST_LOSS_MEAN_SQUARED_ERROR};
    EXPECT_OK(mst_compile(model, .target = {{.weight = 1}, sum}, .custom_metric = {largest},
                          .session = {.devices = "cpu:2/1"}, .strategy = {.num_shards = 2}));
    EXPECT_OK(mst_evaluate(model, data, BATCH - 3, &result, NULL));
    assert_int_equal(result.num_metrics, 3); /* two losses, and the metric of one output */
    assert_string_equal(result.metric_name[2], "sum_largest");
    assert_int_equal(calls, 2); /* once for each shard */
    EXPECT_OK(mst_predict_all(model, data, BATCH, out, 2));
    double worst = 0;
    const mst_batch *batch;
    mst_iterator *rows;
    mst_dataset *batches;
    EXPECT_OK(mst_dataset_batch(data, ROWS, false, &batches));
    EXPECT_OK(mst_iterator_create(batches, 0, &rows));
    EXPECT_OK(mst_iterator_next(rows, &batch));
    EXPECT_OK(mst_batch_copy(batch, 3, 0, ROWS, mst_tensor_data(labels)));
    for (int i = 0; i < ROWS; i++) worst = fmax(worst, fabs(mst_tensor_get(out[1], i) - mst_tensor_get(labels, i)));
    assert_true(result.metric[2] == floor(fmin(10 * worst, 9)) + 1);
    mst_iterator_destroy(rows);
    mst_dataset_release(batches);
    mst_tensor_release(labels);
    mst_tensor_release(out[0]);
    mst_tensor_release(out[1]);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void mistakes_in_a_metric_of_the_user_name_it(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    static const struct {
        mst_custom_metric metric;
        const char *message;
    } cases[] = {
        {{.name = "mine", .counts = one_number}, "metric 'mine': counts gives f32[] and f32[]: both must be f64"},
        {{.name = "product", .function = wrong_shapes}, "metric 'product': "},
        {{.name = "mine", .function = wrong_shapes, .counts = one_number}, "metric 'mine' has both"},
        {{.name = "mine", .counts = one_number, .output = "else"}, "metric 'mine' is for output 'else', which the"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_model *model = training_model(4, CLASSES, 0);
        mst_status status = mst_compile(model, .custom_metric = {cases[i].metric});
        if (!status) status = mst_fit(model, .data = data, .batch_size = BATCH);
        assert_int_equal(status, MST_INVALID);
        if (!strstr(mst_error()->message, cases[i].message)) fail_msg("%s", mst_error()->message);
        mst_model_destroy(model);
    }
    mst_dataset_release(data);
}

static void weights_that_are_missing_are_an_error(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = training_model(4, CLASSES, 0);
    EXPECT_ERROR(mst_compile(model, .class_weight = (const double[]){1, 2}), MST_INVALID, "num_class_weights is 0");
    EXPECT_OK(mst_compile(model, .sample_weights = true));
    EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = BATCH), MST_INVALID, "needs 3: weights are missing");
    mst_model_destroy(model);
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_with_two_inputs_and_outputs_learns_both),
        cmocka_unit_test(several_outputs_give_the_same_bits_on_every_device_count),
        cmocka_unit_test(each_output_has_its_own_metrics),
        cmocka_unit_test(areas_under_curves_add_up_over_shards_batches_and_epochs),
        cmocka_unit_test(dtypes_mix_where_no_bit_is_lost),
        cmocka_unit_test(data_that_does_not_fit_the_model_is_named),
        cmocka_unit_test(a_loss_of_the_user_trains_as_the_same_loss_of_the_library),
        cmocka_unit_test(classes_have_weights_in_training_only_and_examples_always),
        cmocka_unit_test(reported_loss_of_an_output_is_weighted_by_examples_and_not_by_its_target),
        cmocka_unit_test(empty_target_keeps_the_loss_that_all_outputs_have),
        cmocka_unit_test(classes_of_one_of_several_outputs_have_weights),
        cmocka_unit_test(a_metric_of_the_user_has_an_output_and_a_state_over_batches),
        cmocka_unit_test(mistakes_in_a_metric_of_the_user_name_it),
        cmocka_unit_test(weights_that_are_missing_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
