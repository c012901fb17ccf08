/* Tasks that become one MPI by themselves. The MPI is Muster's own client of PMI-1 (cluster/pmi.h), which
 * finds what process 0 has put; test/cli/launchers_test.sh has MPICH. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/wire_number.h"
#include "cluster/pmi.h"
#include "support/test.h"
#include "transport/mpi_meeting.h"

enum { TASKS = 3, INSTANCE = 100 /* of task 0; those of the others follow */, HEADER = 24 };
enum { PAIRS = 1, COME, GO };

typedef struct task {
    int32_t number;
    mst_mpi_meeting *meeting;
    char value[MST_PMI_VALUE];
    mst_status status;
} task;

static task tasks[TASKS];
static bool is_heard[TASKS]; /* whether messages to the task arrive */
static atomic_bool has_come; /* a task has sent that it is at the barrier */

/* Messages on their way, which arrive on a thread of their own: one that is sent holds a lock. */
typedef struct mail {
    int32_t from, to;
    size_t size;
    unsigned char data[1024];
} mail;

static int post_box[2];
static pthread_t postman;

static void *deliver(void *context) {
    mail letter;
    while (recv(post_box[1], &letter, sizeof letter, 0) > 0)
        assert_true(mst_mpi_meeting_received(tasks[letter.to].meeting, letter.from, (uint64_t)(INSTANCE + letter.from),
                                             letter.data, letter.size));
    return context;
}

static uint64_t letter_kind(const void *data) {
    const unsigned char *at = (const unsigned char *)data + 4; /* after the mark */
    return mst_get_number(&at, 4);
}

static mst_status pass_on(void *context, int32_t to, const void *data, size_t bytes) {
    const task *from = context;
    mail letter = {.from = from->number, .to = to, .size = bytes};
    if (bytes >= HEADER && letter_kind(data) == COME) has_come = true;
    if (!is_heard[to]) return MST_OK;
    assert_in_range(bytes, HEADER, sizeof letter.data);
    memcpy(letter.data, data, bytes);
    assert_int_equal(send(post_box[0], &letter, sizeof letter, 0), sizeof letter);
    return MST_OK;
}

static void *run_task(void *context) {
    task *t = context;
    t->status = mst_pmi_share(mst_mpi_meeting_descriptor(t->meeting), t->number, 60, true, t->value);
    return NULL;
}

static int open_tasks(void **state) {
    (void)state;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, post_box) || pthread_create(&postman, NULL, deliver, NULL)) return -1;
    for (int32_t i = 0; i < TASKS; i++) {
        tasks[i] = (task){.number = i};
        is_heard[i] = true;
        const mst_mpi_meeting_options options = {
            .task = i, .num_tasks = TASKS, .instance = (uint64_t)(INSTANCE + i), .context = &tasks[i], .send = pass_on};
        if (mst_mpi_meeting_open(&options, &tasks[i].meeting)) return -1;
    }
    return 0;
}

static int close_tasks(void **state) {
    (void)state;
    for (int i = 0; i < TASKS; i++) mst_mpi_meeting_end(tasks[i].meeting);
    shutdown(post_box[0], SHUT_RDWR);
    pthread_join(postman, NULL);
    for (int i = 0; i < 2; i++) close(post_box[i]);
    for (int i = 0; i < TASKS; i++) mst_mpi_meeting_free(tasks[i].meeting);
    return 0;
}

static void run_tasks(void) {
    pthread_t thread[TASKS];
    snprintf(tasks[0].value, sizeof tasks[0].value, "127.0.0.1:2222");
    for (int i = 0; i < TASKS; i++) assert_int_equal(pthread_create(&thread[i], NULL, run_task, &tasks[i]), 0);
    for (int i = 0; i < TASKS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(tasks[i].status, MST_OK);
        assert_string_equal(tasks[i].value, "127.0.0.1:2222");
    }
}

static void all_get_what_one_has_put(void **state) {
    (void)state;
    run_tasks();
}

static size_t make_message(unsigned char *message, uint32_t kind, uint32_t round, uint64_t instance,
                           const char *pairs) {
    static const unsigned char mark[4] = {'M', 'P', 'I', '1'};
    memcpy(message, mark, sizeof mark);
    unsigned char *at = mst_put_number(message + sizeof mark, kind, 4);
    at = mst_put_number(at, round, 4);
    at = mst_put_number(mst_put_number(at, 0, 4), instance, 8);
    while (*pairs) *at++ = (unsigned char)*pairs++;
    return (size_t)(at - message);
}

