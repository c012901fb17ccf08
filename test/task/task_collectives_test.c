/* Collectives of a program's own (muster/task.h): the right data, and one error on all tasks if they do not make the
 * same calls. The tasks are threads here, each with a task of its own, which talk over TCP and through shared
 * memory. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#include "muster/muster.h"
#include "support/open_worker.h"
#include "support/test.h"
#include "support/training.h"
#include "task/task_inside.h"

enum { WORKERS = 3 };

typedef struct worker worker;
typedef mst_status (*worker_part)(worker *w);

struct worker {
    struct job *job;
    int number;
    mst_task *task;
    mst_status status;
    char error[1024];
    char hex[65];
    pthread_t thread;
};

typedef struct job {
    worker_part part;
    const char *transport;
    task_address address[WORKERS];
    pthread_barrier_t ended; /* nobody closes its task before */
    pthread_barrier_t met;   /* of be_late */
    sem_t given_up;
    worker worker[WORKERS];
} job;

static mst_status open_and_work(worker *w) {
    job *j = w->job;
    const mst_task_options options = {.transport = j->transport};
    MST_TRY(open_worker(j->address, WORKERS, w->number, options, &w->task));
    return j->part(w);
}

static void *work(void *context) {
    worker *w = context;
    w->status = open_and_work(w);
    if (w->status) snprintf(w->error, sizeof w->error, "%s", mst_error()->message);
    pthread_barrier_wait(&w->job->ended);
    mst_task_close(w->task);
    return NULL;
}

