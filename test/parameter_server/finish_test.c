/* A parameter server is killed after all workers have made their last step, for example while the chief saves its
 * state. The job still succeeds, with all steps. Servers are processes here, and workers are threads. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "muster/server.h"
#include "parameter_server/ps_client.h"
#include "support/ps_job.h"
#include "support/tasks.h"
#include "support/test.h"

enum { WORKERS = PS_WORKERS, SERVERS = PS_SERVERS, ALL = PS_TASKS, COUNT = PS_COUNT, SECONDS = 20, SPARE = 11 };

static const mst_fingerprint fingerprint = {.name = "program", .hash = 7};
static const mst_optimizer optimizer = {.rule = "sgd", .learning_rate = 0.5f};
static const double first_value = 1, gradient_of[WORKERS] = {0.25, 2};
static const double last_value = 1 - 0.5 * (0.25 + 2);

typedef struct job {
    task_address address[ALL];
    bool synchronous;
    double recovery_timeout;
    pthread_barrier_t finished;
    pid_t server[SERVERS];
} job;

/* ---- servers ---- */

/* The events for which a process waits that was forked before there were threads. */
typedef struct order {
    task_address address[ALL];
    int number;
} order;

static struct {
    pid_t process;
    int orders;
} spare[SPARE];
static int num_used;

static void serve(int orders) {
    order o;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(orders, &o, sizeof o) != sizeof o) _exit(0);
    mst_cluster *cluster = ps_job_cluster(o.address, "ps", o.number);
    const mst_status status = mst_server_run(.cluster = cluster, .recovery_timeout = SECONDS);
    if (status) fprintf(stderr, "server: %s\n", mst_error()->message);
    mst_cluster_release(cluster);
    _exit(status ? 1 : 0);
}

static void make_spare_processes(void) {
    for (int i = 0; i < SPARE; i++) {
        int ends[2];
        if (pipe(ends)) abort();
        spare[i].orders = ends[1];
        if ((spare[i].process = fork()) == 0) serve(ends[0]);
        if (spare[i].process < 0 || close(ends[0])) abort();
    }
}

static void start_server(job *j, int number) {
    order o = {.number = number};
    assert_true(num_used < SPARE);
    memcpy(o.address, j->address, sizeof o.address);
    j->server[number] = spare[num_used].process;
    assert_int_equal(write(spare[num_used++].orders, &o, sizeof o), sizeof o);
}

static int await_end(pid_t process) {
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    return status;
}

static void kill_server(job *j, int number) {
    assert_int_equal(kill(j->server[number], SIGKILL), 0);
    await_end(j->server[number]);
}

static void begin_job(job *j) {
    tasks_find_addresses(j->address, ALL);
    pthread_barrier_init(&j->finished, NULL, WORKERS);
    for (int p = 0; p < SERVERS; p++) start_server(j, p);
}

/* ---- workers ---- */

/* Joins, makes the only step, and waits until all have. */
static mst_ps_client *train(job *j, int worker, mst_store *store) {
    const mst_spec spec = {.dtype = MST_F32, .shape = MST_SHAPE(COUNT)};
    const mst_ps_variable variables[] = {{.name = "w0", .spec = spec}, {.name = "w1", .spec = spec, .ps = 1}};
    mst_cluster *cluster = ps_job_cluster(j->address, "worker", worker);
    mst_graph *const graph[] = {ps_job_update(&optimizer, 0), ps_job_update(&optimizer, 1)};
    const mst_ps_program program = {.store = store,
                                    .variable = variables,
                                    .num_variables = 2,
                                    .graph = graph,
                                    .synchronous = j->synchronous,
                                    .staleness = -1,
                                    .num_shards = WORKERS,
                                    .num_leaves = 1,
                                    .fingerprint = &fingerprint,
                                    .num_fingerprints = 1};
    const mst_task_options options = {.cluster = cluster, .recovery_timeout = j->recovery_timeout};
    mst_tensor *gradient = ps_job_filled(gradient_of[worker]);
    mst_ps_client *client;
    int64_t position, step;
    EXPECT_OK(mst_ps_client_open(&options, &(mst_mail_options){.cluster = cluster}, &client));
    EXPECT_OK(mst_ps_client_join(client, &program, &position));
    for (int p = 0; p < SERVERS; p++) mst_graph_destroy(graph[p]);
    assert_int_equal(position, 0);
    EXPECT_OK(mst_ps_client_update(client, 0, (mst_tensor *const[]){gradient, gradient}, &step));
    EXPECT_OK(mst_ps_client_finish(client, false));
    mst_tensor_release(gradient);
    mst_cluster_release(cluster);
    return client;
}

