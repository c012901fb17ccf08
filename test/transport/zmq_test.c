/* The transport ZeroMQ with several processes and a network: peers that are killed or stopped, and strangers that
 * connect to its port. */
#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/tasks.h"
#include "support/test.h"

static const mst_transport_type *type;

static mst_key key_of(uint64_t run) {
    return (mst_key){.generation = 1, .run = run, .hash = 7};
}

/* ---- a peer that is a process: this program, started again ---- */

static pid_t children[4];

/* Starts task SELF of two as INSTANCE, which sends control messages back. */
static pid_t start_child(const tasks *all, int32_t self, int instance) {
    char number[16], text[16];
    snprintf(number, sizeof number, "%d", self);
    snprintf(text, sizeof text, "%d", instance);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "zmq_test", "child", number, text, all->address[0], all->address[1], (char *)NULL);
        _exit(1);
    }
    for (size_t i = 0; i < sizeof children / sizeof *children; i++)
        if (!children[i]) {
            children[i] = child;
            break;
        }
    return child;
}

static void end_child(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (size_t i = 0; i < sizeof children / sizeof *children; i++)
        if (children[i] == child) children[i] = 0;
}

/* After each test, also one that failed. */
static int end_children(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof children / sizeof *children; i++)
        if (children[i]) end_child(children[i]);
    return 0;
}

