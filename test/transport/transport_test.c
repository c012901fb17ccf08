/* What every transport must do; the same tests run over each type. */
#include "transport/transport.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/tasks.h"
#include "support/test.h"
#include "transport/sim.h"

static mst_key key_of(uint32_t generation, uint32_t stream, uint64_t run) {
    return (mst_key){.generation = generation, .stream = stream, .run = run, .hash = 77};
}

static void fill(unsigned char *data, size_t bytes, unsigned seed) {
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(seed + i * 7 + (i >> 9));
}

static bool is_filled(const unsigned char *data, size_t bytes, unsigned seed) {
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != (unsigned char)(seed + i * 7 + (i >> 9))) return false;
    return true;
}

static uint64_t value_of(mst_timeline *done) {
    return mst_timeline_value(done);
}

/* ---- control ---- */

static void control_messages_arrive_in_the_order_in_which_they_were_sent(void **state) {
    enum { COUNT = 300 };
    tasks all;
    tasks_open(&all, *state, 3, NULL);
    for (int i = 0; i < COUNT; i++)
        for (int from = 0; from < 2; from++) {
            char text[32];
            snprintf(text, sizeof text, "%d of %d", i, from);
            task_say(&all, from, 2, text);
        }
    for (int from = 0; from < 2; from++) {
        task_told(&all.task[2], TOLD_CONTROL, from, COUNT - 1);
        for (int i = 0; i < COUNT; i++) {
            char text[32];
            snprintf(text, sizeof text, "%d of %d", i, from);
            const told *e = task_told(&all.task[2], TOLD_CONTROL, from, i);
            assert_string_equal(e->data, text);
            assert_int_equal(e->instance, 100 + from);
        }
        assert_int_equal(task_count(&all.task[2], TOLD_CONNECTED, from), 1);
    }
    assert_int_equal(task_count(&all.task[0], TOLD_LOST, -1), 0);
    tasks_close(&all);
}

static void control_messages_wait_for_a_task_that_opens_later(void **state) {
    tasks all;
    tasks_make(&all, *state, 2, NULL);
    EXPECT_OK(task_open(&all, 1, 5));
    task_say(&all, 1, 0, "first");
    task_say(&all, 1, 0, "second");
    EXPECT_OK(task_open(&all, 0, 4));
    assert_string_equal(task_told(&all.task[0], TOLD_CONTROL, 1, 1)->data, "second");
    assert_string_equal(task_told(&all.task[0], TOLD_CONTROL, 1, 0)->data, "first");
    task_told(&all.task[1], TOLD_CONNECTED, 0, 0);
    tasks_close(&all);
}

/* Such as a worker that is not in a parameter server's TF_CONFIG. */
static void task_answers_one_whose_address_it_does_not_know(void **state) {
    enum { BYTES = 300000 };
    static unsigned char into[BYTES];
    tasks all;
    tasks_make(&all, *state, 2, NULL);
    const char *address = all.address[1];
    all.address[1] = NULL;
    EXPECT_OK(task_open(&all, 0, 4));
    all.address[1] = address;
    EXPECT_OK(task_open(&all, 1, 5));
    for (int i = 0; i < 2; i++) all.type->begin(all.task[i].transport, 1);
    task_say(&all, 0, 1, "early");
    task_say(&all, 1, 0, "question");
    task_told(&all.task[0], TOLD_CONTROL, 1, 0);
    task_say(&all, 0, 1, "answer");
    assert_string_equal(task_told(&all.task[1], TOLD_CONTROL, 0, 0)->data, "early");
    assert_string_equal(task_told(&all.task[1], TOLD_CONTROL, 0, 1)->data, "answer");
    mst_timeline sent = {0}, got = {0};
    unsigned char *data = task_memory(&all, 0, BYTES);
    fill(data, BYTES, 1);
    task_post(&all, 1, 0, key_of(1, 0, 1), into, BYTES, &got);
    task_send(&all, 0, 1, key_of(1, 0, 1), data, BYTES, &sent);
    task_wait(&got, 1);
    task_wait(&sent, 1);
    assert_true(is_filled(into, BYTES, 1));
    tasks_close(&all);
}

