/* Where parameter servers make the updates, synchronous training gives the weights of one process: with a learning rate
 * that callbacks set, and with moving statistics. The tasks are threads, which talk as processes do. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "muster/muster.h"
#include "support/folder.h"
#include "support/tasks.h"
#include "support/test.h"
#include "support/training.h"

enum { WORKERS = 2, SERVERS = 2, TASKS = WORKERS + SERVERS, ROWS = 48, BATCH = 8, EPOCHS = 3, SECONDS = 20 };

typedef struct served_job {
    task_address address[TASKS]; /* of servers, then of workers */
    bool asynchronous;
    bool one_stops; /* a callback of worker 1 ends the training, and none of worker 0 */
    bool averages;  /* the weights become their moving averages after the fits */
    int64_t part_bytes;
    bool only_other;              /* callbacks of worker 1 alone set the rate */
    bool normalizes;              /* the model has moving statistics */
    bool is_weighted;             /* each row has a weight, and the last batch of an epoch has fewer rows */
    bool stops, restores;         /* early, by the loss of validation; with the best weights */
    const char *update_log;       /* of the servers; NULL: none */
    pthread_barrier_t *meet;      /* workers begin a fit together; NULL: they do not */
    double loss[2][WORKERS];      /* and the metric of all epochs of both fits, likewise */
    int64_t examples[2][WORKERS]; /* of all epochs of both fits, as callbacks see them */
    char hash[WORKERS][65];
    double rate[WORKERS]; /* of the callbacks, at the end */
    char error[TASKS][400];
} served_job;

typedef struct served_task {
    served_job *job;
    int number;
    int fit; /* number of the one that is under way */
    double *rate;
    pthread_t thread;
} served_task;

static mst_cluster *cluster_of(const served_job *j, const char *name, int index) {
    char servers[80], workers[80];
    mst_cluster *cluster;
    snprintf(servers, sizeof servers, "%s,%s", j->address[0], j->address[1]);
    snprintf(workers, sizeof workers, "%s,%s", j->address[2], j->address[3]);
    EXPECT_OK(mst_cluster_from_hosts(servers, workers, name, index, &cluster));
    return cluster;
}

static void keep_error(char error[400], mst_status status) {
    snprintf(error, 400, "%s", status ? mst_error()->message : "");
}

static void *serve(void *context) {
    served_task *t = context;
    mst_cluster *cluster = cluster_of(t->job, "ps", t->number);
    keep_error(t->job->error[t->number],
               mst_server_run(.cluster = cluster, .recovery_timeout = SECONDS, .update_log = t->job->update_log));
    mst_cluster_release(cluster);
    return NULL;
}

/* ---- training ---- */

/* A tenth of the rate before, which is no f32, from the second epoch on. */
static double divide(void *context, int64_t epoch, double rate) {
    (void)context;
    return epoch > 0 ? rate * 0.1 : rate;
}

/* In the middle of an epoch, too. */
static mst_status raise_once(void *context, mst_train_state *state) {
    served_task *t = context;
    if (state->epoch == 1 && state->step_in_epoch == 2) state->learning_rate *= 1.5;
    *t->rate = state->learning_rate;
    return MST_OK;
}

static mst_status stop_alone(void *context, mst_train_state *state) {
    const served_task *t = context;
    state->stop |= t->number == 1 && state->step == 8;
    return MST_OK;
}

static mst_status meet(void *context, mst_train_state *state) {
    const served_task *t = context;
    if (t->job->meet && state->epoch == 0) pthread_barrier_wait(t->job->meet);
    return MST_OK;
}

static mst_status count(void *context, mst_train_state *state) {
    served_task *t = context;
    t->job->examples[t->fit][t->number] += state->examples;
    t->job->loss[t->fit][t->number] += state->loss * (double)(state->epoch + 1) + state->metric[0];
    return MST_OK;
}

