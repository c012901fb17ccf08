/* Processes on several hosts that find each other by the address of worker 0, as under torchrun. Here they are
 * processes of this host. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster/free_ports.h"
#include "cluster/rendezvous.h"
#include "muster/cluster.h"
#include "support/test.h"

enum { TEXT = 1024 };

typedef struct process {
    pid_t pid;
    int from;
} process;

static int port;

static int find_port(void **state) {
    (void)state;
    return mst_find_free_ports(1, &port) != MST_OK;
}

static void set_number(const char *variable, int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    setenv(variable, text, 1);
}

static FILE *log_to; /* of the processes that are started now */

/* What process RANK of SIZE is told, or its error. */
static void print_cluster(int rank, int size, double timeout, char text[TEXT]) {
    const mst_launcher_options options = {.timeout = timeout, .log = log_to};
    mst_cluster *cluster;
    set_number("RANK", rank);
    set_number("WORLD_SIZE", size);
    set_number("MASTER_PORT", port);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    unsetenv("LOCAL_WORLD_SIZE");
    unsetenv("TF_CONFIG");
    if (mst_cluster_from_environment(&options, &cluster)) {
        snprintf(text, TEXT, "%s", mst_error()->message);
        return;
    }
    mst_cluster_print(cluster, text, TEXT);
    mst_cluster_release(cluster);
}

static process start(int rank, int size, double timeout) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char text[TEXT], again[TEXT];
        print_cluster(rank, size, timeout, text);
        if (strncmp(text, "worker", 6) == 0)
            print_cluster(rank, size, 0.001, again);
        else
            memcpy(again, text, sizeof text);
        if (log_to) fflush(log_to);
        _exit(strcmp(text, again) != 0 || write(ends[1], text, sizeof text) != TEXT);
    }
    close(ends[1]);
    return (process){pid, ends[0]};
}

static void end(process p, char text[TEXT]) {
    int status;
    const ssize_t got = read(p.from, text, TEXT);
    assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
    close(p.from);
    assert_int_equal(status, 0); /* a second call says the same */
    assert_int_equal(got, TEXT);
}

/* Whether TEXT has the address of worker NUMBER, at *ITS_PORT. */
static bool has_worker(const char *text, int number, int *its_port) {
    char begin[32], with[32];
    snprintf(begin, sizeof begin, "worker %d of ", number);
    snprintf(with, sizeof with, " worker %d at ", number);
    const char *at = strncmp(text, begin, strlen(begin)) == 0 ? strstr(text, " at ") : strstr(text, with);
    return at && sscanf(strstr(at, " at "), " at localhost:%d", its_port) == 1;
}

static void all_processes_learn_the_same_addresses(void **state) {
    (void)state;
    enum { MANY = 24 };
    process all[MANY];
    char text[TEXT];
    int ports[MANY], its_port;
    for (int i = MANY - 1; i >= 0; i--) all[i] = start(i, MANY, 30);
    for (int i = 0; i < MANY; i++) {
        end(all[i], text);
        for (int k = 0; k < 9; k++) { /* as many as the line has place for */
            assert_true(has_worker(text, k, &its_port));
            if (i == 0) ports[k] = its_port;
            assert_int_equal(its_port, ports[k]);
            for (int other = 0; other < k; other++) assert_int_not_equal(ports[other], ports[k]);
        }
    }
    assert_int_equal(ports[0], port);
}

static void who_does_not_come_is_named_on_all(void **state) {
    (void)state;
    const process zero = start(0, 4, 1), two = start(2, 4, 1);
    char text[TEXT];
    end(zero, text);
    assert_string_equal(text, "environment of torchrun: workers 1, 3 of 4 did not come to worker 0 within 1 s");
    end(two, text);
    assert_string_equal(text, "environment of torchrun: workers 1, 3 of 4 did not come to worker 0 within 1 s");
}

static void worker_0_that_does_not_come_is_named(void **state) {
    (void)state;
    char text[TEXT], wanted[TEXT];
    end(start(1, 2, 0.5), text);
    snprintf(wanted, sizeof wanted,
             "environment of torchrun: worker 1 of 2 has not found worker 0 at 127.0.0.1:%d within 0.5 s: "
             "Connection refused",
             port);
    assert_string_equal(text, wanted);
}

/* FILE has been written by a process that has ended, or was ended. */
static void assert_has_lines(FILE *file, const char *line, int least) {
    char text[512];
    int count = 0;
    rewind(file);
    while (fgets(text, sizeof text, file)) count += strstr(text, line) != NULL;
    if (count < least) fail_msg("'%s' was said %d times", line, count);
}

