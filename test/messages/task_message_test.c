/* Task messages over a transport inside this process: they arrive whole and in order, and malformed ones are
 * refused. If a peer is lost in the middle of a body, all memory of the message is freed. */
#include "messages/task_message.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster/free_ports.h"
#include "messages/checkup.h"
#include "parameter_server/ps_gradients.h"
#include "parameter_server/ps_message.h"
#include "sessions/session_message.h"
#include "support/test.h"

enum { SECONDS = 20, MOST_BYTES = 8 << 20, HEAD = MST_TASK_MESSAGE_HEAD };
enum { WORKER_0, WORKER_1, SERVER }; /* the numbers of the tasks: workers come first */
static const char *const address[] = {"message-worker-0", "message-worker-1", "message-server"};

static mst_status try_mail(int task, mst_mail **mail) {
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_from_hosts("localhost:1", "localhost:2,localhost:3", task == SERVER ? "ps" : "worker",
                                     task == SERVER ? 0 : task, &cluster));
    const mst_mail_options options = {.cluster = cluster,
                                      .protocol = &mst_ps_protocol,
                                      .transport = "inproc",
                                      .address = address,
                                      .tells = true,
                                      .most_bytes = MOST_BYTES};
    const mst_status status = mst_mail_open(&options, mail);
    mst_cluster_release(cluster);
    return status;
}

static mst_mail *open_mail(int task) {
    mst_mail *mail;
    EXPECT_OK(try_mail(task, &mail));
    return mail;
}

static mst_task_message *next(mst_mail *mail) {
    mst_task_message *message = mst_mail_next(mail, mst_clock_after(SECONDS));
    assert_non_null(message);
    return message;
}

/* The next message of KIND, past those of other kinds. */
static mst_task_message *next_of(mst_mail *mail, int32_t kind) {
    for (;;) {
        mst_task_message *message = next(mail);
        if (message->head.kind == kind) return message;
        mst_task_message_free(message);
    }
}

static bool is_filled(const mst_task_message *message, size_t bytes, unsigned seed) {
    const unsigned char *body = message->body;
    if (message->bytes != bytes || body[bytes] != 0) return false;
    for (size_t i = 0; i < bytes; i++)
        if (body[i] != (unsigned char)(seed + i * 7 + (i >> 9))) return false;
    return true;
}

static void fill(unsigned char *data, size_t bytes, unsigned seed) {
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(seed + i * 7 + (i >> 9));
}

/* ---- what is sent arrives ---- */

static void bodies_of_any_size_arrive_whole(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 16 << 10, (16 << 10) + 1, 100001, MOST_BYTES};
    static unsigned char data[MOST_BYTES];
    mst_mail *worker = open_mail(WORKER_1), *server = open_mail(SERVER);
    mst_timeline sent = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int copies = 0; copies < 2; copies++) {
            const size_t half = sizes[i] / 3;
            const mst_iov piece[] = {{data, half}, {data + half, 0}, {data + half, sizes[i] - half}};
            const mst_task_message_head head = {MST_PS_GRADIENTS, 7, -1 - (int64_t)i, INT64_MAX, UINT64_MAX - i};
            fill(data, sizes[i], (unsigned)i);
            EXPECT_OK(mst_mail_send(worker, SERVER, &head, piece, 3, copies ? NULL : &sent));
            if (copies) fill(data, sizes[i], 99);
            mst_task_message *got = next_of(server, MST_PS_GRADIENTS);
            assert_true(is_filled(got, sizes[i], (unsigned)i));
            assert_int_equal(got->from, WORKER_1);
            assert_int_equal(got->head.round, 7);
            assert_int_equal(got->head.number, -1 - (int64_t)i);
            assert_int_equal(got->head.step, INT64_MAX);
            assert_true(got->head.request == UINT64_MAX - i);
            assert_int_equal((uintptr_t)got->body % 64, 0);
            mst_task_message_free(got);
            if (!copies) assert_true(mst_timeline_wait(&sent, i + 1, mst_clock_after(SECONDS), false));
        }
    mst_mail_close(worker);
    mst_mail_close(server);
}

