/* Checkpoints of a training: names, restoring, retention, damage, faults of the disk, and going on with the same bits. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "base/file.h"
#include "format/bundle.h"
#include "muster/muster.h"
#include "rule/rule.h"
#include "support/folder.h"
#include "support/state.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 47, BATCH = 10, FEATURES = 6, CLASSES = 3, EPOCHS = 3, STEPS = 15 };

static const mst_optimizer adam = {.rule = "adam", .learning_rate = 0.01, .ema_decay = 0.9};

static mst_model *model_of(mst_optimizer optimizer, int64_t hidden) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, hidden, .activation = MST_TANH);
    mst_dropout(model, .rate = 0.3f);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = optimizer, .metric = {MST_METRIC_ACCURACY}, .seed = 7));
    return model;
}

/* Fits with CALLBACK (may be NULL); resumes where the store has been restored. */
static mst_status fit(mst_model *model, int64_t steps, const mst_callback *callbacks, int count) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    const mst_status status = mst_fit(model, .data = data, .batch_size = BATCH, .epochs = EPOCHS, .steps = steps,
                                      .resume = true, .callbacks = callbacks, .num_callbacks = count);
    mst_dataset_release(data);
    return status;
}

static void sha_of(mst_model *model, char sha[65]) {
    EXPECT_OK(mst_model_sha256(model, sha));
}

static void undisturbed(char sha[65]) {
    mst_model *model = model_of(adam, 8);
    EXPECT_OK(fit(model, 0, NULL, 0));
    sha_of(model, sha);
    mst_model_destroy(model);
}

static mst_checkpoint_manager *manager_of(mst_checkpoint_options options) {
    mst_checkpoint_manager *manager;
    options.directory = folder_path("run");
    EXPECT_OK(mst_checkpoint_manager_open(&options, &manager));
    return manager;
}

/* Steps here take less time than a save: each waits, so that no save is put off. */
static mst_status wait_for(void *context, mst_train_state *state) {
    (void)state;
    return mst_checkpoint_manager_wait(context);
}

/* Trains STEPS steps, saving every EVERY. */
static void train(int64_t steps, int64_t every, int64_t keep) {
    mst_model *model = model_of(adam, 8);
    mst_checkpoint_manager *manager = manager_of((mst_checkpoint_options){.every_steps = every, .keep = keep});
    const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = wait_for}};
    EXPECT_OK(fit(model, steps, save, 2));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    mst_model_destroy(model);
}

/* The names of the files in the folder `run`, sorted, without what is hidden. */
static const char *files(void) {
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

static void damage(const char *name) {
    FILE *file = fopen(folder_path(name), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 40, SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, 40, SEEK_SET), 0);
    fputc(byte ^ 16, file);
    assert_int_equal(fclose(file), 0);
}

/* A new model goes on from the folder's newest good checkpoint to the end; from which step, with which SHA. */
static int64_t resume(char sha[65], char **damaged) {
    mst_model *model = model_of(adam, 8);
    mst_restored restored;
    mst_checkpoint_manager *manager = manager_of((mst_checkpoint_options){.every_steps = 100});
    EXPECT_OK(mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, &restored));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    EXPECT_OK(fit(model, 0, NULL, 0));
    sha_of(model, sha);
    mst_model_destroy(model);
    const int64_t step = restored.step;
    if (damaged) {
        *damaged = restored.damaged;
        restored.damaged = NULL;
    }
    mst_restored_free(&restored);
    return step;
}

/* Nobody pulls the plug here: syncs, which take most of the time, are left out. */
static int without_sync(mst_file_call call, size_t *size) {
    (void)size;
    return call == MST_FILE_SYNC ? -1 : 0;
}

/* ---- names ---- */

static void entries_have_tensorflow_1s_names(void **state) {
    (void)state;
    static const char *const wanted[] = {"dense/kernel",
                                         "dense/bias",
                                         "dense/kernel/Adam",
                                         "dense/kernel/Adam_1",
                                         "dense/kernel/ExponentialMovingAverage",
                                         "global_step",
                                         "beta1_power",
                                         "beta2_power",
                                         "fit/batch",
                                         "random/seed"};
    mst_bundle *bundle;
    mst_tensor *value;
    train(4, 100, 0);
    EXPECT_OK(mst_bundle_open(folder_path("run/model.ckpt-4"), &bundle));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (mst_bundle_find(bundle, wanted[i]) < 0) fail_msg("there is no '%s'", wanted[i]);
    EXPECT_OK(mst_bundle_read(bundle, mst_bundle_find(bundle, "beta1_power"), &value));
    assert_float_equal(mst_tensor_get(value, 0), 0.59049, 1e-6); /* 0.9^5 */
    mst_tensor_release(value);
    mst_bundle_close(bundle);
}

static void powers_of_beta_are_written_for_rules_that_have_them(void **state) {
    (void)state;
    mst_snapshot *snapshot;
    mst_tensor *step;
    EXPECT_OK(mst_snapshot_create(&snapshot));
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SCALAR, &step));
    EXPECT_OK(mst_snapshot_add(snapshot, NULL, "global_step", MST_STATE_STEP, step));
    int keeping = 0;
    for (int i = 0; mst_rule_table[i]; i++) {
        const mst_optimizer optimizer = mst_optimizer_named(mst_rule_table[i]->name, (mst_optimizer){0});
        mst_bundle *bundle;
        EXPECT_OK(mst_checkpoint_write(folder_path(mst_rule_table[i]->name), snapshot, &optimizer));
        EXPECT_OK(mst_bundle_open(folder_path(mst_rule_table[i]->name), &bundle));
        assert_int_equal(mst_bundle_find(bundle, "beta1_power") >= 0, mst_rule_table[i]->keeps_powers);
        assert_int_equal(mst_bundle_find(bundle, "beta2_power") >= 0, mst_rule_table[i]->keeps_powers);
        mst_bundle_close(bundle);
        keeping += mst_rule_table[i]->keeps_powers;
    }
    assert_int_equal(keeping, 2); /* adam, adamw; not nadam */
    mst_tensor_release(step);
    mst_snapshot_release(snapshot);
}