/* ---- data ---- */

static const size_t sizes[] = {0, 1, 63, 64, 4095, 65536, 100001, 1048576, 1048577, 5000000};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST_BYTES = 5000000 };
static unsigned char into[MOST_BYTES];

static void bytes_arrive_whether_posted_or_sent_first(void **state) {
    tasks all;
    mst_timeline sent = {0}, got = {0}, pass = {0}, passed = {0};
    tasks_open(&all, *state, 2, NULL);
    unsigned char *data = task_memory(&all, 0, MOST_BYTES);
    uint64_t run = 0;
    for (int i = 0; i < SIZES; i++)
        for (int post_first = 0; post_first < 2; post_first++) {
            const mst_key key = key_of(1, 3, ++run);
            fill(data, sizes[i], (unsigned)run);
            memset(into, 0xAA, sizes[i]);
            if (post_first) task_post(&all, 1, 0, key, into, sizes[i], &got);
            task_send(&all, 0, 1, key, data, sizes[i], &sent);
            /* what is sent after it has arrived: so has it */
            task_send(&all, 0, 1, key_of(1, 4, run), "x", 1, &pass);
            char x;
            task_post(&all, 1, 0, key_of(1, 4, run), &x, 1, &passed);
            task_wait(&passed, run);
            if (!post_first) task_post(&all, 1, 0, key, into, sizes[i], &got);
            task_wait(&got, run);
            task_wait(&sent, run);
            assert_true(is_filled(into, sizes[i], (unsigned)run));
        }
    assert_int_equal(task_count(&all.task[1], TOLD_MISMATCH, -1), 0);
    tasks_close(&all);
}

static void pieces_arrive_as_one_message(void **state) {
    enum { N = 5 };
    static const size_t piece_bytes[N] = {0, 300000, 7, 0, 900000};
    tasks all;
    mst_timeline sent = {0}, got = {0};
    mst_iov piece[N];
    tasks_open(&all, *state, 2, NULL);
    unsigned char *data = task_memory(&all, 0, MOST_BYTES);
    size_t bytes = 0;
    for (int i = 0; i < N; bytes += piece_bytes[i++]) piece[i] = (mst_iov){data + bytes, piece_bytes[i]};
    fill(data, bytes, 9);
    memset(into, 0, bytes);
    EXPECT_OK(all.type->send(all.task[0].transport, 1, key_of(1, 0, 1), piece, N, &sent));
    task_post(&all, 1, 0, key_of(1, 0, 1), into, bytes, &got);
    task_wait(&got, 1);
    task_wait(&sent, 1);
    assert_true(is_filled(into, bytes, 9));
    tasks_close(&all);
}

static void message_that_does_not_fit_its_post_is_told(void **state) {
    tasks all;
    mst_timeline got = {0}, sent = {0};
    char small[10];
    tasks_open(&all, *state, 2, NULL);
    unsigned char *data = task_memory(&all, 0, MOST_BYTES);
    mst_key key = key_of(1, 1, 1), other = key;
    other.hash++;
    task_post(&all, 1, 0, key, small, sizeof small, &got);
    task_send(&all, 0, 1, other, "0123456789", 10, &sent);
    const told *e = task_told(&all.task[1], TOLD_MISMATCH, 0, 0);
    assert_non_null(strstr(e->data, "another thing"));
    assert_true(e->key.stream == 1 && e->key.run == 1 && e->key.hash == key.hash);
    key.run++;
    task_send(&all, 0, 1, key, data, 400000, &sent);
    task_post(&all, 1, 0, key, small, sizeof small, &got);
    e = task_told(&all.task[1], TOLD_MISMATCH, 0, 1);
    assert_non_null(strstr(e->data, "400000 bytes were sent where 10 are expected"));
    assert_int_equal(value_of(&got), 0);
    all.type->end(all.task[1].transport);
    assert_int_equal(value_of(&got), 2);
    task_wait(&sent, 2);
    assert_int_equal(task_count(&all.task[1], TOLD_MISMATCH, -1), 2);
    tasks_close(&all);
}

