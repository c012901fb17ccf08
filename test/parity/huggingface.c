/* What huggingface_test.py asks of Muster:
 *
 *      parity_huggingface FOLDER X.npy LOGITS.npy [SAVED]            writes the logits of the tokens X
 *      parity_huggingface FOLDER X.npy Y.npy OPTIMIZER STEPS SAVED   trains, and prints the loss of each step
 *
 * X and Y are i32 [examples, positions]; a step takes all examples. OPTIMIZER is sgd or adamw. The model is then saved
 * to SAVED.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/npy.h"
#include "muster/muster.h"

static mst_status print_loss(void *context, mst_train_state *state) {
    (void)context;
    printf("%.9g\n", state->step_loss);
    return MST_OK;
}

static mst_status write_logits(mst_model *model, const mst_dataset *data, const char *path) {
    mst_tensor *logits;
    MST_TRY(mst_predict(model, data, 4, &logits));
    const mst_status status = mst_npy_write(path, logits);
    mst_tensor_release(logits);
    return status;
}

static mst_status train(mst_model *model, const mst_dataset *data, int64_t rows, int64_t steps) {
    const mst_callback printer = {.step_end = print_loss};
    return mst_fit(model, .data = data, .batch_size = rows, .steps = steps, .callbacks = &printer, .num_callbacks = 1);
}

static mst_status run_on(mst_model *model, int argc, char **argv) {
    const bool trains = argc > 5;
    mst_tensor *tensor[2] = {NULL, NULL};
    mst_dataset *data;
    mst_status status = mst_npy_read(argv[2], &tensor[0]);
    if (!status && trains) status = mst_npy_read(argv[3], &tensor[1]);
    if (!status) status = mst_dataset_from_tensors(tensor, trains ? 2 : 1, &data);
    if (status) return status;
    const bool is_sgd = trains && strcmp(argv[4], "sgd") == 0;
    const mst_optimizer optimizer =
        is_sgd ? mst_sgd(.learning_rate = 0.1, .momentum = 0.9)
               : mst_adamw(.learning_rate = 0.003, .epsilon = 1e-8, .epsilon_kind = MST_EPSILON_CORRECTED,
                           .weight_decay = 0.01, .sparse = MST_SPARSE_TENSORFLOW);
    status = mst_compile(model, .optimizer = optimizer, .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY,
                         .session = {.devices = "cpu:1"}, .seed = 1);
    if (!status)
        status = trains ? train(model, data, mst_tensor_shape(tensor[0]).dim[0], atoll(argv[5]))
                        : write_logits(model, data, argv[3]);
    const char *saved = trains ? argv[6] : argc > 4 ? argv[4] : NULL;
    if (!status && saved) status = mst_model_save(model, saved);
    mst_dataset_release(data);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return status;
}

int main(int argc, char **argv) {
    mst_model *model;
    if (argc != 4 && argc != 5 && argc != 7) return fprintf(stderr, "see the head of huggingface.c\n"), 2;
    mst_status status = mst_model_load(argv[1], &model, NULL);
    if (!status) status = run_on(model, argc, argv);
    if (!status) mst_model_destroy(model);
    if (status) fprintf(stderr, "error: %s\n", mst_error()->message);
    return status != MST_OK;
}