static void add(mst_bundle_writer *writer, const char *key, mst_dtype dtype, double value) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, dtype == MST_F32 ? MST_SHAPE(2) : MST_SCALAR, &tensor));
    mst_tensor_set(tensor, 0, value);
    EXPECT_OK(mst_bundle_writer_add(writer, key, tensor));
    mst_tensor_release(tensor);
}

/* Names in a file of TensorFlow's, and what they are here. */
static const struct {
    const char *file, *store;
    mst_state_kind kind;
} names[] = {{"a/w", "a/w", MST_STATE_WEIGHT},
             {"a/w/Adam", "a/w/m", MST_STATE_SLOT},
             {"a/w/Adam_1", "a/w/v", MST_STATE_SLOT},
             {"a/w/ExponentialMovingAverage", "a/w/ExponentialMovingAverage", MST_STATE_AVERAGE},
             {"b/w", "b/w", MST_STATE_WEIGHT},
             {"b/w/Momentum", "b/w/momentum_buffer", MST_STATE_SLOT},
             {"b/w/momentum", "b/w/momentum", MST_STATE_SLOT}, /* Keras', which TensorFlow 1 has no name for */
             {"c/w", "c/w", MST_STATE_WEIGHT},
             {"c/w/RMSProp", "c/w/rms", MST_STATE_SLOT},
             {"c/w/RMSProp_1", "c/w/momentum", MST_STATE_SLOT},
             {"d/w", "d/w", MST_STATE_WEIGHT},
             {"d/w/RMSProp", "d/w/rms", MST_STATE_SLOT},
             {"d/w/RMSProp_1", "d/w/mg", MST_STATE_SLOT},
             {"d/w/RMSProp_2", "d/w/momentum", MST_STATE_SLOT},
             {"e/w", "e/w", MST_STATE_WEIGHT},
             {"e/w/Adagrad", "e/w/accumulator", MST_STATE_SLOT},
             {"f/w", "f/w", MST_STATE_WEIGHT},
             {"f/w/Ftrl", "f/w/accumulator", MST_STATE_SLOT},
             {"f/w/Ftrl_1", "f/w/linear", MST_STATE_SLOT},
             {"Adam", "Adam", MST_STATE_WEIGHT}};
enum { NUM_NAMES = sizeof names / sizeof *names };

static void slots_of_tensorflow_1_are_known_and_written_back(void **state) {
    (void)state;
    mst_bundle_writer *writer;
    mst_snapshot *snapshot;
    mst_bundle *bundle;
    EXPECT_OK(mst_bundle_writer_create(folder_path("tf"), &writer));
    for (int i = 0; i < NUM_NAMES; i++) add(writer, names[i].file, MST_F32, i);
    add(writer, "beta1_power", MST_F32, 1);
    add(writer, "global_step", MST_I64, 12);
    EXPECT_OK(mst_bundle_writer_finish(writer));
    EXPECT_OK(mst_checkpoint_read(folder_path("tf"), &snapshot));
    assert_int_equal(mst_snapshot_count(snapshot), NUM_NAMES + 1);
    for (int i = 0; i < NUM_NAMES; i++) {
        mst_tensor *value = mst_snapshot_find(snapshot, NULL, names[i].store);
        if (!value) fail_msg("'%s' is not '%s'", names[i].file, names[i].store);
        assert_true(mst_tensor_get(value, 0) == i);
        for (int64_t k = 0; k < mst_snapshot_count(snapshot); k++)
            if (strcmp(mst_snapshot_info(snapshot, k).name, names[i].store) == 0)
                assert_int_equal(mst_snapshot_info(snapshot, k).kind, names[i].kind);
    }
    EXPECT_OK(mst_checkpoint_write(folder_path("back"), snapshot, NULL));
    EXPECT_OK(mst_bundle_open(folder_path("back"), &bundle));
    for (int i = 0; i < NUM_NAMES; i++)
        if (mst_bundle_find(bundle, names[i].file) < 0) fail_msg("'%s' is not written back", names[i].file);
    mst_bundle_close(bundle);
    mst_snapshot_release(snapshot);
}

static void checkpoint_and_model_files_hold_the_store(void **state) {
    (void)state;
    static const char *const paths[] = {"x", "x.safetensors"};
    mst_model *model = model_of(adam, 8);
    EXPECT_OK(fit(model, 8, NULL, 0));
    mst_snapshot *wanted = state_of(mst_model_store(model));
    for (int i = 0; i < 2; i++) {
        mst_snapshot *got;
        EXPECT_OK(mst_checkpoint_write(folder_path(paths[i]), wanted, &adam));
        EXPECT_OK(mst_checkpoint_read(folder_path(paths[i]), &got));
        state_expect_same(paths[i], got, wanted, false);
        mst_snapshot_release(got);
    }
    mst_snapshot_release(wanted);
    mst_model_destroy(model);
}

/* ---- going on ---- */

static void training_goes_on_from_each_checkpoint_with_the_same_bits(void **state) {
    (void)state;
    char wanted[65], got[65];
    undisturbed(wanted);
    for (int64_t steps = 1; steps <= STEPS; steps += 2) {
        char command[700];
        train(steps, 4, 0);
        assert_int_equal(resume(got, NULL), steps);
        assert_string_equal(got, wanted);
        snprintf(command, sizeof command, "rm -r '%s'", folder_path("run"));
        assert_int_equal(system(command), 0);
    }
}

