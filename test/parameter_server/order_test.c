/* Several servers of a job with backup workers: all of them use the same gradients for a step, in whatever order
 * messages arrive. The servers and the chief are threads here. The test acts as the other worker, and sends its
 * gradients to one server before the other. */
#include <pthread.h>

#include "base/clock.h"
#include "muster/server.h"
#include "support/ps_job.h"
#include "support/test.h"

enum { SECONDS = 20, CHIEF = 0, OTHER = 1 };

static const double first_value = 1, chiefs = 0.25, others = 2; /* gradients */

typedef struct job {
    task_address address[PS_TASKS];
    pthread_t thread[PS_SERVERS];
    mst_status status[PS_SERVERS];
    mst_store *store; /* the chief's */
    mst_ps_client *chief;
} job;

typedef struct server_thread {
    job *job;
    int number;
} server_thread;

/* VALUE after a step: the gradient counts as much as those of all workers together. */
static double after(double value, double gradient) {
    return value - 0.5 * gradient * PS_WORKERS;
}

static void *run_server(void *context) {
    const server_thread *t = context;
    mst_cluster *cluster = ps_job_cluster(t->job->address, "ps", t->number);
    t->job->status[t->number] = mst_server_run(.cluster = cluster, .recovery_timeout = SECONDS);
    mst_cluster_release(cluster);
    return NULL;
}

static void start(job *j, server_thread *server) {
    tasks_find_addresses(j->address, PS_TASKS);
    for (int p = 0; p < PS_SERVERS; p++) {
        server[p] = (server_thread){.job = j, .number = p};
        assert_int_equal(pthread_create(&j->thread[p], NULL, run_server, &server[p]), 0);
    }
    j->store = ps_job_store(first_value);
    j->chief = ps_job_open(j->address, CHIEF);
    assert_int_equal(ps_job_join(j->chief, j->store, 1), 0);
}

/* ---- the other worker ---- */

typedef struct other_worker {
    mst_mail *mail;
    uint64_t request;
    uint32_t round;
    int64_t position; /* as both servers have said last */
} other_worker;

static void send_to(const other_worker *o, int server, mst_task_message_head head, const void *data, size_t bytes) {
    head.round = o->round, head.request = o->request;
    EXPECT_OK(mst_mail_send(o->mail, PS_WORKERS + server, &head, &(mst_iov){data, bytes}, 1, NULL));
}

/* The values in answer to the last request, which both servers send: all are VALUE, of STEP. */
static void await_values(other_worker *o, int64_t step, double value) {
    for (int answers = 0; answers < PS_SERVERS;) {
        mst_task_message *message = mst_mail_next(o->mail, mst_clock_after(SECONDS));
        assert_non_null(message);
        if (message->head.kind == MST_PS_VALUES && message->head.request == o->request) {
            const float *values = message->body;
            assert_int_equal(message->head.step, step);
            for (int i = 0; i < PS_COUNT; i++) assert_true((double)values[i] == value);
            if (answers++) assert_int_equal(message->head.number, o->position);
            o->position = message->head.number;
            o->round = message->head.round;
        }
        mst_task_message_free(message);
    }
}

static void say_hello(job *j, other_worker *o, uint64_t request, int64_t step, double value) {
    mst_cluster *cluster = ps_job_cluster(j->address, "worker", OTHER);
    *o = (other_worker){.request = request};
    EXPECT_OK(mst_mail_open(&(mst_mail_options){.cluster = cluster, .protocol = &mst_ps_protocol}, &o->mail));
    for (int p = 0; p < PS_SERVERS; p++)
        send_to(o, p, (mst_task_message_head){.kind = MST_PS_HELLO}, &ps_job_fingerprint, sizeof ps_job_fingerprint);
    mst_cluster_release(cluster);
    await_values(o, step, value);
}

/* Its gradients at its position, of the values of STEP. */
static void send_gradients(const other_worker *o, int server, int64_t step) {
    mst_tensor *gradient = ps_job_filled(others);
    send_to(o, server, (mst_task_message_head){.kind = MST_PS_GRADIENTS, .number = o->position, .step = step},
            mst_tensor_data(gradient), mst_tensor_bytes(gradient));
    mst_tensor_release(gradient);
}

