/* Sparse gradients on their way to a parameter server: which rows of gradients and of values are sent, what is
 * applied, and the errors for wrong rows. The server is a thread. The test acts as the workers, without a model. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "muster/server.h"
#include "parameter_server/ps_client.h"
#include "strategy/update_graph.h"
#include "support/tasks.h"
#include "support/test.h"

enum { MOST_WORKERS = 2, SERVER = MOST_WORKERS, TASKS, COLUMNS = 2, SECONDS = 20, WORDS = 12 };

static const mst_fingerprint fingerprint = {.name = "program", .hash = 7};

/* Workers and their server, which keeps one variable, "table". */
typedef struct served {
    task_address address[TASKS];
    bool synchronous;
    int num_workers;
    int64_t num_rows;
    mst_optimizer optimizer;
    pthread_t server;
    mst_status status; /* of the server */
    char error[300];
    /* by worker */
    mst_store *store[MOST_WORKERS];
    mst_ps_client *client[MOST_WORKERS];
    int64_t position[MOST_WORKERS];
} served;

/* ---- counting what workers send, and what is too large for a control message of what they get ---- */

static const mst_transport_type *zmq;
static mst_transport_type counting;
static atomic_llong sent_bytes, posted_bytes;

static mst_status counting_post(mst_transport *transport, int32_t from, mst_key key, void *into, size_t bytes,
                                mst_timeline *done) {
    atomic_fetch_add(&posted_bytes, (long long)bytes);
    return zmq->post(transport, from, key, into, bytes, done);
}

static mst_status counting_control(mst_transport *transport, int32_t to, const void *data, size_t bytes) {
    atomic_fetch_add(&sent_bytes, (long long)bytes);
    return zmq->control(transport, to, data, bytes);
}

static mst_status counting_send(mst_transport *transport, int32_t to, mst_key key, const mst_iov *piece, int n,
                                mst_timeline *done) {
    for (int i = 0; i < n; i++) atomic_fetch_add(&sent_bytes, (long long)piece[i].bytes);
    return zmq->send(transport, to, key, piece, n, done);
}

/* ---- the tasks ---- */

static mst_cluster *cluster_of(const served *s, const char *name, int index) {
    char workers[80];
    mst_cluster *cluster;
    snprintf(workers, sizeof workers, "%s%s%s", s->address[0], s->num_workers > 1 ? "," : "",
             s->num_workers > 1 ? s->address[1] : "");
    EXPECT_OK(mst_cluster_from_hosts(s->address[SERVER], workers, name, index, &cluster));
    return cluster;
}

static void *serve(void *context) {
    served *s = context;
    mst_cluster *cluster = cluster_of(s, "ps", 0);
    s->status = mst_server_run(.cluster = cluster, .insecure = true, .recovery_timeout = SECONDS);
    if (s->status) snprintf(s->error, sizeof s->error, "%s", mst_error()->message);
    mst_cluster_release(cluster);
    return NULL;
}

static mst_tensor *filled(mst_dtype dtype, mst_shape shape, double value) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, shape, &tensor));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, value);
    return tensor;
}

static mst_graph *update_of(const served *s) {
    mst_graph *graph, *update;
    EXPECT_OK(mst_graph_create(&graph));
    const mst_value variable =
        mst_variable(graph, "table", mst_fill(graph, MST_F32, MST_SHAPE(s->num_rows, COLUMNS), 0));
    EXPECT_OK(mst_update_graph_create(
        &s->optimizer, &(mst_update_graph_variables){.variable = &variable, .count = 1, .sparse = &(const bool){true}},
        &update));
    mst_graph_destroy(graph);
    return update;
}

/* The table of worker W, 1 everywhere at first. */
static void make_store(served *s, int w) {
    mst_tensor *table = filled(MST_F32, MST_SHAPE(s->num_rows, COLUMNS), 1);
    EXPECT_OK(mst_store_create(&s->store[w]));
    EXPECT_OK(mst_store_set(s->store[w], NULL, "table", MST_STATE_WEIGHT, table));
    mst_tensor_release(table);
}

