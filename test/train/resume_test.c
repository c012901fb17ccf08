/* A fit that was stopped, or whose state was taken at any moment, goes on in another model, on other devices and under
 * another strategy, and ends with the bits of the fit that was not stopped: weights, all other state, metrics. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "support/state.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 47, BATCH = 10 /* the last has 7 */, FEATURES = 6, CLASSES = 3, SHARDS = 4 };
enum { EPOCHS = 3, PER_EPOCH = 5, STEPS = EPOCHS * PER_EPOCH };

/* ---- where and how ---- */

typedef struct place {
    mst_strategy_kind kind;
    const char *devices;
} place;

static const place places[] = {
    {MST_STRATEGY_ONE, "cpu:1/1"},    {MST_STRATEGY_TOWERS, "cpu:2/1"},   {MST_STRATEGY_MIRRORED, "cpu:4/1"},
    {MST_STRATEGY_TOWERS, "cpu:4/1"}, {MST_STRATEGY_MIRRORED, "cpu:2/1"},
};
enum { NUM_PLACES = sizeof places / sizeof *places };

static const struct {
    const char *name;
    mst_optimizer optimizer;
} optimizers[] = {
    {"sgd", {.rule = "sgd", .learning_rate = 0.1}},
    {"momentum", {.rule = "sgd", .learning_rate = 0.1, .momentum = 0.9}},
    {"nesterov, clip_norm",
     {.rule = "sgd", .learning_rate = 0.5, .momentum = 0.9, .nesterov = true, .clip_norm = 0.05}},
    {"momentum of TensorFlow 1", {.rule = "momentum", .learning_rate = 0.1}},
    {"adagrad", {.rule = "adagrad", .learning_rate = 0.1}},
    {"rmsprop", {.rule = "rmsprop", .learning_rate = 0.01}},
    {"centered rmsprop, momentum", {.rule = "rmsprop", .learning_rate = 0.01, .momentum = 0.5, .centered = true}},
    {"adam", {.rule = "adam", .learning_rate = 0.01}},
    {"adam, average", {.rule = "adam", .learning_rate = 0.01, .ema_decay = 0.9, .ema_num_updates = true}},
    {"adam, clip_global_norm", {.rule = "adam", .learning_rate = 0.01, .clip_global_norm = 0.05}},
    {"adamw, amsgrad", {.rule = "adamw", .learning_rate = 0.01, .amsgrad = true, .clip_value = 0.01}},
    {"nadam, average", {.rule = "nadam", .learning_rate = 0.01, .ema_decay = 0.9}},
    {"ftrl", {.rule = "ftrl", .learning_rate = 0.1, .l1_strength = 0.001, .beta = 0.1}},
    {"adam, accumulated", {.rule = "adam", .learning_rate = 0.01, .gradient_accumulation_steps = 4}},
    {"nadam, accumulated, average",
     {.rule = "nadam", .learning_rate = 0.01, .ema_decay = 0.9, .clip_norm = 0.05, .gradient_accumulation_steps = 3}},
    {"warm-up", {.rule = "sgd", .learning_rate = 0.1, .schedule = {.warmup_steps = 7}}},
    {"decay",
     {.rule = "adam",
      .schedule =
          {.kind = MST_SCHEDULE_EXPONENTIAL, .rate = 0.1, .decay_rate = 0.8, .decay_steps = 4, .staircase = true}}},
};
enum { NUM_OPTIMIZERS = sizeof optimizers / sizeof *optimizers, ADAM = 7 };

/* ---- a run ---- */

/* On islands, whose steps take some ten times as long, one of so many cases. */
static int stride(void) {
    return strcmp(engine_here("cpu"), "cpu") == 0 ? 1 : 4;
}

/* What the epochs of a run told at their ends. */
typedef struct history {
    bool seen[EPOCHS];
    double loss[EPOCHS], accuracy[EPOCHS], validation_loss[EPOCHS];
    int64_t examples[EPOCHS];
} history;

