#include "bench/all_reduce.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/table.h"
#include "collective/group.h"

enum { TASKS = 2, COUNT = 400000 /* f32 */, WARM_UP = 200 };
static const double MOST_SECONDS = 60;

typedef struct member {
    mst_transport *transport;
    mst_task_group *group;
    mst_exchange *exchange;
} member;

/* ---- what a transport tells: nothing that matters here ---- */

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

/* ---- two processes ---- */

/* Ports that are free now. */
static void find_addresses(char address[TASKS][32]) {
    int hold[TASKS];
    for (int i = 0; i < TASKS; i++) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof at;
        hold[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (!bind(hold[i], (struct sockaddr *)&at, size)) getsockname(hold[i], (struct sockaddr *)&at, &size);
        snprintf(address[i], 32, "127.0.0.1:%d", ntohs(at.sin_port));
    }
    for (int i = 0; i < TASKS; i++) close(hold[i]);
}

static mst_status open_member(const mst_transport_type *type, int32_t self, char address[TASKS][32], member *m) {
    static const int32_t task[TASKS] = {0, 1};
    static const mst_shards window[TASKS] = {{0, 1}, {1, 1}};
    const char *const addresses[TASKS] = {address[0], address[1]};
    const mst_transport_options options = {.num_tasks = TASKS,
                                           .self = self,
                                           .address = addresses,
                                           .instance = (uint64_t)self + 1,
                                           .events = {.control = ignore_control,
                                                      .connected = ignore_connected,
                                                      .lost = ignore_lost,
                                                      .mismatch = ignore_mismatch}};
    MST_TRY(type->open(&options, &m->transport));
    const mst_group_options group = {.type = type,
                                     .transport = m->transport,
                                     .num_members = TASKS,
                                     .self = self,
                                     .task = task,
                                     .num_shards = TASKS,
                                     .window = window};
    const mst_exchange_spec spec = {.hash = 1, .num_values = 1, .value = &(mst_exchange_value){MST_F32, COUNT}};
    MST_TRY(mst_group_create(&group, &m->group));
    type->begin(m->transport, 1);
    mst_group_begin(m->group, 1);
    return mst_exchange_create(m->group, &spec, &m->exchange);
}

static void close_member(const mst_transport_type *type, member *m) {
    mst_exchange_destroy(m->exchange);
    mst_group_destroy(m->group);
    if (m->transport) type->close(m->transport, 1);
}

/* NUM_RUNS exchanges one after the other; *SECONDS: of each, but for the first ones. */
static mst_status exchange_all(member *m, int64_t num_runs, double *seconds) {
    double began = 0;
    memset(mst_exchange_leaf(m->exchange, 0, 0), 0, COUNT * sizeof(float));
    for (int64_t i = 0; i < WARM_UP + num_runs; i++) {
        if (i == WARM_UP) began = bench_now();
        mst_exchange_start(m->exchange, mst_group_next_run(m->group));
        MST_TRY(mst_exchange_wait(m->exchange, mst_clock_after(MOST_SECONDS), false));
    }
    *seconds = (bench_now() - began) / (double)num_runs;
    return MST_OK;
}

static mst_status run_member(const mst_transport_type *type, int32_t self, char address[TASKS][32], int64_t num_runs,
                             double *seconds) {
    member m = {0};
    mst_status status = open_member(type, self, address, &m);
    if (!status) status = exchange_all(&m, num_runs, seconds);
    close_member(type, &m);
    return status;
}

mst_status bench_all_reduce(const char *transport, int64_t num_runs, double *milliseconds) {
    const mst_transport_type *type;
    char address[TASKS][32];
    double seconds = 0;
    int ended;
    MST_TRY(mst_transport_find(transport, &type));
    find_addresses(address);
    const pid_t other = fork();
    if (other < 0) return MST_FAIL(MST_IO, "cannot start a process");
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(run_member(type, 1, address, num_runs, &seconds) != MST_OK);
    }
    const mst_status status = run_member(type, 0, address, num_runs, &seconds);
    if (status) kill(other, SIGKILL);
    if (waitpid(other, &ended, 0) != other || (!status && ended))
        return MST_FAIL(MST_IO, "the other process of an all-reduce has failed");
    *milliseconds = 1000 * seconds;
    return status;
}

/* ---- the bound ---- */

mst_status bench_bare_copies(int64_t num_runs, double *milliseconds) {
    enum { BYTES = COUNT * sizeof(float) };
    char *from = malloc(BYTES), *to = malloc(BYTES);
    if (from && to) memset(from, 1, BYTES);
    for (int64_t i = 0; i < WARM_UP + num_runs && from && to; i++) {
        if (i == WARM_UP) *milliseconds = -1000 * bench_now();
        memcpy(to, from, BYTES);
        __asm__ volatile("" : : "r"(to) : "memory"); /* every copy is made */
    }
    *milliseconds = (*milliseconds + 1000 * bench_now()) / (double)num_runs;
    const bool made = from && to;
    free(from);
    free(to);
    return made ? MST_OK : MST_FAIL(MST_OUT_OF_MEMORY, "no memory for copies");
}
