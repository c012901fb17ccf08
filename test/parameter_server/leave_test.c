/* Tasks that leave a synchronous job, for a while or for good. A parameter server is told to leave, and comes back
 * without its state. A worker stays away, and the chief then gets the state of the servers. The tasks are threads
 * here, which talk as processes do. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "muster/server.h"
#include "support/ps_job.h"
#include "support/tasks.h"
#include "support/test.h"

enum { WORKERS = PS_WORKERS, SERVERS = PS_SERVERS, ALL = PS_TASKS, SECONDS = 20 };

static const double first_value = 1;
static const double gradient_of[WORKERS] = {0.25, 2};

typedef struct job {
    task_address address[ALL];
    mst_status status[SERVERS], left; /* exit statuses of the servers; status of the server that was told to leave */
    double recovery_timeout;          /* of servers */
    atomic_bool leaves;
    _Atomic int64_t last; /* the position after the last step */
} job;

typedef struct task_thread {
    job *job;
    int number;
    pthread_t thread;
} task_thread;

/* The values of the variables after an update. */
static double after(int64_t steps) {
    return first_value - 0.5 * (gradient_of[0] + gradient_of[1]) * (double)steps;
}

/* ---- servers ---- */

static bool is_told_to_leave(void *context) {
    job *j = context;
    return atomic_load(&j->leaves);
}

static void *run_server(void *context) {
    task_thread *t = context;
    job *j = t->job;
    mst_cluster *cluster = ps_job_cluster(j->address, "ps", t->number);
    if (t->number == 1) {
        j->left = mst_server_run(.cluster = cluster, .recovery_timeout = j->recovery_timeout, .leave = is_told_to_leave,
                                 .context = j);
        j->status[1] = j->left;
    }
    if (t->number == 0 || atomic_load(&j->leaves))
        j->status[t->number] = mst_server_run(.cluster = cluster, .recovery_timeout = j->recovery_timeout);
    mst_cluster_release(cluster);
    return NULL;
}

static void start_servers(job *j, task_thread *server) {
    tasks_find_addresses(j->address, ALL);
    for (int p = 0; p < SERVERS; p++) {
        server[p] = (task_thread){.job = j, .number = p};
        assert_int_equal(pthread_create(&server[p].thread, NULL, run_server, &server[p]), 0);
    }
}

/* ---- workers ---- */

/* Makes steps. After a server has left, it goes on at the same position. The chief then says how many more steps are
 * made. */
static void *work(void *context) {
    const task_thread *t = context;
    job *j = t->job;
    mst_store *store = ps_job_store(first_value);
    mst_ps_client *client = ps_job_open(j->address, t->number);
    int64_t position = ps_job_join(client, store, 0);
    while (position < atomic_load(&j->last)) {
        if (t->number == 0 && position == 3) atomic_store(&j->leaves, true);
        if (!ps_job_step(client, position, gradient_of[t->number])) {
            position++;
            continue;
        }
        assert_true(mst_ps_client_must_join(client));
        assert_int_equal(ps_job_join(client, store, 0), position);
        ps_job_expect(store, after(position));
        if (t->number == 0) atomic_store(&j->last, position + 5);
    }
    EXPECT_OK(mst_ps_client_leave(client));
    ps_job_expect(store, after(position));
    mst_ps_client_close(client);
    mst_store_release(store);
    return NULL;
}

static void no_step_is_made_again_after_a_server_has_left(void **state) {
    (void)state;
    job j = {.recovery_timeout = SECONDS, .last = INT64_MAX};
    task_thread server[SERVERS], chief = {.job = &j, .number = 0}, other = {.job = &j, .number = 1};
    start_servers(&j, server);
    assert_int_equal(pthread_create(&other.thread, NULL, work, &other), 0);
    work(&chief);
    pthread_join(other.thread, NULL);
    for (int p = 0; p < SERVERS; p++) {
        pthread_join(server[p].thread, NULL);
        EXPECT_OK(j.status[p]);
    }
    assert_int_equal(j.left, MST_CANCELLED);
}

enum { STEPS = 3 };