static mst_status note_epoch(void *context, mst_train_state *state) {
    history *h = context;
    h->seen[state->epoch] = true;
    h->loss[state->epoch] = state->loss;
    h->accuracy[state->epoch] = state->metric[0];
    h->validation_loss[state->epoch] = state->validation_loss;
    h->examples[state->epoch] = state->examples;
    return MST_OK;
}

/* What a fit ended with. */
typedef struct outcome {
    char sha[65];
    mst_snapshot *state;
    mst_result result;
    history history;
} outcome;

static void end(outcome *o) {
    mst_snapshot_release(o->state);
}

static mst_model *model_at(place where, mst_optimizer optimizer, uint64_t seed) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 8, .activation = MST_TANH, .l2 = 1e-3f);
    mst_dropout(model, .rate = 0.3f);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = optimizer, .metric = {MST_METRIC_ACCURACY},
                          .strategy = {.kind = where.kind, .num_shards = SHARDS}, .session = {.devices = where.devices},
                          .seed = seed));
    return model;
}

/* Fits MODEL with CALLBACK (may be NULL) and what the caller set in OPTIONS. */
static mst_status fit(mst_model *model, mst_fit_options options, const mst_callback *callback, outcome *out) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1),
                *validation = training_data(13, FEATURES, CLASSES, 2);
    mst_callback callbacks[2] = {{.context = &out->history, .epoch_end = note_epoch}};
    if (callback) callbacks[1] = *callback;
    options.data = data;
    options.validation = validation;
    options.batch_size = BATCH;
    options.callbacks = callbacks;
    options.num_callbacks = callback ? 2 : 1;
    if (options.epochs == 0 && options.steps == 0) options.epochs = EPOCHS;
    const mst_status status = mst_fit_with(model, &options, &out->result);
    mst_dataset_release(data);
    mst_dataset_release(validation);
    return status;
}

static void finish(mst_model *model, outcome *out) {
    EXPECT_OK(mst_model_sha256(model, out->sha));
    out->state = state_of(mst_model_store(model));
    mst_model_destroy(model);
}

/* The fit that is not stopped. */
static outcome undisturbed(place where, mst_optimizer optimizer) {
    outcome out = {.result.step = 0};
    mst_model *model = model_at(where, optimizer, 7);
    EXPECT_OK(fit(model, (mst_fit_options){.zero_ = 0}, NULL, &out));
    finish(model, &out);
    return out;
}

/* A new model goes on from SNAPSHOT; it was compiled with another seed, which the snapshot's replaces. */
static outcome resumed(place where, mst_optimizer optimizer, const mst_snapshot *snapshot) {
    outcome out = {.result.step = 0};
    mst_model *model = model_at(where, optimizer, 1234);
    EXPECT_OK(mst_store_restore(mst_model_store(model), snapshot));
    EXPECT_OK(fit(model, (mst_fit_options){.resume = true}, NULL, &out));
    finish(model, &out);
    return out;
}

static void expect_same(const char *what, const outcome *got, const outcome *wanted) {
    if (strcmp(got->sha, wanted->sha) != 0) fail_msg("%s: sha256 %s, not %s", what, got->sha, wanted->sha);
    state_expect_same(what, got->state, wanted->state, false);
    assert_int_equal(got->result.step, wanted->result.step);
    assert_int_equal(got->result.epochs, wanted->result.epochs);
    const history *a = &got->history, *b = &wanted->history;
    for (int i = 0; i < EPOCHS; i++) {
        if (!a->seen[i]) continue; /* it ended before the snapshot */
        if (a->loss[i] != b->loss[i] || a->accuracy[i] != b->accuracy[i] || a->examples[i] != b->examples[i] ||
            a->validation_loss[i] != b->validation_loss[i])
            fail_msg("%s: epoch %d ends with loss %.17g, accuracy %g, validation loss %.17g; not %.17g, %g, %.17g",
                     what, i + 1, a->loss[i], a->accuracy[i], a->validation_loss[i], b->loss[i], b->accuracy[i],
                     b->validation_loss[i]);
    }
}