/* Both workers leave, and the servers end. The last values are all VALUE. */
static void end(job *j, other_worker *o, double value) {
    o->request++;
    for (int p = 0; p < PS_SERVERS; p++) send_to(o, p, (mst_task_message_head){.kind = MST_PS_LEAVE}, NULL, 0);
    EXPECT_OK(mst_ps_client_leave(j->chief));
    for (int p = 0; p < PS_SERVERS; p++) send_to(o, p, (mst_task_message_head){.kind = MST_PS_GONE}, NULL, 0);
    ps_job_expect(j->store, value);
    mst_ps_client_close(j->chief);
    mst_store_release(j->store);
    mst_mail_close(o->mail);
    for (int p = 0; p < PS_SERVERS; p++) {
        pthread_join(j->thread[p], NULL);
        EXPECT_OK(j->status[p]);
    }
}

/* ---- */

static void gradients_count_on_all_servers_or_on_none(void **state) {
    (void)state;
    server_thread server[PS_SERVERS];
    other_worker o;
    job j;
    start(&j, server);
    say_hello(&j, &o, 1, 0, first_value);
    o.request++;
    send_gradients(&o, 1, 0); /* server 1 has them first, and server 0 those of the chief */
    EXPECT_OK(ps_job_step(j.chief, 0, chiefs));
    double value = after(first_value, chiefs);
    ps_job_expect(j.store, value);
    send_gradients(&o, 0, 0);
    await_values(&o, 1, value);
    assert_int_equal(o.position, 1);
    o.request++;
    send_gradients(&o, 0, 1); /* in time: the chief has sent none */
    send_gradients(&o, 1, 1);
    value = after(value, others);
    await_values(&o, 2, value);
    EXPECT_OK(ps_job_step(j.chief, 1, chiefs)); /* late, on both */
    ps_job_expect(j.store, value);
    EXPECT_OK(ps_job_step(j.chief, 2, chiefs));
    ps_job_expect(j.store, after(value, chiefs));
    end(&j, &o, after(value, chiefs));
}

static void gradients_of_values_of_different_steps_are_dropped(void **state) {
    (void)state;
    server_thread server[PS_SERVERS];
    other_worker o;
    job j;
    start(&j, server);
    say_hello(&j, &o, 1, 0, first_value);
    o.request++;
    for (int p = 0; p < PS_SERVERS; p++) send_gradients(&o, p, -1);
    await_values(&o, 0, first_value);
    assert_int_equal(o.position, 1);
    end(&j, &o, first_value);
}

/* Gradients that have reached only one server are used by none, and are computed again. */
static void worker_lost_between_two_servers_makes_its_step_once(void **state) {
    (void)state;
    for (int only = 0; only < PS_SERVERS; only++) {
        server_thread server[PS_SERVERS];
        other_worker o;
        job j;
        start(&j, server);
        say_hello(&j, &o, 100, 0, first_value);
        o.request++;
        send_gradients(&o, only, 0);
        mst_mail_close(o.mail);
        say_hello(&j, &o, 1, 0, first_value);
        assert_int_equal(o.position, 0);
        o.request++;
        for (int p = 0; p < PS_SERVERS; p++) send_gradients(&o, p, 0);
        await_values(&o, 1, after(first_value, others));
        assert_int_equal(o.position, 1);
        end(&j, &o, after(first_value, others));
    }
}

/* The chief gets the state of the same step from both servers, even if gradients have reached only one of them. */
static void state_is_of_one_step(void **state) {
    (void)state;
    enum { STEPS = 4 };
    server_thread server[PS_SERVERS];
    other_worker o;
    job j;
    double value = first_value;
    start(&j, server);
    say_hello(&j, &o, 1, 0, value);
    for (int i = 0; i < STEPS; i++) {
        o.request++;
        send_gradients(&o, i % 2, i);
        EXPECT_OK(mst_ps_client_collect(j.chief));
        ps_job_expect(j.store, value);
        send_gradients(&o, (i + 1) % 2, i);
        value = after(value, others);
        await_values(&o, i + 1, value);
    }
    end(&j, &o, value);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_count_on_all_servers_or_on_none),
        cmocka_unit_test(gradients_of_values_of_different_steps_are_dropped),
        cmocka_unit_test(worker_lost_between_two_servers_makes_its_step_once),
        cmocka_unit_test(state_is_of_one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
