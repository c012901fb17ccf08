/* A worker leaves while others train, and another one joins: each worker ends with the weights of one process. That
 * also holds with several devices per worker, even if their number no longer divides the worker's shards, and with
 * embeddings, whose gradients are sent as rows. The workers are threads here, each with a task of its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "muster/muster.h"
#include "support/engine.h"
#include "support/open_worker.h"
#include "support/test.h"

enum { WORKERS = 3, ROWS = 60, BATCH = 12, LENGTH = 6, WORDS = 40, CLASSES = 5, EPOCHS = 60, GOES_AT = 20 };

/* Worker 1 goes at some step, and comes back when the others have made more of them. */
typedef struct job {
    int shards;
    const char *devices;
    bool has_table; /* the model has an embedding */
    task_address address[WORKERS];
    _Atomic int64_t step; /* of worker 0 */
    atomic_bool is_gone, is_back;
    bool is_late, has_ended; /* it comes back when the others have left */
    atomic_int num_left;
    int64_t back_at; /* the step that worker 1 makes first when it is back */
    int epochs_ended[WORKERS];
    mst_status status[WORKERS];
    char error[WORKERS][1024], hex[WORKERS][65];
    mst_result fitted[WORKERS];
} job;

typedef struct worker {
    job *job;
    int number;
    bool goes; /* at GOES_AT */
    pthread_t thread;
} worker;

static mst_dataset *open_rows(void) {
    mst_tensor *tensor[2] = {engine_random(MST_F32, MST_SHAPE(ROWS, LENGTH), 0, 1, 4),
                             engine_tensor(MST_I32, MST_SHAPE(ROWS), NULL)};
    mst_dataset *data;
    for (int64_t i = 0; i < ROWS * LENGTH; i++)
        mst_tensor_set(tensor[0], i, (double)(int64_t)(mst_tensor_get(tensor[0], i) * WORDS));
    for (int64_t i = 0; i < ROWS; i++)
        mst_tensor_set(tensor[1], i, (double)((int64_t)mst_tensor_get(tensor[0], i * LENGTH) % CLASSES));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &data));
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return data;
}

static mst_model *build_model(const job *j) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_output x = mst_input(model, MST_SHAPE(LENGTH));
    if (j->has_table) x = mst_flatten(mst_embedding(x, 500, 4));
    mst_dense(mst_dropout(mst_dense(x, 12, .activation = MST_RELU), .rate = 0.25f), CLASSES);
    return model;
}

static void pause_for(long milliseconds) {
    const struct timespec time = {.tv_nsec = milliseconds * 1000000};
    nanosleep(&time, NULL);
}

/* Worker 0 works slowly until the other one is back. */
static mst_status see_step(void *context, mst_train_state *state) {
    worker *w = context;
    job *j = w->job;
    if (w->goes && state->step == GOES_AT) return MST_CANCELLED;
    if (w->number == 0) atomic_store(&j->step, state->step);
    if (w->number == 0 && !j->is_late && atomic_load(&j->is_gone) && !atomic_load(&j->is_back)) pause_for(20);
    if (w->number == 1 && !w->goes && !atomic_exchange(&j->is_back, true)) j->back_at = state->step;
    return MST_OK;
}

static mst_status see_epoch(void *context, mst_train_state *state) {
    const worker *w = context;
    (void)state;
    w->job->epochs_ended[w->number]++;
    return MST_OK;
}