static void join(served *s, int w) {
    const mst_spec spec = {.dtype = MST_F32, .shape = MST_SHAPE(s->num_rows, COLUMNS)};
    const mst_ps_variable variable = {.name = "table", .spec = spec, .sparse = true};
    mst_cluster *cluster = cluster_of(s, "worker", w);
    mst_graph *graph = update_of(s);
    make_store(s, w);
    const mst_ps_program program = {.store = s->store[w],
                                    .variable = &variable,
                                    .num_variables = 1,
                                    .graph = &graph,
                                    .synchronous = s->synchronous,
                                    .staleness = -1,
                                    .num_shards = s->num_workers,
                                    .num_leaves = 1,
                                    .fingerprint = &fingerprint,
                                    .num_fingerprints = 1};
    const mst_task_options options = {.cluster = cluster, .recovery_timeout = SECONDS};
    const mst_mail_options mail = {.cluster = cluster, .type = &counting};
    EXPECT_OK(mst_ps_client_open(&options, &mail, &s->client[w]));
    EXPECT_OK(mst_ps_client_join(s->client[w], &program, &s->position[w]));
    mst_graph_destroy(graph);
    mst_cluster_release(cluster);
}

/* Starts the server, and worker 0 joins. */
static void begin(served *s) {
    if (mst_transport_find("zmq", &zmq)) skip();
    counting = *zmq;
    counting.control = counting_control;
    counting.send = counting_send;
    counting.post = counting_post;
    tasks_find_addresses(s->address, TASKS);
    assert_int_equal(pthread_create(&s->server, NULL, serve, s), 0);
    usleep(30000); /* wait until it listens: a refused worker tries again after a second */
    join(s, 0);
}

static void end(served *s) {
    for (int w = 0; w < s->num_workers; w++) mst_ps_client_close(s->client[w]);
    pthread_join(s->server, NULL);
    for (int w = 0; w < s->num_workers; w++) mst_store_release(s->store[w]);
}

/* All workers have done their work: each but the last leaves in a thread of its own, since all wait for all. */
static void *leave(void *client) {
    return mst_ps_client_leave(client) ? client : NULL;
}

static void end_well(served *s) {
    pthread_t thread[MOST_WORKERS];
    void *failed;
    for (int w = 0; w < s->num_workers; w++) assert_int_equal(pthread_create(&thread[w], NULL, leave, s->client[w]), 0);
    for (int w = 0; w < s->num_workers; w++) {
        pthread_join(thread[w], &failed);
        if (failed) fail_msg("worker %d cannot leave", w);
    }
    end(s);
    EXPECT_OK(s->status);
}

/* Row NUMBER[i] of the gradient of worker W is i + 1 everywhere; there is room for MOST. Returns how many bytes were
 * sent. */
static long long send_rows(served *s, int w, int64_t position, const int64_t *number, int64_t count, int64_t most) {
    mst_tensor *gradient[] = {filled(MST_F32, MST_SHAPE(most, COLUMNS), NAN), filled(MST_I64, MST_SHAPE(1 + most), -7)};
    int64_t step;
    mst_tensor_set(gradient[1], 0, (double)count);
    for (int64_t i = 0; i < count; i++) {
        mst_tensor_set(gradient[1], 1 + i, (double)number[i]);
        for (int64_t k = 0; k < COLUMNS; k++) mst_tensor_set(gradient[0], i * COLUMNS + k, (double)(i + 1));
    }
    const long long before = atomic_load(&sent_bytes);
    EXPECT_OK(mst_ps_client_update(s->client[w], position, gradient, &step));
    const long long after = atomic_load(&sent_bytes);
    for (int i = 0; i < 2; i++) mst_tensor_release(gradient[i]);
    return after - before;
}

/* ---- what is sent ---- */

/* Of the gradient, and of the values that come back where few rows have changed. */
static void only_rows_that_are_there_are_sent(void **state) {
    (void)state;
    static const int64_t table[] = {60, 1000, 100000}, number[] = {2, 5, 59};
    for (int i = 0; i < 3; i++) {
        served s = {
            .num_workers = 1, .num_rows = table[i], .synchronous = true, .optimizer = mst_sgd(.learning_rate = 1)};
        begin(&s);
        const long long posted = atomic_load(&posted_bytes);
        /* the head, the count, and for each row its number and 2 floats */
        assert_int_equal(send_rows(&s, 0, s.position[0], number, 3, 50), MST_TASK_MESSAGE_HEAD + 8 + 3 * (8 + 8));
        assert_int_equal(atomic_load(&posted_bytes), posted);
        end_well(&s);
    }
}