static void last_ones_are_kept_and_the_state_file_names_them(void **state) {
    (void)state;
    void *text;
    size_t size;
    train(10, 2, 2);
    assert_string_equal(files(),
                        "checkpoint model.ckpt-10.data-00000-of-00001 model.ckpt-10.index "
                        "model.ckpt-8.data-00000-of-00001 model.ckpt-8.index ");
    EXPECT_OK(mst_file_read(folder_path("run/checkpoint"), 4096, &text, &size));
    ((char *)text)[size] = '\0';
    assert_ptr_equal(strstr(text,
                            "model_checkpoint_path: \"model.ckpt-10\"\n"
                            "all_model_checkpoint_paths: \"model.ckpt-8\"\n"
                            "all_model_checkpoint_paths: \"model.ckpt-10\"\n"),
                     text);
    free(text);
}

static void one_checkpoint_for_each_period_of_hours_stays(void **state) {
    (void)state;
    mst_model *model = model_of(adam, 8);
    mst_checkpoint_manager *manager =
        manager_of((mst_checkpoint_options){.every_steps = 3, .keep = 1, .keep_every_hours = 1e-12});
    const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = wait_for}};
    EXPECT_OK(fit(model, 9, save, 2));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    mst_model_destroy(model);
    train(12, 12, 1); /* another run removes what is listed, and leaves what was kept for good */
    assert_non_null(strstr(files(), "model.ckpt-3.index model.ckpt-6.data"));
    assert_null(strstr(files(), "model.ckpt-9.index"));
}

static void latest_is_found_without_the_state_file(void **state) {
    (void)state;
    char wanted[65], got[65];
    undisturbed(wanted);
    train(12, 4, 0);
    assert_int_equal(unlink(folder_path("run/checkpoint")), 0);
    assert_int_equal(resume(got, NULL), 12);
    assert_string_equal(got, wanted);
}

static void state_file_decides_which_is_the_newest(void **state) {
    (void)state;
    static const char text[] =
        "model_checkpoint_path: \"model.ckpt-\\064\"\nall_model_checkpoint_paths: 'model.ckpt-4'\n";
    char got[65];
    train(12, 4, 0);
    folder_write("run/checkpoint", text, sizeof text - 1);
    assert_int_equal(resume(got, NULL), 4);
}

static void damaged_newest_checkpoint_is_reported_and_the_one_before_is_used(void **state) {
    (void)state;
    char wanted[65], got[65], *damaged;
    undisturbed(wanted);
    train(12, 4, 0);
    damage("run/model.ckpt-12.data-00000-of-00001");
    assert_int_equal(truncate(folder_path("run/model.ckpt-8.index"), 100), 0);
    assert_int_equal(resume(got, &damaged), 4);
    assert_string_equal(got, wanted);
    assert_non_null(strstr(damaged, "model.ckpt-12': the check sum of"));
    assert_non_null(strstr(damaged, "model.ckpt-8': no footer"));
    free(damaged);
    assert_int_equal(unlink(folder_path("run/model.ckpt-4.data-00000-of-00001")), 0);
    mst_model *model = model_of(adam, 8);
    EXPECT_ERROR(mst_checkpoint_restore(folder_path("run"), mst_model_store(model), NULL, NULL), MST_CORRUPT,
                 "no checkpoint can be read");
    mst_model_destroy(model);
}

static void folder_without_checkpoint_says_so(void **state) {
    (void)state;
    mst_model *model = model_of(adam, 8);
    mst_store *store = mst_model_store(model);
    EXPECT_ERROR(mst_checkpoint_restore(folder_path(""), store, NULL, NULL), MST_NOT_FOUND, "there is no checkpoint");
    EXPECT_ERROR(mst_checkpoint_restore(folder_path("none"), store, NULL, NULL), MST_NOT_FOUND,
                 "none': there is no such file, checkpoint or folder");
    mst_model_destroy(model);
}

/* ---- other models ---- */

static void checkpoint_of_another_model_is_an_error_that_changes_nothing(void **state) {
    (void)state;
    char before[65], after[65];
    train(5, 5, 0);
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = model_of(adam, 9);
    EXPECT_OK(mst_build(model, data, true));
    sha_of(model, before);
    EXPECT_ERROR(mst_checkpoint_restore(folder_path("run"), mst_model_store(model), NULL, NULL), MST_INVALID,
                 "the model has f32[9]: it is a checkpoint of another model");
    sha_of(model, after);
    assert_string_equal(before, after);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void missing_and_left_over_entries_are_listed(void **state) {
    (void)state;
    mst_restored restored;
    train(5, 5, 0);
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = model_of((mst_optimizer){.rule = "sgd", .learning_rate = 0.1, .momentum = 0.9}, 8);
    EXPECT_OK(mst_build(model, data, true));
    EXPECT_OK(mst_checkpoint_restore(folder_path("run"), mst_model_store(model), NULL, &restored));
    assert_non_null(strstr(restored.missing, "dense/bias/momentum, dense/kernel/momentum"));
    assert_non_null(
        strstr(restored.left_over, "dense/kernel/ExponentialMovingAverage, dense/kernel/m, dense/kernel/v"));
    mst_restored_free(&restored);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* The hash is that of "NAME DTYPE SHAPE\n" and the bytes of each weight. */
static void name_of_any_length_is_hashed_whole(void **state) {
    (void)state;
    enum { LONG = 5000 };
    static char name[LONG + 1];
    char sha[65], wanted[65];
    mst_snapshot *snapshot;
    mst_tensor *value;
    memset(name, 'w', LONG);
    mst_model *model = model_of(mst_sgd(.learning_rate = 0.1), 8);
    EXPECT_OK(mst_snapshot_create(&snapshot));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(2), &value));
    EXPECT_OK(mst_snapshot_add(snapshot, NULL, name, MST_STATE_WEIGHT, value));
    EXPECT_OK(mst_store_restore(mst_model_store(model), snapshot));
    EXPECT_OK(mst_model_sha256(model, sha));
    crypto_hash_sha256_state hash;
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_init(&hash);
    crypto_hash_sha256_update(&hash, (const unsigned char *)name, LONG);
    crypto_hash_sha256_update(&hash, (const unsigned char *)" f32 [2]\n", 9);
    crypto_hash_sha256_update(&hash, mst_tensor_data(value), mst_tensor_bytes(value));
    crypto_hash_sha256_final(&hash, digest);
    for (size_t i = 0; i < sizeof digest; i++) snprintf(wanted + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(sha, wanted);
    mst_tensor_release(value);
    mst_snapshot_release(snapshot);
    mst_model_destroy(model);
}

static void strings_of_other_programs_are_named(void **state) {
    (void)state;
    mst_restored restored;
    mst_bundle_writer *writer;
    mst_store *store;
    EXPECT_OK(mst_bundle_writer_create(folder_path("tf"), &writer));
    add(writer, "a/w", MST_F32, 1);
    EXPECT_OK(mst_bundle_writer_add_string(writer, "vocabulary", "abc", 3));
    EXPECT_OK(mst_bundle_writer_finish(writer));
    EXPECT_OK(mst_store_create(&store));
    EXPECT_OK(mst_checkpoint_restore(folder_path("tf"), store, NULL, &restored));
    assert_string_equal(restored.left_over, "vocabulary (string, which is not read)");
    mst_restored_free(&restored);
    mst_store_release(store);
}

static mst_tensor *value_of(mst_model *model, const char *name) {
    mst_tensor *value;
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, name, &value));
    return value;
}