static void *work(void *context) {
    job *j = context;
    mst_store *store = ps_job_store(first_value);
    mst_ps_client *client = train(j, 1, store);
    ps_job_expect(store, last_value);
    for (int i = 0; i < 2; i++) pthread_barrier_wait(&j->finished); /* until the chief has saved */
    EXPECT_OK(mst_ps_client_leave(client));
    ps_job_expect(store, last_value);
    mst_ps_client_close(client);
    mst_store_release(store);
    return NULL;
}

/* The chief, between its last step and its leave: server 0 is killed, and started again where it COMES_BACK. */
static void lose_server_at_the_end(job *j, bool comes_back) {
    pthread_t other;
    begin_job(j);
    mst_store *store = ps_job_store(first_value);
    assert_int_equal(pthread_create(&other, NULL, work, j), 0);
    mst_ps_client *chief = train(j, 0, store);
    pthread_barrier_wait(&j->finished);
    kill_server(j, 0);
    EXPECT_OK(mst_ps_client_collect(chief)); /* to save it */
    ps_job_expect(store, last_value);
    pthread_barrier_wait(&j->finished);
    if (comes_back) start_server(j, 0);
    EXPECT_OK(mst_ps_client_leave(chief));
    ps_job_expect(store, last_value);
    mst_ps_client_close(chief);
    pthread_join(other, NULL);
    for (int p = comes_back ? 0 : 1; p < SERVERS; p++) assert_int_equal(await_end(j->server[p]), 0);
    mst_store_release(store);
}

static void server_lost_behind_the_last_step_takes_nothing_with_it(void **state) {
    (void)state;
    for (int synchronous = 0; synchronous < 2; synchronous++)
        lose_server_at_the_end(&(job){.synchronous = synchronous, .recovery_timeout = SECONDS}, true);
}

static void it_need_not_come_back(void **state) {
    (void)state;
    const int64_t began = mst_clock_now();
    lose_server_at_the_end(&(job){.recovery_timeout = 1}, false);
    assert_true(mst_clock_now() - began < SECONDS * INT64_C(1000000000));
}

/* ---- a worker that has not heard that all have finished ---- */

/* The next message of KIND of server P; -1: of any. */
static mst_task_message *await_kind(mst_mail *mail, int p, int32_t kind) {
    for (;;) {
        mst_task_message *message = mst_mail_next(mail, mst_clock_after(SECONDS));
        assert_non_null(message);
        if ((p < 0 || message->from == WORKERS + p) && message->head.kind == kind) return message;
        mst_task_message_free(message);
    }
}

static void tell(mst_mail *mail, int p, mst_task_message_head head, const void *body, size_t bytes) {
    EXPECT_OK(mst_mail_send(mail, WORKERS + p, &head, &(mst_iov){body, bytes}, 1, NULL));
}

static double value_in(const mst_task_message *message) {
    float value;
    assert_int_equal(message->bytes, COUNT * sizeof value);
    memcpy(&value, message->body, sizeof value);
    return (double)value;
}