static void memory_cannot_be_posted_twice_for_one_message(void **state) {
    tasks all;
    mst_timeline got = {0};
    tasks_open(&all, *state, 2, NULL);
    task_post(&all, 1, 0, key_of(1, 1, 1), into, 1, &got);
    EXPECT_ERROR(all.type->post(all.task[1].transport, 0, key_of(1, 1, 1), into, 1, &got), MST_EXISTS, "twice");
    tasks_close(&all);
    assert_int_equal(value_of(&got), 1);
}

/* ---- generations ---- */

static void end_completes_all_and_nothing_is_written_after_it(void **state) {
    enum { POSTS = 100, BYTES = 100000 };
    tasks all;
    mst_timeline got = {0}, sent = {0};
    tasks_open(&all, *state, 3, NULL);
    unsigned char *data = task_memory(&all, 1, MOST_BYTES);
    memset(into, 0, POSTS);
    for (uint64_t run = 1; run <= POSTS; run++) task_post(&all, 1, 0, key_of(1, 0, run), into + run - 1, 1, &got);
    for (uint64_t run = 1; run <= POSTS; run++) task_send(&all, 1, 2, key_of(1, 0, run), data, BYTES, &sent);
    all.type->end(all.task[1].transport);
    assert_int_equal(value_of(&got), POSTS);
    assert_int_equal(value_of(&sent), POSTS);
    for (uint64_t run = 1; run <= POSTS; run++) task_send(&all, 0, 1, key_of(1, 0, run), "x", 1, NULL);
    task_say(&all, 0, 1, "behind them");
    task_told(&all.task[1], TOLD_CONTROL, 0, 0);
    for (int i = 0; i < POSTS; i++) assert_int_equal(into[i], 0);
    /* of a generation that is over, all is done at once */
    task_post(&all, 1, 0, key_of(1, 0, 500), into, 1, &got);
    task_send(&all, 1, 0, key_of(1, 0, 500), "x", 1, &sent);
    assert_int_equal(value_of(&got), POSTS + 1);
    assert_int_equal(value_of(&sent), POSTS + 1);
    tasks_close(&all);
}

static void later_generation_is_kept_and_earlier_one_dropped(void **state) {
    tasks all;
    mst_timeline got = {0};
    char text[2] = "";
    tasks_open(&all, *state, 2, NULL);
    all.type->end(all.task[0].transport);
    all.type->begin(all.task[0].transport, 3);
    task_send(&all, 0, 1, key_of(3, 0, 1), "3", 1, NULL);
    task_say(&all, 0, 1, "sent");
    task_told(&all.task[1], TOLD_CONTROL, 0, 0);
    all.type->end(all.task[1].transport);
    all.type->begin(all.task[1].transport, 3);
    task_post(&all, 1, 0, key_of(3, 0, 1), text, 1, &got);
    task_wait(&got, 1);
    assert_string_equal(text, "3");
    /* the other way round: what task 1 sends is of generation 3, and task 0 goes on to 4 before it posts */
    task_send(&all, 1, 0, key_of(3, 0, 1), "3", 1, NULL);
    task_say(&all, 1, 0, "sent");
    task_told(&all.task[0], TOLD_CONTROL, 1, 0);
    all.type->end(all.task[0].transport);
    all.type->begin(all.task[0].transport, 4);
    mst_timeline none = {0};
    task_post(&all, 0, 1, key_of(4, 0, 1), text, 1, &none);
    task_say(&all, 1, 0, "again");
    task_told(&all.task[0], TOLD_CONTROL, 1, 1);
    assert_int_equal(value_of(&none), 0);
    all.type->end(all.task[0].transport);
    assert_int_equal(value_of(&none), 1);
    tasks_close(&all);
}

/* ---- limits ---- */