static int run_child(char **arguments) {
    tasks all = {.type = type, .count = 2, .address = {arguments[2], arguments[3]}};
    const int32_t self = atoi(arguments[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (task_open(&all, self, (uint64_t)atoi(arguments[1]))) return 1;
    task_echo(&all, self);
    task_say(&all, self, 1 - self, "here");
    for (;;) pause();
}

/* Task 0 here, task 1 as a process, connected both ways. */
static pid_t open_with_child(tasks *all, const mst_transport_options *options) {
    tasks_make(all, type, 2, options);
    EXPECT_OK(task_open(all, 0, 100));
    type->begin(all->task[0].transport, 1);
    const pid_t child = start_child(all, 1, 101);
    task_told(&all->task[0], TOLD_CONTROL, 1, 0);
    task_say(all, 0, 1, "echo");
    task_told(&all->task[0], TOLD_CONTROL, 1, 1);
    return child;
}

static void killed_peer_is_lost_within_a_second_and_comes_back(void **state) {
    (void)state;
    tasks all;
    pid_t child = open_with_child(&all, NULL);
    for (int i = 0; i < 3; i++) {
        const int64_t began = mst_clock_now();
        end_child(child);
        const told *e = task_told(&all.task[0], TOLD_LOST, 1, i);
        const double seconds = (double)(mst_clock_now() - began) / 1e9;
        print_message("told after %.1f ms: %s\n", 1000 * seconds, e->data);
        assert_true(seconds < 1);
        assert_int_equal(e->instance, 101 + i);
        task_say(&all, 0, 1, "are you there?");
        child = start_child(&all, 1, 102 + i);
        /* "here", and the answer: each on a connection of its own, so in any order */
        task_told(&all.task[0], TOLD_CONTROL, 1, 2 + 2 * i + 1);
        assert_int_equal(task_told(&all.task[0], TOLD_CONTROL, 1, 2 + 2 * i)->instance, 102 + i);
        assert_int_equal(task_count(&all.task[0], TOLD_CONNECTED, 1), 2 + i);
    }
    end_child(child);
    tasks_close(&all);
}

/* Messages to a peer that was lost and has not come back do not delay the end of the transport. */
static void lost_peer_is_not_waited_for_at_the_end(void **state) {
    (void)state;
    tasks all;
    const pid_t child = open_with_child(&all, NULL);
    end_child(child);
    task_told(&all.task[0], TOLD_LOST, 1, 0);
    task_say(&all, 0, 1, "are you there?");
    const int64_t began = mst_clock_now();
    task_close(&all, 0, TASK_SECONDS);
    assert_true((double)(mst_clock_now() - began) / 1e9 < TASK_SECONDS / 2.0);
    tasks_close(&all);
}

/* With nothing under way, and while its kernel takes no more bytes. */
static void stopped_peer_is_lost_after_the_timeout_and_comes_back(void **state) {
    (void)state;
    enum { BYTES = 50000000 };
    const mst_transport_options options = {.timeout = 1};
    for (int busy = 0; busy < 2; busy++) {
        tasks all;
        mst_timeline sent = {0};
        void *data = calloc(1, BYTES);
        const pid_t child = open_with_child(&all, &options);
        const int64_t began = mst_clock_now();
        kill(child, SIGSTOP);
        if (busy) task_send(&all, 0, 1, key_of(1), data, BYTES, &sent);
        const told *e = task_told(&all.task[0], TOLD_LOST, 1, 0);
        const double seconds = (double)(mst_clock_now() - began) / 1e9;
        print_message("told after %.2f s: %s\n", seconds, e->data);
        assert_true(seconds > 0.5 && seconds < 3);
        assert_non_null(strstr(e->data, "silent for 1 s"));
        if (busy) task_wait(&sent, 1); /* its memory is free again */
        free(data);
        const int before = task_count(&all.task[0], TOLD_CONNECTED, 1);
        kill(child, SIGCONT);
        task_told(&all.task[0], TOLD_CONNECTED, 1, before);
        end_child(child);
        tasks_close(&all);
    }
}

/* Memory that is lent to libzmq is returned even if nobody reads the message. */
static void generation_ends_while_the_peer_is_stopped(void **state) {
    (void)state;
    enum { BYTES = 50000000 };
    tasks all;
    mst_timeline sent = {0};
    void *data = calloc(1, BYTES);
    const pid_t child = open_with_child(&all, NULL);
    kill(child, SIGSTOP);
    task_send(&all, 0, 1, key_of(1), data, BYTES, &sent);
    usleep(300000); /* the buffers of the kernel fill */
    const int64_t began = mst_clock_now();
    type->end(all.task[0].transport);
    assert_int_equal(mst_timeline_value(&sent), 1);
    free(data);
    assert_true(mst_clock_now() - began < 3000000000);
    assert_non_null(strstr(task_told(&all.task[0], TOLD_LOST, 1, 0)->data, "did not take"));
    end_child(child);
    tasks_close(&all);
}

/* The first process still answers. The second is refused, and is connected after the first has ended. */
/* Opens a second process with the number 1, which talks to task 0 of ALL. */
static void open_second(const tasks *all, const mst_transport_options *options, uint64_t instance, tasks *second) {
    tasks_make(second, type, 2, options);
    second->options.bind = second->address[1];
    free((char *)(uintptr_t)second->address[0]);
    second->address[0] = strdup(all->address[0]);
    EXPECT_OK(task_open(second, 1, instance));
    task_say(second, 1, 0, "me too");
}

static void second_process_with_the_number_of_a_task_is_refused(void **state) {
    (void)state;
    tasks all, other;
    const pid_t child = open_with_child(&all, NULL);
    open_second(&all, NULL, 999, &other);
    const told *e = task_told(&other.task[1], TOLD_LOST, 0, 0);
    assert_int_equal(e->instance, 0);
    assert_non_null(strstr(e->data, "task 1 is connected to task 0 from another process"));
    task_say(&all, 0, 1, "still there?");
    assert_int_equal(task_told(&all.task[0], TOLD_CONTROL, 1, 2)->instance, 101);
    assert_int_equal(task_count(&all.task[0], TOLD_LOST, -1), 0);
    end_child(child);
    assert_int_equal(task_told(&all.task[0], TOLD_CONTROL, 1, 3)->instance, 999);
    assert_int_equal(task_count(&other.task[1], TOLD_LOST, 0), 1);
    tasks_close(&other);
    tasks_close(&all);
}

static void second_process_is_refused_for_good_if_the_first_is_alive(void **state) {
    (void)state;
    tasks all, second;
    const mst_transport_options options = {.timeout = 2};
    const pid_t child = open_with_child(&all, &options); /* which gives a sign of life each second */
    const int64_t began = mst_clock_now();
    open_second(&all, &options, 998, &second);
    assert_string_equal(task_told(&second.task[1], TOLD_TAKEN, 1, 0)->data, "127.0.0.1");
    assert_string_equal(task_told(&all.task[0], TOLD_TAKEN, 1, 0)->data, "127.0.0.1");
    print_message("told after %.2f s\n", (double)(mst_clock_now() - began) / 1e9);
    assert_true((double)(mst_clock_now() - began) / 1e9 < 3);
    tasks_close(&second);
    /* while the first is stopped, nobody knows whether it is alive */
    kill(child, SIGSTOP);
    open_second(&all, &options, 999, &second);
    assert_int_equal(task_told(&all.task[0], TOLD_CONTROL, 1, 2)->instance, 999);
    assert_int_equal(task_count(&second.task[1], TOLD_TAKEN, -1), 0);
    assert_int_equal(task_count(&all.task[0], TOLD_TAKEN, -1), 1);
    kill(child, SIGCONT);
    end_child(child);
    tasks_close(&second);
    tasks_close(&all);
}

static void wrong_number_at_an_address_is_told(void **state) {
    (void)state;
    tasks all;
    tasks_make(&all, type, 3, NULL);
    EXPECT_OK(task_open(&all, 0, 1));
    all.options.bind = all.address[2]; /* task 1 listens where task 2 should */
    EXPECT_OK(task_open(&all, 1, 2));
    task_say(&all, 0, 2, "hello");
    const told *e = task_told(&all.task[0], TOLD_LOST, 2, 0);
    assert_int_equal(e->instance, 0);
    assert_non_null(strstr(e->data, "is task 1, not task 2"));
    task_close(&all, 1, 0);
    all.options.bind = NULL;
    EXPECT_OK(task_open(&all, 2, 3));
    assert_string_equal(task_told(&all.task[2], TOLD_CONTROL, 0, 0)->data, "hello");
    tasks_close(&all);
}

/* ---- a link that is cut ---- */

enum { SKIPPED = 77 };

/* Whether the loopback of this network namespace has become as wanted. */
static bool set_loopback(bool up) {
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = (short)(up ? IFF_UP : 0)};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool set = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    if (fd >= 0) close(fd);
    return set;
}

/* A message is lost if the connection breaks before it arrives, which may happen on a busy machine. So it is sent
 * again. */
static void say_until_heard(tasks *all, int32_t from, int32_t to) {
    const int64_t deadline = mst_clock_after(TASK_SECONDS);
    const int before = task_count(&all->task[to], TOLD_CONTROL, from);
    while (task_count(&all->task[to], TOLD_CONTROL, from) == before) {
        if (mst_clock_now() > deadline) fail_msg("task %d does not hear task %d", (int)to, (int)from);
        task_say(all, from, to, "hello");
        usleep(100000);
    }
}

static void cut_between_two_tasks(void **state) {
    (void)state;
    tasks all;
    const mst_transport_options options = {.timeout = 1};
    tasks_open(&all, type, 2, &options);
    for (int round = 0; round < 2; round++) {
        int lost[2];
        for (int i = 0; i < 2; i++) say_until_heard(&all, i, 1 - i);
        for (int i = 0; i < 2; i++) lost[i] = task_count(&all.task[i], TOLD_LOST, 1 - i);
        assert_true(set_loopback(false));
        for (int i = 0; i < 2; i++)
            assert_non_null(strstr(task_told(&all.task[i], TOLD_LOST, 1 - i, lost[i])->data, "silent for 1 s"));
        assert_true(set_loopback(true));
    }
    tasks_close(&all);
}

static int run_cut(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_between_two_tasks)};
    if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET)) return SKIPPED;
    return set_loopback(true) ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}