static mst_status fit(worker *w, mst_task *task) {
    job *j = w->job;
    mst_dataset *data = open_rows();
    mst_model *model = build_model(j);
    const mst_callback callback = {.context = w, .step_end = see_step, .epoch_end = see_epoch};
    const mst_fit_options options = {.data = data,
                                     .validation = data,
                                     .batch_size = BATCH,
                                     .epochs = EPOCHS,
                                     .callbacks = &callback,
                                     .num_callbacks = task ? 1 : 0};
    mst_status status = mst_compile(
        model, .optimizer = mst_adam(.learning_rate = 0.01),
        .strategy = {.kind = task ? MST_STRATEGY_MULTI_WORKER : MST_STRATEGY_MIRRORED, .num_shards = j->shards},
        .metric = {MST_METRIC_ACCURACY}, .task = task, .session = {.devices = j->devices}, .seed = 5);
    if (!status) status = mst_fit_with(model, &options, &j->fitted[w->number]);
    if (!status) status = mst_model_sha256(model, j->hex[w->number]);
    if (!status && task) status = mst_task_leave(task);
    if (!status && j->is_late && w->number != 1) {
        atomic_fetch_add(&j->num_left, 1);
        while (!atomic_load(&j->is_back)) pause_for(5); /* its task is still there */
    }
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

static mst_status live(worker *w) {
    mst_task *task;
    MST_TRY(open_worker(w->job->address, WORKERS, w->number, (mst_task_options){.elastic_min = 2}, &task));
    const mst_status status = fit(w, task);
    if (w->number == 1 && !w->goes) w->job->has_ended = mst_task_has_ended(task);
    if (w->number == 1 && !w->goes) atomic_store(&w->job->is_back, true);
    mst_task_close(task);
    return status;
}

/* A thread of the test cannot end it: the status is looked at afterwards. */
static void *work(void *context) {
    worker *w = context;
    job *j = w->job;
    w->goes = w->number == 1;
    mst_status status = live(w);
    if (w->number == 1 && status == MST_CANCELLED) {
        atomic_store(&j->is_gone, true);
        w->goes = false;
        while (atomic_load(&j->step) < GOES_AT + 3) pause_for(5);
        while (j->is_late && atomic_load(&j->num_left) < WORKERS - 1) pause_for(5);
        status = live(w);
    }
    j->status[w->number] = status;
    if (status) snprintf(j->error[w->number], sizeof j->error[w->number], "%s", mst_error()->message);
    return NULL;
}

static void expect_weights_of_one_process(int shards, const char *devices, bool has_table) {
    job one = {.shards = shards, .devices = "cpu:1/1", .has_table = has_table};
    job many = {.shards = shards, .devices = devices, .has_table = has_table};
    worker alone = {.job = &one}, workers[WORKERS];
    EXPECT_OK(fit(&alone, NULL));
    tasks_find_addresses(many.address, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.job = &many, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < WORKERS; i++) {
        if (many.status[i]) fail_msg("worker %d: %s", i, many.error[i]);
        assert_string_equal(many.hex[i], one.hex[0]);
        assert_true(many.fitted[i].loss == one.fitted[0].loss);
        assert_true(many.fitted[i].validation_loss == one.fitted[0].validation_loss);
    }
    assert_in_range(many.back_at, GOES_AT + 3, EPOCHS * ROWS / BATCH);
    assert_int_equal(many.epochs_ended[0], EPOCHS);
    assert_int_equal(many.epochs_ended[2], EPOCHS);
}

static void who_goes_and_comes_back_changes_nothing(void **state) {
    (void)state;
    expect_weights_of_one_process(4, "cpu:1/1", false);
}

static void nor_with_devices_that_divide_the_shards_no_more(void **state) {
    (void)state;
    expect_weights_of_one_process(6, "cpu:2/1", false);
}

static void nor_where_rows_of_tables_travel(void **state) {
    (void)state;
    expect_weights_of_one_process(4, "cpu:1/1", true);
}

static void who_comes_back_when_the_others_have_ended_is_told_so(void **state) {
    (void)state;
    job late = {.shards = 4, .devices = "cpu:1/1", .is_late = true};
    worker workers[WORKERS];
    tasks_find_addresses(late.address, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.job = &late, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(late.status[1], MST_UNAVAILABLE);
    assert_string_equal(late.error[1],
                        "the job has ended while worker:1 was away: the other workers have done their work");
    assert_true(late.has_ended);
    for (int i = 0; i < WORKERS; i += 2)
        if (late.status[i]) fail_msg("worker %d: %s", i, late.error[i]);
}

static mst_status try_to_open(mst_task_options options) {
    task_address address[2];
    mst_task *task = NULL;
    tasks_find_addresses(address, 2);
    const mst_status status = open_worker(address, 2, 0, options, &task);
    mst_task_close(task);
    return status;
}

static void how_few_may_train_is_checked(void **state) {
    (void)state;
    EXPECT_ERROR(try_to_open((mst_task_options){.elastic_min = 3}), MST_INVALID,
                 "elastic_min is 3, but the cluster has 2 workers");
    EXPECT_ERROR(try_to_open((mst_task_options){.elastic_min = -1}), MST_INVALID, "elastic_min is -1");
    EXPECT_ERROR(try_to_open((mst_task_options){.elastic_min = 1, .transport = "mpi"}), MST_INVALID,
                 "elastic_min is not for transport mpi");
}

static void collectives_are_of_all_workers(void **state) {
    (void)state;
    task_address address[2];
    mst_task *task;
    tasks_find_addresses(address, 2);
    EXPECT_OK(open_worker(address, 2, 0, (mst_task_options){.elastic_min = 1}, &task));
    EXPECT_ERROR(mst_task_barrier(task), MST_UNIMPLEMENTED, "with elastic_min fewer may train");
    mst_task_close(task);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_goes_and_comes_back_changes_nothing),
        cmocka_unit_test(nor_with_devices_that_divide_the_shards_no_more),
        cmocka_unit_test(nor_where_rows_of_tables_travel),
        cmocka_unit_test(who_comes_back_when_the_others_have_ended_is_told_so),
        cmocka_unit_test(how_few_may_train_is_checked),
        cmocka_unit_test(collectives_are_of_all_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
