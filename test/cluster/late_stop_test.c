/* Callbacks that stop the training at its end, on some of the workers only. After the last step there is nothing
 * left to stop: training ends normally on all workers, and a second fit may follow. One step earlier, it ends on all
 * workers after that step. The workers are threads, each with a task of its own. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/failure.h"
#include "muster/muster.h"
#include "support/open_worker.h"
#include "support/test.h"
#include "support/training.h"

enum { WORKERS = 3, BATCH = 8, ROWS = 48, RAGGED_ROWS = 44, PER_EPOCH = 6, EPOCHS = 2, BOTH_FITS = 2, STEPS = 9 };

/* When a callback of a worker sets `stop`. SECOND_BEGIN: when the second fit begins. */
typedef enum moment { NEVER, LAST_BUT_ONE, LAST_STEP, LAST_EPOCH_END, TRAIN_END, SECOND_BEGIN } moment;

/* The kind of training. STREAM: the number of batches is not known. STEPS_ALONE: it ends within an epoch. */
typedef enum kind {
    PLAIN,
    RAGGED,
    STREAM,
    STEPS_ALONE,
    EARLY_STOPPING,
    SHARDED,
    EACH_STEP_COMPARED,
    ELASTIC,
    KINDS
} kind;

typedef struct job {
    kind kind;
    moment moment[WORKERS];
    bool once;     /* there is one fit, and no second */
    int lost;      /* number of the worker that is started again after its first fit; 0: none */
    int slow;      /* worker `slow` - 1 pauses after the first fit; 0: none does */
    bool must_end; /* the processes of workers that stop are asked to end, as by Ctrl-C */
    bool asked[WORKERS];
    task_address address[WORKERS];
    mst_status status[WORKERS];
    char error[WORKERS][1024], hex[WORKERS][BOTH_FITS][65];
    mst_history history[WORKERS];
    mst_result result[WORKERS][BOTH_FITS];
} job;

typedef struct worker {
    job *job;
    int number, fit;
    pthread_t thread;
} worker;

static void pause_for(double seconds) {
    nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
}

static int num_fits(const job *j) {
    return j->once ? 1 : BOTH_FITS;
}

static int64_t last_step(const job *j) {
    return j->kind == STEPS_ALONE ? STEPS : EPOCHS * PER_EPOCH;
}

static void stop_at(const worker *w, moment moment, mst_train_state *state) {
    if (w->job->moment[w->number] != moment) return;
    state->stop = true;
    w->job->asked[w->number] = true;
}

static mst_status train_begin(void *context, mst_train_state *state) {
    const worker *w = context;
    if (w->fit == 1) stop_at(w, SECOND_BEGIN, state);
    return MST_OK;
}

static mst_status step_end(void *context, mst_train_state *state) {
    const worker *w = context;
    if (w->fit > 0) return MST_OK;
    if (state->step == last_step(w->job) - 1) stop_at(w, LAST_BUT_ONE, state);
    if (state->step == last_step(w->job)) stop_at(w, LAST_STEP, state);
    return MST_OK;
}

static mst_status epoch_end(void *context, mst_train_state *state) {
    const worker *w = context;
    if (w->fit == 0 && state->epoch == EPOCHS - 1) stop_at(w, LAST_EPOCH_END, state);
    return MST_OK;
}

static mst_status train_end(void *context, mst_train_state *state) {
    const worker *w = context;
    if (w->fit > 0) return MST_OK;
    stop_at(w, TRAIN_END, state);
    if (w->job->slow == w->number + 1) pause_for(0.6);
    return MST_OK;
}

/* Acts like a process that a signal has asked to end, from the moment at which its callback stops. */
static bool is_to_end(void *context) {
    const worker *w = context;
    return w->job->must_end && w->job->asked[w->number];
}

static mst_status keep_all(const mst_array *row, bool *keep, void *context) {
    (void)row;
    (void)context;
    *keep = true;
    return MST_OK;
}

static mst_status fit_both(worker *w, mst_model *model, mst_dataset *data, mst_dataset *validation) {
    job *j = w->job;
    const int i = w->number;
    mst_early_stopping early = {.monitor = "val_loss", .patience = 1, .min_delta = 1, .restore_best_weights = true};
    const mst_callback own = {
        .context = w, .train_begin = train_begin, .step_end = step_end, .epoch_end = epoch_end, .train_end = train_end};
    const mst_callback callbacks[] = {own, mst_early_stopping_callback(&early)};
    mst_status status = MST_OK;
    for (w->fit = 0; w->fit < num_fits(j) && !status && !is_to_end(w); w->fit++) {
        const mst_fit_options options = {.data = data,
                                         .validation = validation,
                                         .batch_size = BATCH,
                                         .epochs = w->fit == 0 ? EPOCHS : 1,
                                         .steps = w->fit == 0 && j->kind == STEPS_ALONE ? STEPS : 0,
                                         .callbacks = callbacks,
                                         .num_callbacks = j->kind == EARLY_STOPPING ? 2 : 1,
                                         .check_replicas = j->kind == EACH_STEP_COMPARED,
                                         .history = &j->history[i]};
        status = mst_fit_with(model, &options, &j->result[i][w->fit]);
        if (!status) status = mst_model_sha256(model, j->hex[i][w->fit]);
    }
    return status;
}