static void names_can_be_mapped_and_averages_taken(void **state) {
    (void)state;
    static const mst_checkpoint_name map[] = {{"dense/kernel", "dense_1/kernel"}, {"dense/bias", "dense_1/bias"}};
    train(5, 5, 0);
    mst_snapshot *snapshot, *other;
    EXPECT_OK(mst_checkpoint_read(folder_path("run/model.ckpt-5"), &snapshot));
    EXPECT_OK(mst_snapshot_create(&other)); /* only the last layer, under the names of the first */
    mst_store *store;
    mst_tensor *kernel = mst_snapshot_find(snapshot, NULL, "dense_1/kernel"), *got;
    mst_tensor *bias = mst_snapshot_find(snapshot, NULL, "dense_1/bias");
    mst_tensor *average = mst_snapshot_find(snapshot, NULL, "dense_1/kernel/ExponentialMovingAverage");
    assert_non_null(average);
    for (int i = 0; i < 2; i++) {
        const mst_restore_options options = {
            .names = map, .num_names = 2, .kinds = 1u << MST_STATE_WEIGHT, .averages = i == 1};
        EXPECT_OK(mst_store_create(&store));
        EXPECT_OK(mst_store_set(store, NULL, "dense/kernel", MST_STATE_WEIGHT, kernel));
        EXPECT_OK(mst_store_set(store, NULL, "dense/bias", MST_STATE_WEIGHT, bias));
        EXPECT_OK(mst_checkpoint_restore(folder_path("run/model.ckpt-5.index"), store, &options, NULL));
        EXPECT_OK(mst_store_get(store, NULL, "dense/kernel", &got));
        assert_memory_equal(mst_tensor_data(got), mst_tensor_data(i ? average : kernel), mst_tensor_bytes(kernel));
        mst_tensor_release(got);
        mst_store_release(store);
    }
    mst_snapshot_release(other);
    mst_snapshot_release(snapshot);
}

static void weights_alone_begin_another_training(void **state) {
    (void)state;
    const mst_restore_options options = {.kinds = 1u << MST_STATE_WEIGHT};
    train(5, 5, 0);
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = model_of(adam, 8);
    EXPECT_OK(mst_build(model, data, true));
    EXPECT_OK(mst_checkpoint_restore(folder_path("run"), mst_model_store(model), &options, NULL));
    mst_tensor *step = value_of(model, "global_step");
    assert_true(mst_tensor_get(step, 0) == 0);
    mst_tensor_release(step);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* ---- the folder ---- */

static void second_manager_is_refused_until_the_first_is_closed(void **state) {
    (void)state;
    mst_checkpoint_manager *first = manager_of((mst_checkpoint_options){.every_steps = 1}), *second;
    const mst_checkpoint_options options = {.directory = folder_path("run")};
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &second), MST_UNAVAILABLE, "another training writes");
    assert_null(second);
    EXPECT_OK(mst_checkpoint_manager_close(first));
    EXPECT_OK(mst_checkpoint_manager_open(&options, &second));
    EXPECT_OK(mst_checkpoint_manager_close(second));
}

static void lock_goes_with_the_process_that_has_it(void **state) {
    (void)state;
    const mst_checkpoint_options options = {.directory = folder_path("run")};
    mst_checkpoint_manager *manager;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (mst_checkpoint_manager_open(&options, &manager)) _exit(1);
        (void)!write(ready[1], "x", 1);
        for (;;) pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &manager), MST_UNAVAILABLE, "another training writes");
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    EXPECT_OK(mst_checkpoint_manager_open(&options, &manager));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    close(ready[0]);
    close(ready[1]);
}

static void half_written_files_of_a_killed_process_are_removed(void **state) {
    (void)state;
    char path[700];
    train(4, 4, 0);
    folder_write("run/.muster-0123456789abc", "half", 4);
    folder_write("run/model.ckpt-8.data-00000-of-00001", "half", 4);
    folder_write("run/mine.data-00000-of-00001", "half", 4);
    snprintf(path, sizeof path, "%s", folder_path("run/.muster-0123456789abc"));
    EXPECT_OK(mst_checkpoint_manager_close(manager_of((mst_checkpoint_options){.every_steps = 1})));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_string_equal(files(),
                        "checkpoint mine.data-00000-of-00001 model.ckpt-4.data-00000-of-00001 "
                        "model.ckpt-4.index ");
}