/* Worker 1 makes its step, and asks both servers whether all have finished. */
static void finish_by_hand(mst_mail *mail) {
    const float gradient[COUNT] = {2, 2, 2, 2};
    for (int p = 0; p < SERVERS; p++) {
        tell(mail, p, (mst_task_message_head){.kind = MST_PS_HELLO}, &fingerprint, sizeof fingerprint);
        mst_task_message *values = await_kind(mail, p, MST_PS_VALUES);
        tell(mail, p, (mst_task_message_head){.kind = MST_PS_GRADIENTS, .round = values->head.round}, gradient,
             sizeof gradient);
        mst_task_message_free(values);
        mst_task_message_free(await_kind(mail, p, MST_PS_VALUES));
        tell(mail, p, (mst_task_message_head){.kind = MST_PS_FINISHED, .number = 1}, NULL, 0);
    }
}

static void *leave(void *context) {
    EXPECT_OK(mst_ps_client_leave(context));
    return NULL;
}

typedef struct chief {
    job *job;
    mst_store *store;
    mst_ps_client *client;
} chief;

static void *train_chief(void *context) {
    chief *c = context;
    c->client = train(c->job, 0, c->store);
    return NULL;
}

/* The worker does not get the answer of server 0, and joins again. The chief, which has left already, gives the
 * restarted server the last values. */
static void worker_that_waits_for_the_last_values_gets_them(void **state) {
    (void)state;
    job j = {.recovery_timeout = SECONDS};
    chief c = {.job = &j, .store = ps_job_store(first_value)};
    pthread_t thread;
    mst_mail *mail;
    begin_job(&j);
    mst_cluster *cluster = ps_job_cluster(j.address, "worker", 1);
    EXPECT_OK(mst_mail_open(&(mst_mail_options){.cluster = cluster, .protocol = &mst_ps_protocol}, &mail));
    assert_int_equal(pthread_create(&thread, NULL, train_chief, &c), 0);
    finish_by_hand(mail);
    pthread_join(thread, NULL);
    kill_server(&j, 0);
    assert_int_equal(pthread_create(&thread, NULL, leave, c.client), 0);
    mst_task_message_free(await_kind(mail, 0, MST_TASK_MESSAGE_LOST));
    start_server(&j, 0);
    mst_task_message_free(await_kind(mail, 0, MST_TASK_MESSAGE_CONNECTED));
    usleep(200000); /* the chief has said that it leaves */
    for (int p = 0; p < SERVERS; p++) {
        const mst_task_message_head hello = {.kind = MST_PS_HELLO, .request = 1};
        tell(mail, p, hello, &fingerprint, sizeof fingerprint);
        mst_task_message *values = await_kind(mail, p, MST_PS_VALUES);
        assert_int_equal(values->head.number, 1);
        assert_true(value_in(values) == last_value);
        mst_task_message_free(values);
        tell(mail, p, (mst_task_message_head){.kind = MST_PS_FINISHED, .number = 1, .request = 2}, NULL, 0);
        mst_task_message_free(await_kind(mail, p, MST_PS_FINISHED));
    }
    for (int p = 0; p < SERVERS; p++)
        tell(mail, p, (mst_task_message_head){.kind = MST_PS_LEAVE, .number = 1, .request = 3}, NULL, 0);
    for (int p = 0; p < SERVERS; p++) mst_task_message_free(await_kind(mail, -1, MST_PS_DONE));
    pthread_join(thread, NULL);
    ps_job_expect(c.store, last_value);
    mst_mail_close(mail);
    mst_ps_client_close(c.client);
    for (int p = 0; p < SERVERS; p++) assert_int_equal(await_end(j.server[p]), 0);
    mst_cluster_release(cluster);
    mst_store_release(c.store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(server_lost_behind_the_last_step_takes_nothing_with_it),
        cmocka_unit_test(it_need_not_come_back),
        cmocka_unit_test(worker_that_waits_for_the_last_values_gets_them),
    };
    make_spare_processes();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