static void longer_control_message_than_a_peer_takes_breaks_the_connection(void **state) {
    tasks all;
    static char data[1001];
    tasks_make(&all, *state, 2, NULL);
    EXPECT_OK(task_open(&all, 0, 4));
    all.options.most_control = 1000;
    EXPECT_OK(task_open(&all, 1, 5));
    EXPECT_ERROR(all.type->control(all.task[1].transport, 0, data, 1001), MST_INVALID, "longer than the 1000");
    EXPECT_OK(all.type->control(all.task[0].transport, 1, data, 1000));
    assert_int_equal(task_told(&all.task[1], TOLD_CONTROL, 0, 0)->bytes, 1000);
    EXPECT_OK(all.type->control(all.task[0].transport, 1, data, 1001));
    assert_int_equal(task_told(&all.task[1], TOLD_LOST, 0, 0)->instance, 4);
    task_told(&all.task[0], TOLD_LOST, 1, 0);
    task_told(&all.task[0], TOLD_CONNECTED, 1, 1); /* the connection is made again */
    task_say(&all, 0, 1, "shorter");
    assert_string_equal(task_told(&all.task[1], TOLD_CONTROL, 0, 1)->data, "shorter");
    tasks_close(&all);
}

static void more_data_ahead_than_can_be_kept_breaks_the_connection(void **state) {
    tasks all;
    const mst_transport_options few = {.most_kept = 1000000};
    mst_timeline got = {0};
    tasks_open(&all, *state, 2, &few);
    unsigned char *data = task_memory(&all, 0, MOST_BYTES);
    task_send(&all, 0, 1, key_of(1, 0, 1), data, 900000, NULL);
    task_say(&all, 0, 1, "kept");
    task_told(&all.task[1], TOLD_CONTROL, 0, 0);
    assert_int_equal(task_count(&all.task[1], TOLD_LOST, 0), 0);
    task_send(&all, 0, 1, key_of(1, 0, 2), data, 900000, NULL);
    assert_non_null(strstr(task_told(&all.task[1], TOLD_LOST, 0, 0)->data, "ahead"));
    task_told(&all.task[0], TOLD_LOST, 1, 0);
    /* what was kept is there, and makes room when it is posted for */
    task_post(&all, 1, 0, key_of(1, 0, 1), into, 900000, &got);
    task_wait(&got, 1);
    task_told(&all.task[0], TOLD_CONNECTED, 1, 1);
    all.type->end(all.task[1].transport);
    all.type->begin(all.task[1].transport, 2);
    task_send(&all, 0, 1, key_of(2, 0, 1), data, 900000, NULL);
    task_post(&all, 1, 0, key_of(2, 0, 1), into, 900000, &got);
    task_wait(&got, 2);
    tasks_close(&all);
}

static void what_cannot_be_right_is_refused(void **state) {
    tasks all;
    tasks_make(&all, *state, 2, NULL);
    EXPECT_ERROR(task_open(&all, 0, 0), MST_INVALID, "instance");
    all.options.timeout = -1;
    EXPECT_ERROR(task_open(&all, 0, 1), MST_INVALID, "timeout -1 s");
    all.options.timeout = 0;
    const char *address = all.address[0];
    all.address[0] = NULL;
    EXPECT_ERROR(task_open(&all, 0, 1), MST_INVALID, "no address to listen on");
    all.address[0] = address;
    EXPECT_OK(task_open(&all, 0, 1));
    EXPECT_ERROR(all.type->control(all.task[0].transport, 2, "", 0), MST_INVALID, "2 is none of them");
    EXPECT_ERROR(all.type->control(all.task[0].transport, 0, "", 0), MST_INVALID, "0 is none of them");
    EXPECT_ERROR(all.type->send(all.task[0].transport, -1, key_of(1, 0, 1), NULL, 0, NULL), MST_INVALID, "-1 is none");
    EXPECT_ERROR(all.type->post(all.task[0].transport, 7, key_of(1, 0, 1), into, 1, NULL), MST_INVALID, "7 is none");
    tasks_close(&all);
}

static void address_in_use_is_told(void **state) {
    tasks all;
    tasks_make(&all, *state, 2, NULL);
    EXPECT_OK(task_open(&all, 0, 1));
    all.options.bind = all.address[0];
    EXPECT_ERROR(task_open(&all, 1, 2), MST_INVALID, all.address[0]);
    tasks_close(&all);
}