/* Another program writes into the folder, and keeps a file there whose name is alike. */
static void files_that_others_write_in_the_folder_stay(void **state) {
    (void)state;
    mst_file file;
    mst_bundle_writer *writer;
    char path[700];
    train(4, 4, 0);
    EXPECT_OK(mst_file_create(folder_path("run/table.csv"), &file));
    EXPECT_OK(mst_file_append(&file, "1,2\n", 4));
    EXPECT_OK(mst_bundle_writer_create(folder_path("run/model.ckpt-9"), &writer));
    add(writer, "a", MST_F32, 1);
    snprintf(path, sizeof path, "%s", folder_write("run/.muster-notes", "mine", 4));
    EXPECT_OK(mst_checkpoint_manager_close(manager_of((mst_checkpoint_options){.every_steps = 1})));
    EXPECT_OK(mst_file_commit(&file));
    EXPECT_OK(mst_bundle_writer_finish(writer));
    assert_int_equal(access(path, F_OK), 0);
    assert_non_null(strstr(files(), "model.ckpt-9.data-00000-of-00001 model.ckpt-9.index table.csv "));
}

/* Between data and index there is data alone: a training that begins then takes it for what was left. */
static int open_meanwhile(mst_file_call call, size_t *size) {
    static int renames;
    (void)size;
    if (call != MST_FILE_RENAME || ++renames != 2) return call == MST_FILE_SYNC ? -1 : 0;
    mst_file_replace_fault(without_sync);
    EXPECT_OK(mst_checkpoint_manager_close(manager_of((mst_checkpoint_options){.every_steps = 1})));
    return 0;
}

static void data_whose_index_is_being_written_stays(void **state) {
    (void)state;
    mst_bundle_writer *writer;
    mst_snapshot *snapshot;
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
    EXPECT_OK(mst_bundle_writer_create(folder_path("run/model.ckpt-9"), &writer));
    add(writer, "a", MST_F32, 1);
    mst_file_replace_fault(open_meanwhile);
    EXPECT_OK(mst_bundle_writer_finish(writer));
    mst_file_replace_fault(without_sync);
    EXPECT_OK(mst_checkpoint_read(folder_path("run/model.ckpt-9"), &snapshot));
    mst_snapshot_release(snapshot);
}

/* ---- folders from elsewhere ---- */

static void copy_file(const char *from, const char *to) {
    void *data;
    size_t size;
    EXPECT_OK(mst_file_read(folder_path(from), 1 << 24, &data, &size));
    folder_write(to, data, size);
    free(data);
}

/* A folder beside `run` with a checkpoint that is not the training's. */
static void make_victim(void) {
    assert_int_equal(mkdir(folder_path("victim"), 0700), 0);
    copy_file("run/model.ckpt-4.index", "victim/model.ckpt-2.index");
    copy_file("run/model.ckpt-4.data-00000-of-00001", "victim/model.ckpt-2.data-00000-of-00001");
}

static void expect_victim(void) {
    mst_snapshot *snapshot;
    EXPECT_OK(mst_checkpoint_read(folder_path("victim/model.ckpt-2"), &snapshot));
    mst_snapshot_release(snapshot);
}

static void names_of_the_state_file_count_inside_the_folder_only(void **state) {
    (void)state;
    char text[2048];
    for (int absolute = 0; absolute < 2; absolute++) {
        train(4, 4, 0);
        make_victim();
        snprintf(text, sizeof text,
                 "model_checkpoint_path: \"model.ckpt-4\"\nall_model_checkpoint_paths: \"%s/victim/model.ckpt-2\"\n"
                 "all_model_checkpoint_paths: \"model.ckpt-4\"\n",
                 absolute ? folder_path("") : "..");
        folder_write_text("run/checkpoint", text);
        train(12, 4, 1);
        expect_victim();
        assert_null(strstr(files(), "model.ckpt-4"));
        snprintf(text, sizeof text, "rm -r '%s' '%s'", folder_path("run"), folder_path("victim"));
        assert_int_equal(system(text), 0);
    }
}

/* As TensorFlow writes it where the folder was named with its whole path; then the folder is moved. */
static void whole_paths_of_the_state_file_are_found_where_the_folder_is(void **state) {
    (void)state;
    char got[65];
    train(12, 4, 0);
    folder_write_text("run/checkpoint",
                      "model_checkpoint_path: \"/gone/run/model.ckpt-8\"\n"
                      "all_model_checkpoint_paths: \"/gone/run/model.ckpt-4\"\n"
                      "all_model_checkpoint_paths: \"/gone/run/model.ckpt-8\"\n");
    assert_int_equal(resume(got, NULL), 8);
}

static void link_to(const char *target, const char *name) {
    (void)unlink(folder_path(name));
    assert_int_equal(symlink(target, folder_path(name)), 0);
}

static void expect_text(const char *name, const char *wanted) {
    void *data;
    size_t size;
    EXPECT_OK(mst_file_read(folder_path(name), 4096, &data, &size));
    ((char *)data)[size] = '\0';
    assert_string_equal(data, wanted);
    free(data);
}

static void links_in_the_folder_are_not_written_through(void **state) {
    (void)state;
    static const char *const names[] = {"run/checkpoint", "run/model.ckpt-8.data-00000-of-00001"};
    struct stat info;
    for (int i = 0; i < 2; i++) {
        train(4, 4, 0);
        folder_write_text("victim", "precious");
        link_to("../victim", names[i]);
        train(8, 4, 0);
        expect_text("victim", "precious");
        assert_int_equal(lstat(folder_path(names[i]), &info), 0);
        assert_true(S_ISREG(info.st_mode));
        char command[700];
        snprintf(command, sizeof command, "rm -r '%s'", folder_path("run"));
        assert_int_equal(system(command), 0);
    }
}

