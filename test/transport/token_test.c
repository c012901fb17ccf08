/* Tasks of one user at loopback addresses: a program without the user's token cannot connect, and is not taken for a
 * task. Programs that act as another user speak ZeroMQ's protocol (ZMTP 3.0) directly. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/tasks.h"
#include "support/test.h"
#include "transport/token_proof.h"
#include "transport/wire_header.h"

static const mst_transport_type *type;

/* ---- tasks ---- */

/* Tasks 0 and 1 have KEYS and are connected; task 2 has OTHER, and all three try to reach each other. */
static void open_with_stranger(tasks *all, const mst_cluster_keys *keys, const mst_cluster_keys *other) {
    tasks_use_keys(keys);
    tasks_make(all, type, 3, NULL);
    for (int i = 0; i < 2; i++) EXPECT_OK(task_open(all, i, (uint64_t)i + 100));
    for (int i = 0; i < 2; i++) task_say(all, i, 1 - i, "hello");
    for (int i = 0; i < 2; i++) task_told(&all->task[i], TOLD_CONTROL, 1 - i, 0);
    all->options.keys = other;
    EXPECT_OK(task_open(all, 2, 102));
    all->options.keys = keys;
    for (int i = 0; i < 2; i++) {
        task_say(all, 2, i, "let me in");
        task_say(all, i, 2, "are you there?");
    }
}

/* TEXT says one of the two. Of two sides that find out at the same time that they use other keys one may close the
 * connection before the other side knows why. */
static void assert_says(const char *text, const char *const why[2]) {
    if (!strstr(text, why[0]) && !strstr(text, why[1])) fail_msg("'%s' does not say: %s", text, why[0]);
}

/* Each side is told WHY the other is of no use, the two go on, and a process with their token takes the third place. */
static void expect_refused(const mst_cluster_keys *keys, const mst_cluster_keys *other, const char *const why_here[2],
                           const char *const why_there[2]) {
    tasks all;
    open_with_stranger(&all, keys, other);
    for (int i = 0; i < 2; i++) {
        assert_says(task_told(&all.task[2], TOLD_LOST, i, 0)->data, why_there);
        assert_says(task_told(&all.task[i], TOLD_LOST, 2, 0)->data, why_here);
        assert_non_null(strstr(task_told(&all.task[i], TOLD_STRANGER, -1, 0)->data, "refuses a connection"));
        task_say(&all, i, 1 - i, "still here");
    }
    for (int i = 0; i < 2; i++) {
        assert_string_equal(task_told(&all.task[i], TOLD_CONTROL, 1 - i, 1)->data, "still here");
        assert_int_equal(task_count(&all.task[i], TOLD_LOST, 1 - i), 0);
        assert_int_equal(task_count(&all.task[i], TOLD_CONTROL, 2), 0);
        assert_int_equal(task_count(&all.task[i], TOLD_CONNECTED, 2), 0);
        assert_int_equal(task_count(&all.task[i], TOLD_STRANGER, -1), 1);
    }
    assert_int_equal(task_count(&all.task[2], TOLD_CONTROL, -1), 0);
    task_close(&all, 2, 0);
    EXPECT_OK(task_open(&all, 2, 103));
    assert_string_equal(task_told(&all.task[2], TOLD_CONTROL, 0, 0)->data, "are you there?");
    tasks_close(&all);
    tasks_use_keys(NULL);
}

static const char *const of_token[] = {"does not have this user's token",
                                       "a cluster key or --insecure, and this task has neither"};
static const char *const of_key[] = {"it has no cluster key", "as a task with a different cluster key or none does"};
static const char *const of_neither[] = {"a cluster key or a user's token, and this task has neither",
                                         "cluster key does"};

static void task_with_another_token_gets_nowhere(void **state) {
    (void)state;
    static const char *const why[] = {"does not have this user's token", "does not have this user's token"};
    const mst_cluster_keys token = tasks_token(1), other = tasks_token(2);
    expect_refused(&token, &other, why, why);
}

static void token_and_key_and_neither_tell_each_other(void **state) {
    (void)state;
    const mst_cluster_keys token = tasks_token(1), keys = tasks_keys(1);
    expect_refused(&token, &keys, of_token, of_key);
    expect_refused(&token, NULL, of_token, of_neither);
    expect_refused(&keys, &token, of_key, of_token);
    expect_refused(NULL, &token, of_neither, of_token);
}