/* ---- loss and return ---- */

static void closed_task_is_lost_and_its_next_instance_connected(void **state) {
    tasks all;
    tasks_open(&all, *state, 3, NULL);
    for (int i = 0; i < 2; i++) {
        task_say(&all, i, 2, "here");
        task_told(&all.task[2], TOLD_CONTROL, i, 0);
        task_say(&all, 2, i, "there");
        task_told(&all.task[i], TOLD_CONTROL, 2, 0);
    }
    task_close(&all, 2, 0);
    for (int i = 0; i < 2; i++) {
        const told *e = task_told(&all.task[i], TOLD_LOST, 2, 0);
        assert_int_equal(e->instance, 102);
        assert_string_equal(e->data, "connection closed by the peer");
    }
    task_say(&all, 0, 2, "welcome");
    EXPECT_OK(task_open(&all, 2, 500));
    task_told(&all.task[0], TOLD_CONNECTED, 2, 1);
    assert_string_equal(task_told(&all.task[2], TOLD_CONTROL, 0, 0)->data, "welcome");
    task_say(&all, 2, 1, "again");
    assert_int_equal(task_told(&all.task[1], TOLD_CONTROL, 2, 1)->instance, 500);
    assert_int_equal(task_count(&all.task[1], TOLD_LOST, 0), 0);
    assert_int_equal(task_count(&all.task[1], TOLD_LOST, 2), 1);
    tasks_close(&all);
}

static void close_completes_what_is_under_way(void **state) {
    tasks all;
    mst_timeline got = {0}, sent = {0};
    tasks_open(&all, *state, 2, NULL);
    const unsigned char *data = task_memory(&all, 0, MOST_BYTES), *other = task_memory(&all, 1, MOST_BYTES);
    task_send(&all, 0, 1, key_of(1, 0, 1), data, MOST_BYTES, &sent);
    task_post(&all, 0, 1, key_of(1, 0, 1), into, MOST_BYTES, &got);
    task_send(&all, 1, 0, key_of(1, 0, 1), other, MOST_BYTES, &sent);
    tasks_close(&all);
    assert_int_equal(value_of(&got), 1);
    assert_int_equal(value_of(&sent), 2);
}

static void close_sends_what_was_asked_for(void **state) {
    tasks all;
    mst_timeline got = {0};
    tasks_open(&all, *state, 2, NULL);
    unsigned char *data = task_memory(&all, 0, MOST_BYTES);
    fill(data, MOST_BYTES, 3);
    task_say(&all, 0, 1, "last words");
    task_send(&all, 0, 1, key_of(1, 0, 1), data, MOST_BYTES, NULL);
    task_close(&all, 0, TASK_SECONDS); /* which frees DATA */
    task_told(&all.task[1], TOLD_CONTROL, 0, 0);
    task_post(&all, 1, 0, key_of(1, 0, 1), into, MOST_BYTES, &got);
    task_wait(&got, 1);
    assert_true(is_filled(into, MOST_BYTES, 3));
    tasks_close(&all);
}

/* Also where an earlier process of the other task has closed its transport. */
static void close_sends_the_last_words_to_a_process_that_came_later(void **state) {
    enum { WORDS = 2000 };
    static char words[8192];
    tasks all;
    tasks_open(&all, *state, 2, NULL);
    task_say(&all, 0, 1, "here");
    task_told(&all.task[1], TOLD_CONTROL, 0, 0);
    task_say(&all, 1, 0, "there");
    task_told(&all.task[0], TOLD_CONTROL, 1, 0);
    task_close(&all, 1, TASK_SECONDS);
    task_told(&all.task[0], TOLD_LOST, 1, 0);
    EXPECT_OK(task_open(&all, 1, 500));
    task_say(&all, 1, 0, "again");
    task_told(&all.task[0], TOLD_CONTROL, 1, 1);
    memset(words, 'w', sizeof words - 1);
    for (int i = 0; i < WORDS; i++) task_say(&all, 0, 1, words);
    task_close(&all, 0, TASK_SECONDS);
    task_told(&all.task[1], TOLD_CONTROL, 0, WORDS - 1);
    tasks_close(&all);
}