static void lock_that_is_a_link_is_refused(void **state) {
    (void)state;
    char path[700];
    const mst_checkpoint_options options = {.directory = path};
    mst_checkpoint_manager *manager;
    snprintf(path, sizeof path, "%s", folder_path("run"));
    train(4, 4, 0);
    folder_write_text("victim", "precious");
    link_to("../victim", "run/.muster.lock");
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &manager), MST_INVALID, ".muster.lock' is a symbolic link");
    expect_text("victim", "precious");
    assert_int_equal(unlink(folder_path("run/.muster.lock")), 0);
    assert_int_equal(link(folder_path("victim"), folder_path("run/.muster.lock")), 0);
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &manager), MST_INVALID, "with another name too");
    expect_text("victim", "precious");
}

static void folder_of_the_best_that_is_a_link_is_refused(void **state) {
    (void)state;
    char path[700];
    const mst_checkpoint_options options = {.directory = path, .monitor = "loss"};
    mst_checkpoint_manager *manager;
    snprintf(path, sizeof path, "%s", folder_path("run"));
    train(4, 4, 0);
    make_victim();
    link_to("../victim", "run/best");
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &manager), MST_INVALID, "best' is a symbolic link");
    expect_victim();
}

static void folder_can_be_reached_through_a_link_and_data_be_read_through_one(void **state) {
    (void)state;
    char wanted[65], got[65];
    undisturbed(wanted);
    assert_int_equal(mkdir(folder_path("disk"), 0700), 0);
    link_to("disk", "run");
    train(4, 4, 0);
    assert_int_equal(rename(folder_path("run/model.ckpt-4.data-00000-of-00001"), folder_path("data")), 0);
    link_to("../data", "run/model.ckpt-4.data-00000-of-00001");
    assert_int_equal(resume(got, NULL), 4);
    assert_string_equal(got, wanted);
    train(8, 4, 1); /* removes the link */
    assert_int_equal(access(folder_path("data"), F_OK), 0);
    assert_int_equal(access(folder_path("disk/model.ckpt-8.index"), F_OK), 0);
}

/* ---- which is the newest ---- */

static void set_time(const char *name, time_t seconds) {
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, folder_path(name), times, 0), 0);
}

/* One copies a folder and gives the files other times. What the state file does not name was kept for good. */
static void times_of_files_do_not_tell_the_order(void **state) {
    (void)state;
    char got[65];
    for (int named = 0; named < 2; named++) {
        mst_model *model = model_of(adam, 8);
        mst_checkpoint_manager *manager =
            manager_of((mst_checkpoint_options){.every_steps = 3, .keep = 2, .keep_every_hours = 1e-12});
        const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = wait_for}};
        EXPECT_OK(fit(model, 12, save, 2));
        EXPECT_OK(mst_checkpoint_manager_close(manager));
        mst_model_destroy(model);
        if (!named) assert_int_equal(unlink(folder_path("run/checkpoint")), 0);
        for (int step = 3; step <= 12; step += 3) {
            char name[64];
            snprintf(name, sizeof name, "run/model.ckpt-%d.index", step);
            set_time(name, 2000000000 - step);
        }
        assert_int_equal(resume(got, NULL), 12);
        train(15, 15, 1);
        assert_non_null(strstr(files(), named ? "model.ckpt-15" : "model.ckpt-12"));
        assert_non_null(strstr(files(), "model.ckpt-3.index model.ckpt-6.data"));
        assert_int_equal(resume(got, NULL), 15);
        char command[700];
        snprintf(command, sizeof command, "rm -r '%s'", folder_path("run"));
        assert_int_equal(system(command), 0);
    }
}

/* The process is killed when the index is there and the state file not yet: that one is the newest all the same. */
static void checkpoint_that_the_state_file_does_not_name_yet_is_the_newest(void **state) {
    (void)state;
    char got[65];
    train(8, 4, 0);
    copy_file("run/checkpoint", "state");
    train(12, 12, 0);
    copy_file("state", "run/checkpoint");
    set_time("run/model.ckpt-12.index", 1000000000);
    assert_int_equal(resume(got, NULL), 12);
}

static void training_that_begins_anew_keeps_old_checkpoints(void **state) {
    (void)state;
    char got[65];
    train(8, 4, 0);
    mst_model *model = model_of(adam, 8);
    mst_checkpoint_manager *manager = manager_of((mst_checkpoint_options){.every_steps = 2, .keep = 1, .anew = true});
    const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = wait_for}};
    EXPECT_OK(fit(model, 6, save, 2));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    mst_model_destroy(model);
    static const char kept[] =
        "checkpoint model.ckpt-4.data-00000-of-00001 model.ckpt-4.index "
        "model.ckpt-6.data-00000-of-00001 model.ckpt-6.index "
        "model.ckpt-8.data-00000-of-00001 model.ckpt-8.index ";
    assert_string_equal(files(), kept);
    assert_int_equal(resume(got, NULL), 6); /* the newest, though another is of a later step */
    assert_int_equal(unlink(folder_path("run/checkpoint")), 0);
    assert_int_equal(resume(got, NULL), 6);
}

static void impossible_options_are_named(void **state) {
    (void)state;
    mst_checkpoint_manager *manager;
    folder_write("file", "", 0);
    const mst_checkpoint_options none = {.every_steps = 1}, negative = {.directory = "x", .every_steps = -1},
                                 prefix = {.directory = "x", .prefix = "a/b"},
                                 file = {.directory = folder_path("file")},
                                 below = {.directory = folder_path("file/below")};
    EXPECT_ERROR(mst_checkpoint_manager_open(&none, &manager), MST_INVALID, "no directory");
    EXPECT_ERROR(mst_checkpoint_manager_open(&negative, &manager), MST_INVALID, "0 or more");
    EXPECT_ERROR(mst_checkpoint_manager_open(&prefix, &manager), MST_INVALID, "'a/b' is no name");
    EXPECT_ERROR(mst_checkpoint_manager_open(&file, &manager), MST_INVALID, "file' is a file");
    EXPECT_ERROR(mst_checkpoint_manager_open(&below, &manager), MST_INVALID, "cannot be made");
}