static void task_with_a_token_listens_at_loopback_alone(void **state) {
    (void)state;
    const mst_cluster_keys token = tasks_token(1);
    tasks all;
    char bind[64];
    tasks_use_keys(&token);
    tasks_make(&all, type, 1, NULL);
    snprintf(bind, sizeof bind, "0.0.0.0:%s", strrchr(all.address[0], ':') + 1);
    all.options.bind = bind;
    EXPECT_ERROR(task_open(&all, 0, 1), MST_INVALID, "give --cluster-key FILE");
    tasks_close(&all);
    tasks_use_keys(NULL);
}

static void *say_hello(void *context, size_t *bytes) {
    *bytes = strlen(context);
    return strdup(context);
}

/* Asks the task at ADDRESS for its report; returns the report's text, or why there is none. */
static void ask(const char *address, const mst_cluster_keys *keys, char text[160]) {
    mst_transport_answer answer;
    EXPECT_OK(type->ask(keys, &address, 1, 30, &answer));
    snprintf(text, 160, "%.*s", answer.data ? (int)answer.bytes : 159, answer.data ? (char *)answer.data : answer.why);
    free(answer.data);
}

static void status_client_is_answered_where_it_has_the_token(void **state) {
    (void)state;
    const mst_transport_options options = {.report = {.context = "hello", .make = say_hello}};
    const mst_cluster_keys token = tasks_token(1), other = tasks_token(2), keys = tasks_keys(1);
    tasks all;
    char text[160];
    tasks_use_keys(&token);
    tasks_open(&all, type, 1, &options);
    ask(all.address[0], &token, text);
    assert_string_equal(text, "hello");
    ask(all.address[0], &other, text);
    assert_non_null(strstr(text, "does not have this user's token"));
    ask(all.address[0], NULL, text);
    if (!strstr(text, "a user's token") && !strstr(text, "ends all connections")) fail_msg("%s", text);
    ask(all.address[0], &keys, text);
    assert_true(strstr(text, "it has no cluster key") || strstr(text, "a different cluster key or none"));
    tasks_close(&all);
    tasks_use_keys(NULL);
}

/* ---- forwarded ports ---- */

static struct sockaddr_in at_port(const char *address) {
    const unsigned long port = strtoul(strrchr(address, ':') + 1, NULL, 10);
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
}

/* Listens where a task should. */
static int squat(const char *address) {
    const struct sockaddr_in at = at_port(address);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(listener, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 8), 0);
    return listener;
}

/* Connections to the address at which a task is known go on to where it listens, until the test ends. */
typedef struct forwarder {
    int listener;
    struct sockaddr_in to;
} forwarder;

typedef struct forwarded {
    int from, to;
} forwarded;

static void *copy_bytes(void *context) {
    const forwarded way = *(forwarded *)context;
    char bytes[4096];
    free(context);
    for (ssize_t got; (got = read(way.from, bytes, sizeof bytes)) > 0;)
        if (write(way.to, bytes, (size_t)got) != got) break;
    shutdown(way.to, SHUT_WR);
    return NULL;
}

static void forward_bytes(int from, int to) {
    pthread_t thread;
    forwarded *way = malloc(sizeof *way);
    assert_non_null(way);
    *way = (forwarded){from, to};
    assert_int_equal(pthread_create(&thread, NULL, copy_bytes, way), 0);
    pthread_detach(thread);
}

static void *forward(void *context) {
    const forwarder *f = context;
    for (int from; (from = accept(f->listener, NULL, NULL)) >= 0;) {
        const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(to, (const struct sockaddr *)&f->to, sizeof f->to) == 0) {
            forward_bytes(from, to);
            forward_bytes(to, from);
        } else {
            close(from);
            close(to);
        }
    }
    return NULL;
}