static mst_dataset *data_of(const served_job *j) {
    mst_tensor *tensor[3];
    mst_dataset *data;
    if (!j->is_weighted) return training_data(ROWS, 10, 3, 3);
    training_tensors(ROWS - 3, 10, 3, 3, tensor);
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS - 3), &tensor[2]));
    for (int64_t i = 0; i < ROWS - 3; i++) mst_tensor_set(tensor[2], i, 0.1 + (double)(i % 7));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 3, &data));
    for (int i = 0; i < 3; i++) mst_tensor_release(tensor[i]);
    return data;
}

static mst_model *normalizing_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 8, .no_bias = true);
    mst_batch_normalization(model, .momentum = 0.9f);
    mst_dense(model, 3);
    return model;
}

/* TASK: NULL: one process. */
static mst_status fit(served_task *t, mst_task *task, char hash[65]) {
    const bool sets = !t->job->only_other || t->number == 1;
    mst_dataset *data = data_of(t->job);
    mst_model *model = t->job->normalizes ? normalizing_model() : training_model(8, 3, 0);
    mst_learning_rate_scheduler divides = {.schedule = divide};
    mst_early_stopping stopping = {.patience = 1, .min_delta = 10, .restore_best_weights = t->job->restores};
    const mst_callback callbacks[] = {mst_learning_rate_callback(&divides),
                                      {.context = t, .step_end = raise_once},
                                      mst_early_stopping_callback(&stopping)};
    const mst_strategy strategy = {.kind = task ? MST_STRATEGY_PARAMETER_SERVER : MST_STRATEGY_ONE,
                                   .num_shards = WORKERS,
                                   .part_bytes = task ? t->job->part_bytes : 0,
                                   .synchronous = task && !t->job->asynchronous};
    EXPECT_OK(mst_compile(
        model, .optimizer = mst_momentum(.learning_rate = 0.1, .ema_decay = t->job->averages ? 0.9 : 0), .seed = 7,
        .strategy = strategy, .sample_weights = t->job->is_weighted, .task = task, .session = {.devices = "cpu:1/1"}));
    mst_status status = MST_OK;
    const mst_callback ends = {.context = t, .step_end = stop_alone};
    const bool is_own = t->job->only_other; /* workers have the library's callbacks alike, and may have others */
    const mst_callback counts = {.context = t, .epoch_begin = meet, .epoch_end = count};
    for (t->fit = 0; t->fit < 2 && !status; t->fit++) /* the second fit goes on with the rate of the first */
        status = mst_fit(model, .data = data, .batch_size = BATCH, .epochs = EPOCHS,
                         .callbacks = t->job->one_stops                     ? &ends
                                      : t->job->meet || t->job->is_weighted ? &counts
                                                                            : callbacks + is_own,
                         .num_callbacks = t->job->one_stops || t->job->meet || t->job->is_weighted ? 1
                                          : t->job->stops                                          ? 3
                                          : sets                                                   ? 2 - is_own
                                                                                                   : 0,
                         .validation_split = t->job->stops ? 0.25 : 0);
    if (!status && task) status = mst_task_leave(task);
    if (!status && t->job->averages) status = mst_model_use_averages(model);
    if (!status) status = mst_model_sha256(model, hash);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

static void *work(void *context) {
    served_task *t = context;
    mst_cluster *cluster = cluster_of(t->job, "worker", t->number);
    mst_task *task;
    EXPECT_OK(mst_task_open(&task, .cluster = cluster, .recovery_timeout = SECONDS));
    keep_error(t->job->error[SERVERS + t->number], fit(t, task, t->job->hash[t->number]));
    mst_task_close(task);
    mst_cluster_release(cluster);
    return NULL;
}

static void run_job(served_job *j) {
    served_task task[TASKS];
    tasks_find_addresses(j->address, TASKS);
    for (int i = 0; i < TASKS; i++) {
        const bool is_server = i < SERVERS;
        task[i] = (served_task){.job = j, .number = is_server ? i : i - SERVERS};
        task[i].rate = &j->rate[task[i].number];
        assert_int_equal(pthread_create(&task[i].thread, NULL, is_server ? serve : work, &task[i]), 0);
        if (i == SERVERS - 1) usleep(30000); /* wait until they listen: a refused worker tries again after a second */
    }
    for (int i = 0; i < TASKS; i++) pthread_join(task[i].thread, NULL);
}

static void expect_no_error(const served_job *j) {
    for (int i = 0; i < TASKS; i++)
        if (*j->error[i]) fail_msg("task %d ends with '%s'", i, j->error[i]);
}

/* ---- tests ---- */

static void rate_that_callbacks_set_gives_the_weights_of_one_process(void **state) {
    (void)state;
    served_job one = {.hash = {""}}, served = {.hash = {""}};
    served_task alone = {.job = &one, .rate = &one.rate[0]};
    EXPECT_OK(fit(&alone, NULL, one.hash[0]));
    run_job(&served);
    expect_no_error(&served);
    for (int w = 0; w < WORKERS; w++) {
        assert_string_equal(served.hash[w], one.hash[0]);
        assert_true(served.rate[w] == one.rate[0]);
    }
    assert_true(fabs(one.rate[0] - 0.1 * 1.5 * 1.5 * 1e-4) < 1e-9);
}

static void moving_statistics_are_those_of_one_process(void **state) {
    (void)state;
    served_job one = {.normalizes = true}, served = {.normalizes = true};
    served_task alone = {.job = &one, .rate = &one.rate[0]};
    EXPECT_OK(fit(&alone, NULL, one.hash[0]));
    run_job(&served);
    expect_no_error(&served);
    for (int w = 0; w < WORKERS; w++) assert_string_equal(served.hash[w], one.hash[0]);
}

static void early_stopping_ends_as_in_one_process(void **state) {
    (void)state;
    served_job one = {.stops = true}, served = {.stops = true};
    served_task alone = {.job = &one, .rate = &one.rate[0]};
    EXPECT_OK(fit(&alone, NULL, one.hash[0]));
    run_job(&served);
    expect_no_error(&served);
    for (int w = 0; w < WORKERS; w++) assert_string_equal(served.hash[w], one.hash[0]);
}

/* The second fit trains the best weights of the first one. */
static void best_weights_are_those_of_one_process(void **state) {
    (void)state;
    served_job one = {.stops = true, .restores = true}, served = {.stops = true, .restores = true};
    served_job last = {.stops = true};
    served_task alone = {.job = &one, .rate = &one.rate[0]}, ends = {.job = &last, .rate = &last.rate[0]};
    EXPECT_OK(fit(&alone, NULL, one.hash[0]));
    EXPECT_OK(fit(&ends, NULL, last.hash[0]));
    assert_string_not_equal(one.hash[0], last.hash[0]);
    run_job(&served);
    expect_no_error(&served);
    for (int w = 0; w < WORKERS; w++) assert_string_equal(served.hash[w], one.hash[0]);
    served.asynchronous = true;
    run_job(&served);
    expect_no_error(&served);
    assert_string_equal(served.hash[1], served.hash[0]);
}

static void workers_of_an_asynchronous_job_share_moving_statistics(void **state) {
    (void)state;
    served_job j = {.normalizes = true, .asynchronous = true};
    run_job(&j);
    expect_no_error(&j);
    assert_string_equal(j.hash[1], j.hash[0]);
}

static void weighted_rows_and_uneven_batches_are_reported_as_by_one_process(void **state) {
    (void)state;
    served_job one = {.is_weighted = true}, served = {.is_weighted = true};
    served_task alone = {.job = &one, .rate = &one.rate[0]};
    EXPECT_OK(fit(&alone, NULL, one.hash[0]));
    run_job(&served);
    expect_no_error(&served);
    for (int w = 0; w < WORKERS; w++) {
        assert_string_equal(served.hash[w], one.hash[0]);
        for (int i = 0; i < 2; i++) {
            assert_true(one.loss[i][0] > 0 && served.loss[i][w] == one.loss[i][0]);
            assert_int_equal(served.examples[i][w], EPOCHS * (ROWS - 3));
        }
    }
}

/* The worker that makes the last step has values with the gradients of all steps of both workers, each once. */
static void metrics_of_an_asynchronous_job_are_of_all_workers(void **state) {
    (void)state;
    pthread_barrier_t meets;
    served_job j = {.asynchronous = true, .meet = &meets};
    pthread_barrier_init(&meets, NULL, WORKERS);
    run_job(&j);
    pthread_barrier_destroy(&meets);
    expect_no_error(&j);
    for (int i = 0; i < 2; i++) {
        const int64_t *seen = j.examples[i];
        assert_int_equal(seen[0] > seen[1] ? seen[0] : seen[1], EPOCHS * ROWS);
    }
}

static void every_worker_gets_the_moving_averages(void **state) {
    (void)state;
    served_job own = {.averages = true}, plain = {.hash = {""}}, parts = {.averages = true, .part_bytes = 8};
    served_job apart = {.averages = true, .asynchronous = true};
    double rate;
    served_task alone = {.job = &own, .rate = &rate};
    char hash[65];
    if (fit(&alone, NULL, hash)) fail_msg("%s", mst_error()->message);
    run_job(&own);
    run_job(&plain);
    run_job(&parts);
    run_job(&apart);
    const served_job *const jobs[] = {&own, &plain, &parts, &apart};
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) expect_no_error(jobs[j]);
    for (int i = 0; i < WORKERS; i++) {
        assert_string_equal(own.hash[i], hash);
        assert_string_equal(parts.hash[i], hash);
        assert_string_not_equal(plain.hash[i], hash);
        assert_string_equal(apart.hash[i], apart.hash[0]);
    }
}