/* In a network namespace of its own, where this process may make one. */
static void silence_of_a_cut_link_is_told_and_its_end(void **state) {
    (void)state;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "zmq_test", "cut", (char *)NULL);
        _exit(1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        print_message("no network namespace of its own\n");
        skip();
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- strangers ---- */

static int connect_to(const char *address) {
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void send_all(int fd, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        const ssize_t n = send(fd, (const char *)bytes + done, size - done, MSG_NOSIGNAL);
        if (n <= 0) return; /* the transport has closed the connection */
        done += (size_t)n;
    }
}

/* The greeting and the READY of ZMTP 3.0 (rfc.zeromq.org/spec/23), as a DEALER without a name; then FRAMES. */
static int send_zmtp(const char *address, const void *frames, size_t size) {
    unsigned char greeting[64] = {0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'N', 'U', 'L', 'L'};
    static const unsigned char ready[] =
        "\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06"
        "DEALER";
    const int fd = connect_to(address);
    send_all(fd, greeting, sizeof greeting);
    send_all(fd, ready, sizeof ready - 1);
    send_all(fd, frames, size);
    return fd;
}

static void bytes_that_are_no_message_change_nothing(void **state) {
    (void)state;
    enum { NOISE = 100000 };
    static unsigned char noise[NOISE];
    /* a frame that says that it has 2^60 bytes, one with the right beginning, one that is empty */
    static const unsigned char giant[] = {2, 0x10, 0, 0, 0, 0, 0, 0, 0, 'M', 'S', 'T', 'R'};
    static const unsigned char begun[] = {0, 6, 'M', 'S', 'T', 'R', 1, 0};
    static const unsigned char empty[] = {1, 0, 0, 0};
    tasks all;
    int fds[20], count = 0;
    unsigned random = 1;
    tasks_open(&all, type, 2, NULL);
    task_say(&all, 1, 0, "before");
    task_told(&all.task[0], TOLD_CONTROL, 1, 0);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < NOISE; k++) noise[k] = (unsigned char)((random = random * 1664525u + 1013904223u) >> 24);
        send_all(fds[count++] = connect_to(all.address[0]), noise, NOISE);
        fds[count++] = send_zmtp(all.address[0], noise, NOISE);
        fds[count++] = send_zmtp(all.address[0], giant, sizeof giant);
        fds[count++] = send_zmtp(all.address[0], begun, sizeof begun);
        fds[count++] = send_zmtp(all.address[0], empty, sizeof empty);
    }
    for (int i = 0; i < 100; i++) task_say(&all, 1, 0, "after");
    task_told(&all.task[0], TOLD_CONTROL, 1, 100);
    assert_int_equal(task_count(&all.task[0], TOLD_LOST, -1), 0);
    assert_int_equal(task_count(&all.task[0], TOLD_CONNECTED, -1), 1);
    for (int i = 0; i < count; i++) close(fds[i]);
    tasks_close(&all);
}