/* ---- many at once ---- */

enum { MANY_TASKS = 3, RUNS = 60, STREAMS = 4, MOST_MANY = 70000 };

/* The size of a message, from its key and its two tasks, and what is in it. */
static unsigned seed_of(int from, int to, uint32_t stream, uint64_t run) {
    return (unsigned)(from * 131 + to * 17 + (int)stream * 1009 + (int)run * 7919);
}

static size_t size_of(unsigned seed) {
    return seed % 5 == 0 ? seed * 2654435761u % MOST_MANY : seed % 300;
}

typedef struct client {
    tasks *all;
    int self;
    uint32_t stream;
    unsigned char *out; /* memory to send from, for one message to each of the others */
    bool ok;
} client;

/* Exchanges the messages of a stream with all other tasks, posting and sending in an order of its own. */
static void *exchange_stream(void *context) {
    enum { PEERS = MANY_TASKS - 1, ORDERS = 2 * PEERS };
    client *c = context;
    mst_timeline got = {0}, sent = {0};
    unsigned char *in = malloc((size_t)PEERS * MOST_MANY), *out = c->out;
    mst_transport *transport = c->all->task[c->self].transport;
    unsigned random = seed_of(c->self, 0, c->stream, 5);
    c->ok = true;
    for (uint64_t run = 1; run <= RUNS; run++) {
        const mst_key key = key_of(1, c->stream, run);
        for (int i = 0; i < ORDERS; i++) {
            random = random * 1664525u + 1013904223u;
            const int act = (i + (int)(run % ORDERS)) % ORDERS, p = act / 2;
            const int other = p < c->self ? p : p + 1;
            const unsigned to = seed_of(c->self, other, c->stream, run), from = seed_of(other, c->self, c->stream, run);
            if (random >> 28 == 0) usleep(100);
            if (act % 2) {
                c->ok &= !c->all->type->post(transport, other, key, in + p * MOST_MANY, size_of(from), &got);
            } else {
                const mst_iov piece = {out + p * MOST_MANY, size_of(to)};
                fill(out + p * MOST_MANY, size_of(to), to);
                c->ok &= !c->all->type->send(transport, other, key, &piece, 1, &sent);
            }
        }
        c->ok &= mst_timeline_wait(&got, run * PEERS, mst_clock_after(TASK_SECONDS), false);
        for (int p = 0; p < PEERS; p++) {
            const unsigned from = seed_of(p < c->self ? p : p + 1, c->self, c->stream, run);
            c->ok &= is_filled(in + p * MOST_MANY, size_of(from), from);
        }
        c->ok &= mst_timeline_wait(&sent, run * PEERS, mst_clock_after(TASK_SECONDS), false);
    }
    free(in);
    return NULL;
}

static void many_messages_of_many_threads_arrive_each_once(void **state) {
    tasks all;
    client clients[MANY_TASKS * STREAMS];
    pthread_t thread[MANY_TASKS * STREAMS];
    tasks_open(&all, *state, MANY_TASKS, NULL);
    for (int i = 0; i < MANY_TASKS * STREAMS; i++) {
        unsigned char *out = task_memory(&all, i / STREAMS, (size_t)(MANY_TASKS - 1) * MOST_MANY);
        clients[i] = (client){&all, i / STREAMS, (uint32_t)(i % STREAMS), out, false};
        assert_int_equal(pthread_create(&thread[i], NULL, exchange_stream, &clients[i]), 0);
    }
    for (int i = 0; i < MANY_TASKS * STREAMS; i++) {
        pthread_join(thread[i], NULL);
        assert_true(clients[i].ok);
    }
    for (int i = 0; i < MANY_TASKS; i++) {
        assert_int_equal(task_count(&all.task[i], TOLD_LOST, -1), 0);
        assert_int_equal(task_count(&all.task[i], TOLD_MISMATCH, -1), 0);
    }
    tasks_close(&all);
}

