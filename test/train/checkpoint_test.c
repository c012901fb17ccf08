/* Checkpoints of a training: names, restoring, retention, damage, and going on with the same bits. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <sodium.h>

#include "base/file.h"
#include "format/bundle.h"
#include "muster/muster.h"
#include "rule/rule.h"
#include "support/folder.h"
#include "support/saving.h"
#include "support/state.h"
#include "support/test.h"
#include "support/training.h"

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
    saving_train(4, 100, 0);
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
    mst_tensor_set(step, 0, 7);
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
    assert_int_equal(keeping, 2);                                                 /* saving_adam, adamw; not nadam */
    const mst_optimizer accumulates = mst_adam(.gradient_accumulation_steps = 3); /* 7 steps have made 2 updates */
    mst_bundle *bundle;
    mst_tensor *power;
    EXPECT_OK(mst_checkpoint_write(folder_path("accumulates"), snapshot, &accumulates));
    EXPECT_OK(mst_bundle_open(folder_path("accumulates"), &bundle));
    EXPECT_OK(mst_bundle_read(bundle, mst_bundle_find(bundle, "beta1_power"), &power));
    assert_float_equal(mst_tensor_get(power, 0), 0.729, 1e-6); /* 0.9^3 */
    mst_tensor_release(power);
    mst_bundle_close(bundle);
    mst_tensor_release(step);
    mst_snapshot_release(snapshot);
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
    for (int i = 0; i < NUM_NAMES; i++) saving_add(writer, names[i].file, MST_F32, i);
    saving_add(writer, "beta1_power", MST_F32, 1);
    saving_add(writer, "global_step", MST_I64, 12);
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
    mst_model *model = saving_model(saving_adam, 8);
    EXPECT_OK(saving_fit(model, 8, NULL, 0));
    mst_snapshot *wanted = state_of(mst_model_store(model));
    for (int i = 0; i < 2; i++) {
        mst_snapshot *got;
        EXPECT_OK(mst_checkpoint_write(folder_path(paths[i]), wanted, &saving_adam));
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
    saving_undisturbed(wanted);
    for (int64_t steps = 1; steps <= SAVING_STEPS; steps += 2) {
        char command[700];
        saving_train(steps, 4, 0);
        assert_int_equal(saving_resume(got, NULL), steps);
        assert_string_equal(got, wanted);
        snprintf(command, sizeof command, "rm -r '%s'", folder_path("run"));
        assert_int_equal(system(command), 0);
    }
}

static void last_ones_are_kept_and_the_state_file_names_them(void **state) {
    (void)state;
    void *text;
    size_t size;
    saving_train(10, 2, 2);
    assert_string_equal(saving_files(),
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
    mst_model *model = saving_model(saving_adam, 8);
    mst_checkpoint_manager *manager =
        saving_manager((mst_checkpoint_options){.every_steps = 3, .keep = 1, .keep_every_hours = 1e-12});
    const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = saving_wait}};
    EXPECT_OK(saving_fit(model, 9, save, 2));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    mst_model_destroy(model);
    saving_train(12, 12, 1); /* another run removes what is listed, and leaves what was kept for good */
    assert_non_null(strstr(saving_files(), "model.ckpt-3.index model.ckpt-6.data"));
    assert_null(strstr(saving_files(), "model.ckpt-9.index"));
}

static void latest_is_found_without_the_state_file(void **state) {
    (void)state;
    char wanted[65], got[65];
    saving_undisturbed(wanted);
    saving_train(12, 4, 0);
    assert_int_equal(unlink(folder_path("run/checkpoint")), 0);
    assert_int_equal(saving_resume(got, NULL), 12);
    assert_string_equal(got, wanted);
}

static void state_file_decides_which_is_the_newest(void **state) {
    (void)state;
    static const char text[] =
        "model_checkpoint_path: \"model.ckpt-\\064\"\nall_model_checkpoint_paths: 'model.ckpt-4'\n";
    char got[65];
    saving_train(12, 4, 0);
    folder_write("run/checkpoint", text, sizeof text - 1);
    assert_int_equal(saving_resume(got, NULL), 4);
}

