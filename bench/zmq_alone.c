#include "bench/zmq_alone.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "bench/all_reduce.h"

static struct {
    void *(*zmq_ctx_new)(void);
    void *(*zmq_socket)(void *context, int type);
    int (*zmq_bind)(void *socket, const char *endpoint);
    int (*zmq_connect)(void *socket, const char *endpoint);
    int (*zmq_send)(void *socket, const void *data, size_t size, int flags);
    int (*zmq_recv)(void *socket, void *data, size_t size, int flags);
} lib;

static mst_status load_zmq(void) {
    void *handle = dlopen("libzmq.so.5", RTLD_NOW);
    if (!handle) return MST_FAIL(MST_UNIMPLEMENTED, "libzmq.so.5 cannot be loaded");
#define LOAD(name)                                \
    *(void **)(&lib.name) = dlsym(handle, #name); \
    if (!lib.name) return MST_FAIL(MST_UNIMPLEMENTED, "libzmq has no %s", #name)
    LOAD(zmq_ctx_new);
    LOAD(zmq_socket);
    LOAD(zmq_bind);
    LOAD(zmq_connect);
    LOAD(zmq_send);
    LOAD(zmq_recv);
    return MST_OK;
}

static void *pair_socket(void) {
    enum { ZMQ_PAIR_TYPE = 0 };
    void *context = lib.zmq_ctx_new();
    return context ? lib.zmq_socket(context, ZMQ_PAIR_TYPE) : NULL;
}

static bool sends(const bench_zmq *z) {
    return lib.zmq_send(z->socket, z->message, z->bytes, 0) == (int)z->bytes;
}

static bool receives(const bench_zmq *z) {
    return lib.zmq_recv(z->socket, z->message, z->bytes, 0) == (int)z->bytes;
}

/* The other process, until it is killed. */
static void answer(bench_zmq *z, bool at_once, const char *endpoint) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (at_once) bench_take_core(1);
    z->socket = pair_socket();
    if (!z->socket || lib.zmq_bind(z->socket, endpoint)) _exit(1);
    while (at_once ? sends(z) && receives(z) : receives(z) && sends(z)) continue;
    _exit(1);
}

mst_status bench_zmq_start(size_t bytes, bool at_once, bench_zmq *z) {
    char address[32], endpoint[64];
    *z = (bench_zmq){.bytes = bytes, .at_once = at_once};
    MST_TRY(load_zmq());
    bench_find_address(address);
    snprintf(endpoint, sizeof endpoint, "tcp://%s", address);
    z->message = calloc(1, bytes);
    if (!z->message) return MST_NO_MEMORY("for a message");
    z->other = fork();
    if (z->other < 0) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a process");
    if (z->other == 0) answer(z, at_once, endpoint);
    if (at_once) bench_take_core(0);
    z->socket = pair_socket();
    if (!z->socket || lib.zmq_connect(z->socket, endpoint)) return MST_FAIL(MST_UNAVAILABLE, "no connection by ZeroMQ");
    return bench_zmq_exchange(z);
}

mst_status bench_zmq_exchange(bench_zmq *z) {
    return sends(z) && receives(z) ? MST_OK : MST_FAIL(MST_UNAVAILABLE, "the process that answers is gone");
}

void bench_zmq_stop(bench_zmq *z) {
    if (z->at_once) bench_leave_core();
    if (z->other > 0) kill(z->other, SIGKILL);
    if (z->other > 0) waitpid(z->other, NULL, 0);
    free(z->message);
}