/* A post is done exactly once, with its bytes or without them, when generations end while messages are under way. */
static void generations_end_while_messages_are_under_way(void **state) {
    enum { GENERATIONS = 30, MESSAGES = 20, BYTES = 60000 };
    tasks all;
    mst_timeline got = {0}, sent = {0};
    tasks_make(&all, *state, 2, NULL);
    for (int i = 0; i < 2; i++) EXPECT_OK(task_open(&all, i, 9));
    unsigned char *data = task_memory(&all, 0, BYTES);
    fill(data, BYTES, 1);
    for (uint32_t generation = 1; generation <= GENERATIONS; generation++) {
        for (int i = 0; i < 2; i++) all.type->begin(all.task[i].transport, generation);
        for (uint32_t m = 0; m < MESSAGES; m++) {
            if (m % 2) task_post(&all, 1, 0, key_of(generation, m, 1), into + m * BYTES, BYTES, &got);
            task_send(&all, 0, 1, key_of(generation, m, 1), data, BYTES, &sent);
            if (m % 2 == 0) task_post(&all, 1, 0, key_of(generation, m, 1), into + m * BYTES, BYTES, &got);
        }
        usleep(generation * 37 % 1000);
        all.type->end(all.task[1 - generation % 2].transport);
        all.type->end(all.task[generation % 2].transport);
        assert_int_equal(value_of(&got), generation * MESSAGES);
        assert_int_equal(value_of(&sent), generation * MESSAGES);
        memset(into, 0, MESSAGES * BYTES);
    }
    tasks_close(&all);
}

/* ---- events ---- */

static void owner_may_call_the_transport_where_it_is_told(void **state) {
    tasks all;
    tasks_open(&all, *state, 2, NULL);
    task_echo(&all, 1);
    for (int i = 0; i < 100; i++) task_say(&all, 0, 1, "hello");
    assert_string_equal(task_told(&all.task[0], TOLD_CONTROL, 1, 99)->data, "hello");
    tasks_close(&all);
}

/* Ends MPI, without which mpiexec takes this process for failed. */
static void leave(const mst_transport_type *type) {
    tasks all;
    tasks_make(&all, type, 1, NULL);
    EXPECT_OK(task_open(&all, 0, 1));
    type->leave(all.task[0].transport);
    tasks_close(&all);
}

