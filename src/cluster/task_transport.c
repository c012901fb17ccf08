#include "cluster/task_transport.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cluster/task_log.h"
#include "cluster/task_report.h"
#include "transport/endpoint.h"
#include "transport/user_token.h"

static void say_of(const mst_task_transport *which, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say_of(const mst_task_transport *which, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(which->log, which->cluster, format, list);
    va_end(list);
}

/* ---- the name of this task ---- */

/* Resolves OWN, the address at which this task listens. In a container that has just been started, its name may not be
 * known yet. */
static mst_status look_up_own(const mst_task_transport *which, const char *own, char numeric[MST_NUMERIC_SIZE]) {
    static const struct timespec PAUSE = {.tv_nsec = 200000000};
    const int64_t deadline = mst_clock_after(which->name_seconds);
    bool is_said = false;
    MST_TRY(mst_endpoint_check(own));
    for (;;) {
        const mst_status status = mst_endpoint_resolve(own, numeric);
        if (!status || mst_clock_now() >= deadline || (which->stop && which->stop(which->context))) return status;
        if (!is_said) say_of(which, "%s; looks for it for %g s", mst_error()->message, which->name_seconds);
        is_said = true;
        nanosleep(&PAUSE, NULL);
    }
}

static size_t host_length(const char *address) {
    const char *colon = strrchr(address, ':');
    return colon ? (size_t)(colon - address) : 0;
}

/* Whether ADDRESS seems to be on another host than OWN: it names another host, and does not resolve to a loopback
 * address. */
static bool is_on_another_host(const char *own, const char *address) {
    char numeric[MST_NUMERIC_SIZE];
    const size_t length = host_length(own);
    if (host_length(address) == length && strncmp(address, own, length) == 0) return false;
    return mst_endpoint_resolve(address, numeric) || !mst_endpoint_is_loopback(numeric);
}

/* Refuses a name at which other hosts cannot reach this task. On a host itself its own name is often a loopback
 * address: Debian writes it so to /etc/hosts. A task that listens there would never be reached, and the others would
 * wait for it. */
static mst_status check_own_name(const mst_task_transport *which, const mst_transport_options *options) {
    const char *own = options->bind ? options->bind : options->address[options->self];
    char numeric[MST_NUMERIC_SIZE];
    if (options->only_connects || !own) return MST_OK;
    MST_TRY(look_up_own(which, own, numeric));
    if (options->bind || !mst_endpoint_is_loopback(numeric)) return MST_OK;
    for (int32_t i = 0; i < options->num_tasks; i++)
        if (i != options->self && options->address[i] && is_on_another_host(own, options->address[i]))
            return MST_FAIL(MST_INVALID,
                            "address '%s': on this host its name is %s, where tasks on other hosts, such as that at "
                            "'%s', cannot reach it: take the name out of the lines of 127.0.0.1 and 127.0.1.1 in "
                            "/etc/hosts, write the address in numbers, or say with --bind where to listen",
                            own, numeric, options->address[i]);
    return MST_OK;
}

/* ---- opening ---- */

/* Reads the key; without a key file, the token of the user, unless INSECURE. *HAS: whether KEYS is set. */
static mst_status read_keys(const char *key_file, bool insecure, mst_cluster_keys *keys, bool *has) {
    *has = key_file || !insecure;
    if (key_file) return mst_cluster_key_read(key_file, keys);
    return *has ? mst_user_token_read(keys) : MST_OK;
}

static mst_status open_type(const mst_task_transport *which, const mst_transport_options *options,
                            const mst_transport_type **type, mst_transport **out) {
    MST_TRY(mst_transport_find(which->name ? which->name : "shm", type));
    /* not for transports without addresses, which have no `ask` */
    if ((*type)->ask) MST_TRY(check_own_name(which, options));
    const mst_status status = (*type)->open(options, out);
    if (which->name || status != MST_UNAVAILABLE) return status;
    say_of(which, "data go over TCP: %s", mst_error()->message);
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

bool mst_task_transport_is_double(const mst_task_transport *which, const mst_transport_options *options) {
    static const double SECONDS = 0.5;
    const char *address = options->address[options->self];
    mst_transport_answer answer = {.data = NULL};
    mst_task_report report;
    if (!address || mst_tasks_ask(which->key_file, options->insecure, &address, 1, SECONDS, &answer)) return false;
    const bool runs =
        answer.data && !mst_task_report_decode(answer.data, answer.bytes, &report) && report.self == options->self;
    free(answer.data);
    return runs;
}

void mst_task_transport_tell(const mst_task_transport *which, const mst_transport_options *options, int32_t first,
                             int32_t end, bool is_double, const void *message, size_t bytes) {
    enum { SECONDS = 5 }; /* time for the others to come and to take the message */
    const bool is_plain = which->name && strcmp(which->name, "mpi") != 0;
    const mst_task_transport small = {.name = is_plain ? which->name : "zmq",
                                      .key_file = which->key_file,
                                      .log = which->log,
                                      .cluster = which->cluster};
    mst_transport_options own = *options;
    const mst_transport_type *type;
    mst_transport *transport;
    own.only_connects = true;
    own.events = (mst_transport_events){
        .control = drop_control, .connected = drop_connected, .lost = drop_lost, .mismatch = drop_mismatch};
    if (mst_task_transport_open(&small, &own, &type, &transport)) return;
    for (int32_t i = first; i < end; i++)
        if ((i != own.self || is_double) && type->control(transport, i, message, bytes)) break;
    type->close(transport, SECONDS);
}