static void error_of_a_peer_has_no_control_characters(void **state) {
    (void)state;
    mst_mail *worker = open_mail(WORKER_1), *server = open_mail(SERVER);
    const char text[] = "gone\x1b[2J\n\x7f\xc3\xa9";
    static const int32_t kinds[] = {MST_PS_FAILED, MST_TASK_MESSAGE_CANNOT_JOIN};
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(mst_mail_send(worker, SERVER, &(mst_task_message_head){.kind = kinds[i]},
                                &(mst_iov){text, sizeof text - 1}, 1, NULL));
        mst_task_message *got = next_of(server, kinds[i]);
        assert_string_equal(got->body, "gone?[2J??\xc3\xa9");
        mst_task_message_free(got);
    }
    mst_mail_close(worker);
    mst_mail_close(server);
}

/* Workers say so to servers, and servers to workers. */
static void task_that_cannot_listen_tells_those_that_wait_for_it(void **state) {
    (void)state;
    static const int tasks[][2] = {{WORKER_1, SERVER}, {SERVER, WORKER_0}};
    for (int i = 0; i < 2; i++) {
        mst_mail *first = open_mail(tasks[i][0]), *other = open_mail(tasks[i][1]), *second;
        EXPECT_ERROR(try_mail(tasks[i][0], &second), MST_INVALID, "listens there already");
        mst_task_message *got = next_of(other, MST_TASK_MESSAGE_CANNOT_JOIN);
        assert_int_equal(got->from, tasks[i][0]);
        assert_non_null(strstr(got->body, "listens there already"));
        mst_task_message_free(got);
        mst_mail_close(first);
        mst_mail_close(other);
    }
}

static void message_to_oneself_comes_as_any_other(void **state) {
    (void)state;
    static unsigned char data[100000];
    mst_mail *server = open_mail(SERVER);
    mst_timeline sent = {0};
    fill(data, sizeof data, 3);
    const mst_iov piece[] = {{data, 7}, {data + 7, sizeof data - 7}};
    EXPECT_OK(
        mst_mail_send(server, SERVER, &(mst_task_message_head){.kind = MST_PS_COLLECT, .step = 5}, piece, 2, &sent));
    assert_int_equal(mst_timeline_value(&sent), 1);
    mst_task_message *got = next(server);
    assert_true(is_filled(got, sizeof data, 3));
    assert_int_equal(got->from, SERVER);
    assert_int_equal(got->head.step, 5);
    mst_task_message_free(got);
    mst_mail_close(server);
}

/* Small ones among themselves, and large ones among themselves. */
static void messages_of_one_sender_keep_their_order(void **state) {
    (void)state;
    enum { COUNT = 40, LARGE = 20000 };
    static unsigned char data[LARGE];
    for (size_t bytes = 10; bytes <= LARGE; bytes += LARGE - 10) {
        mst_mail *worker[] = {open_mail(WORKER_0), open_mail(WORKER_1)}, *server = open_mail(SERVER);
        int64_t seen[2] = {0};
        for (int64_t i = 0; i < COUNT; i++)
            for (int w = 0; w < 2; w++)
                EXPECT_OK(mst_mail_send(worker[w], SERVER, &(mst_task_message_head){MST_PS_HELLO, 0, i, 0, 0},
                                        &(mst_iov){data, bytes}, 1, NULL));
        for (int i = 0; i < 2 * COUNT; i++) {
            mst_task_message *got = next_of(server, MST_PS_HELLO);
            assert_int_equal(got->head.number, seen[got->from]++);
            mst_task_message_free(got);
        }
        for (int w = 0; w < 2; w++) mst_mail_close(worker[w]);
        mst_mail_close(server);
    }
}

static void what_is_sent_to_a_task_that_is_not_there_yet_waits(void **state) {
    (void)state;
    static unsigned char data[50000];
    mst_mail *worker = open_mail(WORKER_0);
    fill(data, sizeof data, 3);
    EXPECT_OK(mst_mail_send(worker, SERVER, &(mst_task_message_head){.kind = MST_PS_BEGIN},
                            &(mst_iov){data, sizeof data}, 1, NULL));
    assert_null(mst_mail_next(worker, mst_clock_after(0.01)));
    mst_mail *server = open_mail(SERVER);
    mst_task_message *got = next_of(server, MST_PS_BEGIN);
    assert_true(is_filled(got, sizeof data, 3));
    mst_task_message_free(got);
    mst_mail_close(worker);
    mst_mail_close(server);
}

