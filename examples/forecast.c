/* A forecast of a series: an LSTM reads 24 values and tells the next one. The series has a period of 12, a slow wave
 * and noise. Its last fifth is kept for the test. The error is compared with that of a forecast without learning, which
 * takes the value of 12 steps before.
 *
 * A custom metric with a state shows the largest error beside the mean: counts by hundredths, added up over batches.
 *
 * Usage: forecast [EPOCHS]   (default 12)
 */
#include <math.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 1000, WINDOW = 24, PERIOD = 12, ROWS = LENGTH - WINDOW, TEST = ROWS / 5, STEPS = 100 };

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

static double value_at(int t) {
    const double noise = (double)((unsigned)t * 2654435761u >> 8) / (1 << 24) - 0.5;
    return 0.6 * sin(2 * 3.14159265358979 * t / PERIOD) + 0.4 * sin(t / 40.0) + 0.1 * noise;
}

/* Windows of the series, and the value after each. */
static mst_dataset *make_windows(void) {
    mst_tensor *tensor[2];
    check(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, WINDOW, 1), &tensor[0]));
    check(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, 1), &tensor[1]));
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < WINDOW; k++) mst_tensor_set(tensor[0], (int64_t)i * WINDOW + k, value_at(i + k));
        mst_tensor_set(tensor[1], i, value_at(i + WINDOW));
    }
    mst_dataset *data = mst_data_from_tensors(tensor, 2);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    check(mst_dataset_check(data));
    return data;
}

/* How many errors of the batch lie in each of STEPS hundredths; the last has all larger ones. */
static mst_metric_values count_errors(void *context, mst_value labels, mst_value predictions) {
    (void)context;
    const mst_value error = mst_reshape(mst_abs(mst_sub(predictions, labels)), MST_SHAPE(-1));
    const mst_value step = mst_cast(mst_clip(mst_scale(error, STEPS), 0, STEPS - 1), MST_I64);
    const mst_value counts = mst_reduce_sum(mst_one_hot(step, .depth = STEPS, .dtype = MST_F64), .axes = MST_AXES(0));
    return (mst_metric_values){counts, mst_ones_like(counts)};
}

static double largest_error(void *context, const double *sum, const double *count, int64_t n) {
    (void)context, (void)count;
    while (n > 0 && sum[n - 1] == 0) n--;
    return (double)n / STEPS;
}

static double error_of_last_period(void) {
    double sum = 0;
    for (int i = ROWS - TEST; i < ROWS; i++) sum += fabs(value_at(i + WINDOW) - value_at(i + WINDOW - PERIOD));
    return sum / TEST;
}

int main(int argc, char **argv) {
    mst_dataset *all = make_windows();
    mst_dataset *training = mst_data_take(mst_dataset_retain(all), ROWS - TEST),
                *test = mst_data_skip(all, ROWS - TEST);
    mst_model *model;
    mst_result result;
    check(mst_model_create(&model));
    mst_lstm(model, 16);
    mst_dense(model, 1);
    const mst_custom_metric largest = {.name = "largest_error", .counts = count_errors, .result = largest_error};
    check(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .loss = MST_LOSS_MEAN_SQUARED_ERROR,
                      .metric = {MST_METRIC_MEAN_ABSOLUTE_ERROR}, .custom_metric = {largest}, .seed = 1));
    check(mst_fit(model, .data = training, .batch_size = 32, .epochs = argc > 1 ? atoll(argv[1]) : 12,
                  .progress = stdout, .progress_kind = MST_PROGRESS_LINES));
    check(mst_evaluate(model, test, 100, &result, NULL));
    printf("mean error %.3f, largest %.2f; of the value one period before %.3f\n", result.metric[0], result.metric[1],
           error_of_last_period());
    const bool learned = result.metric[0] < error_of_last_period();
    mst_model_destroy(model);
    mst_dataset_release(training);
    mst_dataset_release(test);
    return !learned;
}