/* ---- what is applied ---- */

/* WANTED [num_rows]: of each element of a row. */
static void expect_table(const served *s, int w, const double *wanted) {
    mst_tensor *table;
    EXPECT_OK(mst_store_get(s->store[w], NULL, "table", &table));
    for (int64_t i = 0; i < mst_tensor_count(table); i++)
        if (mst_tensor_get(table, i) != wanted[i / COLUMNS])
            fail_msg("row %d of worker %d is %g, not %g", (int)(i / COLUMNS), w, mst_tensor_get(table, i),
                     wanted[i / COLUMNS]);
    mst_tensor_release(table);
}

enum { ROWS = 300 };

/* Worker W sends gradient K, of COUNT rows, which WANTED follows. */
static void make_update(served *s, int w, int64_t k, int64_t count, double *wanted) {
    int64_t number[ROWS];
    const int64_t apart = ROWS / (count + 1) > 1 ? ROWS / (count + 1) : 1;
    for (int64_t i = 0; i < count; i++) {
        number[i] = i * apart;
        wanted[number[i]] -= 0.25 * (double)(i + 1);
    }
    send_rows(s, w, s->position[w] + k, number, count, count);
    expect_table(s, w, wanted);
    send_rows(s, w, s->position[w] + k, number, count, count);
    expect_table(s, w, wanted);
}

/* Any number of rows, also none or all. Gradients that are sent twice are applied once. */
static void rows_are_applied_once(void **state) {
    (void)state;
    static const int64_t count[] = {3, 0, 100, 7, ROWS, 1};
    for (int synchronous = 0; synchronous < 2; synchronous++) {
        served s = {.num_workers = 1,
                    .num_rows = ROWS,
                    .synchronous = synchronous,
                    .optimizer = mst_sgd(.learning_rate = 0.25)};
        double wanted[ROWS];
        for (int i = 0; i < ROWS; i++) wanted[i] = 1;
        begin(&s);
        for (int k = 0; k < 6; k++) make_update(&s, 0, k, count[k], wanted);
        end_well(&s);
    }
}

/* A worker gets the rows of the updates that others have made since its own. */
static void rows_of_other_workers_come_too(void **state) {
    (void)state;
    static const struct {
        int worker;
        int64_t count;
    } turns[] = {{0, 3}, {1, 5}, {1, 2}, {1, ROWS}, {0, 1}, {0, 7}, {1, 0}, {0, 4}};
    served s = {.num_workers = 2, .num_rows = ROWS, .optimizer = mst_sgd(.learning_rate = 0.25)};
    int64_t made[MOST_WORKERS] = {0};
    double wanted[ROWS];
    for (int i = 0; i < ROWS; i++) wanted[i] = 1;
    begin(&s);
    join(&s, 1);
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++)
        make_update(&s, turns[k].worker, made[turns[k].worker]++, turns[k].count, wanted);
    end_well(&s);
}

/* Momentum in TensorFlow's form: row 1 is not of the second gradient, and stays. In Keras' form it moves. */
static void rules_see_which_rows_are_there(void **state) {
    (void)state;
    static const int64_t number[] = {1, 2};
    static const double wanted[][4] = {{1, -0.5, -1 - 1 - 1, 1}, {1, 0, -1 - 1 - 1, 1}};
    for (int tensorflow = 0; tensorflow < 2; tensorflow++) {
        served s = {.num_workers = 1,
                    .num_rows = 4,
                    .optimizer = mst_sgd(.learning_rate = 1, .momentum = 0.5,
                                         .sparse = tensorflow ? MST_SPARSE_TENSORFLOW : MST_SPARSE_KERAS)};
        begin(&s);
        send_rows(&s, 0, s.position[0], number, 2, 2);
        send_rows(&s, 0, s.position[0] + 1, number + 1, 1, 2);
        expect_table(&s, 0, wanted[tensorflow]);
        end_well(&s);
    }
}