/* ---- stopping ---- */

typedef struct stopper {
    int64_t step;
    bool fails;
} stopper;

static mst_status stop_at(void *context, mst_train_state *state) {
    const stopper *s = context;
    if (state->step != s->step) return MST_OK;
    if (s->fails) return MST_FAIL(MST_CANCELLED, "stopped by a test");
    state->stop = true;
    return MST_OK;
}

/* The state of a fit that is stopped after STEP steps: by the flag, by an error, or by a number of steps. */
static mst_snapshot *stopped(place where, mst_optimizer optimizer, int64_t step, int how) {
    outcome out = {.result.step = 0};
    stopper s = {.step = step, .fails = how == 1};
    const mst_callback callback = {.context = &s, .step_end = stop_at};
    mst_model *model = model_at(where, optimizer, 7);
    const mst_status status =
        fit(model, (mst_fit_options){.steps = how == 2 ? step : 0}, how == 2 ? NULL : &callback, &out);
    assert_int_equal(status, s.fails ? MST_CANCELLED : MST_OK);
    mst_snapshot *snapshot = state_of(mst_model_store(model));
    mst_model_destroy(model);
    return snapshot;
}

static void every_optimizer_goes_on_as_if_not_stopped(void **state) {
    (void)state;
    static const int64_t stops[] = {1, 7, 10, 14}; /* 10: at the end of an epoch */
    char what[128];
    for (int i = 0; i < NUM_OPTIMIZERS; i += stride()) {
        const place a = places[i % NUM_PLACES], b = places[(i + 1) % NUM_PLACES];
        outcome wanted = undisturbed(a, optimizers[i].optimizer);
        assert_int_equal(wanted.result.step, STEPS);
        for (int k = 0; k < 4; k++) {
            mst_snapshot *snapshot = stopped(a, optimizers[i].optimizer, stops[k], k % 2);
            outcome got = resumed(b, optimizers[i].optimizer, snapshot);
            snprintf(what, sizeof what, "%s, stopped after step %d", optimizers[i].name, (int)stops[k]);
            expect_same(what, &got, &wanted);
            end(&got);
            mst_snapshot_release(snapshot);
        }
        end(&wanted);
    }
}

static void fit_goes_on_from_each_of_its_steps_however_it_was_stopped(void **state) {
    (void)state;
    char what[64];
    const mst_optimizer adam = optimizers[ADAM].optimizer;
    outcome wanted = undisturbed(places[1], adam);
    for (int how = 0; how < 3; how++) {
        for (int64_t step = 1; step <= STEPS; step += stride()) {
            mst_snapshot *snapshot = stopped(places[1], adam, step, how);
            outcome got = resumed(places[1], adam, snapshot);
            snprintf(what, sizeof what, "stopped (%d) after step %d", how, (int)step);
            expect_same(what, &got, &wanted);
            end(&got);
            mst_snapshot_release(snapshot);
        }
    }
    end(&wanted);
}

static void fit_goes_on_under_each_other_strategy_and_number_of_devices(void **state) {
    (void)state;
    char what[64];
    const mst_optimizer adam = optimizers[ADAM].optimizer;
    outcome wanted = undisturbed(places[0], adam);
    for (int a = 0; a < NUM_PLACES; a++) {
        mst_snapshot *snapshot = stopped(places[a], adam, 8, 0);
        for (int b = (a + 1) % stride(); b < NUM_PLACES; b += stride()) {
            outcome got = resumed(places[b], adam, snapshot);
            snprintf(what, sizeof what, "from place %d to %d", a, b);
            expect_same(what, &got, &wanted);
            end(&got);
        }
        mst_snapshot_release(snapshot);
    }
    end(&wanted);
}