static void task_that_closes_is_lost_and_one_that_opens_again_is_another_instance(void **state) {
    (void)state;
    mst_mail *server = open_mail(SERVER);
    uint64_t instance[2];
    for (int i = 0; i < 2; i++) {
        mst_mail *worker = open_mail(WORKER_0);
        EXPECT_OK(mst_mail_send(worker, SERVER, &(mst_task_message_head){.kind = MST_PS_LEAVE}, NULL, 0, NULL));
        mst_task_message *got = next_of(server, MST_PS_LEAVE);
        instance[i] = got->instance;
        mst_task_message_free(got);
        mst_mail_close(worker);
        got = next_of(server, MST_TASK_MESSAGE_LOST);
        assert_int_equal(got->from, WORKER_0);
        assert_true(got->instance == instance[i]);
        assert_string_equal(got->body, "connection closed by the peer");
        mst_task_message_free(got);
    }
    assert_true(instance[0] != instance[1]);
    mst_mail_close(server);
}

/* ---- bodies that are lent ---- */

static mst_mail *open_shm(int task, bool borrows, const int port[3]) {
    char ps[32], workers[64];
    mst_cluster *cluster;
    mst_mail *mail;
    snprintf(ps, sizeof ps, "localhost:%d", port[2]);
    snprintf(workers, sizeof workers, "localhost:%d,localhost:%d", port[0], port[1]);
    EXPECT_OK(
        mst_cluster_from_hosts(ps, workers, task == SERVER ? "ps" : "worker", task == SERVER ? 0 : task, &cluster));
    EXPECT_OK(mst_mail_open(
        &(mst_mail_options){.cluster = cluster, .protocol = &mst_ps_protocol, .transport = "shm", .borrows = borrows},
        &mail));
    mst_cluster_release(cluster);
    return mail;
}

static void wait_for_route(mst_mail *mail, int to) {
    const int64_t until = mst_clock_after(SECONDS);
    EXPECT_OK(mst_mail_send(mail, to, &(mst_task_message_head){.kind = MST_PS_COLLECT}, NULL, 0, NULL));
    for (const char *route = NULL; !route || !strstr(route, "shared memory"); route = mst_mail_route(mail, to)) {
        assert_true(mst_clock_now() < until);
        mst_task_message_free(mst_mail_next(mail, mst_clock_after(0.002)));
    }
}

/* A borrowed body is not copied: it is the sender's memory, which the sender cannot reuse before the message is freed,
 * even if its process has ended. A receiver that does not borrow gets a copy. */