/* The test, for the type whose address the program puts into TYPE. */
#define TEST(name) \
    { #name, name, NULL, NULL, NULL }

/* ---- a thread that waits and receives ---- */

enum { ROUNDS_AWAITED = 200, BYTES_AWAITED = 100000 };

/* By turns sends task 1 data, says something to it, and advances a line of its own, as another of its threads does. */
typedef struct stirring {
    tasks *all;
    mst_timeline *own, sent, told;
} stirring;

static void *stir(void *context) {
    static unsigned char data[BYTES_AWAITED];
    stirring *s = context;
    for (uint64_t i = 0; i < ROUNDS_AWAITED; i++) {
        if (i % 7 == 0) usleep(1000); /* so that the other one sleeps */
        fill(data, sizeof data, (unsigned)i);
        if (i % 3 == 0) task_send(s->all, 0, 1, key_of(1, 1, i), data, sizeof data, &s->sent);
        if (i % 3 == 1) task_say(s->all, 0, 1, "said");
        if (i % 3 == 2) mst_timeline_add(s->own, 1);
        mst_timeline_wait(&s->told, i + 1, MST_NEVER, false);
    }
    return NULL;
}

static void await(const mst_transport_type *type, mst_transport *to, mst_timeline *line, uint64_t value) {
    assert_true(mst_transport_await(type, to, line, value, mst_clock_after(60)));
}

static void who_waits_receives_what_comes_meanwhile(void **state) {
    static unsigned char into[BYTES_AWAITED];
    const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    tasks all;
    mst_timeline got = {.event = event + 1}, own = {.event = event + 1};
    stirring s = {.all = &all, .own = &own};
    pthread_t thread;
    tasks_open(&all, *state, 2, NULL);
    mst_transport *to = all.task[1].transport;
    const int64_t before = mst_clock_now();
    assert_false(mst_transport_await(all.type, to, &own, 1, mst_clock_after(0.05)));
    assert_true(mst_clock_now() - before >= 50000000);
    assert_int_equal(pthread_create(&thread, NULL, stir, &s), 0);
    for (uint64_t i = 0; i < ROUNDS_AWAITED; i++) {
        if (i % 3 == 0) {
            task_post(&all, 1, 0, key_of(1, 1, i), into, BYTES_AWAITED, &got);
            await(all.type, to, &got, i / 3 + 1);
            assert_true(is_filled(into, BYTES_AWAITED, (unsigned)i));
        }
        if (i % 3 == 1) task_told(&all.task[1], TOLD_CONTROL, 0, (int)(i / 3)); /* by the transport's own thread */
        if (i % 3 == 2) await(all.type, to, &own, i / 3 + 1);
        mst_timeline_advance(&s.told, i + 1);
    }
    pthread_join(thread, NULL);
    task_wait(&s.sent, (ROUNDS_AWAITED + 2) / 3);
    tasks_close(&all);
    close(event);
}

int main(void) {
    /* the fourth with a key; the last under mpiexec alone */
    static const char *const names[] = {"inproc", "sim", "zmq", "zmq", "shm", "mpi-threads"};
    enum { TYPES = sizeof names / sizeof *names };
    struct CMUnitTest tests[] = {
        TEST(control_messages_arrive_in_the_order_in_which_they_were_sent),
        TEST(control_messages_wait_for_a_task_that_opens_later),
        TEST(task_answers_one_whose_address_it_does_not_know),
        TEST(bytes_arrive_whether_posted_or_sent_first),
        TEST(pieces_arrive_as_one_message),
        TEST(message_that_does_not_fit_its_post_is_told),
        TEST(memory_cannot_be_posted_twice_for_one_message),
        TEST(end_completes_all_and_nothing_is_written_after_it),
        TEST(later_generation_is_kept_and_earlier_one_dropped),
        TEST(longer_control_message_than_a_peer_takes_breaks_the_connection),
        TEST(what_cannot_be_right_is_refused),
        TEST(address_in_use_is_told),
        TEST(closed_task_is_lost_and_its_next_instance_connected),
        TEST(close_completes_what_is_under_way),
        TEST(many_messages_of_many_threads_arrive_each_once),
        TEST(generations_end_while_messages_are_under_way),
        TEST(owner_may_call_the_transport_where_it_is_told),
        /* the last ones are of data that are kept by the receiver, or copied by the sender, and of threads that
         * receive, which MPI does not do; and of a process that comes later, which MPI has no place for */
        TEST(more_data_ahead_than_can_be_kept_breaks_the_connection),
        TEST(close_sends_what_was_asked_for),
        TEST(close_sends_the_last_words_to_a_process_that_came_later),
        TEST(who_waits_receives_what_comes_meanwhile),
    };
    enum { TESTS = sizeof tests / sizeof *tests, NOT_OF_MPI = 4 };
    int failed = 0;
    const mst_cluster_keys keys = tasks_keys(1);
    const mst_sim_options short_delays = {.seed = 1, .most_delay = 0.002};
    EXPECT_OK(mst_sim_begin(&short_delays));
    for (int i = 0; i < TYPES; i++) {
        const mst_transport_type *type;
        const mst_status status = mst_transport_find(names[i], &type);
        if (status) print_error("transport %s is not tested: %s\n", names[i], mst_error()->message);
        failed += status != MST_OK && status != MST_UNAVAILABLE && i < TYPES - 1;
        if (status) continue;
        for (size_t k = 0; k < TESTS; k++) tests[k].initial_state = (void *)(uintptr_t)type;
        tasks_use_keys(i == 3 ? &keys : NULL);
        failed += _cmocka_run_group_tests(i == 3 ? "zmq with a key" : type->name, tests,
                                          type->leave ? TESTS - NOT_OF_MPI : TESTS, NULL, NULL);
        if (type->leave) leave(type);
    }
    mst_sim_end();
    return failed;
}