/* MUSTER_TEST_SEED=N repeats a run. */
static void fit_stopped_at_any_step_ends_with_the_hash_of_an_undisturbed_one(void **state) {
    (void)state;
    const char *given = getenv("MUSTER_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)now.tv_nsec;
    print_message("MUSTER_TEST_SEED=%u\n", seed);
    uint64_t x = seed;
    unsigned random[8];
    for (int i = 0; i < 8; i++) random[i] = (unsigned)((x = x * 6364136223846793005u + 1442695040888963407u) >> 33);
    const mst_optimizer optimizer = optimizers[random[0] % NUM_OPTIMIZERS].optimizer;
    outcome wanted = undisturbed(places[random[1] % NUM_PLACES], optimizer);
    int64_t step = 1 + random[2] % (STEPS - 1);
    mst_snapshot *snapshot = stopped(places[random[3] % NUM_PLACES], optimizer, step, (int)(random[4] % 3));
    outcome got = resumed(places[random[5] % NUM_PLACES], optimizer, snapshot);
    char what[128];
    snprintf(what, sizeof what, "seed %u: %s stopped after step %d, from place %u to %u", seed,
             optimizers[random[0] % NUM_OPTIMIZERS].name, (int)step, random[3] % NUM_PLACES, random[5] % NUM_PLACES);
    expect_same(what, &got, &wanted);
    end(&got);
    end(&wanted);
    mst_snapshot_release(snapshot);
}

/* ---- snapshots of a fit that goes on ---- */

enum { MOST_SNAPSHOTS = 40 };

typedef struct album {
    mst_store *store;
    mst_snapshot *snapshot[MOST_SNAPSHOTS];
    int count;
    atomic_bool stop;
} album;

static mst_status take(void *context, mst_train_state *state) {
    (void)state;
    album *a = context;
    return mst_store_snapshot(a->store, &a->snapshot[a->count++]);
}

/* A fit that resumes from any snapshot of the album ends like the fit from which it was taken. */
static void expect_all_go_on(album *a, place where, const outcome *wanted) {
    char what[64];
    for (int i = 0; i < a->count; i += stride()) {
        mst_tensor *step = mst_snapshot_find(a->snapshot[i], "", "global_step");
        outcome got = resumed(where, optimizers[ADAM].optimizer, a->snapshot[i]);
        snprintf(what, sizeof what, "snapshot %d, after step %d", i, step ? (int)mst_tensor_get(step, 0) : -1);
        expect_same(what, &got, wanted);
        end(&got);
    }
    for (int i = 0; i < a->count; i++) mst_snapshot_release(a->snapshot[i]);
}

static void snapshots_taken_by_callbacks_go_on(void **state) {
    (void)state;
    outcome wanted = {.result.step = 0};
    mst_model *model = model_at(places[2], optimizers[ADAM].optimizer, 7);
    album a = {.store = mst_model_store(model)};
    const mst_callback callback = {.context = &a,
                                   .train_begin = take,
                                   .epoch_begin = take,
                                   .step_end = take,
                                   .epoch_end = take,
                                   .train_end = take};
    EXPECT_OK(fit(model, (mst_fit_options){.zero_ = 0}, &callback, &wanted));
    finish(model, &wanted);
    assert_int_equal(a.count, 2 + 2 * EPOCHS + STEPS);
    expect_all_go_on(&a, places[4], &wanted);
    end(&wanted);
}

static void *take_snapshots(void *context) {
    album *a = context;
    uint64_t last = 0;
    while (!atomic_load(&a->stop)) {
        mst_snapshot *snapshot;
        if (mst_store_snapshot(a->store, &snapshot)) return a;
        const bool begun = mst_snapshot_find(snapshot, "", "random/seed") != NULL;
        uint64_t version = 0; /* the sum of all versions: rises when anything changes */
        for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++) version += mst_snapshot_info(snapshot, i).version;
        if (begun && version != last && a->count < MOST_SNAPSHOTS)
            a->snapshot[a->count++] = snapshot;
        else
            mst_snapshot_release(snapshot);
        last = version;
    }
    return NULL;
}