static void run_job(job *j, const char *transport, worker_part part) {
    tasks_find_addresses(j->address, WORKERS);
    j->part = part;
    j->transport = transport;
    pthread_barrier_init(&j->ended, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        j->worker[i] = (worker){.job = j, .number = i};
        assert_int_equal(pthread_create(&j->worker[i].thread, NULL, work, &j->worker[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) pthread_join(j->worker[i].thread, NULL);
    pthread_barrier_destroy(&j->ended);
}

/* Every worker except EXCEPT must have failed with STATUS. Its error must have all of TEXTS, which NULL ends. */
static void expect_errors(const job *j, int except, mst_status status, const char *const *texts) {
    for (int i = 0; i < WORKERS; i++) {
        const worker *w = &j->worker[i];
        if (i == except) continue;
        if (w->status != status) fail_msg("worker %d: status %d, '%s'", i, (int)w->status, w->error);
        for (const char *const *text = texts; *text; text++)
            if (!strstr(w->error, *text)) fail_msg("worker %d: '%s' does not have '%s'", i, w->error, *text);
    }
}

static void expect_success(const job *j) {
    for (int i = 0; i < WORKERS; i++)
        if (j->worker[i].status) fail_msg("worker %d: %s", i, j->worker[i].error);
}

/* ---- right data ---- */

static mst_status wrong(const char *what, int64_t i) {
    return MST_FAIL(MST_INTERNAL, "%s: element %lld is wrong", what, (long long)i);
}

/* Of very different size, so that the order of additions shows. */
static float value(int worker, int64_t i) {
    static const float scale[] = {1e-3F, 1, 1e6F};
    return ((float)((i * 7919 + worker * 104729) % 10007) - 5003) * scale[(i + worker) % 3];
}

static mst_status check_broadcasts(worker *w) {
    static const int64_t counts[] = {0, 1, 3000000};
    for (int k = 0; k < 3; k++) {
        uint8_t *data = malloc((size_t)counts[k] + 1);
        for (int64_t i = 0; i < counts[k]; i++) data[i] = (uint8_t)(w->number == k ? i * 31 + k : 77);
        mst_status status = mst_task_broadcast(w->task, k, MST_U8, data, counts[k]);
        for (int64_t i = 0; i < counts[k] && !status; i++)
            if (data[i] != (uint8_t)(i * 31 + k)) status = wrong("broadcast", i);
        free(data);
        MST_TRY(status);
    }
    return MST_OK;
}

static mst_status check_float_sums(worker *w) {
    static const int64_t counts[] = {0, 7, 50000};
    for (int k = 0; k < 3; k++) {
        float *data = malloc((size_t)counts[k] * sizeof *data + 1);
        for (int64_t i = 0; i < counts[k]; i++) data[i] = value(w->number, i);
        mst_status status = mst_task_all_reduce(w->task, MST_F32, data, counts[k]);
        for (int64_t i = 0; i < counts[k] && !status; i++)
            if (data[i] != (value(0, i) + value(1, i)) + value(2, i)) status = wrong("all_reduce", i);
        free(data);
        MST_TRY(status);
    }
    return MST_OK;
}

static mst_status check_integer_sums(worker *w) {
    int64_t data[] = {w->number + 1, INT64_MAX - w->number};
    MST_TRY(mst_task_all_reduce(w->task, MST_I64, data, 2));
    if (data[0] != 6) return wrong("all_reduce", 0);
    return data[1] == (int64_t)(3 * (uint64_t)INT64_MAX - 3) ? MST_OK : wrong("all_reduce", 1);
}

static mst_status check_parts(worker *w) {
    enum { COUNT = 1000 };
    static const mst_dtype dtype = MST_F64;
    double src[WORKERS * COUNT], dst[COUNT], all[WORKERS * COUNT];
    for (int i = 0; i < WORKERS * COUNT; i++) src[i] = value(w->number, i);
    MST_TRY(mst_task_reduce_scatter(w->task, dtype, src, COUNT, dst));
    MST_TRY(mst_task_all_gather(w->task, dtype, dst, COUNT, all));
    for (int i = 0; i < WORKERS * COUNT; i++)
        if (all[i] != ((double)value(0, i) + (double)value(1, i)) + (double)value(2, i))
            return wrong("reduce_scatter and all_gather", i);
    memcpy(&all[w->number * COUNT], src, sizeof dst); /* in place */
    MST_TRY(mst_task_all_gather(w->task, dtype, &all[w->number * COUNT], COUNT, all));
    for (int i = 0; i < WORKERS * COUNT; i++)
        if (all[i] != (double)value(i / COUNT, i % COUNT)) return wrong("all_gather in place", i);
    return MST_OK;
}

static mst_status make_all(worker *w) {
    MST_TRY(mst_task_barrier(w->task));
    MST_TRY(check_broadcasts(w));
    MST_TRY(check_float_sums(w));
    MST_TRY(check_integer_sums(w));
    MST_TRY(check_parts(w));
    return mst_task_leave(w->task);
}

static void collectives_give_what_the_test_computes(void **state) {
    (void)state;
    static const char *const transports[] = {"zmq", "shm"};
    for (int i = 0; i < 2; i++) {
        job j = {0};
        const mst_transport_type *type;
        if (mst_transport_find(transports[i], &type)) continue;
        run_job(&j, transports[i], make_all);
        expect_success(&j);
    }
}

/* ---- tasks that do not call the same ---- */

static mst_status sum_more(worker *w) {
    float data[6] = {0};
    MST_TRY(mst_task_barrier(w->task));
    return mst_task_all_reduce(w->task, MST_F32, data, w->number == 1 ? 6 : 5);
}

static mst_status sum_others(worker *w) {
    int64_t data[5] = {0};
    return mst_task_all_reduce(w->task, w->number == 2 ? MST_I64 : MST_F64, data, 5);
}

static mst_status take_other_roots(worker *w) {
    float data[2] = {0};
    return mst_task_broadcast(w->task, w->number == 2 ? 1 : 0, MST_F32, data, 2);
}

static mst_status meet_or_gather(worker *w) {
    float data[WORKERS] = {0};
    return w->number ? mst_task_all_gather(w->task, MST_F32, data, 1, data) : mst_task_barrier(w->task);
}

static mst_status meet_or_leave(worker *w) {
    MST_TRY(mst_task_barrier(w->task));
    return w->number == 1 ? mst_task_leave(w->task) : mst_task_barrier(w->task);
}

static void other_call_is_an_error_on_all_that_says_who_calls_what(void **state) {
    (void)state;
    static const struct {
        worker_part part;
        const char *texts[4];
    } cases[] = {{sum_more, {"worker:0 calls all_reduce of 5 f32, and worker:1 all_reduce of 6 f32", NULL}},
                 {sum_others, {"worker:0 calls all_reduce of 5 f64, and worker:2 all_reduce of 5 i64", NULL}},
                 {take_other_roots, {"broadcast of 2 f32 from worker:0", "worker:2 broadcast of 2 f32 from worker:1"}},
                 {meet_or_gather, {"worker:0 calls barrier, and worker:1 all_gather of 1 f32", NULL}},
                 {meet_or_leave, {"worker:0 calls barrier, and worker:1 leave", NULL}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job j = {0};
        run_job(&j, NULL, cases[i].part);
        expect_errors(&j, -1, MST_INVALID, cases[i].texts);
    }
}

static mst_status call_wrongly(worker *w) {
    float data[2] = {0};
    MST_TRY(mst_task_barrier(w->task));
    return w->number == 1 ? mst_task_broadcast(w->task, 3, MST_F32, data, 2) : mst_task_barrier(w->task);
}

static mst_status sum_strings(worker *w) {
    float data[2] = {0};
    MST_TRY(mst_task_barrier(w->task));
    return mst_task_all_reduce(w->task, w->number == 2 ? MST_U8 : MST_F32, data, 2);
}

static void wrong_argument_of_one_is_an_error_on_all(void **state) {
    (void)state;
    job j = {0};
    run_job(&j, NULL, call_wrongly);
    expect_errors(&j, -1, MST_INVALID, (const char *const[]){"broadcast: there is no worker 3 of 3", NULL});
    run_job(&j, NULL, sum_strings);
    expect_errors(&j, -1, MST_INVALID, (const char *const[]){"only f32, f64, i32 and i64 are summed, not u8", NULL});
}

/* ---- tasks that do not come ---- */

/* Worker 2, or in the other test worker 0, which leads, closes its task without leaving. */
static mst_status lose(worker *w, int lost) {
    float data[50000] = {0};
    MST_TRY(mst_task_barrier(w->task));
    if (w->number == lost) {
        mst_task_close(w->task);
        w->task = NULL;
        return MST_OK;
    }
    const mst_status status = mst_task_all_reduce(w->task, MST_F32, data, 50000);
    return status ? mst_task_barrier(w->task) : MST_OK; /* so does every call that follows */
}

static mst_status lose_last(worker *w) {
    return lose(w, 2);
}

static mst_status lose_first(worker *w) {
    return lose(w, 0);
}

static mst_status lose_before_leaving(worker *w) {
    MST_TRY(mst_task_barrier(w->task));
    if (w->number != 1) return mst_task_leave(w->task);
    mst_task_close(w->task);
    w->task = NULL;
    return MST_OK;
}

static void lost_task_is_named_on_all_others(void **state) {
    (void)state;
    job j = {0};
    run_job(&j, NULL, lose_last);
    expect_errors(&j, 2, MST_UNAVAILABLE, (const char *const[]){": task worker:2 at ", "start all tasks again", NULL});
    run_job(&j, NULL, lose_first);
    expect_errors(&j, 0, MST_UNAVAILABLE, (const char *const[]){": task worker:0 at ", NULL});
    run_job(&j, NULL, lose_before_leaving); /* as they leave, or still in the barrier before that */
    expect_errors(&j, 1, MST_UNAVAILABLE, (const char *const[]){": task worker:1 at ", NULL});
}

/* All reach the first barrier, which has no time limit. Worker 1 reaches the second one when the others have given
 * up. */
static mst_status be_late(worker *w) {
    job *j = w->job;
    MST_TRY(mst_task_barrier(w->task));
    pthread_barrier_wait(&j->met);
    w->task->options.collective_timeout = 0.1;
    for (int i = 1; i < WORKERS && w->number == 1; i++) sem_wait(&j->given_up);
    const mst_status status = mst_task_barrier(w->task);
    sem_post(&j->given_up);
    return status;
}

static void late_task_is_named_on_all(void **state) {
    (void)state;
    job j = {0};
    pthread_barrier_init(&j.met, NULL, WORKERS);
    sem_init(&j.given_up, 0, 0);
    run_job(&j, NULL, be_late);
    /* where its process gets no time, "worker:1 does not answer" */
    expect_errors(&j, -1, MST_DEADLINE,
                  (const char *const[]){"barrier: not all tasks have made this call within 0.1 s; worker:1 ", NULL});
    for (int i = 0; i < WORKERS; i++)
        if (strstr(j.worker[i].error, "; worker:2 ")) fail_msg("worker %d: '%s'", i, j.worker[i].error);
    sem_destroy(&j.given_up);
    pthread_barrier_destroy(&j.met);
}

/* ---- together with mst_fit ---- */

enum { ROWS = 60, BATCH = 12, FEATURES = 10, CLASSES = 3, SHARDS = 6 };

/* Workers that train alike have one loss. */
static mst_status compare_losses(void *context, mst_train_state *state) {
    double losses[WORKERS];
    MST_TRY(mst_task_all_gather(context, MST_F64, &state->loss, 1, losses));
    for (int i = 0; i < WORKERS; i++)
        if (losses[i] != state->loss) return wrong("loss", i);
    return MST_OK;
}

/* Without TASK: alone. */
static mst_status fit(mst_task *task, uint64_t seed, double rate, char hex[65]) {
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 3);
    const mst_callback callback = {.context = task, .step_end = compare_losses, .epoch_end = compare_losses};
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(model, 8, .activation = MST_RELU);
    mst_dense(model, CLASSES);
    const mst_strategy_kind kind = task ? MST_STRATEGY_MULTI_WORKER : MST_STRATEGY_MIRRORED;
    mst_status status =
        mst_compile(model, .optimizer = mst_adam(.learning_rate = rate), .seed = seed,
                    .strategy = {.kind = kind, .num_shards = SHARDS}, .task = task, .session = {.devices = "cpu:1/1"});
    if (!status)
        status =
            mst_fit(model, .data = data, .batch_size = BATCH, .callbacks = &callback, .num_callbacks = task ? 1 : 0);
    if (!status) status = mst_model_sha256(model, hex);
    if (!status && task) status = mst_task_barrier(task);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

static mst_status agree_and_fit(worker *w) {
    int64_t seed = w->number + 5;
    MST_TRY(mst_task_broadcast(w->task, 2, MST_I64, &seed, 1));
    MST_TRY(fit(w->task, (uint64_t)seed, 0.01, w->hex));
    return mst_task_leave(w->task);
}

static mst_status fit_first(worker *w) {
    MST_TRY(fit(w->task, 7, 0.01, w->hex));
    return mst_task_leave(w->task);
}

static void fit_with_collectives_gives_the_weights_of_one_process(void **state) {
    (void)state;
    static const worker_part parts[] = {agree_and_fit, fit_first};
    char alone[65];
    EXPECT_OK(fit(NULL, 7, 0.01, alone));
    for (int k = 0; k < 2; k++) {
        job j = {0};
        run_job(&j, NULL, parts[k]);
        expect_success(&j);
        for (int i = 0; i < WORKERS; i++) assert_string_equal(j.worker[i].hex, alone);
    }
}

static mst_status fit_otherwise(worker *w) {
    MST_TRY(mst_task_barrier(w->task));
    return fit(w->task, 7, w->number == 2 ? 0.02 : 0.01, w->hex);
}

static mst_status fit_or_meet(worker *w) {
    MST_TRY(mst_task_barrier(w->task));
    return w->number == 1 ? mst_task_barrier(w->task) : fit(w->task, 7, 0.01, w->hex);
}

static void other_fit_after_a_barrier_is_an_error_on_all(void **state) {
    (void)state;
    job j = {0};
    run_job(&j, NULL, fit_otherwise);
    expect_errors(
        &j, -1, MST_INVALID,
        (const char *const[]){"options differ between worker:0 and worker:2: learning_rate 0.01 and 0.02: ", NULL});
    run_job(&j, NULL, fit_or_meet);
    expect_errors(&j, -1, MST_INVALID, (const char *const[]){"worker:0 calls mst_fit, and worker:1 barrier", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_give_what_the_test_computes),
        cmocka_unit_test(other_call_is_an_error_on_all_that_says_who_calls_what),
        cmocka_unit_test(wrong_argument_of_one_is_an_error_on_all),
        cmocka_unit_test(lost_task_is_named_on_all_others),
        cmocka_unit_test(late_task_is_named_on_all),
        cmocka_unit_test(fit_with_collectives_gives_the_weights_of_one_process),
        cmocka_unit_test(other_fit_after_a_barrier_is_an_error_on_all),
    };
    const mst_transport_type *zmq;
    if (mst_transport_find("zmq", &zmq)) return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
