/* A callback ends the training on one worker only. Training then ends on all workers after the same step. Weights
 * and history are those of a job whose callbacks end it on every worker. The workers are threads, each with a task
 * of its own. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "muster/muster.h"
#include "support/open_worker.h"
#include "support/test.h"
#include "support/training.h"

enum { WORKERS = 3, ROWS = 48, BATCH = 8, PER_EPOCH = ROWS / BATCH, EPOCHS = 4, BOTH_FITS = 2, TEXT = 2000, ALL = -1 };

/* Where a callback ends the training. */
typedef enum moment { TRAIN_BEGIN, EPOCH_BEGIN, STEP_END, LAST_STEP_END, EPOCH_END, NEVER } moment;

typedef struct job {
    moment moment;
    int who; /* ALL: the callbacks of all workers do */
    bool elastic, sharded;
    task_address address[WORKERS];
    mst_status status[WORKERS];
    char error[WORKERS][1024], shown[WORKERS][TEXT], hex[WORKERS][BOTH_FITS][65];
    mst_history history[WORKERS];
    mst_result result[WORKERS][BOTH_FITS];
} job;

typedef struct worker {
    job *job;
    int number, fit;
    pthread_t thread;
} worker;

static void stop_at(const worker *w, moment moment, mst_train_state *state) {
    const bool is_one = w->job->who == ALL || w->job->who == w->number;
    state->stop |= is_one && w->job->moment == moment && w->fit == 0;
}

static mst_status train_begin(void *context, mst_train_state *state) {
    stop_at(context, TRAIN_BEGIN, state);
    return MST_OK;
}

static mst_status epoch_begin(void *context, mst_train_state *state) {
    if (state->epoch == 1) stop_at(context, EPOCH_BEGIN, state);
    return MST_OK;
}

static mst_status step_end(void *context, mst_train_state *state) {
    if (state->step == PER_EPOCH + 2) stop_at(context, STEP_END, state);
    if (state->step == 2 * PER_EPOCH) stop_at(context, LAST_STEP_END, state);
    return MST_OK;
}

static mst_status epoch_end(void *context, mst_train_state *state) {
    if (state->epoch == 1) stop_at(context, EPOCH_END, state);
    return MST_OK;
}

static mst_status fit(worker *w, mst_task *task) {
    job *j = w->job;
    const int i = w->number;
    mst_dataset *data = training_data(ROWS, 10, 3, 3);
    mst_model *model = training_model(8, 3, 0);
    const mst_callback callback = {.context = w,
                                   .train_begin = train_begin,
                                   .epoch_begin = epoch_begin,
                                   .step_end = step_end,
                                   .epoch_end = epoch_end};
    mst_status status =
        mst_compile(model, .optimizer = mst_momentum(.learning_rate = 0.1), .task = task,
                    .strategy = {.kind = MST_STRATEGY_MULTI_WORKER, .num_shards = 4, .sharded_state = j->sharded},
                    .session = {.devices = "cpu:1/1"}, .seed = 7);
    for (w->fit = 0; w->fit < BOTH_FITS && !status; w->fit++) { /* the second goes on where all have stopped */
        const mst_fit_options options = {.data = data,
                                         .batch_size = BATCH,
                                         .epochs = w->fit == 0 ? EPOCHS : 1,
                                         .callbacks = &callback,
                                         .num_callbacks = 1,
                                         .history = &j->history[i]};
        status = mst_fit_with(model, &options, &j->result[i][w->fit]);
        if (!status) status = mst_model_sha256(model, j->hex[i][w->fit]);
    }
    if (!status) status = mst_task_leave(task);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

static void *work(void *context) {
    worker *w = context;
    job *j = w->job;
    mst_task *task = NULL;
    FILE *shown = fmemopen(j->shown[w->number], TEXT, "w");
    mst_status status = open_worker(j->address, WORKERS, w->number,
                                    (mst_task_options){.log = shown, .elastic_min = j->elastic ? 1 : 0}, &task);
    if (!status) status = fit(w, task);
    j->status[w->number] = status;
    if (status) snprintf(j->error[w->number], sizeof j->error[w->number], "%s", mst_error()->message);
    mst_task_close(task);
    fclose(shown);
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

static void expect_no_error(const job *j) {
    for (int i = 0; i < WORKERS; i++)
        if (j->status[i]) fail_msg("worker %d: %s", i, j->error[i]);
}

static void expect_end_of(const job *j, const job *all) {
    expect_no_error(j);
    for (int i = 0; i < WORKERS; i++) {
        for (int f = 0; f < BOTH_FITS; f++) {
            assert_string_equal(j->hex[i][f], all->hex[0][f]);
            assert_int_equal(j->result[i][f].step, all->result[0][f].step);
            assert_int_equal(j->result[i][f].stopped, f == 0);
        }
        const int64_t epochs = all->history[0].num_epochs;
        assert_int_equal(j->history[i].num_epochs, epochs);
        for (int64_t e = 0; e < epochs; e++) {
            const double got = mst_history_at(&j->history[i], e, "loss");
            const double wanted = mst_history_at(&all->history[0], e, "loss");
            assert_true(got == wanted || (got != got && wanted != wanted));
        }
    }
}

static void one_worker_stops_all_behind_the_same_step(void **state) {
    (void)state;
    for (moment m = TRAIN_BEGIN; m < NEVER; m++) {
        job *all = run_job((job){.moment = m, .who = ALL});
        expect_no_error(all);
        for (int i = 0; i < WORKERS; i++)
            if (strstr(all->shown[i], "ended the training")) fail_msg("moment %d: %s", (int)m, all->shown[i]);
        for (int who = 0; who < 2; who++) {
            job *one = run_job((job){.moment = m, .who = who, .elastic = m == STEP_END && who == 1});
            expect_no_error(one);
            if (m != EPOCH_BEGIN) expect_end_of(one, all); /* there only one of them ends an epoch without a step */
            for (int i = 0; i < WORKERS; i++) assert_string_equal(one->hex[i][1], all->hex[0][1]);
            end_job(one);
        }
        end_job(all);
    }
}

static void a_stop_on_one_worker_alone_is_an_error_with_sharded_state(void **state) {
    (void)state;
    job *all = run_job((job){.moment = STEP_END, .who = ALL, .sharded = true});
    expect_no_error(all);
    end_job(all);
    job *one = run_job((job){.moment = STEP_END, .who = 1, .sharded = true});
    for (int i = 0; i < WORKERS; i++)
        if (!strstr(one->error[i], "ended the training on some workers and not on others"))
            fail_msg("worker %d: '%s'", i, one->error[i]);
    end_job(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_worker_stops_all_behind_the_same_step),
                                       cmocka_unit_test(a_stop_on_one_worker_alone_is_an_error_with_sharded_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