static void damaged_newest_checkpoint_is_reported_and_the_one_before_is_used(void **state) {
    (void)state;
    char wanted[65], got[65], *damaged;
    saving_undisturbed(wanted);
    saving_train(12, 4, 0);
    saving_damage("run/model.ckpt-12.data-00000-of-00001");
    assert_int_equal(truncate(folder_path("run/model.ckpt-8.index"), 100), 0);
    assert_int_equal(saving_resume(got, &damaged), 4);
    assert_string_equal(got, wanted);
    assert_non_null(strstr(damaged, "model.ckpt-12': the check sum of"));
    assert_non_null(strstr(damaged, "model.ckpt-8': no footer"));
    free(damaged);
    assert_int_equal(unlink(folder_path("run/model.ckpt-4.data-00000-of-00001")), 0);
    mst_model *model = saving_model(saving_adam, 8);
    EXPECT_ERROR(mst_checkpoint_restore(folder_path("run"), mst_model_store(model), NULL, NULL), MST_CORRUPT,
                 "no checkpoint can be read");
    mst_model_destroy(model);
}

static void folder_without_checkpoint_says_so(void **state) {
    (void)state;
    mst_model *model = saving_model(saving_adam, 8);
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
    saving_train(5, 5, 0);
    mst_dataset *data = training_data(SAVING_ROWS, SAVING_FEATURES, SAVING_CLASSES, 1);
    mst_model *model = saving_model(saving_adam, 9);
    EXPECT_OK(mst_build(model, data, true));
    saving_sha(model, before);
    EXPECT_ERROR(mst_checkpoint_restore(folder_path("run"), mst_model_store(model), NULL, NULL), MST_INVALID,
                 "the model has f32[9]: it is a checkpoint of another model");
    saving_sha(model, after);
    assert_string_equal(before, after);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void missing_and_left_over_entries_are_listed(void **state) {
    (void)state;
    mst_restored restored;
    saving_train(5, 5, 0);
    mst_dataset *data = training_data(SAVING_ROWS, SAVING_FEATURES, SAVING_CLASSES, 1);
    mst_model *model = saving_model((mst_optimizer){.rule = "sgd", .learning_rate = 0.1, .momentum = 0.9}, 8);
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
    mst_model *model = saving_model(mst_sgd(.learning_rate = 0.1), 8);
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
    saving_add(writer, "a/w", MST_F32, 1);
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
    saving_train(5, 5, 0);
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
    saving_train(5, 5, 0);
    mst_dataset *data = training_data(SAVING_ROWS, SAVING_FEATURES, SAVING_CLASSES, 1);
    mst_model *model = saving_model(saving_adam, 8);
    EXPECT_OK(mst_build(model, data, true));
    EXPECT_OK(mst_checkpoint_restore(folder_path("run"), mst_model_store(model), &options, NULL));
    mst_tensor *step = value_of(model, "global_step");
    assert_true(mst_tensor_get(step, 0) == 0);
    mst_tensor_release(step);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* ---- the best ---- */

static void best_epoch_is_kept_and_stopping_early_goes_on_after_a_restart(void **state) {
    (void)state;
    char first[65], second[65];
    for (int restarts = 0; restarts < 2; restarts++) {
        char command[700];
        for (int part = restarts ? 0 : 1; part < 2; part++) {
            mst_model *model = saving_model(saving_adam, 8);
            mst_early_stopping stopping = {.monitor = "loss", .patience = 1, .min_delta = 0.05};
            mst_checkpoint_manager *manager =
                saving_manager((mst_checkpoint_options){.every_steps = 100, .monitor = "loss"});
            const mst_callback callbacks[] = {mst_early_stopping_callback(&stopping), mst_checkpoint_callback(manager)};
            const mst_status restored = mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, NULL);
            if (restored) assert_int_equal(restored, MST_NOT_FOUND);
            EXPECT_OK(saving_fit(model, part == 0 ? 7 : 0, callbacks, 2));
            EXPECT_OK(mst_checkpoint_manager_close(manager));
            saving_sha(model, restarts ? second : first);
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
        TEST_IN_FOLDER(best_epoch_is_kept_and_stopping_early_goes_on_after_a_restart),
    };
    mst_file_replace_fault(saving_without_sync);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