static void who_waits_says_for_whom(void **state) {
    (void)state;
    char text[TEXT], wanted[64];
    FILE *lines[2] = {tmpfile(), tmpfile()};
    log_to = lines[0];
    end(start(0, 3, 5), text);
    assert_has_lines(lines[0], "worker:0: waiting for workers 1, 2 of 3 to come to port ", 2);
    log_to = lines[1];
    end(start(1, 3, 5), text);
    snprintf(wanted, sizeof wanted, "worker:1: waiting for worker 0 at 127.0.0.1:%d (", port);
    assert_has_lines(lines[1], wanted, 2);
    log_to = NULL;
    for (int i = 0; i < 2; i++) fclose(lines[i]);
}

static void two_with_one_number_are_an_error(void **state) {
    (void)state;
    char text[TEXT];
    const process zero = start(0, 3, 10), one = start(1, 3, 10), second = start(1, 3, 10);
    end(zero, text);
    assert_string_equal(text, "environment of torchrun: two processes are worker 1: give each its own number");
    end(one, text);
    assert_string_equal(text, "environment of torchrun: two processes are worker 1: give each its own number");
    end(second, text);
    assert_string_equal(text, "environment of torchrun: two processes are worker 1: give each its own number");
}

static void other_number_of_processes_is_an_error(void **state) {
    (void)state;
    static const char wanted[] =
        "environment of torchrun: worker 0 was told of 2 processes, and another one that it is number 1 of 3: "
        "start all with one command";
    char text[TEXT];
    const process zero = start(0, 2, 10), one = start(1, 3, 10);
    end(zero, text);
    assert_string_equal(text, wanted);
    end(one, text);
    assert_string_equal(text, wanted);
}

/* Connects with worker 0 as soon as it listens, and sends BYTES. */
static int disturb(const void *bytes, size_t size) {
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    const int64_t deadline = mst_clock_after(20);
    for (;;) {
        const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(connection, (const struct sockaddr *)&at, sizeof at) == 0) {
            if (send(connection, bytes, size, MSG_NOSIGNAL) < 0) print_message("it has closed the connection\n");
            return connection;
        }
        close(connection);
        assert_true(mst_clock_now() < deadline);
        usleep(10000);
    }
}

static void a_port_that_is_taken_is_named(void **state) {
    (void)state;
    char address[64], why[160];
    int held, again, taken;
    EXPECT_OK(mst_rendezvous_listen("", &held, &taken));
    snprintf(address, sizeof address, "localhost:%d", taken);
    snprintf(
        why, sizeof why,
        "worker 0 cannot listen on port %d for the others, because another program does: end it, or take another port",
        taken);
    assert_int_equal(mst_rendezvous_listen(address, &again, &taken), MST_UNAVAILABLE);
    assert_string_equal(mst_error()->message, why);
    close(held);
}

static void strangers_change_nothing(void **state) {
    (void)state;
    static const char *const lines[] = {"", "GET / HTTP/1.1\r\n\r\n", "muster-rendezvous-1 0 1 2 99999\n",
                                        "muster-rendezvous-1 77 1 2 4000\n", "muster-rendezvous-1 0 1"};
    static char longest[4096];
    int connections[64], count = 0;
    char text[TEXT];
    int its_port;
    const process zero = start(0, 2, 30);
    memset(longest, 'x', sizeof longest);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        connections[count++] = disturb(lines[i], strlen(lines[i]));
    connections[count++] = disturb(longest, sizeof longest);
    while (count < 64) connections[count++] = disturb("", 0);
    const process one = start(1, 2, 30);
    end(zero, text);
    assert_true(has_worker(text, 1, &its_port));
    end(one, text);
    assert_true(has_worker(text, 0, &its_port));
    while (count > 0) close(connections[--count]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_processes_learn_the_same_addresses, find_port),
        cmocka_unit_test_setup(who_does_not_come_is_named_on_all, find_port),
        cmocka_unit_test_setup(worker_0_that_does_not_come_is_named, find_port),
        cmocka_unit_test_setup(who_waits_says_for_whom, find_port),
        cmocka_unit_test_setup(two_with_one_number_are_an_error, find_port),
        cmocka_unit_test_setup(other_number_of_processes_is_an_error, find_port),
        cmocka_unit_test(a_port_that_is_taken_is_named),
        cmocka_unit_test_setup(strangers_change_nothing, find_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