static void task_behind_a_forwarded_port_is_reached(void **state) {
    (void)state;
    const mst_transport_options options = {.report = {.context = "hello", .make = say_hello}};
    const mst_cluster_keys token = tasks_token(1), other = tasks_token(2);
    tasks all;
    task_address bind;
    char text[160];
    pthread_t thread;
    tasks_use_keys(&token);
    tasks_make(&all, type, 2, &options);
    tasks_find_addresses(&bind, 1);
    forwarder f = {squat(all.address[1]), at_port(bind)};
    assert_int_equal(pthread_create(&thread, NULL, forward, &f), 0);
    EXPECT_OK(task_open(&all, 0, 100));
    all.options.bind = bind;
    EXPECT_OK(task_open(&all, 1, 101));
    for (int i = 0; i < 2; i++) task_say(&all, i, 1 - i, "hello");
    for (int i = 0; i < 2; i++) task_told(&all.task[i], TOLD_CONTROL, 1 - i, 0);
    const char *const reached[] = {all.address[1], bind};
    for (int i = 0; i < 2; i++) {
        ask(reached[i], &token, text);
        assert_string_equal(text, "hello");
        ask(reached[i], &other, text);
        assert_non_null(strstr(text, "does not have this user's token"));
    }
    tasks_close(&all);
    shutdown(f.listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(f.listener);
    tasks_use_keys(NULL);
}

/* ---- programs of another user ---- */

enum { GREETING = 64, MOST = 512 };

static void greet(int connection, bool as_server) {
    unsigned char greeting[GREETING] = {0xFF, [9] = 0x7F, [10] = 3, [12] = 'P', 'L', 'A', 'I', 'N', [32] = as_server};
    assert_int_equal(write(connection, greeting, sizeof greeting), GREETING);
}

static void read_whole(int connection, void *to, size_t size) {
    for (size_t have = 0; have < size;) {
        const ssize_t got = read(connection, (char *)to + have, size - have);
        assert_true(got > 0);
        have += (size_t)got;
    }
}

/* The body of the next frame, which is short; its size. */
static size_t read_frame(int connection, unsigned char body[MOST]) {
    unsigned char head[2];
    read_whole(connection, head, sizeof head);
    read_whole(connection, body, head[1]);
    return head[1];
}

static void write_frame(int connection, int flags, const void *body, size_t size) {
    unsigned char frame[2 + MOST] = {(unsigned char)flags, (unsigned char)size};
    memcpy(frame + 2, body, size);
    assert_int_equal(write(connection, frame, size + 2), size + 2);
}

/* Accepts a connection, and copies the bytes of its login to HELLO, *SIZE in all. */
static int let_in(int listener, unsigned char hello[MOST], size_t *size) {
    static const char ready[] = "\5READY\13Socket-Type\0\0\0\6ROUTER";
    unsigned char greeting[GREETING], initiate[MOST];
    const int connection = accept(listener, NULL, NULL);
    greet(connection, true);
    read_whole(connection, greeting, sizeof greeting);
    *size = read_frame(connection, hello);
    assert_memory_equal(hello, "\5HELLO", 6);
    write_frame(connection, 4, "\7WELCOME", 8);
    read_frame(connection, initiate);
    write_frame(connection, 4, ready, sizeof ready - 1);
    return connection;
}

static void write_message(int connection, mst_wire_header message, const char *text) {
    unsigned char bytes[MST_WIRE_HEADER_SIZE + 128];
    message.total = strlen(text);
    mst_wire_header_encode(&message, bytes);
    memcpy(bytes + MST_WIRE_HEADER_SIZE, text, message.total);
    write_frame(connection, 0, bytes, MST_WIRE_HEADER_SIZE + message.total);
}

/* Task 0 of two is open, with a token, and wants to reach task 1. */
static void open_first(tasks *all, const mst_cluster_keys *token) {
    tasks_use_keys(token);
    tasks_make(all, type, 2, NULL);
}

static void program_that_listens_for_a_task_is_not_taken_for_it(void **state) {
    (void)state;
    static const mst_wire_kind kinds[] = {MST_WIRE_WELCOME, MST_WIRE_CONTROL, MST_WIRE_TAKEN, MST_WIRE_LIST_MISMATCH,
                                          MST_WIRE_CHALLENGE};
    const mst_cluster_keys token = tasks_token(1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tasks all;
        unsigned char hello[MOST];
        size_t size;
        open_first(&all, &token);
        const int listener = squat(all.address[1]);
        EXPECT_OK(task_open(&all, 0, 100));
        task_say(&all, 0, 1, "a secret");
        const int connection = let_in(listener, hello, &size);
        write_message(connection, (mst_wire_header){.kind = kinds[i], .from = 1, .to = 0, .instance = 7}, "127.0.0.1");
        assert_non_null(strstr(task_told(&all.task[0], TOLD_LOST, 1, 0)->data, "does not have this user's token"));
        assert_int_equal(task_count(&all.task[0], TOLD_CONNECTED, -1), 0);
        assert_int_equal(task_count(&all.task[0], TOLD_CONTROL, -1), 0);
        assert_int_equal(task_count(&all.task[0], TOLD_TAKEN, -1), 0);
        assert_int_equal(task_count(&all.task[0], TOLD_LIST_MISMATCH, -1), 0);
        close(connection);
        close(listener);
        tasks_close(&all);
    }
    tasks_use_keys(NULL);
}

/* Sends HELLO to the task at ADDRESS. Returns whether the task accepts the connection, which *KEPT gets unless KEPT is
 * NULL. */
static bool show_hello(const char *address, const unsigned char *hello, size_t size, int *kept) {
    const struct sockaddr_in at = at_port(address);
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unsigned char greeting[GREETING], answer[MOST + 1] = {0};
    assert_int_equal(connect(connection, (const struct sockaddr *)&at, sizeof at), 0);
    greet(connection, false);
    read_whole(connection, greeting, sizeof greeting);
    write_frame(connection, 4, hello, size);
    read_frame(connection, answer);
    if (kept)
        *kept = connection;
    else
        close(connection);
    /* libzmq 4.3.4 writes "\x05ERROR", whose first byte is then 0x5E */
    assert_true(memcmp(answer, "\7WELCOME", 8) == 0 || strstr((char *)answer, "ROR\003400"));
    return answer[0] == 7;
}

static bool is_let_in(const char *address, const unsigned char *hello, size_t size) {
    return show_hello(address, hello, size, NULL);
}

/* The proof of a process with KEYS for LOGIN. */
static size_t hello_of(const mst_cluster_keys *keys, const char *login, unsigned char hello[MOST]) {
    char proof[MST_TOKEN_PROOF];
    mst_token_prove(keys, MST_TOKEN_LOGIN_PROOF, login, NULL, NULL, proof);
    return (size_t)sprintf((char *)hello, "\5HELLO%c%s%c%s", (int)strlen(login), login, (int)strlen(proof), proof);
}

/* A login for ADDRESS, made SECONDS from now. */
static void make_login(const char *address, double seconds, char login[MST_TOKEN_LOGIN]) {
    char numeric[64];
    snprintf(numeric, sizeof numeric, "127.0.0.1:%s", strrchr(address, ':') + 1);
    assert_true(mst_token_login_make(mst_clock_after(seconds), numeric, login));
}

/* The login and proof of a process with KEYS at ADDRESS, SECONDS from now. */
static size_t make_hello(const mst_cluster_keys *keys, const char *address, double seconds, unsigned char hello[MOST]) {
    char login[MST_TOKEN_LOGIN];
    make_login(address, seconds, login);
    return hello_of(keys, login, hello);
}

static void what_was_shown_to_another_program_opens_no_task(void **state) {
    (void)state;
    const mst_cluster_keys token = tasks_token(1), other = tasks_token(2);
    tasks all;
    unsigned char hello[MOST];
    size_t size;
    open_first(&all, &token);
    const int listener = squat(all.address[1]);
    EXPECT_OK(task_open(&all, 0, 100));
    task_say(&all, 0, 1, "a secret");
    close(let_in(listener, hello, &size));
    assert_false(is_let_in(all.address[0], hello, size)); /* another address */
    close(listener);
    EXPECT_OK(task_open(&all, 1, 101));
    assert_false(is_let_in(all.address[1], hello, size)); /* older than its listener */
    size = make_hello(&token, all.address[1], 0, hello);
    assert_true(is_let_in(all.address[1], hello, size));
    size = make_hello(&token, all.address[1], 30, hello);
    assert_false(is_let_in(all.address[1], hello, size));
    size = make_hello(&other, all.address[1], 0, hello);
    assert_false(is_let_in(all.address[1], hello, size));
    assert_false(is_let_in(all.address[1], (const unsigned char *)"\5HELLO\0\0", 8));
    tasks_close(&all);
    tasks_use_keys(NULL);
}

/* ---- recordings ---- */

/* Goes on where a task has let CONNECTION in, until it takes messages. */
static void be_dealer(int connection) {
    static const char initiate[] =
        "\10INITIATE\13Socket-Type\0\0\0\6DEALER\10Identity\0\0\0\21M\1\0\0\0\1\0\0\0abcdefgh";
    unsigned char ready[MOST];
    write_frame(connection, 4, initiate, sizeof initiate - 1);
    read_frame(connection, ready);
    assert_memory_equal(ready, "\5READY", 6);
}

/* Takes the next message; its kind, and TEXT. */
static mst_wire_kind read_message(int connection, char text[MOST]) {
    unsigned char frame[MOST];
    mst_wire_header message;
    const size_t size = read_frame(connection, frame), bytes = size - MST_WIRE_HEADER_SIZE;
    assert_true(size >= MST_WIRE_HEADER_SIZE);
    assert_null(mst_wire_header_decode(frame, MST_WIRE_HEADER_SIZE, bytes, &message));
    memcpy(text, frame + MST_WIRE_HEADER_SIZE, bytes);
    text[bytes] = '\0';
    return message.kind;
}

/* The first message of a connection, of task 1 or a status client. */
static mst_wire_header first_words(mst_wire_kind kind) {
    const bool is_task = kind == MST_WIRE_HELLO;
    return (mst_wire_header){
        .kind = kind, .from = is_task ? 1 : -1, .to = is_task ? 0 : -1, .instance = is_task ? 7 : 0};
}

/* Says KIND, and answers the challenge with the token; ANSWER: what it has sent. Returns what that was answered by. */
static mst_wire_kind enter(int connection, const mst_cluster_keys *token, const char *login, mst_wire_kind kind,
                           char answer[MST_TOKEN_PROOF]) {
    const mst_wire_header words = first_words(kind);
    char text[MOST], challenge[MST_TOKEN_NONCE];
    write_message(connection, words, "");
    assert_int_equal(read_message(connection, text), MST_WIRE_CHALLENGE);
    snprintf(challenge, sizeof challenge, "%s", text);
    assert_true(mst_token_is_proved(token, MST_TOKEN_CHALLENGE_PROOF, login, challenge, NULL, text + strlen(challenge),
                                    strlen(text) - strlen(challenge)));
    mst_token_prove(token, MST_TOKEN_ANSWER_PROOF, login, challenge, &words, answer);
    write_message(connection, words, answer);
    return read_message(connection, text);
}

/* All that a task, or a status client, has sent to task 0 is sent again: to it, to task 1, and to task 0 behind a login
 * that its listener has not seen. */
static void replay(tasks *all, const mst_cluster_keys *token, mst_wire_kind kind, mst_wire_kind good) {
    unsigned char hello[MOST];
    char login[MST_TOKEN_LOGIN], answer[MST_TOKEN_PROOF], other[MST_TOKEN_PROOF], text[MOST];
    int connection;
    make_login(all->address[0], 0, login);
    const size_t size = hello_of(token, login, hello);
    assert_true(show_hello(all->address[0], hello, size, &connection));
    be_dealer(connection);
    assert_int_equal(enter(connection, token, login, kind, answer), good);
    close(connection);
    for (int i = 0; i < 2; i++) assert_false(is_let_in(all->address[i], hello, size));
    make_login(all->address[0], 0, login);
    assert_true(show_hello(all->address[0], hello, hello_of(token, login, hello), &connection));
    be_dealer(connection);
    write_message(connection, first_words(kind), answer);
    assert_int_equal(read_message(connection, text), MST_WIRE_CHALLENGE);
    write_message(connection, first_words(kind), answer);
    assert_int_equal(read_message(connection, text), MST_WIRE_REFUSE);
    write_message(connection, first_words(MST_WIRE_CONTROL), "let me in");
    assert_int_equal(read_message(connection, text), MST_WIRE_REFUSE);
    close(connection);
    /* a proof for one kind of words is none for the other, and the right one is good */
    make_login(all->address[0], 0, login);
    assert_true(show_hello(all->address[0], hello, hello_of(token, login, hello), &connection));
    be_dealer(connection);
    assert_int_equal(enter(connection, token, login, kind, other), good);
    assert_string_not_equal(other, answer);
    close(connection);
}

static void recorded_login_opens_no_task(void **state) {
    (void)state;
    const mst_transport_options options = {.report = {.context = "hello", .make = say_hello}};
    const mst_cluster_keys token = tasks_token(1);
    tasks all;
    tasks_use_keys(&token);
    tasks_make(&all, type, 2, &options);
    for (int i = 0; i < 2; i++) EXPECT_OK(task_open(&all, i, (uint64_t)i + 100));
    replay(&all, &token, MST_WIRE_ASK, MST_WIRE_REPORT);
    assert_non_null(strstr(task_told(&all.task[0], TOLD_STRANGER, -1, 0)->data, "the proof of an earlier connection"));
    replay(&all, &token, MST_WIRE_HELLO, MST_WIRE_WELCOME);
    assert_int_equal(task_count(&all.task[0], TOLD_CONTROL, -1), 0);
    tasks_close(&all);
    tasks_use_keys(NULL);
}

/* A connection that follows one that has ended has its descriptor. */
static void who_connects_again_at_once_is_no_stranger(void **state) {
    (void)state;
    const mst_transport_options options = {.report = {.context = "hello", .make = say_hello}};
    const mst_cluster_keys token = tasks_token(1);
    tasks all;
    char login[MST_TOKEN_LOGIN], answer[MST_TOKEN_PROOF];
    unsigned char hello[MOST];
    int connection;
    tasks_use_keys(&token);
    tasks_open(&all, type, 1, &options);
    for (int i = 0; i < 50; i++) {
        make_login(all.address[0], i % 2 ? 0 : -90, login); /* as one that was stopped meanwhile */
        const bool good = show_hello(all.address[0], hello, hello_of(&token, login, hello), &connection);
        assert_int_equal(good, i % 2);
        if (good) {
            be_dealer(connection);
            assert_int_equal(enter(connection, &token, login, MST_WIRE_ASK, answer), MST_WIRE_REPORT);
        }
        close(connection);
    }
    assert_int_equal(task_count(&all.task[0], TOLD_STRANGER, -1), 0);
    tasks_close(&all);
    tasks_use_keys(NULL);
}

/* A program without the token, to which a task connects, sends each of its proofs and each of its words back: to the
 * task, as its listener, and at the address at which the task listens itself. */
static void what_a_task_has_said_does_not_open_it(void **state) {
    (void)state;
    const mst_cluster_keys token = tasks_token(1);
    tasks all;
    unsigned char hello[MOST];
    char text[MOST], both[MOST];
    size_t size;
    open_first(&all, &token);
    const int listener = squat(all.address[1]);
    EXPECT_OK(task_open(&all, 0, 100));
    task_say(&all, 0, 1, "a secret");
    const int connection = let_in(listener, hello, &size);
    assert_int_equal(read_message(connection, text), MST_WIRE_HELLO);
    assert_string_equal(text, all.address[0]); /* nothing that proves anything */
    assert_false(is_let_in(all.address[0], hello, size));
    const unsigned char *proof = hello + 7 + hello[6] + 1;
    snprintf(both, sizeof both, "%032d%.64s", 1, (const char *)proof);
    write_message(connection, (mst_wire_header){.kind = MST_WIRE_CHALLENGE, .from = 1, .instance = 7}, both);
    assert_non_null(strstr(task_told(&all.task[0], TOLD_LOST, 1, 0)->data, "does not have this user's token"));
    assert_int_equal(task_count(&all.task[0], TOLD_CONNECTED, -1), 0);
    close(connection);
    close(listener);
    tasks_close(&all);
    tasks_use_keys(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task_with_another_token_gets_nowhere),
        cmocka_unit_test(token_and_key_and_neither_tell_each_other),
        cmocka_unit_test(task_with_a_token_listens_at_loopback_alone),
        cmocka_unit_test(status_client_is_answered_where_it_has_the_token),
        cmocka_unit_test(program_that_listens_for_a_task_is_not_taken_for_it),
        cmocka_unit_test(what_was_shown_to_another_program_opens_no_task),
        cmocka_unit_test(task_behind_a_forwarded_port_is_reached),
        cmocka_unit_test(recorded_login_opens_no_task),
        cmocka_unit_test(who_connects_again_at_once_is_no_stranger),
        cmocka_unit_test(what_a_task_has_said_does_not_open_it),
    };
    const mst_status status = mst_transport_find("zmq", &type);
    if (status == MST_UNAVAILABLE) {
        print_message("nothing is tested: %s\n", mst_error()->message);
        return 0;
    }
    return status ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
