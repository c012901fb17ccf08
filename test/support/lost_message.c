#include "support/lost_message.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "transport/transport.h"

mst_status __real_mst_transport_find(const char *name, const mst_transport_type **out);
mst_status __wrap_mst_transport_find(const char *name, const mst_transport_type **out);

enum { TASKS = 8, STATES = 2 /* streams at the upper end, by which states are sent: task/task_join.c */ };

/* What lies between a task and its transport. */
typedef struct between {
    mst_transport_events events; /* of the task */
    _Atomic(mst_transport *) transport;
    _Atomic uint64_t instance[TASKS]; /* of the peers */
    _Atomic uint32_t last_stream;     /* of a step */
    _Atomic bool loses;
} between;

static between tasks[TASKS];
static const mst_transport_type *real;
static mst_transport_type wrapped;

/* ---- what the transport tells ---- */

static void on_control(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    between *b = context;
    atomic_store(&b->instance[from], instance);
    b->events.control(b->events.context, from, instance, data, bytes);
}

static void on_connected(void *context, int32_t task) {
    const between *b = context;
    b->events.connected(b->events.context, task);
}

static void on_lost(void *context, int32_t task, uint64_t instance, const char *why) {
    const between *b = context;
    b->events.lost(b->events.context, task, instance, why);
}

static void on_taken(void *context, int32_t by, int32_t task, const char *where) {
    const between *b = context;
    b->events.taken(b->events.context, by, task, where);
}

static void on_list_mismatch(void *context, int32_t task, const char *why) {
    const between *b = context;
    if (b->events.list_mismatch) b->events.list_mismatch(b->events.context, task, why);
}

static void on_stranger(void *context, const char *line) {
    const between *b = context;
    if (b->events.stranger) b->events.stranger(b->events.context, line);
}

static void on_mismatch(void *context, int32_t task, mst_key key, const char *why) {
    const between *b = context;
    b->events.mismatch(b->events.context, task, key, why);
}

/* ---- what the task calls ---- */

static mst_status open_between(const mst_transport_options *options, mst_transport **out) {
    if (options->self >= TASKS) return real->open(options, out);
    mst_transport_options o = *options;
    between *b = &tasks[o.self];
    b->events = o.events;
    o.events = (mst_transport_events){.context = b,
                                      .control = on_control,
                                      .connected = on_connected,
                                      .lost = on_lost,
                                      .taken = on_taken,
                                      .list_mismatch = on_list_mismatch,
                                      .stranger = on_stranger,
                                      .mismatch = on_mismatch};
    const mst_status status = real->open(&o, out);
    if (!status) atomic_store(&b->transport, *out);
    return status;
}

/* A message that is lost is waited for under a key that none has. */
static mst_status post(mst_transport *transport, int32_t from, mst_key key, void *into, size_t bytes,
                       mst_timeline *done) {
    for (int i = 0; i < TASKS && key.stream < UINT32_MAX - STATES; i++) {
        between *b = &tasks[i];
        if (atomic_load(&b->transport) != transport) continue;
        if (!atomic_load(&b->loses) && key.stream > atomic_load(&b->last_stream))
            atomic_store(&b->last_stream, key.stream);
        if (atomic_load(&b->loses) && key.stream == atomic_load(&b->last_stream)) key.run += UINT64_C(1) << 40;
    }
    return real->post(transport, from, key, into, bytes, done);
}

/* The first type that is looked for is the one that tasks use. */
mst_status __wrap_mst_transport_find(const char *name, const mst_transport_type **out) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const mst_status status = __real_mst_transport_find(name, out);
    if (status || *out == &mst_transport_inproc) return status;
    pthread_mutex_lock(&lock);
    if (!real) {
        real = *out;
        wrapped = *real;
        wrapped.open = open_between;
        wrapped.post = post;
    }
    if (*out == real) *out = &wrapped;
    pthread_mutex_unlock(&lock);
    return MST_OK;
}

/* ---- for the test ---- */

void lost_message_begin(int task) {
    atomic_store(&tasks[task].loses, true);
}

void lost_message_end(int task) {
    if (task < 0 || !atomic_exchange(&tasks[task].loses, false)) return;
    const between *b = &tasks[task];
    for (int i = 0; i < TASKS; i++)
        if (atomic_load(&b->instance[i])) {
            b->events.lost(b->events.context, i, atomic_load(&b->instance[i]), "connection cut by the test");
            b->events.connected(b->events.context, i);
        }
}