static void body_in_memory_of_the_sender_is_lent(void **state) {
    (void)state;
    enum { BYTES = 300000, OFFSET = 4096, MOST_TRIES = 100 };
    int port[3];
    EXPECT_OK(mst_find_free_ports(3, port));
    mst_mail *worker[2] = {open_shm(0, false, port), open_shm(1, false, port)}, *server = open_shm(SERVER, true, port);
    mst_mail_block *block[2];
    mst_task_message *got[2];
    for (int w = 0; w < 2; w++) {
        const mst_task_message_head head = {.kind = MST_PS_GRADIENTS};
        wait_for_route(worker[w], SERVER);
        block[w] = mst_mail_block_take(worker[w], OFFSET + BYTES);
        fill((unsigned char *)mst_mail_block_data(block[w]) + OFFSET, BYTES, 5);
        EXPECT_OK(mst_mail_send_block(worker[w], SERVER, &head, block[w], OFFSET, BYTES));
        mst_mail_block_give(worker[w], block[w]);
        got[w] = next_of(server, MST_PS_GRADIENTS);
        assert_non_null(got[w]->lent);
        assert_int_equal(got[w]->bytes, BYTES);
    }
    ((unsigned char *)mst_mail_block_data(block[0]))[OFFSET] ^= 1; /* it is read where it lies */
    unsigned char expected = 5 ^ 1;
    assert_memory_equal(got[0]->body, &expected, 1);
    mst_mail_block *other = mst_mail_block_take(worker[0], OFFSET + BYTES);
    mst_mail_block *again[1 + MOST_TRIES] = {NULL};
    assert_ptr_not_equal(other, block[0]);
    mst_task_message_free(got[0]);
    for (int i = 0; i < MOST_TRIES && again[0] != block[0]; i++) { /* its sender hears so a little later */
        usleep(1000U * (unsigned)i);
        again[1 + i] = again[0] = mst_mail_block_take(worker[0], OFFSET + BYTES);
    }
    assert_ptr_equal(again[0], block[0]);
    for (int i = 0; i < MOST_TRIES; i++) mst_mail_block_give(worker[0], again[1 + i]);
    mst_mail_block_give(worker[0], other);
    EXPECT_OK(mst_mail_send(server, WORKER_0, &(mst_task_message_head){.kind = MST_PS_VALUES},
                            &(mst_iov){got[1]->body, BYTES}, 1, NULL));
    mst_task_message *copy = next_of(worker[0], MST_PS_VALUES);
    assert_null(copy->lent);
    assert_true(is_filled(copy, BYTES, 5));
    mst_task_message_free(copy);
    mst_mail_linger(worker[1], SECONDS);
    mst_mail_give_up(worker[1]); /* it would wait for the server */
    const int64_t began = mst_clock_now();
    mst_mail_close(worker[1]);
    assert_true((double)(mst_clock_now() - began) / 1e9 < SECONDS / 2.0);
    assert_memory_equal((char *)got[1]->body + 1, "\x0c", 1);
    mst_task_message_free(got[1]);
    mst_mail_close(worker[0]);
    mst_mail_close(server);
}

/* A step that was given up holds its gradients, and may write them: the next step has others, and all goes with the
 * mail. */
static void gradients_that_a_step_holds_are_not_used_again(void **state) {
    (void)state;
    mst_mail *mail = open_mail(WORKER_0);
    mst_ps_gradients gradients = {.copies = NULL};
    mst_tensor *value, *gradient, *held;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(1000), &value));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(1000), &gradient));
    mst_ps_copy copy = {.value = value};
    const mst_ps_copies copies = {.copy = &copy, .count = 1, .num_ps = 1};
    EXPECT_OK(mst_ps_gradients_make(&gradients, &copies, 1));
    EXPECT_OK(mst_ps_gradients_place(&gradients, mail, &gradient));
    held = mst_tensor_retain(gradient);
    EXPECT_OK(mst_ps_gradients_place(&gradients, mail, &gradient));
    EXPECT_OK(mst_ps_gradients_place(&gradients, mail, &gradient));
    assert_ptr_not_equal(mst_tensor_data(gradient), mst_tensor_data(held));
    mst_tensor_set(held, 999, 1);
    mst_tensor_release(held);
    mst_tensor_release(gradient);
    mst_ps_gradients_free(&gradients, mail);
    mst_mail_close(mail);
    mst_tensor_release(value);
}

/* ---- what is no message ---- */

/* A peer that uses the transport as it likes. */
static void ignore_control(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    (void)context, (void)from, (void)instance, (void)data, (void)bytes;
}
static void ignore_connected(void *context, int32_t task) {
    (void)context, (void)task;
}
static void ignore_lost(void *context, int32_t task, uint64_t instance, const char *why) {
    (void)context, (void)task, (void)instance, (void)why;
}
static void ignore_mismatch(void *context, int32_t task, mst_key key, const char *why) {
    (void)context, (void)task, (void)key, (void)why;
}

static mst_transport *open_raw(void) {
    const mst_transport_options options = {.num_tasks = 3,
                                           .self = WORKER_0,
                                           .address = address,
                                           .instance = 5,
                                           .events = {.control = ignore_control,
                                                      .connected = ignore_connected,
                                                      .lost = ignore_lost,
                                                      .mismatch = ignore_mismatch}};
    mst_transport *raw;
    EXPECT_OK(mst_transport_inproc.open(&options, &raw));
    mst_transport_inproc.begin(raw, 1);
    return raw;
}

