/* Two processes that become one MPI by themselves, with MPICH if its module is installed: everything that one of
 * them sends before it closes its transport and ends arrives. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster/free_ports.h"
#include "module/module.h"
#include "support/sanitized.h"
#include "support/test.h"
#include "transport/transport.h"

enum { TASKS = 2, MESSAGES = 10000, BYTES = 3000, SECONDS = 60 };

static void hear_control(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    (void)context, (void)from, (void)instance, (void)data, (void)bytes;
}

static void hear_connected(void *context, int32_t task) {
    (void)context, (void)task;
}

static void hear_lost(void *context, int32_t task, uint64_t instance, const char *why) {
    (void)context, (void)task, (void)instance, (void)why;
}

static void hear_mismatch(void *context, int32_t task, mst_key key, const char *why) {
    (void)context, (void)task, (void)key, (void)why;
}

static bool send_all(const mst_transport_type *type, mst_transport *t) {
    static unsigned char data[BYTES];
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const mst_iov piece = {data, BYTES};
        memset(data, (int)i, BYTES);
        if (type->send(t, 1, (mst_key){.generation = 1, .stream = i}, &piece, 1, NULL)) return false;
    }
    return true;
}

static bool receive_all(const mst_transport_type *type, mst_transport *t) {
    static unsigned char data[MESSAGES][BYTES];
    mst_timeline done = {0};
    for (uint32_t i = 0; i < MESSAGES; i++)
        if (type->post(t, 0, (mst_key){.generation = 1, .stream = i}, data[i], BYTES, &done)) return false;
    if (!mst_timeline_wait(&done, MESSAGES, mst_clock_after(SECONDS), false)) return false;
    for (int i = 0; i < MESSAGES; i++)
        if (data[i][0] != (unsigned char)i || data[i][BYTES - 1] != (unsigned char)i) return false;
    return true;
}

static bool run_process(int32_t self, const char *const *address) {
    const mst_transport_type *type;
    mst_transport *t;
    const mst_transport_options options = {
        .num_tasks = TASKS,
        .self = self,
        .address = address,
        .instance = (uint64_t)self + 1,
        .events = {.control = hear_control, .connected = hear_connected, .lost = hear_lost, .mismatch = hear_mismatch}};
    if (mst_transport_find("mpi", &type) || type->open(&options, &t)) return false;
    type->begin(t, 1);
    const bool good = self == 0 ? send_all(type, t) : receive_all(type, t);
    type->close(t, SECONDS);
    return good;
}

static void last_words_of_a_process_arrive(void **state) {
    (void)state;
    const void *interface;
    char text[TASKS][32];
    const char *address[TASKS];
    int port[TASKS], status;
    pid_t pid[TASKS];
    /* MPICH and UCX are not made for sanitizers */
    if (SANITIZED || mst_module_interface("mpich", &interface)) skip();
    assert_int_equal(mst_find_free_ports(TASKS, port), MST_OK);
    for (int i = 0; i < TASKS; i++) {
        snprintf(text[i], sizeof text[i], "127.0.0.1:%d", port[i]);
        address[i] = text[i];
    }
    for (int32_t i = 0; i < TASKS; i++) {
        pid[i] = fork();
        assert_true(pid[i] >= 0);
        if (pid[i] == 0) exit(run_process(i, address) ? 0 : 1);
    }
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(last_words_of_a_process_arrive)};
    unsetenv("PMI_SIZE"); /* those of the mpiexec that has started this process, if one has */
    unsetenv("PMI_FD");
    unsetenv("PMI_RANK");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
