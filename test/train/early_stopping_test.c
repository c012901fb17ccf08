/* Early stopping with the best weights: a fit that is killed or stopped, and then resumed, ends like an undisturbed
 * one. */
#include "muster/muster.h"
#include "support/folder.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 50, VALIDATION_ROWS = 30, FEATURES = 5, CLASSES = 3, BATCH = 10, STEPS = ROWS / BATCH, EPOCHS = 12 };

typedef struct run {
    mst_model *model;
    mst_early_stopping early;
    mst_result result;
} run;

static mst_model *new_model(void) {
    mst_model *model = training_model(8, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.02), .session = {.devices = "cpu:2/1"},
                          .strategy = {.num_shards = 2}, .seed = 1));
    return model;
}

/* Learns for four epochs, then unlearns, then learns again. */
static double changing(void *context, int64_t epoch, double learning_rate) {
    (void)context, (void)learning_rate;
    return epoch < 4 ? 0.02 : epoch < 7 ? -0.02 : 0.03;
}

typedef struct killer {
    int64_t step;
} killer;

static mst_status kill(void *context, mst_train_state *state) {
    const killer *k = context;
    return state->step == k->step ? MST_FAIL(MST_CANCELLED, "killed") : MST_OK;
}

static mst_status stop(void *context, mst_train_state *state) {
    const killer *k = context;
    if (state->step == k->step) state->stop = true;
    return MST_OK;
}

/* Fits, resuming where the store has a fit; MORE (may be NULL) comes last. */
static mst_status fit(run *r, int64_t patience, int64_t epochs, mst_checkpoint_manager *manager,
                      const mst_callback *more) {
    static mst_learning_rate_scheduler scheduler = {.schedule = changing};
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_dataset *validation = training_data(VALIDATION_ROWS, FEATURES, CLASSES, 2);
    mst_callback callbacks[4];
    int count = 0;
    r->early = (mst_early_stopping){.patience = patience, .restore_best_weights = true};
    callbacks[count++] = mst_learning_rate_callback(&scheduler);
    callbacks[count++] = mst_early_stopping_callback(&r->early);
    if (manager) callbacks[count++] = mst_checkpoint_callback(manager);
    if (more) callbacks[count++] = *more;
    const mst_status status = mst_fit_with(r->model,
                                           &(mst_fit_options){.data = data,
                                                              .validation = validation,
                                                              .batch_size = BATCH,
                                                              .epochs = epochs,
                                                              .resume = true,
                                                              .callbacks = callbacks,
                                                              .num_callbacks = count},
                                           &r->result);
    mst_dataset_release(validation);
    mst_dataset_release(data);
    return status;
}

static void undisturbed(int64_t patience, int64_t epochs, run *r, char sha[65]) {
    *r = (run){.model = new_model()};
    EXPECT_OK(fit(r, patience, epochs, NULL, NULL));
    EXPECT_OK(mst_model_sha256(r->model, sha));
    mst_model_destroy(r->model);
}

/* Another process would find the folder in this state. */
static mst_status in_a_new_process(run *r, int64_t patience, int64_t epochs, const mst_callback *more) {
    mst_checkpoint_manager *manager;
    const mst_checkpoint_options options = {.directory = folder_path("run"), .every_steps = 1};
    *r = (run){.model = new_model()};
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    EXPECT_OK(mst_build(r->model, data, true));
    mst_dataset_release(data);
    EXPECT_OK(mst_checkpoint_manager_open(&options, &manager));
    const mst_status found = mst_checkpoint_manager_restore(manager, mst_model_store(r->model), NULL, NULL);
    if (found != MST_NOT_FOUND) EXPECT_OK(found);
    const mst_status status = fit(r, patience, epochs, manager, more);
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    return status;
}

static void expect_same(run *r, const run *wanted, const char *sha) {
    char have[65];
    EXPECT_OK(mst_model_sha256(r->model, have));
    assert_string_equal(have, sha);
    assert_int_equal(r->early.best_epoch, wanted->early.best_epoch);
    assert_int_equal(r->result.step, wanted->result.step);
    assert_true(r->early.best == wanted->early.best);
    mst_model_destroy(r->model);
}

static void killed_after_any_step_it_ends_with_the_best_weights(void **state) {
    (void)state;
    run wanted, r;
    char sha[65];
    undisturbed(4, EPOCHS, &wanted, sha);
    assert_true(wanted.result.stopped);
    assert_true(wanted.early.best_epoch < wanted.result.epochs - 1);
    for (int64_t step = 1; step <= wanted.result.step; step += 3) {
        folder_remove(state);
        folder_create(state);
        killer killer = {step};
        const mst_callback callback = {.context = &killer, .step_end = kill};
        assert_int_equal(in_a_new_process(&r, 4, EPOCHS, &callback), MST_CANCELLED);
        mst_model_destroy(r.model);
        EXPECT_OK(in_a_new_process(&r, 4, EPOCHS, NULL));
        expect_same(&r, &wanted, sha);
        /* and once more, though there is nothing left to do */
        EXPECT_OK(in_a_new_process(&r, 4, EPOCHS, NULL));
        wanted.result.epochs = r.result.epochs;
        expect_same(&r, &wanted, sha);
    }
}