/* A head as the wire has it: 4 bytes each of magic, version, kind, round; 8 of number, step, bytes, run, request. */
static void make_head(unsigned char head[HEAD], uint32_t kind, uint64_t bytes, uint64_t run) {
    const uint32_t first[] = {0x5053534d, MST_TASK_MESSAGE_VERSION, kind, 2};
    const uint64_t then[] = {3, 4, bytes, run, 5};
    memcpy(head, first, sizeof first);
    memcpy(head + sizeof first, then, sizeof then);
}

static void what_is_no_task_message_is_refused(void **state) {
    (void)state;
    static const struct {
        uint32_t kind;
        uint64_t bytes, run;
        size_t behind; /* bytes after the head */
        const char *why;
    } cases[] = {
        {0, 0, 0, 0, "unknown kind"},
        {MST_PS_END, 0, 0, 0, "unknown kind"},
        {MST_TASK_MESSAGE_RANGES_END, 0, 0, 0, "unknown kind"},
        {MST_TASK_MESSAGE_CONNECTED, 0, 0, 0, "unknown kind"},
        {MST_TASK_MESSAGE_LOST, 0, 0, 0, "unknown kind"},
        {UINT32_MAX, 0, 0, 0, "unknown kind"},
        {MST_PS_HELLO, 5, 0, 4, "wrong length"},
        {MST_PS_HELLO, 4, 0, 5, "wrong length"},
        {MST_PS_HELLO, 0, 9, 0, "wrong length"}, /* as data, and nothing of it */
        {MST_PS_HELLO, 7, 9, 7, "wrong length"}, /* both as data and here */
        {MST_PS_HELLO, MOST_BYTES + 1, 9, 0, "too long"},
        {MST_PS_HELLO, UINT64_MAX, 0, 8, "too long"},
    };
    mst_mail *server = open_mail(SERVER);
    mst_transport *raw = open_raw();
    unsigned char message[100] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_head(message, cases[i].kind, cases[i].bytes, cases[i].run);
        EXPECT_OK(mst_transport_inproc.control(raw, SERVER, message, HEAD + cases[i].behind));
        mst_task_message *got = next_of(server, MST_TASK_MESSAGE_LOST);
        assert_int_equal(got->from, WORKER_0);
        assert_non_null(strstr(got->body, cases[i].why));
        mst_task_message_free(got);
    }
    /* a message of another protocol is ignored: the next message is that of the next case */
    for (int i = 0; i < 2; i++) {
        make_head(message, i ? MST_CHECK_FACTS : MST_SESSION_OPEN, 4, 0);
        EXPECT_OK(mst_transport_inproc.control(raw, SERVER, message, HEAD + 4));
    }
    make_head(message, MST_PS_HELLO, 0, 0);
    for (size_t bytes = 0; bytes < HEAD; bytes++) {
        EXPECT_OK(mst_transport_inproc.control(raw, SERVER, message, bytes));
        mst_task_message *got = next_of(server, MST_TASK_MESSAGE_LOST);
        assert_non_null(strstr(got->body, "no message of Muster's"));
        mst_task_message_free(got);
    }
    message[0] ^= 1;
    EXPECT_OK(mst_transport_inproc.control(raw, SERVER, message, HEAD));
    mst_task_message *got = next_of(server, MST_TASK_MESSAGE_LOST);
    assert_non_null(strstr(got->body, "no message of Muster's"));
    mst_task_message_free(got);
    message[0] ^= 1, message[4] ^= 2;
    EXPECT_OK(mst_transport_inproc.control(raw, SERVER, message, HEAD));
    got = next_of(server, MST_TASK_MESSAGE_LOST);
    assert_non_null(strstr(got->body, "another version"));
    mst_task_message_free(got);
    message[4] ^= 2; /* valid messages still arrive */
    EXPECT_OK(mst_transport_inproc.control(raw, SERVER, message, HEAD));
    mst_task_message_free(next_of(server, MST_PS_HELLO));
    mst_transport_inproc.close(raw, 0);
    mst_mail_close(server);
}