static void a_stop_of_one_worker_that_is_in_step_is_an_error_on_all(void **state) {
    (void)state;
    served_job job = {.one_stops = true};
    run_job(&job);
    for (int i = 0; i < TASKS; i++)
        if (!strstr(job.error[i], "has ended the training after step 8, but "))
            fail_msg("task %d ends with '%s'", i, job.error[i]);
}

static void rate_of_the_chief_alone_reaches_the_servers(void **state) {
    (void)state;
    served_job set = {.only_other = true}, unset = {.only_other = true, .update_log = folder_path("log")};
    run_job(&set);
    expect_no_error(&set);
    unset.asynchronous = true; /* a log, in which no rate is set */
    run_job(&unset);
    expect_no_error(&unset);
    served_job all = {.hash = {""}};
    run_job(&all);
    expect_no_error(&all);
    assert_string_not_equal(set.hash[0], all.hash[0]);
}

static void rate_that_is_set_is_an_error_on_all_tasks_where_updates_are_logged(void **state) {
    (void)state;
    served_job j = {.asynchronous = true, .update_log = folder_path("log")};
    run_job(&j);
    for (int i = 0; i < TASKS; i++)
        if (!strstr(j.error[i], "a callback sets the learning rate, which is not in the log of updates"))
            fail_msg("task %d ends with '%s'", i, j.error[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_that_callbacks_set_gives_the_weights_of_one_process),
        cmocka_unit_test(moving_statistics_are_those_of_one_process),
        cmocka_unit_test(early_stopping_ends_as_in_one_process),
        cmocka_unit_test(best_weights_are_those_of_one_process),
        cmocka_unit_test(workers_of_an_asynchronous_job_share_moving_statistics),
        cmocka_unit_test(weighted_rows_and_uneven_batches_are_reported_as_by_one_process),
        cmocka_unit_test(metrics_of_an_asynchronous_job_are_of_all_workers),
        cmocka_unit_test(a_stop_of_one_worker_that_is_in_step_is_an_error_on_all),
        cmocka_unit_test(every_worker_gets_the_moving_averages),
        TEST_IN_FOLDER(rate_of_the_chief_alone_reaches_the_servers),
        TEST_IN_FOLDER(rate_that_is_set_is_an_error_on_all_tasks_where_updates_are_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