/* ---- addresses ---- */

static void port_of_another_program_is_told(void **state) {
    (void)state;
    tasks all;
    char text[64];
    tasks_make(&all, type, 1, NULL);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(strrchr(all.address[0], ':') + 1)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 1), 0);
    snprintf(text, sizeof text, "another program listens on port %s: end it", strrchr(all.address[0], ':') + 1);
    EXPECT_ERROR(task_open(&all, 0, 1), MST_INVALID, text);
    close(fd);
    EXPECT_OK(task_open(&all, 0, 1));
    tasks_close(&all);
}

static void who_only_connects_needs_no_port_and_is_heard(void **state) {
    (void)state;
    tasks all;
    tasks_make(&all, type, 2, NULL);
    EXPECT_OK(task_open(&all, 0, 100));
    all.options.bind = all.address[0]; /* it is taken */
    EXPECT_ERROR(task_open(&all, 1, 101), MST_INVALID, "another program listens on port");
    all.options.only_connects = true;
    EXPECT_OK(task_open(&all, 1, 102));
    task_say(&all, 1, 0, "heard");
    task_close(&all, 1, TASK_SECONDS); /* returns when the other has it */
    const told *heard = task_told(&all.task[0], TOLD_CONTROL, 1, 0);
    assert_string_equal(heard->data, "heard");
    assert_int_equal(heard->instance, 102);
    task_told(&all.task[0], TOLD_LOST, 1, 0);
    tasks_close(&all);
}