static void body_of_another_length_than_its_head_says_is_refused(void **state) {
    (void)state;
    static const unsigned char data[70000];
    mst_mail *server = open_mail(SERVER);
    mst_transport *raw = open_raw();
    unsigned char head[HEAD];
    make_head(head, MST_PS_GRADIENTS, 60000, 9);
    EXPECT_OK(mst_transport_inproc.control(raw, SERVER, head, sizeof head));
    EXPECT_OK(mst_transport_inproc.send(raw, SERVER, (mst_key){.generation = 1, .run = 9},
                                        &(mst_iov){data, sizeof data}, 1, NULL));
    mst_task_message_free(next_of(server, MST_TASK_MESSAGE_LOST));
    mst_task_message *got = mst_mail_next(server, mst_clock_after(0.05));
    assert_true(!got || got->head.kind == MST_TASK_MESSAGE_CONNECTED);
    mst_task_message_free(got);
    mst_transport_inproc.close(raw, 0);
    mst_mail_close(server);
}

/* Its memory waits until the transport is closed; what comes after it is taken. */
static void peer_lost_in_the_middle_of_a_body_holds_up_nothing(void **state) {
    (void)state;
    static unsigned char data[60000];
    mst_mail *server = open_mail(SERVER), *other = open_mail(WORKER_1);
    mst_transport *raw = open_raw();
    unsigned char head[HEAD];
    make_head(head, MST_PS_GRADIENTS, 60000, 9);
    EXPECT_OK(mst_transport_inproc.control(raw, SERVER, head, sizeof head));
    mst_transport_inproc.close(raw, 0);
    mst_task_message *got = next_of(server, MST_TASK_MESSAGE_LOST);
    assert_string_equal(got->body, "connection closed by the peer");
    mst_task_message_free(got);
    fill(data, sizeof data, 8);
    EXPECT_OK(mst_mail_send(other, SERVER, &(mst_task_message_head){.kind = MST_PS_GRADIENTS},
                            &(mst_iov){data, sizeof data}, 1, NULL));
    got = next_of(server, MST_PS_GRADIENTS);
    assert_int_equal(got->from, WORKER_1);
    assert_true(is_filled(got, sizeof data, 8));
    mst_task_message_free(got);
    mst_mail_close(other);
    mst_mail_close(server);
}

static void closing_frees_what_was_not_taken(void **state) {
    (void)state;
    static const unsigned char data[60000];
    mst_mail *server = open_mail(SERVER), *worker = open_mail(WORKER_0);
    for (int i = 0; i < 3; i++) {
        const mst_task_message_head head = {.kind = MST_PS_GRADIENTS};
        EXPECT_OK(mst_mail_send(worker, SERVER, &head, &(mst_iov){data, 10}, 1, NULL));
        EXPECT_OK(mst_mail_send(worker, SERVER, &head, &(mst_iov){data, sizeof data}, 1, NULL));
    }
    mst_task_message_free(next_of(server, MST_PS_GRADIENTS));
    mst_mail_close(server);
    EXPECT_OK(mst_mail_send(worker, SERVER, &(mst_task_message_head){.kind = MST_PS_GRADIENTS},
                            &(mst_iov){data, sizeof data}, 1, NULL));
    mst_mail_close(worker);
    mst_mail_close(NULL);
    mst_task_message_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_of_any_size_arrive_whole),
        cmocka_unit_test(error_of_a_peer_has_no_control_characters),
        cmocka_unit_test(task_that_cannot_listen_tells_those_that_wait_for_it),
        cmocka_unit_test(message_to_oneself_comes_as_any_other),
        cmocka_unit_test(messages_of_one_sender_keep_their_order),
        cmocka_unit_test(what_is_sent_to_a_task_that_is_not_there_yet_waits),
        cmocka_unit_test(task_that_closes_is_lost_and_one_that_opens_again_is_another_instance),
        cmocka_unit_test(gradients_that_a_step_holds_are_not_used_again),
        cmocka_unit_test(body_in_memory_of_the_sender_is_lent),
        cmocka_unit_test(what_is_no_task_message_is_refused),
        cmocka_unit_test(body_of_another_length_than_its_head_says_is_refused),
        cmocka_unit_test(peer_lost_in_the_middle_of_a_body_holds_up_nothing),
        cmocka_unit_test(closing_frees_what_was_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
