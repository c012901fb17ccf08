#include "support/saving.h"

#include <dirent.h>
#include <stdio.h>

#include "support/folder.h"
#include "support/test.h"
#include "support/training.h"

const mst_optimizer saving_adam = {.rule = "adam", .learning_rate = 0.01, .ema_decay = 0.9};

mst_model *saving_model(mst_optimizer optimizer, int64_t hidden) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, hidden, .activation = MST_TANH);
    mst_dropout(model, .rate = 0.3f);
    mst_dense(model, SAVING_CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = optimizer, .metric = {MST_METRIC_ACCURACY}, .seed = 7));
    return model;
}

mst_status saving_fit(mst_model *model, int64_t steps, const mst_callback *callbacks, int count) {
    mst_dataset *data = training_data(SAVING_ROWS, SAVING_FEATURES, SAVING_CLASSES, 1);
    const mst_status status = mst_fit(model, .data = data, .batch_size = SAVING_BATCH, .epochs = SAVING_EPOCHS,
                                      .steps = steps, .resume = true, .callbacks = callbacks, .num_callbacks = count);
    mst_dataset_release(data);
    return status;
}

void saving_sha(mst_model *model, char sha[65]) {
    EXPECT_OK(mst_model_sha256(model, sha));
}

void saving_undisturbed(char sha[65]) {
    mst_model *model = saving_model(saving_adam, 8);
    EXPECT_OK(saving_fit(model, 0, NULL, 0));
    saving_sha(model, sha);
    mst_model_destroy(model);
}

mst_checkpoint_manager *saving_manager(mst_checkpoint_options options) {
    mst_checkpoint_manager *manager;
    options.directory = folder_path("run");
    EXPECT_OK(mst_checkpoint_manager_open(&options, &manager));
    return manager;
}

mst_status saving_wait(void *manager, mst_train_state *state) {
    (void)state;
    return mst_checkpoint_manager_wait(manager);
}

/* Trains SAVING_STEPS steps, saving every EVERY. */
void saving_train(int64_t steps, int64_t every, int64_t keep) {
    mst_model *model = saving_model(saving_adam, 8);
    mst_checkpoint_manager *manager = saving_manager((mst_checkpoint_options){.every_steps = every, .keep = keep});
    const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = saving_wait}};
    EXPECT_OK(saving_fit(model, steps, save, 2));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    mst_model_destroy(model);
}

const char *saving_files(void) {
    static char text[4096];
    struct dirent **list;
    const int count = scandir(folder_path("run"), &list, NULL, alphasort);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (list[i]->d_name[0] != '.')
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", list[i]->d_name);
        free(list[i]);
    }
    free(list);
    return text;
}

void saving_damage(const char *name) {
    FILE *file = fopen(folder_path(name), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 40, SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, 40, SEEK_SET), 0);
    fputc(byte ^ 16, file);
    assert_int_equal(fclose(file), 0);
}

int64_t saving_resume(char sha[65], char **damaged) {
    mst_model *model = saving_model(saving_adam, 8);
    mst_restored restored;
    mst_checkpoint_manager *manager = saving_manager((mst_checkpoint_options){.every_steps = 100});
    EXPECT_OK(mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, &restored));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    EXPECT_OK(saving_fit(model, 0, NULL, 0));
    saving_sha(model, sha);
    mst_model_destroy(model);
    const int64_t step = restored.step;
    if (damaged) {
        *damaged = restored.damaged;
        restored.damaged = NULL;
    }
    mst_restored_free(&restored);
    return step;
}

int saving_without_sync(mst_file_call call, size_t *size) {
    (void)size;
    return call == MST_FILE_SYNC ? -1 : 0;
}

void saving_add(mst_bundle_writer *writer, const char *key, mst_dtype dtype, double value) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, dtype == MST_F32 ? MST_SHAPE(2) : MST_SCALAR, &tensor));
    mst_tensor_set(tensor, 0, value);
    EXPECT_OK(mst_bundle_writer_add(writer, key, tensor));
    mst_tensor_release(tensor);
}