/* CONTEXT counts how often it has been asked. */
static void say_what_it_does(void *context, char *text) {
    snprintf(text, MST_TRANSPORT_DOING, "had made step 7\n");
    atomic_fetch_add((atomic_int *)context, 1);
}

static void what_a_task_has_said_last_is_told_where_it_is_lost(void **state) {
    (void)state;
    const mst_transport_options options = {.timeout = 2};
    atomic_int count = 0;
    tasks all;
    tasks_make(&all, type, 2, &options);
    EXPECT_OK(task_open(&all, 0, 100));
    all.options.report = (mst_transport_report){.context = &count, .doing = say_what_it_does};
    EXPECT_OK(task_open(&all, 1, 101));
    task_say(&all, 1, 0, "here");
    task_told(&all.task[0], TOLD_CONTROL, 1, 0);
    for (const int before = atomic_load(&count); atomic_load(&count) < before + 2;) usleep(1000);
    task_close(&all, 1, TASK_SECONDS);
    assert_string_equal(task_told(&all.task[0], TOLD_LOST, 1, 0)->data,
                        "connection closed by the peer; when last heard it had made step 7?");
    tasks_close(&all);
}

/* Two processes that both run as task 8, since the last two addresses have another order in their lists. */
static void two_tasks_with_one_number_are_told_so(void **state) {
    (void)state;
    enum { NUMBER = 8, TASKS };
    tasks first, second;
    tasks_make(&first, type, TASKS + 1, NULL);
    tasks_make(&second, type, TASKS + 1, NULL);
    memcpy((char *)(uintptr_t)first.address[TASKS], second.address[NUMBER], sizeof(task_address));
    memcpy((char *)(uintptr_t)second.address[TASKS], first.address[NUMBER], sizeof(task_address));
    EXPECT_OK(task_open(&first, NUMBER, 100));
    EXPECT_OK(task_open(&second, NUMBER, 200));
    task_say(&first, NUMBER, TASKS, "to the second");
    task_say(&second, NUMBER, TASKS, "to the first");
    const char *why = task_told(&second.task[NUMBER], TOLD_LIST_MISMATCH, TASKS, 0)->data;
    assert_non_null(strstr(why, "two tasks have the number 8"));
    assert_non_null(strstr(why, first.address[NUMBER]));
    task_told(&first.task[NUMBER], TOLD_LIST_MISMATCH, TASKS, 0);
    assert_int_equal(task_count(&first.task[NUMBER], TOLD_CONNECTED, -1), 0);
    tasks_close(&second);
    tasks_close(&first);
}

/* Task 1 connects to task 0, whose list has another address for it, where nobody listens. */
static void task_that_cannot_be_connected_to_is_told_so(void **state) {
    (void)state;
    const mst_transport_options options = {.timeout = 0.1};
    tasks all, other;
    tasks_make(&all, type, 2, &options);
    tasks_make(&other, type, 1, NULL);
    const char *right = all.address[1];
    all.address[1] = other.address[0];
    EXPECT_OK(task_open(&all, 0, 100));
    all.address[1] = right;
    EXPECT_OK(task_open(&all, 1, 101));
    task_say(&all, 1, 0, "here");
    task_told(&all.task[0], TOLD_CONTROL, 1, 0);
    task_say(&all, 0, 1, "welcome");
    for (int32_t i = 0; i < 2; i++) {
        const char *why = task_told(&all.task[i], TOLD_LIST_MISMATCH, 1 - i, 0)->data;
        assert_non_null(strstr(why, "task 0 cannot connect to task 1 at "));
        assert_non_null(strstr(why, other.address[0]));
        task_told(&all.task[i], TOLD_LOST, 1 - i, 0);
    }
    tasks_close(&other);
    tasks_close(&all);
}