static void send_copy(int32_t to, int32_t from, uint64_t instance, const unsigned char *message, size_t size) {
    unsigned char *copy = malloc(size ? size : 1); /* so that a sanitizer sees what is read past its end */
    memcpy(copy, message, size);
    assert_true(mst_mpi_meeting_received(tasks[to].meeting, from, instance, copy, size) == (size >= 4));
    free(copy);
}

/* Wrong messages are ignored: all processes still find each other, and the data that process 0 has put. */
static void damaged_messages_are_dropped(void **state) {
    (void)state;
    unsigned char message[256];
    const size_t size = make_message(message, PAIRS, 0, INSTANCE + 1, "muster wrong\n");
    for (size_t n = 0; n < size; n++) send_copy(1, 0, INSTANCE, message, n);
    send_copy(1, 0, INSTANCE, message, make_message(message, 0, 0, INSTANCE + 1, ""));
    send_copy(1, 0, INSTANCE, message, make_message(message, GO + 1, 0, INSTANCE + 1, ""));
    send_copy(1, 0, INSTANCE, message, make_message(message, GO, 7, INSTANCE + 1, ""));
    send_copy(1, 2, INSTANCE + 2, message, make_message(message, GO, 0, INSTANCE + 1, ""));
    send_copy(0, 1, INSTANCE + 1, message, make_message(message, PAIRS, 0, 0, "no end"));
    send_copy(0, 1, INSTANCE + 1, message, make_message(message, PAIRS, 3, 0, "muster wrong\n"));
    send_copy(0, 1, INSTANCE + 1, message, make_message(message, COME, 3, 0, ""));
    send_copy(0, TASKS, INSTANCE, message, make_message(message, COME, 0, 0, ""));
    send_copy(0, -1, INSTANCE, message, make_message(message, COME, 0, 0, ""));
    assert_false(mst_mpi_meeting_received(tasks[0].meeting, 1, INSTANCE + 1, "MST4", 4));
    run_tasks();
}

/* Messages of a process that another one has replaced are ignored. */
static void earlier_process_of_a_task_is_forgotten(void **state) {
    (void)state;
    unsigned char message[256];
    send_copy(0, 1, 7, message, make_message(message, PAIRS, 0, 0, "muster wrong\n"));
    send_copy(0, 1, 7, message, make_message(message, COME, 0, 0, ""));
    send_copy(0, 1, INSTANCE + 1, message, make_message(message, PAIRS, 0, 0, "other pair\n"));
    run_tasks();
}

/* So are messages to another process: the MPI waits on. */
static void go_for_another_process_is_dropped(void **state) {
    (void)state;
    unsigned char message[256];
    pthread_t thread;
    is_heard[0] = false;
    has_come = false;
    assert_int_equal(pthread_create(&thread, NULL, run_task, &tasks[1]), 0);
    while (!has_come) usleep(1000);
    send_copy(1, 0, INSTANCE, message, make_message(message, PAIRS, 0, 7, "muster wrong\n"));
    send_copy(1, 0, INSTANCE, message, make_message(message, GO, 0, 7, ""));
    send_copy(1, 0, INSTANCE, message, make_message(message, PAIRS, 0, INSTANCE + 1, "muster right\n"));
    send_copy(1, 0, INSTANCE, message, make_message(message, GO, 0, INSTANCE + 1, ""));
    pthread_join(thread, NULL);
    assert_int_equal(tasks[1].status, MST_OK);
    assert_string_equal(tasks[1].value, "right");
}

/* A line that does not end: nothing more is answered. */
static void line_without_an_end_is_not_answered(void **state) {
    (void)state;
    char line[4096];
    const int fd = mst_mpi_meeting_descriptor(tasks[1].meeting);
    memset(line, 'x', sizeof line);
    assert_int_equal(write(fd, line, sizeof line), sizeof line);
    mst_mpi_meeting_end(tasks[1].meeting);
    assert_int_equal(recv(fd, line, sizeof line, MSG_DONTWAIT), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tasks, close_tasks)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(all_get_what_one_has_put), TEST(damaged_messages_are_dropped),
                                       TEST(earlier_process_of_a_task_is_forgotten),
                                       TEST(go_for_another_process_is_dropped),
                                       TEST(line_without_an_end_is_not_answered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
