/* What huggingface_test.py asks of Muster:
 *
 *      parity_huggingface logits FOLDER X.npy LOGITS.npy [SAVED]           writes the logits of the tokens X
 *      parity_huggingface train FOLDER X.npy Y.npy OPTIMIZER STEPS SAVED   prints the loss of each step
 *      parity_huggingface generate FOLDER COUNT TOKEN...                   prints the likeliest tokens after these
 *
 * X and Y are i32 [examples, positions]; a step takes all examples. OPTIMIZER is sgd or adamw. The model is then saved
 * to SAVED.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/npy.h"
#include "muster/generate.h"
#include "muster/muster.h"

/* Makes a dataset of the arrays in COUNT files. */
static mst_status read_data(char **paths, int count, mst_dataset **out) {
    mst_tensor *tensor[2] = {NULL, NULL};
    mst_status status = MST_OK;
    for (int i = 0; i < count && !status; i++) status = mst_npy_read(paths[i], &tensor[i]);
    if (!status) status = mst_dataset_from_tensors(tensor, count, out);
    for (int i = 0; i < count; i++) mst_tensor_release(tensor[i]);
    return status;
}

/* ARGUMENTS: X.npy LOGITS.npy [SAVED] */
static mst_status write_logits(mst_model *model, char **arguments) {
    mst_dataset *data;
    mst_tensor *logits;
    MST_TRY(mst_compile(model, .session = {.devices = "cpu:1"}));
    MST_TRY(read_data(arguments, 1, &data));
    mst_status status = mst_predict(model, data, 4, &logits);
    mst_dataset_release(data);
    MST_TRY(status);
    status = mst_npy_write(arguments[1], logits);
    mst_tensor_release(logits);
    if (!status && arguments[2]) status = mst_model_save(model, arguments[2]);
    return status;
}

static mst_status print_loss(void *context, mst_train_state *state) {
    (void)context;
    printf("%.9g\n", state->step_loss);
    return MST_OK;
}

/* ARGUMENTS: X.npy Y.npy OPTIMIZER STEPS SAVED. With the settings below adamw is that of PyTorch. */
static mst_status train(mst_model *model, char **arguments) {
    const mst_callback printer = {.step_end = print_loss};
    const mst_optimizer optimizer =
        strcmp(arguments[2], "sgd") == 0
            ? mst_sgd(.learning_rate = 0.1, .momentum = 0.9)
            : mst_adamw(.learning_rate = 0.003, .epsilon = 1e-8, .epsilon_kind = MST_EPSILON_CORRECTED,
                        .weight_decay = 0.01, .sparse = MST_SPARSE_TENSORFLOW);
    mst_dataset *data;
    MST_TRY(mst_compile(model, .optimizer = optimizer, .loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY,
                        .session = {.devices = "cpu:1"}, .seed = 1));
    MST_TRY(read_data(arguments, 2, &data));
    const mst_status status = mst_fit(model, .data = data, .batch_size = mst_dataset_num_rows(data),
                                      .steps = atoll(arguments[3]), .callbacks = &printer, .num_callbacks = 1);
    mst_dataset_release(data);
    return status ? status : mst_model_save(model, arguments[4]);
}

/* ARGUMENTS: COUNT TOKEN... */
static mst_status generate(mst_model *model, char **arguments) {
    enum { MOST = 64 };
    int32_t prompt[MOST];
    int64_t count = 0;
    mst_token_ids ids = {.count = 0};
    for (; count < MOST && arguments[count + 1]; count++) prompt[count] = atoi(arguments[count + 1]);
    const mst_generate_options options = {
        .max_tokens = atoll(arguments[0]), .temperature = MST_ZERO, .devices = "cpu:1"};
    const mst_status status = mst_generate(model, prompt, count, &options, &ids);
    for (int64_t i = 0; !status && i < ids.count; i++) printf("%" PRId32 "\n", ids.id[i]);
    free(ids.id);
    return status;
}

static const struct {
    const char *name;
    int least, most; /* numbers of arguments */
    mst_status (*run)(mst_model *model, char **arguments);
} tasks[] = {{"logits", 2, 3, write_logits}, {"train", 5, 5, train}, {"generate", 2, 65, generate}};

int main(int argc, char **argv) {
    mst_model *model;
    const int count = argc - 3;
    for (size_t i = 0; count > 0 && i < sizeof tasks / sizeof *tasks; i++) {
        if (strcmp(argv[1], tasks[i].name) != 0 || count < tasks[i].least || count > tasks[i].most) continue;
        mst_status status = mst_model_load(argv[2], &model, NULL);
        if (!status) {
            status = tasks[i].run(model, argv + 3);
            if (status) fprintf(stderr, "error: %s\n", mst_error()->message);
            mst_model_destroy(model);
            return status != MST_OK;
        }
        fprintf(stderr, "error: %s\n", mst_error()->message);
        return 1;
    }
    fprintf(stderr, "usage: see huggingface.c\n");
    return 2;
}