/* Waits until the first of two tasks, of which the other one is at ADDRESS, says with TEXT why it cannot reach it. */
static void assert_connect_error(const char *address, const char *text) {
    tasks all;
    char why[MST_TRANSPORT_DOING] = "";
    const int64_t deadline = mst_clock_after(TASK_SECONDS);
    tasks_make(&all, type, 2, NULL);
    const char *free_address = all.address[1];
    if (address) all.address[1] = address;
    EXPECT_OK(task_open(&all, 0, 1));
    all.address[1] = free_address;
    task_say(&all, 0, 1, "are you there?");
    while (!strstr(why, text)) {
        if (mst_clock_now() > deadline) fail_msg("'%s' in place of '%s'", why, text);
        usleep(1000);
        type->peer_info->connect_error(all.task[0].transport, 1, why);
    }
    tasks_close(&all);
}

/* Takes connections, and ends or keeps them, until it is closed. */
static void *take_and_end(void *context) {
    for (int fd; (fd = accept(*(int *)context, NULL, NULL)) >= 0;) close(fd);
    return NULL;
}

static void why_a_task_cannot_be_reached_is_known(void **state) {
    (void)state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    char address[32];
    pthread_t thread;
    assert_connect_error(NULL, "connection refused: nothing listens there");
    assert_connect_error("no-such-host.invalid:5000", "the name 'no-such-host.invalid' is not known here");
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(at.sin_port));
    assert_connect_error(address, "what listens there does not answer");
    assert_int_equal(pthread_create(&thread, NULL, take_and_end, &fd), 0);
    assert_connect_error(address, "what listens there ends the connection");
    shutdown(fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(fd);
}

static void connect_error_ends_with_the_connection(void **state) {
    (void)state;
    tasks all;
    char why[MST_TRANSPORT_DOING] = "?";
    tasks_open(&all, type, 2, NULL);
    task_say(&all, 0, 1, "hello");
    task_told(&all.task[1], TOLD_CONTROL, 0, 0);
    type->peer_info->connect_error(all.task[0].transport, 1, why);
    assert_string_equal(why, "");
    tasks_close(&all);
}

static void address_that_cannot_be_right_is_told(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "host", ":1", "host:", "host:0", "host:65536", "::1:5", "a:b:1", "host:1x"};
    tasks all;
    tasks_make(&all, type, 2, NULL);
    const char *address = all.address[1];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        all.address[1] = wrong[i];
        EXPECT_ERROR(task_open(&all, 0, 1), MST_INVALID, "write it as host:port");
    }
    all.address[1] = address;
    all.options.insecure = true;
    all.options.bind = "192.0.2.1:5000"; /* of no machine (RFC 5737) */
    EXPECT_ERROR(task_open(&all, 0, 1), MST_INVALID, "this machine has no such address");
    all.options.bind = "no-such-host.invalid:5000";
    EXPECT_ERROR(task_open(&all, 0, 1), MST_INVALID, "its host is not known here");
    tasks_close(&all);
}

static void address_that_other_machines_reach_is_refused_unless_that_is_allowed(void **state) {
    (void)state;
    static const char *const hosts[] = {"0.0.0.0", "[::]", "192.0.2.1"};
    tasks all;
    char bind[64];
    tasks_make(&all, type, 1, NULL);
    const char *port = strrchr(all.address[0], ':') + 1;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        snprintf(bind, sizeof bind, "%s:%s", hosts[i], port);
        all.options.bind = bind;
        EXPECT_ERROR(task_open(&all, 0, 1), MST_INVALID, "give --cluster-key FILE");
    }
    snprintf(bind, sizeof bind, "0.0.0.0:%s", port);
    all.options.insecure = true;
    EXPECT_OK(task_open(&all, 0, 1));
    tasks_close(&all);
}

/* The two, at HOST instead of 127.0.0.1. */
static void exchange_at(const char *host) {
    tasks all;
    tasks_make(&all, type, 2, NULL);
    for (int i = 0; i < 2; i++) {
        char *address = malloc(64);
        snprintf(address, 64, "%s%s", host, strrchr(all.address[i], ':'));
        free((char *)(uintptr_t)all.address[i]);
        all.address[i] = address;
    }
    for (int i = 0; i < 2; i++) EXPECT_OK(task_open(&all, i, 1));
    task_say(&all, 0, 1, "hello");
    task_told(&all.task[1], TOLD_CONTROL, 0, 0);
    tasks_close(&all);
}

