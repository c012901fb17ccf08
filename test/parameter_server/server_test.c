/* A worker is killed when its gradients have reached one parameter server but not the other. After its restart it
 * gives the same result as without the loss. The tasks are threads here, which talk as processes do. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "messages/state_message.h"
#include "muster/server.h"
#include "support/ps_job.h"
#include "support/tasks.h"
#include "support/test.h"

enum { WORKERS = PS_WORKERS, SERVERS = PS_SERVERS, ALL = PS_TASKS, SECONDS = 20 };

static const double first_value = 1;
static const double gradient_of[WORKERS] = {0.25, 2};

typedef struct job {
    task_address address[ALL];
    mst_status status[SERVERS];
} job;

typedef struct server_thread {
    job *job;
    int number;
    pthread_t thread;
} server_thread;

static void *run_server(void *context) {
    server_thread *t = context;
    mst_cluster *cluster = ps_job_cluster(t->job->address, "ps", t->number);
    t->job->status[t->number] = mst_server_run(.cluster = cluster, .recovery_timeout = SECONDS);
    mst_cluster_release(cluster);
    return NULL;
}

/* ---- a worker ---- */

/* Joins, makes the step at 0, and leaves. */
static void *work(void *context) {
    const server_thread *t = context;
    mst_store *store = ps_job_store(first_value);
    mst_ps_client *client = ps_job_open(t->job->address, t->number);
    assert_int_equal(ps_job_join(client, store, 0), 0);
    ps_job_expect(store, first_value);
    EXPECT_OK(ps_job_step(client, 0, gradient_of[t->number]));
    EXPECT_OK(mst_ps_client_leave(client));
    ps_job_expect(store, first_value - 0.5 * (gradient_of[0] + gradient_of[1]));
    mst_ps_client_close(client);
    mst_store_release(store);
    return NULL;
}

/* ---- the same worker, killed in the middle ---- */

static uint32_t await_values(mst_mail *mail, int from, int64_t step) {
    for (;;) {
        mst_task_message *message = mst_mail_next(mail, mst_clock_after(SECONDS));
        assert_non_null(message);
        const uint32_t round = message->head.round;
        const bool found = message->from == from && message->head.kind == MST_PS_VALUES && message->head.step == step;
        mst_task_message_free(message);
        if (found) return round;
    }
}

/* Worker W sends its gradients to server 0 only, and is killed when that server has made the update. */
static void be_killed(job *j, int w) {
    mst_cluster *cluster = ps_job_cluster(j->address, "worker", w);
    mst_tensor *gradient = ps_job_filled(gradient_of[w]);
    const mst_iov body = {mst_tensor_data(gradient), mst_tensor_bytes(gradient)},
                  hello = {&ps_job_fingerprint, sizeof ps_job_fingerprint};
    mst_mail *mail;
    EXPECT_OK(mst_mail_open(&(mst_mail_options){.cluster = cluster, .protocol = &mst_ps_protocol}, &mail));
    EXPECT_OK(mst_mail_send(mail, WORKERS, &(mst_task_message_head){.kind = MST_PS_HELLO}, &hello, 1, NULL));
    const uint32_t round = await_values(mail, WORKERS, 0);
    EXPECT_OK(mst_mail_send(mail, WORKERS, &(mst_task_message_head){.kind = MST_PS_GRADIENTS, .round = round}, &body, 1,
                            NULL));
    await_values(mail, WORKERS, 1);
    mst_mail_close(mail);
    mst_tensor_release(gradient);
    mst_cluster_release(cluster);
}

/* The chief gives the servers their values. Then its process ends. */
static void begin(job *j) {
    mst_store *store = ps_job_store(first_value);
    mst_ps_client *client = ps_job_open(j->address, 0);
    ps_job_join(client, store, 0);
    mst_ps_client_close(client);
    mst_store_release(store);
}

