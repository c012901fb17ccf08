/* An autoencoder: 16 numbers go through 2 and come back. They are points of a curve with two parameters, a wave of some
 * phase and height, so that two numbers are enough. The labels are the inputs themselves.
 *
 * Usage: autoencoder [EPOCHS]   (default 30)
 */
#include <math.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 600, WIDTH = 16 };

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

static mst_dataset *make_waves(double *variance) {
    mst_tensor *waves;
    double squares = 0;
    check(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, WIDTH), &waves));
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < WIDTH; k++) {
            const double value = (0.2 + 0.8 * (i * 7 % 13) / 13.0) * sin(0.7 * i + 0.4 * k);
            mst_tensor_set(waves, (int64_t)i * WIDTH + k, value);
            squares += value * value;
        }
    *variance = squares / (ROWS * WIDTH);
    mst_dataset *data = mst_data_from_tensors((mst_tensor *[]){waves, waves}, 2);
    mst_tensor_release(waves);
    check(mst_dataset_check(data));
    return data;
}

int main(int argc, char **argv) {
    double variance;
    mst_dataset *data = make_waves(&variance);
    mst_model *model;
    mst_result result;
    check(mst_model_create(&model));
    mst_dense(model, 32, .activation = MST_TANH);
    mst_dense(model, 2, .name = "code");
    mst_dense(model, 32, .activation = MST_TANH);
    mst_dense(model, WIDTH);
    check(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .loss = MST_LOSS_MEAN_SQUARED_ERROR,
                      .metric = {MST_METRIC_R2}, .seed = 1));
    check(mst_fit(model, .data = data, .batch_size = 20, .epochs = argc > 1 ? atoll(argv[1]) : 30));
    check(mst_evaluate(model, data, 100, &result, NULL));
    printf("through two numbers: mean squared error %.4f of %.4f, R2 %.3f\n", result.loss, variance, result.metric[0]);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return !(result.loss < 0.1 * variance);
}