static void names_are_resolved(void **state) {
    (void)state;
    exchange_at("localhost");
}

static void ipv6_addresses_are_taken(void **state) {
    (void)state;
    const struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool there = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
    if (fd >= 0) close(fd);
    if (!there) skip();
    exchange_at("[::1]");
}

/* ---- many ---- */

static void twenty_tasks_of_one_process_exchange_with_each_other(void **state) {
    (void)state;
    enum { TASKS = 20, BYTES = 40000 };
    static unsigned char from[TASKS][TASKS][BYTES], into[TASKS][TASKS][BYTES];
    mst_timeline got = {0}, sent = {0};
    tasks all;
    tasks_open(&all, type, TASKS, NULL);
    for (int i = 0; i < TASKS; i++)
        for (int k = 0; k < TASKS; k++) {
            if (i == k) continue;
            memset(from[i][k], i * TASKS + k, BYTES);
            task_send(&all, i, k, key_of(1), from[i][k], BYTES, &sent);
            task_post(&all, i, k, key_of(1), into[i][k], BYTES, &got);
        }
    task_wait(&got, TASKS * (TASKS - 1));
    task_wait(&sent, TASKS * (TASKS - 1));
    for (int i = 0; i < TASKS; i++)
        for (int k = 0; k < TASKS; k++)
            if (i != k) assert_memory_equal(into[i][k], from[k][i], BYTES);
    for (int i = 0; i < TASKS; i++) assert_int_equal(task_count(&all.task[i], TOLD_LOST, -1), 0);
    tasks_close(&all);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(killed_peer_is_lost_within_a_second_and_comes_back, end_children),
        cmocka_unit_test_teardown(lost_peer_is_not_waited_for_at_the_end, end_children),
        cmocka_unit_test_teardown(stopped_peer_is_lost_after_the_timeout_and_comes_back, end_children),
        cmocka_unit_test_teardown(generation_ends_while_the_peer_is_stopped, end_children),
        cmocka_unit_test_teardown(second_process_with_the_number_of_a_task_is_refused, end_children),
        cmocka_unit_test_teardown(second_process_is_refused_for_good_if_the_first_is_alive, end_children),
        cmocka_unit_test(wrong_number_at_an_address_is_told),
        cmocka_unit_test(silence_of_a_cut_link_is_told_and_its_end),
        cmocka_unit_test(bytes_that_are_no_message_change_nothing),
        cmocka_unit_test(port_of_another_program_is_told),
        cmocka_unit_test(why_a_task_cannot_be_reached_is_known),
        cmocka_unit_test(connect_error_ends_with_the_connection),
        cmocka_unit_test(who_only_connects_needs_no_port_and_is_heard),
        cmocka_unit_test(what_a_task_has_said_last_is_told_where_it_is_lost),
        cmocka_unit_test(two_tasks_with_one_number_are_told_so),
        cmocka_unit_test(task_that_cannot_be_connected_to_is_told_so),
        cmocka_unit_test(address_that_cannot_be_right_is_told),
        cmocka_unit_test(address_that_other_machines_reach_is_refused_unless_that_is_allowed),
        cmocka_unit_test(names_are_resolved),
        cmocka_unit_test(ipv6_addresses_are_taken),
        cmocka_unit_test(twenty_tasks_of_one_process_exchange_with_each_other),
    };
    const mst_status status = mst_transport_find("zmq", &type);
    if (status == MST_UNAVAILABLE) {
        print_message("nothing is tested: %s\n", mst_error()->message);
        return 0;
    }
    if (!status && argc == 6 && strcmp(argv[1], "child") == 0) return run_child(argv + 2);
    if (!status && argc == 2 && strcmp(argv[1], "cut") == 0) return run_cut();
    return status ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