/* Worker KILLED is killed in the middle of a step, and comes again. */
static void kill_in_a_step(int killed) {
    job j = {.status = {MST_OK}};
    server_thread server[SERVERS], other = {.job = &j, .number = !killed}, again = {.job = &j, .number = killed};
    tasks_find_addresses(j.address, ALL);
    for (int p = 0; p < SERVERS; p++) {
        server[p] = (server_thread){.job = &j, .number = p};
        assert_int_equal(pthread_create(&server[p].thread, NULL, run_server, &server[p]), 0);
    }
    if (killed == 0) begin(&j);
    assert_int_equal(pthread_create(&other.thread, NULL, work, &other), 0);
    be_killed(&j, killed);
    work(&again);
    pthread_join(other.thread, NULL);
    for (int p = 0; p < SERVERS; p++) {
        pthread_join(server[p].thread, NULL);
        EXPECT_OK(j.status[p]);
    }
}

static void step_that_came_to_some_servers_is_made_once_on_all(void **state) {
    (void)state;
    kill_in_a_step(1);
}

static void so_it_is_where_the_chief_was_killed(void **state) {
    (void)state;
    kill_in_a_step(0);
}

/* ---- answers to another request ---- */

/* A simulated server that has made the step at position 0, and sends the given answers. */
static void answer(mst_mail *mail, const mst_task_message *hello, uint64_t request, int64_t position, double value) {
    const mst_task_message_head head = {
        .kind = MST_PS_VALUES, .round = 1, .number = position, .step = position, .request = request};
    mst_tensor *values = ps_job_filled(value);
    EXPECT_OK(mst_mail_send(mail, hello->from, &head, &(mst_iov){mst_tensor_data(values), mst_tensor_bytes(values)}, 1,
                            NULL));
    mst_tensor_release(values);
}

static mst_task_message *await_kind(mst_mail *mail, int32_t kind) {
    for (;;) {
        mst_task_message *message = mst_mail_next(mail, mst_clock_after(SECONDS));
        assert_non_null(message);
        if (message->head.kind == kind) return message;
        mst_task_message_free(message);
    }
}

/* Says that callbacks keep nothing, to a worker that was started again and asks for it. */
static void answer_kept(mst_mail *mail) {
    mst_task_message *message = await_kind(mail, MST_PS_KEPT);
    const mst_task_message_head head = {.kind = MST_PS_KEPT, .round = 1, .request = message->head.request};
    mst_snapshot *none;
    void *data;
    size_t bytes;
    EXPECT_OK(mst_snapshot_create(&none));
    EXPECT_OK(mst_state_message_encode(none, &data, &bytes));
    EXPECT_OK(mst_mail_send(mail, message->from, &head, &(mst_iov){data, bytes}, 1, NULL));
    mst_snapshot_release(none);
    free(data);
    mst_task_message_free(message);
}

/* Server 0 is ahead of server 1. Before it answers the second HELLO with the values before its last update, two old
 * answers arrive: one to an earlier process, and a second one to the first HELLO. */
static void *answer_late(void *context) {
    server_thread *t = context;
    mst_cluster *cluster = ps_job_cluster(t->job->address, "ps", t->number);
    mst_mail *mail;
    EXPECT_OK(mst_mail_open(&(mst_mail_options){.cluster = cluster, .protocol = &mst_ps_protocol}, &mail));
    for (int hellos = 0; hellos < 2;) {
        mst_task_message *message = mst_mail_next(mail, mst_clock_after(SECONDS));
        assert_non_null(message);
        if (message->head.kind == MST_PS_HELLO) {
            const uint64_t request = message->head.request;
            const bool ahead = t->number == 0 && hellos == 0;
            assert_int_equal(message->head.number, hellos); /* 1: the values of position 0 */
            hellos++;
            if (ahead) answer(mail, message, request + 12345, 7, 7);
            if (t->number == 0 && !ahead) usleep(200000); /* the other answers are there */
            answer(mail, message, request, ahead ? 1 : 0, ahead ? 5 : first_value);
            if (ahead) answer(mail, message, request, 1, 5);
        }
        mst_task_message_free(message);
    }
    if (t->number == 0) answer_kept(mail);
    mst_mail_close(mail);
    mst_cluster_release(cluster);
    return NULL;
}

