#include "bench/all_reduce.h"

#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collective/group.h"

enum { TASKS = 2, COUNT = BENCH_ALL_REDUCE_COUNT, WARM_UP = 200 };
static const double MOST_SECONDS = 60;

struct bench_member {
    const mst_transport_type *type;
    mst_transport *transport;
    mst_task_group *group;
    mst_exchange *exchange;
};

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

/* ---- a process ---- */

void bench_find_address(char address[32]) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    const int hold = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!bind(hold, (struct sockaddr *)&at, size)) getsockname(hold, (struct sockaddr *)&at, &size);
    snprintf(address, 32, "127.0.0.1:%d", ntohs(at.sin_port));
    close(hold);
}

static mst_status open_member(bench_member *m, int32_t self, int32_t size, const char **address, int32_t *task,
                              mst_shards *window) {
    const mst_transport_options options = {.num_tasks = size,
                                           .self = self,
                                           .address = address,
                                           .instance = (uint64_t)self + 1,
                                           .events = {.control = ignore_control,
                                                      .connected = ignore_connected,
                                                      .lost = ignore_lost,
                                                      .mismatch = ignore_mismatch}};
    MST_TRY(m->type->open(&options, &m->transport));
    const mst_group_options group = {.type = m->type,
                                     .transport = m->transport,
                                     .num_members = size,
                                     .self = self,
                                     .task = task,
                                     .num_shards = size,
                                     .window = window};
    const mst_exchange_spec spec = {.hash = 1, .num_values = 1, .value = &(mst_exchange_value){MST_F32, COUNT}};
    MST_TRY(mst_group_create(&group, &m->group));
    m->type->begin(m->transport, 1);
    mst_group_begin(m->group, 1);
    MST_TRY(mst_exchange_create(m->group, &spec, &m->exchange));
    memset(mst_exchange_leaf(m->exchange, 0, 0), 0, COUNT * sizeof(float));
    return MST_OK;
}

mst_status bench_member_open(const char *transport, int32_t self, int32_t size, char (*address)[32],
                             bench_member **out) {
    const mst_transport_type *type;
    MST_TRY(mst_transport_find(transport, &type));
    const size_t n = (size_t)size;
    bench_member *m = calloc(1, sizeof *m);
    const char **addresses = calloc(n, sizeof *addresses);
    int32_t *task = calloc(n, sizeof *task);
    mst_shards *window = calloc(n, sizeof *window);
    mst_status status = m && addresses && task && window ? MST_OK : MST_FAIL(MST_OUT_OF_MEMORY, "no memory");
    for (int32_t i = 0; i < size && !status; i++) {
        addresses[i] = address[i];
        task[i] = i;
        window[i] = (mst_shards){i, 1};
    }
    if (!status) {
        m->type = type;
        status = open_member(m, self, size, addresses, task, window);
    }
    free(addresses);
    free(task);
    free(window);
    if (status)
        bench_member_close(m);
    else
        *out = m;
    return status;
}

void bench_member_close(bench_member *m) {
    if (!m) return;
    mst_exchange_destroy(m->exchange);
    mst_group_destroy(m->group);
    if (m->transport && m->type->leave) m->type->leave(m->transport);
    if (m->transport) m->type->close(m->transport, 1);
    free(m);
}

mst_status bench_member_exchange(bench_member *m, int64_t num_runs, double *seconds) {
    double began = 0;
    for (int64_t i = 0; i < WARM_UP + num_runs; i++) {
        if (i == WARM_UP) began = mst_clock_seconds();
        mst_exchange_start(m->exchange, mst_group_next_run(m->group));
        MST_TRY(mst_exchange_wait(m->exchange, mst_clock_after(MOST_SECONDS)));
    }
    *seconds = (mst_clock_seconds() - began) / (double)num_runs;
    return MST_OK;
}

/* ---- cores ---- */

static cpu_set_t all_cores;

void bench_take_core(int number) {
    cpu_set_t own;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof all_cores, &all_cores)) CPU_ZERO(&all_cores);
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &all_cores) && number-- == 0) CPU_SET(core, &own);
    if (CPU_COUNT(&own)) sched_setaffinity(0, sizeof own, &own);
}

void bench_leave_core(void) {
    if (CPU_COUNT(&all_cores)) sched_setaffinity(0, sizeof all_cores, &all_cores);
}

/* ---- two processes ---- */

static mst_status run_member(const char *transport, int32_t self, char address[TASKS][32], int64_t num_runs,
                             double *seconds) {
    bench_member *m = NULL;
    bench_take_core(self);
    mst_status status = bench_member_open(transport, self, TASKS, address, &m);
    if (!status) status = bench_member_exchange(m, num_runs, seconds);
    bench_member_close(m);
    bench_leave_core();
    return status;
}

mst_status bench_all_reduce(const char *transport, int64_t num_runs, double *milliseconds) {
    char address[TASKS][32];
    double seconds = 0;
    int ended;
    for (int i = 0; i < TASKS; i++) bench_find_address(address[i]);
    const pid_t other = fork();
    if (other < 0) return MST_FAIL(MST_IO, "cannot start a process");
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(run_member(transport, 1, address, num_runs, &seconds) != MST_OK);
    }
    const mst_status status = run_member(transport, 0, address, num_runs, &seconds);
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
        if (i == WARM_UP) *milliseconds = -1000 * mst_clock_seconds();
        memcpy(to, from, BYTES);
        __asm__ volatile("" : : "r"(to) : "memory"); /* every copy is made */
    }
    *milliseconds = (*milliseconds + 1000 * mst_clock_seconds()) / (double)num_runs;
    const bool made = from && to;
    free(from);
    free(to);
    return made ? MST_OK : MST_FAIL(MST_OUT_OF_MEMORY, "no memory for copies");
}