/* ---- the best ---- */

static void best_epoch_is_kept_and_stopping_early_goes_on_after_a_restart(void **state) {
    (void)state;
    char first[65], second[65];
    for (int restarts = 0; restarts < 2; restarts++) {
        char command[700];
        for (int part = restarts ? 0 : 1; part < 2; part++) {
            mst_model *model = model_of(adam, 8);
            mst_early_stopping stopping = {.monitor = "loss", .patience = 1, .min_delta = 0.05};
            mst_checkpoint_manager *manager =
                manager_of((mst_checkpoint_options){.every_steps = 100, .monitor = "loss"});
            const mst_callback callbacks[] = {mst_early_stopping_callback(&stopping), mst_checkpoint_callback(manager)};
            const mst_status restored = mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, NULL);
            if (restored) assert_int_equal(restored, MST_NOT_FOUND);
            EXPECT_OK(fit(model, part == 0 ? 7 : 0, callbacks, 2));
            EXPECT_OK(mst_checkpoint_manager_close(manager));
            sha_of(model, restarts ? second : first);
            mst_model_destroy(model);
        }
        mst_snapshot *best;
        char prefix[700];
        snprintf(prefix, sizeof prefix, "%s", folder_path("run/best"));
        mst_store *store;
        mst_restored restored;
        EXPECT_OK(mst_store_create(&store));
        EXPECT_OK(mst_checkpoint_restore(prefix, store, NULL, &restored));
        assert_true(restored.step > 0 && restored.step % 5 == 0); /* the end of an epoch */
        mst_restored_free(&restored);
        best = state_of(store);
        mst_snapshot_release(best);
        mst_store_release(store);
        snprintf(command, sizeof command, "rm -r '%s'", folder_path("run"));
        assert_int_equal(system(command), 0);
    }
    assert_string_equal(first, second);
}

/* ---- faults of the disk ---- */

typedef enum fault_way { WAY_FULL, WAY_READ_ONLY, WAY_DENIED, WAY_TORN, NUM_WAYS } fault_way;

static struct {
    fault_way way;
    int at, calls;
} fault;

/* The call number `at` fails, and those after it: of a full disk the writes; where all is torn or read-only, everything;
 * a permission is denied once. What is torn, and what a full disk takes, is half of the write. */
static int fail_at(mst_file_call call, size_t *size) {
    static const int codes[NUM_WAYS] = {ENOSPC, EROFS, EACCES, EIO};
    const int number = fault.calls++;
    if (number < fault.at && call == MST_FILE_SYNC) return -1;
    if (number < fault.at || (fault.way == WAY_DENIED && number > fault.at)) return 0;
    if (fault.way == WAY_FULL && call != MST_FILE_WRITE && call != MST_FILE_CREATE && call != MST_FILE_SYNC) return 0;
    if (call == MST_FILE_WRITE) *size = number == fault.at && fault.way != WAY_DENIED ? *size / 2 : 0;
    return codes[fault.way];
}

/* Trains on from the newest checkpoint to STEPS steps, with the fault where FAULT.at is reached. */
static mst_status train_with_fault(int64_t steps, int at, fault_way way) {
    mst_model *model = model_of(adam, 8);
    mst_checkpoint_manager *manager = manager_of((mst_checkpoint_options){.every_steps = 2, .keep = 1});
    const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = wait_for}};
    const mst_status restored = mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, NULL);
    if (restored) assert_int_equal(restored, MST_NOT_FOUND);
    fault.way = way;
    fault.at = at;
    fault.calls = 0;
    mst_file_replace_fault(at >= 0 ? fail_at : without_sync);
    mst_status status = fit(model, steps, save, 2);
    const mst_status closed = mst_checkpoint_manager_close(manager);
    mst_file_replace_fault(without_sync);
    mst_model_destroy(model);
    return status ? status : closed;
}

static void whatever_call_fails_a_good_checkpoint_is_there(void **state) {
    (void)state;
    char wanted[65], got[65], command[700];
    undisturbed(wanted);
    for (fault_way way = 0; way < NUM_WAYS; way++) {
        bool reached = true;
        int at = 0;
        for (; reached; at++) {
            EXPECT_OK(train_with_fault(2, -1, way));
            const mst_status status = train_with_fault(6, at, way);
            reached = fault.calls > at;
            if (!reached) EXPECT_OK(status);
            const int64_t step = resume(got, NULL);
            if (step < 2) fail_msg("way %d, call %d: step %d is what is left", (int)way, at, (int)step);
            assert_string_equal(got, wanted);
            EXPECT_OK(train_with_fault(8, -1, way)); /* and it can be saved again */
            assert_null(strstr(files(), "muster-"));
            snprintf(command, sizeof command, "rm -r '%s'", folder_path("run"));
            assert_int_equal(system(command), 0);
        }
        assert_true(at > 20);
    }
}

/* What cannot be looked at is not taken for missing. */
static int fail_to_look(mst_file_call call, size_t *size) {
    (void)size;
    if (call == MST_FILE_LOOK) return EIO;
    return call == MST_FILE_SYNC ? -1 : 0;
}

