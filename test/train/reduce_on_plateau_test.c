/* The learning rate that is reduced on a plateau takes the values of Keras' callback. A fit that is killed and
 * resumed has those of an undisturbed fit. */
#include <math.h>

#include "muster/muster.h"
#include "support/folder.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 50, FEATURES = 5, CLASSES = 3, BATCH = 10, STEPS = ROWS / BATCH, EPOCHS = 9, LOSSES = 14 };

static mst_model *new_model(void) {
    mst_model *model = training_model(8, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.5), .session = {.devices = "cpu:2/1"},
                          .strategy = {.num_shards = 2}, .seed = 1));
    return model;
}

/* What ReduceLROnPlateau(patience=2, factor=0.5, cooldown=1, min_delta=0.1, min_lr=0.2) makes of these losses. */
static void rates_are_those_of_keras(void **state) {
    (void)state;
    static const double loss[LOSSES] = {1, 0.95, 0.92, 0.8, 0.79, 0.78, 0.77, 0.76, 0.6, 0.59, 0.58, 0.57, 0.56, 0.55};
    static const double rate[LOSSES] = {1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2};
    for (int maximize = 0; maximize < 2; maximize++) {
        mst_model *model = new_model();
        mst_reduce_on_plateau plateau = {.monitor = "loss",
                                         .factor = 0.5,
                                         .patience = 2,
                                         .min_delta = 0.1,
                                         .cooldown = 1,
                                         .min_learning_rate = 0.2,
                                         .maximize = maximize};
        const mst_callback callback = mst_reduce_on_plateau_callback(&plateau);
        mst_train_state s = {.model = model, .num_epochs = LOSSES, .learning_rate = 1};
        EXPECT_OK(callback.train_begin(callback.context, &s));
        for (int e = 0; e < LOSSES; e++) {
            s.epoch = e;
            s.loss = maximize ? -loss[e] : loss[e];
            EXPECT_OK(callback.epoch_end(callback.context, &s));
            assert_true(s.learning_rate == rate[e]);
        }
        mst_model_destroy(model);
    }
}

static mst_status kill(void *context, mst_train_state *state) {
    return state->step == *(const int64_t *)context ? MST_FAIL(MST_CANCELLED, "killed") : MST_OK;
}

static mst_status kill_at_epoch(void *context, mst_train_state *state) {
    return state->epoch == *(const int64_t *)context ? MST_FAIL(MST_CANCELLED, "killed") : MST_OK;
}

/* A fit that goes on from the folder, where there is one. The learning rate is so large that it is reduced. */
static mst_status fit(mst_callback more, double *rate, char sha[65]) {
    const mst_checkpoint_options options = {.directory = folder_path("run"), .every_steps = 1};
    mst_model *model = new_model();
    mst_checkpoint_manager *manager;
    mst_history history = {0};
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_reduce_on_plateau plateau = {.monitor = "loss", .factor = 0.25, .patience = 1, .min_delta = 0.05};
    EXPECT_OK(mst_build(model, data, true));
    EXPECT_OK(mst_checkpoint_manager_open(&options, &manager));
    const mst_status found = mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, NULL);
    if (found != MST_NOT_FOUND) EXPECT_OK(found);
    const mst_callback callbacks[] = {mst_reduce_on_plateau_callback(&plateau), mst_checkpoint_callback(manager), more};
    const mst_status status = mst_fit(model, .data = data, .batch_size = BATCH, .epochs = EPOCHS, .resume = true,
                                      .callbacks = callbacks, .num_callbacks = 3, .history = &history);
    *rate = history.num_epochs ? mst_history_at(&history, history.num_epochs - 1, "learning_rate") : 0;
    EXPECT_OK(mst_model_sha256(model, sha));
    mst_history_free(&history);
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    mst_dataset_release(data);
    mst_model_destroy(model);
    return status;
}

static void killed_and_resumed_the_rates_are_those_of_an_undisturbed_fit(void **state) {
    double wanted_rate, rate;
    char wanted[65], sha[65];
    EXPECT_OK(fit((mst_callback){0}, &wanted_rate, wanted));
    assert_true(wanted_rate < 0.2 && wanted_rate > 0);
    for (int64_t at = 1; at < 2 * EPOCHS; at++) {
        int64_t step = at * STEPS / 2, epoch = at / 2;
        folder_remove(state);
        folder_create(state);
        const mst_callback killer = at % 2 ? (mst_callback){.context = &step, .step_end = kill}
                                           : (mst_callback){.context = &epoch, .epoch_end = kill_at_epoch};
        if (epoch == EPOCHS) break;
        assert_int_equal(fit(killer, &rate, sha), MST_CANCELLED);
        EXPECT_OK(fit((mst_callback){0}, &rate, sha));
        assert_true(rate == wanted_rate);
        assert_string_equal(sha, wanted);
    }
}

static void wrong_options_are_named_before_the_first_epoch(void **state) {
    (void)state;
    static const struct {
        mst_reduce_on_plateau plateau;
        const char *text;
    } cases[] = {{{.monitor = "loss", .factor = 1}, "factor is 1, it must be above 0 and below 1"},
                 {{.monitor = "loss", .patience = -1}, "patience is -1"},
                 {{.monitor = "loss", .min_delta = -1}, "min_delta is -1"},
                 {{.zero_ = 0}, "there is no 'val_loss'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_reduce_on_plateau plateau = cases[i].plateau;
        mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
        mst_model *model = new_model();
        const mst_callback callback = mst_reduce_on_plateau_callback(&plateau);
        EXPECT_ERROR(mst_fit(model, .data = data, .batch_size = BATCH, .callbacks = &callback, .num_callbacks = 1),
                     MST_INVALID, cases[i].text);
        mst_model_destroy(model);
        mst_dataset_release(data);
    }
}

static void with_a_schedule_it_is_an_error(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = training_model(8, CLASSES, 0);
    mst_reduce_on_plateau plateau = {.monitor = "loss", .patience = 1, .min_delta = 1e6};
    const mst_callback callback = mst_reduce_on_plateau_callback(&plateau);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.schedule = mst_cosine_decay(.rate = 0.1, .decay_steps = 100)),
                          .session = {.devices = "cpu:1/1"}));
    EXPECT_ERROR(
        mst_fit(model, .data = data, .batch_size = BATCH, .epochs = 3, .callbacks = &callback, .num_callbacks = 1),
        MST_INVALID, "the optimizer has a schedule");
    mst_model_destroy(model);
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_of_keras),
        TEST_IN_FOLDER(killed_and_resumed_the_rates_are_those_of_an_undisturbed_fit),
        cmocka_unit_test(wrong_options_are_named_before_the_first_epoch),
        cmocka_unit_test(with_a_schedule_it_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
