/* A worker that runs but does not reach a step is reported as such, and not as lost. If another worker waits too
 * long for it, all workers get one error. It names the missing worker, and the exchange that it has not reached. The
 * workers are threads here, each with a task of its own, which talk over TCP. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#include "muster/muster.h"
#include "support/open_worker.h"
#include "support/test.h"
#include "support/training.h"

enum { WORKERS = 2, ROWS = 80, BATCH = 8, STUCK_STEP = 3 };

/* Two workers. Worker 1 is stuck in a callback until it is let go. */
typedef struct job {
    task_address address[WORKERS];
    sem_t let_go;
    mst_status status[WORKERS];
    char error[WORKERS][1024];
} job;

typedef struct worker {
    job *job;
    int number;
    pthread_t thread;
} worker;

static mst_status be_stuck(void *context, mst_train_state *state) {
    worker *w = context;
    if (w->number == 1 && state->step == STUCK_STEP) sem_wait(&w->job->let_go);
    return MST_OK;
}

static mst_status fit(worker *w, mst_task *task) {
    mst_dataset *data = training_data(ROWS, 10, 3, 3);
    mst_model *model = training_model(8, 3, 0);
    mst_callback callback = {.context = w, .step_end = be_stuck};
    mst_status status = mst_compile(model, .strategy = {.kind = MST_STRATEGY_MULTI_WORKER, .num_shards = 2},
                                    .task = task, .session = {.devices = "cpu:1/1", .timeout = 2});
    if (!status) status = mst_fit(model, .data = data, .batch_size = BATCH, .callbacks = &callback, .num_callbacks = 1);
    if (!status) status = mst_task_leave(task);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

static void *work(void *context) {
    worker *w = context;
    job *j = w->job;
    mst_task *task = NULL;
    mst_status status = open_worker(j->address, WORKERS, w->number, (mst_task_options){.cluster = NULL}, &task);
    if (!status) status = fit(w, task);
    j->status[w->number] = status;
    if (status) snprintf(j->error[w->number], sizeof j->error[w->number], "%s", mst_error()->message);
    mst_task_close(task);
    if (w->number == 0) sem_post(&j->let_go); /* worker 0 has its error, so worker 1 may go on and get its own */
    return NULL;
}

static void worker_that_does_not_come_is_named_on_all(void **state) {
    (void)state;
    job j = {.status = {MST_OK}};
    worker workers[WORKERS];
    tasks_find_addresses(j.address, WORKERS);
    sem_init(&j.let_go, 0, 0);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.job = &j, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (int i = 0; i < WORKERS; i++)
        if (!strstr(j.error[i], "worker:1 has not come to exchange") || !strstr(j.error[i], "; worker:0 has come"))
            fail_msg("worker %d: '%s'", i, j.error[i]);
    sem_destroy(&j.let_go);
}

/* A process that trains alone has no task. */
static void a_task_of_one_worker_says_how_to_train_alone(void **state) {
    (void)state;
    mst_cluster *cluster;
    mst_task *task;
    EXPECT_OK(mst_cluster_from_hosts(NULL, "localhost:2222", "worker", 0, &cluster));
    EXPECT_ERROR(mst_task_open(&task, .cluster = cluster), MST_INVALID, "call mst_compile without .task");
    mst_cluster_release(cluster);
}

static mst_status open_with(const char *transport, const char *ps_hosts) {
    mst_cluster *cluster;
    mst_task *task = NULL;
    MST_TRY(mst_cluster_from_hosts(ps_hosts, "localhost:2222,localhost:2223", "worker", 0, &cluster));
    const mst_status status = mst_task_open(&task, .cluster = cluster, .transport = transport);
    mst_task_close(task);
    mst_cluster_release(cluster);
    return status;
}

/* inproc and mpi-threads exist, but only for tests. */
static void a_transport_that_is_not_for_the_task_is_refused(void **state) {
    (void)state;
    static const char *const unknown[] = {"tcp", "inproc", "mpi-threads"};
    for (int i = 0; i < 3; i++) {
        EXPECT_ERROR(open_with(unknown[i], NULL), MST_NOT_FOUND, unknown[i]);
        assert_non_null(strstr(mst_error()->message, "take shm, zmq or mpi"));
    }
    EXPECT_ERROR(open_with("mpi", "localhost:2224"), MST_INVALID,
                 "transport mpi is for workers without parameter servers: take shm or zmq");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worker_that_does_not_come_is_named_on_all),
        cmocka_unit_test(a_task_of_one_worker_says_how_to_train_alone),
        cmocka_unit_test(a_transport_that_is_not_for_the_task_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