static void stopped_by_another_callback_it_has_the_best_weights_and_goes_on_from_the_last(void **state) {
    (void)state;
    run wanted, r;
    char sha[65];
    undisturbed(EPOCHS, EPOCHS, &wanted, sha);
    assert_true(wanted.early.best_epoch < EPOCHS);
    for (int64_t step = 3; step < EPOCHS * STEPS; step += 7) {
        folder_remove(state);
        folder_create(state);
        killer killer = {step};
        const mst_callback callback = {.context = &killer, .step_end = stop};
        EXPECT_OK(in_a_new_process(&r, EPOCHS, EPOCHS, &callback));
        assert_int_equal(r.result.step, step);
        if (step > STEPS) {
            mst_dataset *validation = training_data(VALIDATION_ROWS, FEATURES, CLASSES, 2);
            mst_result best;
            EXPECT_OK(mst_evaluate(r.model, validation, BATCH, &best, NULL));
            assert_true(best.loss == r.early.best);
            mst_dataset_release(validation);
        }
        mst_model_destroy(r.model);
        EXPECT_OK(in_a_new_process(&r, EPOCHS, EPOCHS, NULL));
        expect_same(&r, &wanted, sha);
    }
}

static void more_epochs_go_on_as_one_training(void **state) {
    (void)state;
    run wanted, r;
    char sha[65];
    undisturbed(EPOCHS, EPOCHS, &wanted, sha);
    for (int64_t epochs = 5; epochs < EPOCHS; epochs += 3) {
        EXPECT_OK(in_a_new_process(&r, EPOCHS, epochs, NULL));
        mst_model_destroy(r.model);
    }
    EXPECT_OK(in_a_new_process(&r, EPOCHS, EPOCHS, NULL));
    expect_same(&r, &wanted, sha);
}

static mst_status new_fit(mst_model *model, mst_early_stopping *early) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    const mst_callback callback = mst_early_stopping_callback(early);
    const mst_status status = mst_fit(model, .data = data, .validation = data, .batch_size = BATCH, .epochs = 2,
                                      .callbacks = &callback, .num_callbacks = 1);
    mst_dataset_release(data);
    return status;
}

static void another_fit_begins_with_the_best_weights_and_forgets_the_rest(void **state) {
    (void)state;
    run r, same;
    char sha[65], of_same[65];
    r.model = new_model();
    same.model = new_model();
    EXPECT_OK(fit(&r, 4, EPOCHS, NULL, NULL));
    EXPECT_OK(fit(&same, 4, EPOCHS, NULL, NULL));
    mst_early_stopping early = {.patience = 5, .restore_best_weights = true}, plain = {.patience = 5};
    EXPECT_OK(new_fit(r.model, &early));
    EXPECT_OK(new_fit(same.model, &plain)); /* its last epoch is its best: it is the same without restoring */
    EXPECT_OK(mst_model_sha256(r.model, sha));
    EXPECT_OK(mst_model_sha256(same.model, of_same));
    if (early.best_epoch == 1) assert_string_equal(sha, of_same);
    assert_int_equal(early.best_epoch, plain.best_epoch);
    mst_model_destroy(r.model);
    mst_model_destroy(same.model);
}

static void resume_without_it(mst_model *model, int64_t epochs) {
    static mst_learning_rate_scheduler scheduler = {.schedule = changing};
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    const mst_callback callback = mst_learning_rate_callback(&scheduler);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = BATCH, .epochs = epochs, .resume = true,
                      .callbacks = &callback, .num_callbacks = 1));
    mst_dataset_release(data);
}

/* Training went on from the best weights. The best weights that were kept are older, and the best value since then is
 * not known. */
static void a_fit_without_it_in_between_is_not_lost(void **state) {
    (void)state;
    run r, same;
    char sha[65], of_same[65];
    r.model = new_model();
    same.model = new_model();
    EXPECT_OK(fit(&r, EPOCHS, 7, NULL, NULL));
    EXPECT_OK(fit(&same, EPOCHS, 7, NULL, NULL));
    assert_true(r.early.best_epoch < 6);
    resume_without_it(r.model, 9);
    resume_without_it(same.model, 10);
    EXPECT_OK(fit(&r, EPOCHS, 10, NULL, NULL));
    assert_int_equal(r.early.best_epoch, 9);
    EXPECT_OK(mst_model_sha256(r.model, sha));
    EXPECT_OK(mst_model_sha256(same.model, of_same));
    assert_string_equal(sha, of_same);
    mst_model_destroy(r.model);
    mst_model_destroy(same.model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(killed_after_any_step_it_ends_with_the_best_weights),
        TEST_IN_FOLDER(stopped_by_another_callback_it_has_the_best_weights_and_goes_on_from_the_last),
        TEST_IN_FOLDER(more_epochs_go_on_as_one_training),
        TEST_IN_FOLDER(another_fit_begins_with_the_best_weights_and_forgets_the_rest),
        TEST_IN_FOLDER(a_fit_without_it_in_between_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
