/* A model with two inputs and two outputs: of what a customer has bought (counts) and said (codes of words) it learns
 * whether they come back, a class, and how much they spend, a number. Each output has its own loss, weight and metrics.
 * The data is made here: inputs 0 and 1, then the labels of the outputs in their order. */
#include <math.h>
#include <stdio.h>

#include "muster/muster.h"

enum { CUSTOMERS = 2000, GOODS = 6, WORDS = 4, VOCABULARY = 20 };

/* 0 to 1. */
static double draw(void) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24);
}

static void fill(mst_tensor *const *tensor) {
    for (int i = 0; i < CUSTOMERS; i++) {
        double mood = 0, spent = 0;
        for (int k = 0; k < GOODS; k++) {
            const double count = floor(3 * draw());
            mst_tensor_set(tensor[0], i * GOODS + k, count);
            spent += count * (k + 1);
        }
        for (int k = 0; k < WORDS; k++) {
            const int word = (int)(VOCABULARY * draw());
            mst_tensor_set(tensor[1], i * WORDS + k, word);
            mood += word < VOCABULARY / 2 ? 1 : -1; /* the first half of the words is kind */
        }
        mst_tensor_set(tensor[2], i, mood + 0.1 * spent > 2);
        mst_tensor_set(tensor[3], i, spent / 10);
    }
}

static mst_dataset *make_data(void) {
    mst_tensor *tensor[4] = {NULL};
    mst_dataset *data = NULL;
    if (!mst_tensor_create(MST_F32, MST_SHAPE(CUSTOMERS, GOODS), &tensor[0]) &&
        !mst_tensor_create(MST_I64, MST_SHAPE(CUSTOMERS, WORDS), &tensor[1]) &&
        !mst_tensor_create(MST_I64, MST_SHAPE(CUSTOMERS), &tensor[2]) &&
        !mst_tensor_create(MST_F32, MST_SHAPE(CUSTOMERS, 1), &tensor[3])) {
        fill(tensor);
        data = mst_data_from_tensors(tensor, 4);
    }
    for (int i = 0; i < 4; i++) mst_tensor_release(tensor[i]); /* the dataset has references of its own */
    return data;
}

static void add_layers(mst_model *model) {
    const mst_output bought = mst_input(model, MST_SHAPE(GOODS), .name = "bought");
    const mst_output said = mst_input(model, MST_SHAPE(WORDS), .dtype = MST_I64, .name = "said");
    const mst_output words = mst_flatten(mst_embedding(said, VOCABULARY, 4));
    const mst_output both = mst_dense(mst_concatenate(MST_OUTPUTS(bought, words)), 32, .activation = MST_RELU);
    const mst_output returns = mst_dense(both, 2, .name = "returns");
    mst_model_outputs(model, MST_OUTPUTS(returns, mst_dense(both, 1, .name = "spends")));
}

static mst_status train(mst_model *model, mst_dataset *data) {
    mst_result result;
    add_layers(model);
    MST_TRY(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01),
                        .target = {{.output = "returns", .metric = {MST_METRIC_ACCURACY, MST_METRIC_AUC}},
                                   {.output = "spends",
                                    .loss = MST_LOSS_MEAN_SQUARED_ERROR,
                                    .weight = 0.5,
                                    .metric = {MST_METRIC_MEAN_ABSOLUTE_ERROR}}},
                        .seed = 1));
    const mst_fit_options options = {.data = data, .validation_split = 0.2, .batch_size = 50, .epochs = 20};
    MST_TRY(mst_fit_with(model, &options, &result));
    for (int m = 0; m < result.num_metrics; m++)
        printf("%s = %.4f, validation %.4f\n", result.metric_name[m], result.metric[m], result.validation_metric[m]);
    return MST_OK;
}

int main(void) {
    mst_model *model;
    mst_dataset *data = make_data();
    mst_status status = mst_model_create(&model);
    if (!status) status = train(model, data);
    if (status) fprintf(stderr, "error: %s\n", mst_error()->message);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status != MST_OK;
}