static void file_that_cannot_be_looked_at_is_not_removed(void **state) {
    (void)state;
    char got[65];
    const mst_checkpoint_options options = {.directory = folder_path("run")};
    mst_checkpoint_manager *manager;
    train(4, 4, 0);
    mst_file_replace_fault(fail_to_look);
    const mst_status status = mst_checkpoint_manager_open(&options, &manager);
    mst_file_replace_fault(without_sync);
    assert_int_equal(status, MST_IO);
    assert_non_null(strstr(mst_error()->message, "model.ckpt-4.index' cannot be found out: Input/output error"));
    assert_int_equal(resume(got, NULL), 4);
}

/* The list of the folder breaks off: an older checkpoint would be taken for the newest. */
static _Atomic bool readdir_fails;
struct dirent *readdir(DIR *list) {
    static struct dirent *(*next)(DIR *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "readdir");
    if (!readdir_fails) return next(list);
    errno = EIO;
    return NULL;
}

static void folder_that_cannot_be_listed_to_its_end_is_an_error(void **state) {
    (void)state;
    mst_model *model = model_of(adam, 8);
    train(4, 4, 0);
    assert_int_equal(unlink(folder_path("run/checkpoint")), 0);
    readdir_fails = true;
    const mst_status status = mst_checkpoint_restore(folder_path("run"), mst_model_store(model), NULL, NULL);
    readdir_fails = false;
    assert_int_equal(status, MST_IO);
    link_to("loop.index", "loop.index");
    EXPECT_ERROR(mst_checkpoint_restore(folder_path("loop"), mst_model_store(model), NULL, NULL), MST_IO,
                 "loop.index' cannot be opened");
    mst_model_destroy(model);
}

static void save_fails_where_its_name_cannot_be_looked_up(void **state) {
    (void)state;
    char got[65];
    train(4, 4, 0);
    mst_model *model = model_of(adam, 8);
    mst_checkpoint_manager *manager = manager_of((mst_checkpoint_options){.every_steps = 4});
    EXPECT_OK(mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, NULL));
    mst_file_replace_fault(fail_to_look);
    EXPECT_OK(mst_checkpoint_manager_save(manager, mst_model_store(model)));
    EXPECT_ERROR(mst_checkpoint_manager_wait(manager), MST_IO, "model.ckpt-4.index' cannot be found out");
    mst_file_replace_fault(without_sync);
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    mst_model_destroy(model);
    assert_int_equal(resume(got, NULL), 4);
}

static void failed_save_ends_the_training_with_its_error(void **state) {
    (void)state;
    EXPECT_OK(train_with_fault(2, -1, WAY_FULL));
    EXPECT_ERROR(train_with_fault(6, 0, WAY_FULL), MST_IO, "No space left on device");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(entries_have_tensorflow_1s_names),
        TEST_IN_FOLDER(powers_of_beta_are_written_for_rules_that_have_them),
        TEST_IN_FOLDER(slots_of_tensorflow_1_are_known_and_written_back),
        TEST_IN_FOLDER(checkpoint_and_model_files_hold_the_store),
        TEST_IN_FOLDER(training_goes_on_from_each_checkpoint_with_the_same_bits),
        TEST_IN_FOLDER(last_ones_are_kept_and_the_state_file_names_them),
        TEST_IN_FOLDER(one_checkpoint_for_each_period_of_hours_stays),
        TEST_IN_FOLDER(latest_is_found_without_the_state_file),
        TEST_IN_FOLDER(state_file_decides_which_is_the_newest),
        TEST_IN_FOLDER(damaged_newest_checkpoint_is_reported_and_the_one_before_is_used),
        TEST_IN_FOLDER(folder_without_checkpoint_says_so),
        TEST_IN_FOLDER(checkpoint_of_another_model_is_an_error_that_changes_nothing),
        TEST_IN_FOLDER(missing_and_left_over_entries_are_listed),
        TEST_IN_FOLDER(strings_of_other_programs_are_named),
        TEST_IN_FOLDER(name_of_any_length_is_hashed_whole),
        TEST_IN_FOLDER(names_can_be_mapped_and_averages_taken),
        TEST_IN_FOLDER(weights_alone_begin_another_training),
        TEST_IN_FOLDER(second_manager_is_refused_until_the_first_is_closed),
        TEST_IN_FOLDER(lock_goes_with_the_process_that_has_it),
        TEST_IN_FOLDER(half_written_files_of_a_killed_process_are_removed),
        TEST_IN_FOLDER(files_that_others_write_in_the_folder_stay),
        TEST_IN_FOLDER(data_whose_index_is_being_written_stays),
        TEST_IN_FOLDER(names_of_the_state_file_count_inside_the_folder_only),
        TEST_IN_FOLDER(whole_paths_of_the_state_file_are_found_where_the_folder_is),
        TEST_IN_FOLDER(links_in_the_folder_are_not_written_through),
        TEST_IN_FOLDER(lock_that_is_a_link_is_refused),
        TEST_IN_FOLDER(folder_of_the_best_that_is_a_link_is_refused),
        TEST_IN_FOLDER(folder_can_be_reached_through_a_link_and_data_be_read_through_one),
        TEST_IN_FOLDER(times_of_files_do_not_tell_the_order),
        TEST_IN_FOLDER(checkpoint_that_the_state_file_does_not_name_yet_is_the_newest),
        TEST_IN_FOLDER(training_that_begins_anew_keeps_old_checkpoints),
        TEST_IN_FOLDER(impossible_options_are_named),
        TEST_IN_FOLDER(best_epoch_is_kept_and_stopping_early_goes_on_after_a_restart),
        TEST_IN_FOLDER(whatever_call_fails_a_good_checkpoint_is_there),
        TEST_IN_FOLDER(file_that_cannot_be_looked_at_is_not_removed),
        TEST_IN_FOLDER(folder_that_cannot_be_listed_to_its_end_is_an_error),
        TEST_IN_FOLDER(save_fails_where_its_name_cannot_be_looked_up),
        TEST_IN_FOLDER(failed_save_ends_the_training_with_its_error),
    };
    mst_file_replace_fault(without_sync);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