static void snapshots_taken_by_another_thread_go_on(void **state) {
    (void)state;
    for (int p = 0; p < 3; p += stride()) {
        outcome wanted = {.result.step = 0};
        mst_model *model = model_at(places[p], optimizers[ADAM].optimizer, 7);
        album a = {.store = mst_model_store(model)};
        pthread_t thread;
        void *failed;
        assert_int_equal(pthread_create(&thread, NULL, take_snapshots, &a), 0);
        EXPECT_OK(fit(model, (mst_fit_options){.zero_ = 0}, NULL, &wanted));
        atomic_store(&a.stop, true);
        assert_int_equal(pthread_join(thread, &failed), 0);
        assert_null(failed);
        finish(model, &wanted);
        outcome alone = undisturbed(places[p], optimizers[ADAM].optimizer);
        assert_string_equal(alone.sha, wanted.sha); /* taking them changed nothing */
        expect_all_go_on(&a, places[(p + 1) % 3], &wanted);
        end(&alone);
        end(&wanted);
    }
}

/* ---- what resume is asked for ---- */

static void resume_without_an_earlier_fit_begins_one(void **state) {
    (void)state;
    outcome wanted = undisturbed(places[1], optimizers[0].optimizer), got = {.result.step = 0};
    mst_model *model = model_at(places[1], optimizers[0].optimizer, 7);
    EXPECT_OK(fit(model, (mst_fit_options){.resume = true}, NULL, &got));
    finish(model, &got);
    expect_same("resume of nothing", &got, &wanted);
    end(&got);
    end(&wanted);
}

static void resume_of_an_ended_fit_runs_the_epochs_that_are_missing(void **state) {
    (void)state;
    const mst_optimizer adam = optimizers[ADAM].optimizer;
    outcome wanted = undisturbed(places[1], adam), got = {.result.step = 0};
    mst_model *model = model_at(places[1], adam, 7);
    for (int epochs = 1; epochs <= EPOCHS; epochs++)
        for (int again = 0; again < 2; again++) /* the second time nothing is missing */
            EXPECT_OK(fit(model, (mst_fit_options){.resume = true, .epochs = epochs}, NULL, &got));
    finish(model, &got);
    expect_same("epoch by epoch", &got, &wanted);
    end(&got);
    end(&wanted);
}

static void fit_without_resume_is_another_fit(void **state) {
    (void)state;
    const mst_optimizer adam = optimizers[ADAM].optimizer;
    outcome first = {.result.step = 0}, second = {.result.step = 0}, resumed_second = {.result.step = 0};
    stopper s = {.step = 7};
    mst_callback callback = {.context = &s, .step_end = stop_at};
    mst_model *model = model_at(places[1], adam, 7);
    EXPECT_OK(fit(model, (mst_fit_options){.zero_ = 0}, &callback, &first));
    EXPECT_OK(fit(model, (mst_fit_options){.epochs = 2}, NULL, &second));
    assert_int_equal(second.result.epochs, 2);
    assert_int_equal(second.result.step, 7 + 2 * PER_EPOCH);
    finish(model, &second);
    /* and is resumed from where it began itself */
    model = model_at(places[1], adam, 7);
    EXPECT_OK(fit(model, (mst_fit_options){.zero_ = 0}, &callback, &first));
    s.step = 7 + 3;
    EXPECT_OK(fit(model, (mst_fit_options){.epochs = 2}, &callback, &resumed_second));
    EXPECT_OK(fit(model, (mst_fit_options){.epochs = 2, .resume = true}, NULL, &resumed_second));
    finish(model, &resumed_second);
    expect_same("a second fit", &resumed_second, &second);
    end(&second);
    end(&resumed_second);
}