static mst_status train(worker *w, mst_task *task, bool leaves) {
    const job *j = w->job;
    mst_dataset *data = training_data(j->kind == RAGGED ? RAGGED_ROWS : ROWS, 10, 3, 3);
    mst_dataset *validation = training_data(ROWS, 10, 3, 5), *stream = NULL;
    mst_model *model = training_model(8, 3, 0);
    mst_status status = mst_compile(
        model, .optimizer = mst_momentum(.learning_rate = 0.1), .task = task,
        .strategy = {.kind = MST_STRATEGY_MULTI_WORKER, .num_shards = 4, .sharded_state = j->kind == SHARDED},
        .session = {.devices = "cpu:1/1", .timeout = 30}, .seed = 7);
    if (!status && j->kind == STREAM) status = mst_dataset_filter(data, keep_all, NULL, &stream);
    if (!status) status = fit_both(w, model, stream ? stream : data, validation);
    if (!status && leaves) status = mst_task_leave(task);
    mst_model_destroy(model);
    mst_dataset_release(stream);
    mst_dataset_release(data);
    mst_dataset_release(validation);
    return status;
}

static mst_status work_once(worker *w, bool leaves) {
    job *j = w->job;
    mst_task *task = NULL;
    const mst_task_options options = {
        .stop = is_to_end, .context = w, .elastic_min = j->kind == ELASTIC, .recovery_timeout = j->must_end ? 1 : 0};
    mst_status status = open_worker(j->address, WORKERS, w->number, options, &task);
    if (!status) status = train(w, task, leaves);
    mst_failure failure;
    mst_failure_keep(&failure, status);
    mst_task_close(task);
    return mst_failure_restore(&failure);
}

static void *work(void *context) {
    worker *w = context;
    job *j = w->job;
    const bool is_lost = j->lost == w->number && w->number > 0;
    mst_status status = is_lost ? work_once(w, false) : MST_OK;
    mst_history_free(&j->history[w->number]);
    if (!status) status = work_once(w, true);
    j->status[w->number] = status;
    if (status) snprintf(j->error[w->number], sizeof j->error[w->number], "%s", mst_error()->message);
    return NULL;
}

static job *run_job(job like) {
    worker workers[WORKERS];
    tasks_find_addresses(like.address, WORKERS);
    job *j = malloc(sizeof *j);
    assert_non_null(j);
    *j = like;
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.job = j, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    return j;
}

static void end_job(job *j) {
    for (int i = 0; i < WORKERS; i++) mst_history_free(&j->history[i]);
    free(j);
}

static void expect_same_history(const mst_history *got, const mst_history *wanted) {
    static const char *const name[] = {"loss", "val_loss"};
    assert_int_equal(got->num_epochs, wanted->num_epochs);
    for (int64_t e = 0; e < wanted->num_epochs; e++)
        for (int k = 0; k < 2; k++) assert_true(mst_history_at(got, e, name[k]) == mst_history_at(wanted, e, name[k]));
}

/* Every worker of J ends both fits as worker 0 of WANTED does. */
static void expect_end_of(const job *j, const job *wanted) {
    for (int i = 0; i < WORKERS; i++) {
        if (j->status[i])
            fail_msg("kind %d, stops %d %d %d: worker %d: %s", (int)j->kind, (int)j->moment[0], (int)j->moment[1],
                     (int)j->moment[2], i, j->error[i]);
        for (int f = 0; f < num_fits(j); f++) {
            assert_string_equal(j->hex[i][f], wanted->hex[0][f]);
            assert_int_equal(j->result[i][f].step, wanted->result[0][f].step);
            assert_int_equal(j->result[i][f].epochs, wanted->result[0][f].epochs);
            assert_int_equal(j->result[i][f].stopped, wanted->result[0][f].stopped);
        }
        if (!j->lost || i != j->lost) expect_same_history(&j->history[i], &wanted->history[0]);
    }
}

static void expect_job_ends_as(const job *wanted, job like) {
    like.kind = wanted->kind;
    job *j = run_job(like);
    expect_end_of(j, wanted);
    end_job(j);
}