static void *work_and_stay_away(void *context) {
    const task_thread *t = context;
    mst_store *store = ps_job_store(first_value);
    mst_ps_client *client = ps_job_open(t->job->address, t->number);
    for (int64_t position = ps_job_join(client, store, 0); position < STEPS; position++)
        EXPECT_OK(ps_job_step(client, position, gradient_of[t->number]));
    mst_ps_client_close(client);
    mst_store_release(store);
    return NULL;
}

static void chief_gets_the_state_where_a_worker_stays_away(void **state) {
    (void)state;
    job j = {.recovery_timeout = 0.2, .last = INT64_MAX};
    task_thread server[SERVERS], other = {.job = &j, .number = 1};
    start_servers(&j, server);
    assert_int_equal(pthread_create(&other.thread, NULL, work_and_stay_away, &other), 0);
    mst_store *store = ps_job_store(first_value);
    mst_ps_client *client = ps_job_open(j.address, 0);
    mst_status status = MST_OK;
    int64_t position = ps_job_join(client, store, 0);
    while (!(status = ps_job_step(client, position, gradient_of[0]))) position++;
    assert_int_equal(status, MST_UNAVAILABLE);
    assert_non_null(strstr(mst_error()->message, "worker:1"));
    assert_int_equal(position, STEPS);
    assert_true(mst_ps_client_is_left(client));
    EXPECT_OK(mst_ps_client_collect_last(client));
    ps_job_expect(store, after(STEPS));
    mst_ps_client_close(client);
    mst_store_release(store);
    pthread_join(other.thread, NULL);
    for (int p = 0; p < SERVERS; p++) {
        pthread_join(server[p].thread, NULL);
        assert_int_equal(j.status[p], MST_UNAVAILABLE);
    }
}

static bool is_told_to_stop(void *context) {
    return atomic_load((atomic_bool *)context);
}

/* A worker that makes no step, and ends its training with the others. */
typedef struct finisher {
    job *job;
    int number;
    sem_t *may_leave; /* NULL: at once */
    atomic_bool stops;
    mst_status status;
    pthread_t thread;
} finisher;

static void *finish_and_leave(void *context) {
    finisher *f = context;
    mst_cluster *cluster = ps_job_cluster(f->job->address, "worker", f->number);
    const mst_task_options options = {.cluster = cluster,
                                      .recovery_timeout = SECONDS,
                                      .timeout = SECONDS,
                                      .stop = is_told_to_stop,
                                      .context = &f->stops};
    mst_store *store = ps_job_store(first_value);
    mst_ps_client *client;
    EXPECT_OK(mst_ps_client_open(&options, &(mst_mail_options){.cluster = cluster}, &client));
    ps_job_join(client, store, 0);
    EXPECT_OK(mst_ps_client_finish(client, false));
    if (f->may_leave) sem_wait(f->may_leave);
    atomic_store(&f->stops, f->number == 0);
    f->status = mst_ps_client_leave(client);
    mst_ps_client_close(client);
    mst_store_release(store);
    mst_cluster_release(cluster);
    return NULL;
}

/* It has all values, so nobody has to start it again. If it were started again after the others have left, it would
 * find no servers. */
static void chief_that_is_stopped_while_the_others_leave_has_done_its_work(void **state) {
    (void)state;
    job j = {.recovery_timeout = SECONDS};
    sem_t may_leave;
    sem_init(&may_leave, 0, 0);
    task_thread server[SERVERS];
    finisher chief = {.job = &j, .number = 0}, other = {.job = &j, .number = 1, .may_leave = &may_leave};
    start_servers(&j, server);
    assert_int_equal(pthread_create(&other.thread, NULL, finish_and_leave, &other), 0);
    finish_and_leave(&chief);
    EXPECT_OK(chief.status);
    sem_post(&may_leave);
    pthread_join(other.thread, NULL);
    EXPECT_OK(other.status);
    for (int p = 0; p < SERVERS; p++) {
        pthread_join(server[p].thread, NULL);
        EXPECT_OK(j.status[p]);
    }
    sem_destroy(&may_leave);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_is_made_again_after_a_server_has_left),
        cmocka_unit_test(chief_gets_the_state_where_a_worker_stays_away),
        cmocka_unit_test(chief_that_is_stopped_while_the_others_leave_has_done_its_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