static void steps_count_from_the_beginning_of_the_fit(void **state) {
    (void)state;
    const mst_optimizer adam = optimizers[ADAM].optimizer;
    outcome wanted = {.result.step = 0}, got = {.result.step = 0};
    mst_model *model = model_at(places[0], adam, 7);
    EXPECT_OK(fit(model, (mst_fit_options){.steps = 12}, NULL, &wanted));
    finish(model, &wanted);
    model = model_at(places[0], adam, 7);
    for (int64_t steps = 4; steps <= 12; steps += 4)
        EXPECT_OK(fit(model, (mst_fit_options){.steps = steps, .resume = true}, NULL, &got));
    assert_int_equal(got.result.step, 12);
    finish(model, &got);
    expect_same("by steps", &got, &wanted);
    end(&got);
    end(&wanted);
}

/* If the snapshot was taken between the last step and the end of an epoch, the end of the epoch is made up for. */
static void fit_of_a_number_of_steps_ends_its_last_epoch(void **state) {
    (void)state;
    const mst_optimizer adam = optimizers[ADAM].optimizer;
    outcome wanted = {.result.step = 0}, got = {.result.step = 0};
    mst_model *model = model_at(places[0], adam, 7);
    album a = {.store = mst_model_store(model)};
    const mst_callback callback = {.context = &a, .step_end = take};
    EXPECT_OK(fit(model, (mst_fit_options){.steps = 2 * PER_EPOCH}, &callback, &wanted));
    finish(model, &wanted);
    model = model_at(places[0], adam, 7);
    EXPECT_OK(mst_store_restore(mst_model_store(model), a.snapshot[a.count - 1]));
    EXPECT_OK(fit(model, (mst_fit_options){.steps = 2 * PER_EPOCH, .resume = true}, NULL, &got));
    finish(model, &got);
    assert_true(got.history.seen[1]);
    expect_same("after the last step", &got, &wanted);
    for (int i = 0; i < a.count; i++) mst_snapshot_release(a.snapshot[i]);
    end(&got);
    end(&wanted);
}

static double shrink(void *context, int64_t epoch, double rate) {
    (void)context;
    return epoch ? rate * 0.5 : rate; /* from the rate before: must happen once an epoch */
}

static void rates_that_a_callback_sets_by_epoch_are_set_once(void **state) {
    (void)state;
    mst_learning_rate_scheduler scheduler = {.schedule = shrink};
    const mst_callback callback = mst_learning_rate_callback(&scheduler);
    outcome wanted = {.result.step = 0};
    mst_model *model = model_at(places[1], optimizers[1].optimizer, 7);
    EXPECT_OK(fit(model, (mst_fit_options){.zero_ = 0}, &callback, &wanted));
    finish(model, &wanted);
    for (int64_t step = 4; step <= 12; step += stride()) {
        outcome got = {.result.step = 0};
        model = model_at(places[1], optimizers[1].optimizer, 7);
        EXPECT_OK(fit(model, (mst_fit_options){.steps = step}, &callback, &got));
        EXPECT_OK(fit(model, (mst_fit_options){.resume = true}, &callback, &got));
        finish(model, &got);
        expect_same("with a rate by epoch", &got, &wanted);
        end(&got);
    }
    end(&wanted);
}

/* ---- compiling again ---- */

static uint64_t version_of(mst_store *store, mst_state_kind kind) {
    mst_state_info *list;
    int64_t count;
    uint64_t version = 0;
    EXPECT_OK(mst_store_list(store, &list, &count));
    for (int64_t i = 0; i < count; i++)
        if (list[i].kind == kind) version += list[i].version;
    free(list);
    return version;
}

