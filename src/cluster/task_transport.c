#include "cluster/task_transport.h"

#include <sodium.h>
#include <string.h>

#include "cluster/task_log.h"
#include "transport/user_token.h"

static void say_fallback(const mst_task_transport *which, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say_fallback(const mst_task_transport *which, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(which->log, which->cluster, format, list);
    va_end(list);
}

/* Where there is no key, the token of the user: *HAS. */
static mst_status read_keys(const char *key_file, bool insecure, mst_cluster_keys *keys, bool *has) {
    *has = key_file || !insecure;
    if (key_file) return mst_cluster_key_read(key_file, keys);
    return *has ? mst_user_token_read(keys) : MST_OK;
}

static mst_status open_type(const mst_task_transport *which, const mst_transport_options *options,
                            const mst_transport_type **type, mst_transport **out) {
    MST_TRY(mst_transport_find(which->name ? which->name : "shm", type));
    const mst_status status = (*type)->open(options, out);
    if (which->name || status != MST_UNAVAILABLE) return status;
    say_fallback(which, "data go over TCP: %s", mst_error()->message);
    MST_TRY(mst_transport_find("zmq", type));
    return (*type)->open(options, out);
}

mst_status mst_task_transport_open(const mst_task_transport *which, mst_transport_options *options,
                                   const mst_transport_type **type, mst_transport **out) {
    mst_cluster_keys keys;
    bool has;
    MST_TRY(read_keys(which->key_file, options->insecure, &keys, &has));
    options->keys = has ? &keys : NULL;
    const mst_status status = open_type(which, options, type, out);
    options->keys = NULL;
    sodium_memzero(&keys, sizeof keys);
    return status;
}

mst_status mst_tasks_ask(const char *key_file, bool insecure, const char *const *address, int n, double seconds,
                         mst_transport_answer *answer) {
    mst_cluster_keys keys;
    bool has;
    const mst_transport_type *type;
    if (sodium_init() < 0) return MST_FAIL(MST_IO, "the system gives no random numbers");
    MST_TRY(mst_transport_find("zmq", &type));
    MST_TRY(read_keys(key_file, insecure, &keys, &has));
    const mst_status status = type->ask(has ? &keys : NULL, address, n, seconds, answer);
    sodium_memzero(&keys, sizeof keys);
    return status;
}

/* ---- a task that cannot join ---- */

static void drop_control(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    (void)context, (void)from, (void)instance, (void)data, (void)bytes;
}

static void drop_connected(void *context, int32_t task) {
    (void)context, (void)task;
}

static void drop_lost(void *context, int32_t task, uint64_t instance, const char *why) {
    (void)context, (void)task, (void)instance, (void)why;
}

static void drop_mismatch(void *context, int32_t task, mst_key key, const char *why) {
    (void)context, (void)task, (void)key, (void)why;
}

void mst_task_transport_tell(const mst_task_transport *which, const mst_transport_options *options, int32_t first,
                             int32_t end, const void *message, size_t bytes) {
    enum { SECONDS = 5 }; /* for the others to be there and to take it */
    const bool is_plain = which->name && strcmp(which->name, "mpi") != 0;
    const mst_task_transport small = {is_plain ? which->name : "zmq", which->key_file, which->log, which->cluster};
    mst_transport_options own = *options;
    const mst_transport_type *type;
    mst_transport *transport;
    own.only_connects = true;
    own.events = (mst_transport_events){
        .control = drop_control, .connected = drop_connected, .lost = drop_lost, .mismatch = drop_mismatch};
    if (mst_task_transport_open(&small, &own, &type, &transport)) return;
    for (int32_t i = first; i < end; i++)
        if (i != own.self && type->control(transport, i, message, bytes)) break;
    type->close(transport, SECONDS);
}