static void answers_to_an_earlier_request_are_dropped(void **state) {
    (void)state;
    job j = {.status = {MST_OK}};
    server_thread server[SERVERS];
    tasks_find_addresses(j.address, ALL);
    for (int p = 0; p < SERVERS; p++) {
        server[p] = (server_thread){.job = &j, .number = p};
        assert_int_equal(pthread_create(&server[p].thread, NULL, answer_late, &server[p]), 0);
    }
    mst_store *store = ps_job_store(first_value);
    mst_ps_client *client = ps_job_open(j.address, 1);
    assert_int_equal(ps_job_join(client, store, 0), 0);
    ps_job_expect(store, first_value);
    for (int p = 0; p < SERVERS; p++) pthread_join(server[p].thread, NULL);
    mst_ps_client_close(client);
    mst_store_release(store);
}

/* ---- a server that has answered, and is started again ---- */

/* Takes the next message of KIND, and answers it. */
static void answer_next(mst_mail *mail, int32_t kind, int64_t position) {
    mst_task_message *message = await_kind(mail, kind);
    answer(mail, message, message->head.request, position, first_value);
    mst_task_message_free(message);
}

/* Server 0 answers the gradients, is lost and comes back without values. Server 1 never answers, as if it waited for
 * the gradients of another worker, which cannot join without server 0. */
static void *come_back(void *context) {
    server_thread *t = context;
    mst_cluster *cluster = ps_job_cluster(t->job->address, "ps", t->number);
    const mst_mail_options options = {.cluster = cluster, .protocol = &mst_ps_protocol};
    mst_mail *mail;
    EXPECT_OK(mst_mail_open(&options, &mail));
    answer_next(mail, MST_PS_HELLO, 0);
    if (t->number == 0) {
        answer_kept(mail);
        answer_next(mail, MST_PS_GRADIENTS, 1);
        mst_mail_close(mail);
        EXPECT_OK(mst_mail_open(&options, &mail));
        mst_task_message *again = await_kind(mail, MST_PS_GRADIENTS);
        const mst_task_message_head empty = {.kind = MST_PS_EMPTY, .request = again->head.request};
        EXPECT_OK(mst_mail_send(mail, again->from, &empty, NULL, 0, NULL));
        mst_task_message_free(again);
    } else {
        mst_task_message_free(await_kind(mail, MST_PS_GRADIENTS));
    }
    mst_task_message_free(await_kind(mail, MST_TASK_MESSAGE_LOST)); /* the worker has ended */
    mst_mail_close(mail);
    mst_cluster_release(cluster);
    return NULL;
}

static void server_that_has_answered_and_comes_back_empty_is_noticed(void **state) {
    (void)state;
    job j = {.status = {MST_OK}};
    server_thread server[SERVERS];
    tasks_find_addresses(j.address, ALL);
    for (int p = 0; p < SERVERS; p++) {
        server[p] = (server_thread){.job = &j, .number = p};
        assert_int_equal(pthread_create(&server[p].thread, NULL, come_back, &server[p]), 0);
    }
    mst_store *store = ps_job_store(first_value);
    mst_ps_client *client = ps_job_open(j.address, 1);
    assert_int_equal(ps_job_step(client, ps_job_join(client, store, 0), gradient_of[1]), MST_UNAVAILABLE);
    assert_true(mst_ps_client_must_join(client));
    mst_ps_client_close(client);
    for (int p = 0; p < SERVERS; p++) pthread_join(server[p].thread, NULL);
    mst_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_to_an_earlier_request_are_dropped),
        cmocka_unit_test(server_that_has_answered_and_comes_back_empty_is_noticed),
        cmocka_unit_test(step_that_came_to_some_servers_is_made_once_on_all),
        cmocka_unit_test(so_it_is_where_the_chief_was_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