static void compiling_again_keeps_the_weights_and_begins_anew_with_the_rest(void **state) {
    (void)state;
    const mst_optimizer adam = optimizers[ADAM].optimizer;
    for (int p = 0; p < NUM_PLACES; p += stride()) {
        char before[65], after[65];
        outcome first = {.result.step = 0}, got = {.result.step = 0}, wanted = {.result.step = 0};
        mst_model *model = model_at(places[1], adam, 7), *fresh = model_at(places[p], adam, 7);
        EXPECT_OK(fit(model, (mst_fit_options){.steps = 7}, NULL, &first));
        EXPECT_OK(mst_model_sha256(model, before));
        mst_snapshot *all = state_of(mst_model_store(model)), *weights;
        EXPECT_OK(mst_compile(model, .optimizer = adam, .metric = {MST_METRIC_ACCURACY},
                              .strategy = {.kind = places[p].kind, .num_shards = SHARDS},
                              .session = {.devices = places[p].devices}, .seed = 7));
        EXPECT_OK(mst_model_sha256(model, after));
        assert_string_equal(after, before);
        for (int kind = MST_STATE_SLOT; kind <= MST_STATE_CURSOR; kind++)
            assert_int_equal(version_of(mst_model_store(model), (mst_state_kind)kind), 0);
        /* as a new model with these weights */
        EXPECT_OK(mst_snapshot_create(&weights));
        for (int64_t i = 0; i < mst_snapshot_count(all); i++) {
            const mst_state_info info = mst_snapshot_info(all, i);
            if (info.kind == MST_STATE_WEIGHT)
                EXPECT_OK(mst_snapshot_add(weights, info.container, info.name, info.kind, mst_snapshot_value(all, i)));
        }
        EXPECT_OK(mst_store_restore(mst_model_store(fresh), weights));
        EXPECT_OK(fit(model, (mst_fit_options){.zero_ = 0}, NULL, &got));
        EXPECT_OK(fit(fresh, (mst_fit_options){.zero_ = 0}, NULL, &wanted));
        finish(model, &got);
        finish(fresh, &wanted);
        expect_same("compiled again", &got, &wanted);
        mst_snapshot_release(all);
        mst_snapshot_release(weights);
        end(&got);
        end(&wanted);
    }
}

static void snapshot_goes_into_a_model_that_is_compiled_later(void **state) {
    (void)state;
    const mst_optimizer adam = optimizers[ADAM].optimizer;
    outcome wanted = undisturbed(places[0], adam), got = {.result.step = 0};
    mst_snapshot *snapshot = stopped(places[0], adam, 6, 0);
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    EXPECT_OK(mst_store_restore(mst_model_store(model), snapshot));
    mst_dense(model, 8, .activation = MST_TANH, .l2 = 1e-3f);
    mst_dropout(model, .rate = 0.3f);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = adam, .metric = {MST_METRIC_ACCURACY}, .strategy = {.num_shards = SHARDS},
                          .session = {.devices = "cpu:2/1"}));
    EXPECT_OK(fit(model, (mst_fit_options){.resume = true}, NULL, &got));
    finish(model, &got);
    expect_same("compiled after", &got, &wanted);
    mst_snapshot_release(snapshot);
    end(&got);
    end(&wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_optimizer_goes_on_as_if_not_stopped),
        cmocka_unit_test(fit_goes_on_from_each_of_its_steps_however_it_was_stopped),
        cmocka_unit_test(fit_goes_on_under_each_other_strategy_and_number_of_devices),
        cmocka_unit_test(fit_stopped_at_any_step_ends_with_the_hash_of_an_undisturbed_one),
        cmocka_unit_test(snapshots_taken_by_callbacks_go_on),
        cmocka_unit_test(snapshots_taken_by_another_thread_go_on),
        cmocka_unit_test(resume_without_an_earlier_fit_begins_one),
        cmocka_unit_test(resume_of_an_ended_fit_runs_the_epochs_that_are_missing),
        cmocka_unit_test(fit_without_resume_is_another_fit),
        cmocka_unit_test(steps_count_from_the_beginning_of_the_fit),
        cmocka_unit_test(fit_of_a_number_of_steps_ends_its_last_epoch),
        cmocka_unit_test(rates_that_a_callback_sets_by_epoch_are_set_once),
        cmocka_unit_test(compiling_again_keeps_the_weights_and_begins_anew_with_the_rest),
        cmocka_unit_test(snapshot_goes_into_a_model_that_is_compiled_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