/* ---- what is refused ---- */

static const struct {
    int64_t word[WORDS];
    int count;
    const char *says;
} wrong[] = {
    {{1, 4, 0}, 3, "has sent row 4 of the gradient of 'table', which has rows 0 to 3"},
    {{2, 1, -1, 0, 0}, 5, "has sent row -1 of the gradient of 'table', which has rows 0 to 3"},
    {{1, INT64_MAX, 0}, 3, "has sent row 9223372036854775807 of the gradient of 'table'"},
    {{2, 2, 2, 0, 0}, 5, "has sent row 2 of the gradient of 'table' after row 2"},
    {{5, 0, 1, 2, 3, 3, 0, 0, 0, 0, 0}, 11, "has sent 5 rows of the gradient of 'table', which has 4"},
    {{-1}, 1, "has sent -1 rows of the gradient of 'table', which has 4"},
    {{INT64_MAX}, 1, "has sent 9223372036854775807 rows of the gradient of 'table', which has 4"},
    {{0}, 0, "has sent 0 bytes of gradients, which end in that of 'table'"},
    {{2, 0}, 2, "has sent 16 bytes of gradients, which end in that of 'table'"},
    {{2, 0, 1, 0}, 4, "has sent 32 bytes of gradients, which end in that of 'table'"},
    {{0, 0, 0}, 3, "has sent 24 bytes of gradients, 16 too many"},
};

static mst_task_message *await(mst_mail *mail, int32_t kind) {
    for (;;) {
        mst_task_message *message = mst_mail_next(mail, mst_clock_after(SECONDS));
        assert_non_null(message);
        if (message->head.kind == kind) return message;
        mst_task_message_free(message);
    }
}

/* Worker 1 sends BODY as its gradients. Returns the server's error. */
static mst_task_message *send_body(const served *s, const int64_t *word, int count) {
    mst_cluster *cluster = cluster_of(s, "worker", 1);
    const mst_iov hello = {&fingerprint, sizeof fingerprint}, body = {word, (size_t)count * sizeof *word};
    mst_mail *mail;
    EXPECT_OK(mst_mail_open(
        &(mst_mail_options){.cluster = cluster, .protocol = &mst_ps_protocol, .transport = "zmq", .insecure = true},
        &mail));
    EXPECT_OK(mst_mail_send(mail, SERVER, &(mst_task_message_head){.kind = MST_PS_HELLO}, &hello, 1, NULL));
    mst_task_message *values = await(mail, MST_PS_VALUES);
    const mst_task_message_head head = {.kind = MST_PS_GRADIENTS, .round = values->head.round};
    mst_task_message_free(values);
    EXPECT_OK(mst_mail_send(mail, SERVER, &head, &body, 1, NULL));
    mst_task_message *says = await(mail, MST_PS_FAILED);
    mst_mail_close(mail);
    mst_cluster_release(cluster);
    return says;
}

static void what_is_no_sparse_gradient_is_one_error(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        served s = {.num_workers = 2, .num_rows = 4, .synchronous = i % 2, .optimizer = mst_sgd(.learning_rate = 1)};
        char name[64];
        begin(&s);
        snprintf(name, sizeof name, "worker:1 at %s", s.address[1]);
        mst_task_message *says = send_body(&s, wrong[i].word, wrong[i].count);
        if (!strstr(says->body, wrong[i].says) || !strstr(says->body, name))
            fail_msg("the worker hears '%s', not '%s'", (const char *)says->body, wrong[i].says);
        mst_task_message_free(says);
        end(&s);
        assert_int_equal(s.status, MST_INVALID);
        if (!strstr(s.error, wrong[i].says)) fail_msg("the server says '%s', not '%s'", s.error, wrong[i].says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_rows_that_are_there_are_sent),       cmocka_unit_test(rows_are_applied_once),
        cmocka_unit_test(rows_of_other_workers_come_too),          cmocka_unit_test(rules_see_which_rows_are_there),
        cmocka_unit_test(what_is_no_sparse_gradient_is_one_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