static void behind_the_last_step_there_is_nothing_to_stop(void **state) {
    (void)state;
    for (kind k = PLAIN; k < KINDS; k++) {
        job *undisturbed = run_job((job){.kind = k});
        expect_end_of(undisturbed, undisturbed);
        assert_int_equal(undisturbed->result[0][0].step, last_step(undisturbed));
        assert_false(undisturbed->result[0][0].stopped);
        for (moment m = LAST_STEP; m <= TRAIN_END; m++) {
            job like = {.kind = k};
            like.moment[((int)k + (int)m) % 2] = m;
            expect_job_ends_as(undisturbed, like);
        }
        expect_job_ends_as(undisturbed, (job){.moment = {LAST_STEP, LAST_STEP, LAST_STEP}});
        expect_job_ends_as(undisturbed, (job){.moment = {LAST_EPOCH_END, TRAIN_END, LAST_STEP}});
        end_job(undisturbed);
    }
}

static void behind_the_last_but_one_all_stop_there(void **state) {
    (void)state;
    for (kind k = PLAIN; k < KINDS; k++) {
        if (k == SHARDED) continue; /* there all must stop */
        job *all = run_job((job){.kind = k, .moment = {LAST_BUT_ONE, LAST_BUT_ONE, LAST_BUT_ONE}});
        expect_end_of(all, all);
        assert_int_equal(all->result[0][0].step, last_step(all) - 1);
        assert_true(all->result[0][0].stopped);
        expect_job_ends_as(all, (job){.moment = {LAST_BUT_ONE}});
        expect_job_ends_as(all, (job){.moment = {NEVER, LAST_BUT_ONE}});
        expect_job_ends_as(all, (job){.moment = {LAST_STEP, LAST_BUT_ONE, LAST_EPOCH_END}});
        end_job(all);
    }
}

static void a_second_fit_is_stopped_while_a_worker_is_still_between_them(void **state) {
    (void)state;
    job *all = run_job((job){.moment = {SECOND_BEGIN, SECOND_BEGIN, SECOND_BEGIN}});
    expect_end_of(all, all);
    assert_true(all->result[0][1].stopped);
    for (int who = 0; who < 2; who++)
        for (int slow = 2; slow <= WORKERS; slow++) {
            job like = {.slow = slow};
            like.moment[who] = SECOND_BEGIN;
            expect_job_ends_as(all, like);
        }
    end_job(all);
}

/* A worker is lost after its fit and before it leaves. The others have ended theirs, and make no more steps with it. */
/* Elastic workers may all have left without it. */
static void a_worker_that_is_lost_behind_the_stop_ends_there_too(void **state) {
    (void)state;
    static const kind kinds[] = {PLAIN, STREAM, STEPS_ALONE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int who = 0; who < 2; who++) {
            job like = {.kind = kinds[i], .once = true, .lost = 2};
            like.moment[who] = LAST_BUT_ONE;
            job *j = run_job(like);
            assert_int_equal(j->result[0][0].step, last_step(j) - 1);
            expect_end_of(j, j);
            end_job(j);
        }
}

/* It ends alone, and the others wait for it as for a lost worker. */
static void a_process_that_is_to_end_stops_nobody(void **state) {
    (void)state;
    for (moment m = LAST_BUT_ONE; m <= TRAIN_END; m++) {
        job *j = run_job((job){.moment = {NEVER, m}, .must_end = true});
        if (j->status[1] != MST_CANCELLED)
            fail_msg("moment %d, worker 1: %d %s", (int)m, (int)j->status[1], j->error[1]);
        for (int i = 0; i < WORKERS; i += 2)
            if (!strstr(j->error[i], "did not come back within"))
                fail_msg("moment %d, worker %d: %s", m, i, j->error[i]);
        end_job(j);
    }
}

/* The others do not wait for it any longer. An error would make a launcher start it again, alone. */
static void the_last_to_leave_has_done_its_work_though_it_is_to_end(void **state) {
    (void)state;
    job *undisturbed = run_job((job){.once = true});
    expect_job_ends_as(undisturbed, (job){.once = true, .moment = {TRAIN_END}, .slow = 1, .must_end = true});
    end_job(undisturbed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(behind_the_last_step_there_is_nothing_to_stop),
                                       cmocka_unit_test(behind_the_last_but_one_all_stop_there),
                                       cmocka_unit_test(a_second_fit_is_stopped_while_a_worker_is_still_between_them),
                                       cmocka_unit_test(a_worker_that_is_lost_behind_the_stop_ends_there_too),
                                       cmocka_unit_test(a_process_that_is_to_end_stops_nobody),
                                       cmocka_unit_test(the_last_to_leave_has_done_its_work_though_it_is_to_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
