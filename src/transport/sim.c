/* Everything that will happen is a packet in one queue, which is ordered by due time. A packet is a message that
 * arrives, a connection that is made, the news that a connection has broken, or the end of a cut. The thread of the
 * network waits for the first packet and carries it out. One lock guards everything.
 *
 * A connection has a number, which both ends keep. When the connection breaks, each end is told of it after a delay.
 * From then on that end has no connection, and packets that come for it are lost. The connection is made anew when both
 * ends have been told. */
#include "transport/sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/rng.h"
#include "base/thread.h"
#include "transport/mailbox.h"
#include "transport/open_options.h"
#include "transport/service_thread.h"
#include "transport/transport_row.h"

typedef enum packet_kind { CONTROL, DATA, MADE, BROKEN, CUT_ENDS } packet_kind;

typedef struct packet {
    struct packet *next;
    packet_kind kind;
    int64_t due;
    int32_t from, to;
    uint64_t connection;
    const char *why; /* BROKEN */
    mst_key key;     /* DATA */
    size_t bytes;
    unsigned char data[];
} packet;

/* A task's end of the connection with another one. */
typedef struct sim_peer {
    uint64_t connection; /* 0: none */
    uint64_t next;       /* number of the connection that is being made; 0: none is */
    uint64_t instance;   /* of the process at the other end */
    bool wanted;         /* something was to be sent to it */
    /* when the last control message, and the last message of any kind, arrive at the peer */
    int64_t control_due, last_due;
    packet *first, **last; /* messages that wait for a connection */
} sim_peer;

struct mst_transport {
    mst_transport *next;
    mst_open_options options;
    mst_event_thread *events;
    mst_mailbox *mailbox;
    bool killed;
    sim_peer *peer; /* [num_tasks] */
};

typedef struct fault {
    mst_sim_fault is;
    uint64_t sent; /* messages of its task so far */
    int64_t until; /* end of the cut; 0: it has not begun */
} fault;

static struct network {
    pthread_mutex_t lock; /* guards all members after it */
    pthread_cond_t changed;
    bool running;
    pthread_t thread;
    uint64_t seed, draws;
    double most_delay;
    fault fault[MST_SIM_FAULTS_MOST];
    int num_faults;
    mst_transport *open;
    packet *first; /* ordered by due time */
    uint64_t last_connection;
    uint64_t arrived, history;
} net = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the queue ---- */

static uint64_t sim_draw(uint64_t n) {
    return mst_rng_mix(net.seed, ++net.draws) % n;
}

/* Most delays are short, few are long. */
static int64_t sim_delay(void) {
    const double part = (double)(1 + sim_draw(1000)) / 1000;
    return (int64_t)(net.most_delay * part * part * part * 1e9);
}

/* Inserts P after the packets that are due at the same time. */
static void put(packet *p, int64_t due) {
    packet **at = &net.first;
    while (*at && (*at)->due <= due) at = &(*at)->next;
    p->due = due;
    p->next = *at;
    *at = p;
    pthread_cond_broadcast(&net.changed);
}

static packet *make_packet(packet what, const mst_iov *piece, int n) {
    size_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += piece[i].bytes;
    packet *p = malloc(sizeof *p + bytes);
    if (!p) return NULL;
    *p = what;
    for (int i = 0; i < n; i++) {
        if (piece[i].bytes) memcpy(p->data + p->bytes, piece[i].data, piece[i].bytes);
        p->bytes += piece[i].bytes;
    }
    return p;
}

/* Adds an event of the network itself. Without memory for it no test can go on. */
static void put_event(packet what, int64_t due) {
    packet *p = make_packet(what, NULL, 0);
    if (!p) abort();
    put(p, due);
}

/* ---- connections ---- */

/* Whether a cut holds up messages between A and B; *UNTIL: the time when the cut ends. */
static bool is_cut(int32_t a, int32_t b, int64_t *until) {
    *until = 0;
    for (const fault *f = net.fault; f < net.fault + net.num_faults; f++) {
        const bool between = (f->is.task == a && f->is.other == b) || (f->is.task == b && f->is.other == a);
        if (between && f->until > *until) *until = f->until;
    }
    return *until > mst_clock_now();
}

/* Whether T has messages for O, and has its address. */
static bool looks_for(const mst_transport *t, const mst_transport *o) {
    const int32_t to = o->options.self;
    const char *address = to < t->options.num_tasks ? t->options.address[to] : NULL;
    return address && t->peer[to].wanted && !o->options.only_connects && strcmp(address, o->options.listen) == 0;
}

static bool can_connect(const mst_transport *t, const mst_transport *o) {
    const int32_t a = t->options.self, b = o->options.self;
    if (t->killed || o->killed || a == b || b >= t->options.num_tasks || a >= o->options.num_tasks) return false;
    const sim_peer *p = &t->peer[b], *q = &o->peer[a];
    int64_t until;
    return !p->connection && !p->next && !q->connection && !q->next && !is_cut(a, b, &until) &&
           (looks_for(t, o) || looks_for(o, t));
}

/* Begins to connect T with all open transports, if either side wants it. */
static void connect_all(mst_transport *t) {
    for (mst_transport *o = net.open; o; o = o->next) {
        if (!can_connect(t, o)) continue;
        const int32_t a = t->options.self, b = o->options.self;
        t->peer[b].next = o->peer[a].next = ++net.last_connection;
        put_event((packet){.kind = MADE, .from = a, .to = b, .connection = net.last_connection},
                  mst_clock_now() + sim_delay());
    }
}

/* Returns the transport of TASK if it has CONNECTION with PEER. MADE: if that connection is being made instead. NULL:
 * the transport was closed, or was told that the connection has broken. */
static mst_transport *find_end(int32_t task, int32_t peer, uint64_t connection, bool made) {
    for (mst_transport *t = net.open; t; t = t->next) {
        if (t->options.self != task || peer >= t->options.num_tasks) continue;
        if ((made ? t->peer[peer].next : t->peer[peer].connection) == connection) return t;
    }
    return NULL;
}

/* Schedules the news for TASK that its connection has broken. */
static void tell_broken(int32_t task, int32_t peer, uint64_t connection, int64_t due, const char *why) {
    if (connection)
        put_event((packet){.kind = BROKEN, .from = peer, .to = task, .connection = connection, .why = why}, due);
}

/* Tells the owner of T that its connection with PEER has broken. */
static void hear_broken(mst_transport *t, int32_t peer, const char *why) {
    sim_peer *p = &t->peer[peer];
    if (p->connection) mst_event_thread_lost(t->events, peer, p->instance, why);
    p->connection = 0;
}

static void drop_waiting(sim_peer *p) {
    for (packet *w = p->first, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    p->first = NULL;
    p->last = &p->first;
}

/* ---- faults ---- */

static void sim_kill(mst_transport *t, bool silent) {
    t->killed = true;
    for (int32_t i = 0; i < t->options.num_tasks; i++) {
        const int64_t wait = silent ? (int64_t)(t->options.timeout * 1e9) : 0;
        tell_broken(i, t->options.self, t->peer[i].connection, mst_clock_now() + wait + sim_delay(),
                    silent ? "silent for longer than the timeout" : "connection closed by the peer");
        hear_broken(t, i, "this process was killed");
        drop_waiting(&t->peer[i]);
    }
}

/* Begins cut F between T and another task. A cut that is reported at once breaks the connection. A silent cut breaks it
 * only if it lasts longer than the timeout; a shorter one delays what is sent. */
static void begin_cut(mst_transport *t, fault *f) {
    const int32_t self = t->options.self, other = f->is.other;
    const uint64_t connection = t->peer[other].connection;
    const char *why = f->is.silent ? "silent for longer than the timeout" : "connection reset by the peer";
    const int64_t now = mst_clock_now(), wait = f->is.silent ? (int64_t)(t->options.timeout * 1e9) : 0;
    f->until = now + (int64_t)(f->is.seconds * 1e9);
    put_event((packet){.kind = CUT_ENDS}, f->until);
    if (now + wait > f->until) return;
    tell_broken(self, other, connection, now + wait + sim_delay(), why);
    tell_broken(other, self, connection, now + wait + sim_delay(), why);
}

/* Counts a message that T sends, and carries out the faults that are due with it. */
static void count_message(mst_transport *t) {
    for (fault *f = net.fault; f < net.fault + net.num_faults; f++) {
        if (f->is.task != t->options.self || t->killed || ++f->sent != f->is.at) continue;
        if (f->is.other < 0)
            sim_kill(t, f->is.silent);
        else if (f->is.other < t->options.num_tasks)
            begin_cut(t, f);
    }
}

/* ---- sending ---- */

static void put_on_way(sim_peer *p, packet *message) {
    int64_t due = mst_clock_now() + sim_delay();
    if (message->kind == CONTROL) {
        if (due < p->control_due) due = p->control_due;
        p->control_due = due;
    }
    if (due > p->last_due) p->last_due = due;
    message->connection = p->connection;
    put(message, due);
}

static mst_status send_packet(mst_transport *t, packet what, const mst_iov *piece, int n) {
    sim_peer *p = &t->peer[what.to];
    count_message(t);
    if (t->killed) return MST_OK;
    packet *message = make_packet(what, piece, n);
    if (!message) return MST_NO_MEMORY("for a message");
    p->wanted = true;
    if (p->connection) {
        put_on_way(p, message);
        return MST_OK;
    }
    message->next = NULL;
    *p->last = message;
    p->last = &message->next;
    connect_all(t);
    return MST_OK;
}

static mst_status sim_control(mst_transport *t, int32_t to, const void *data, size_t bytes) {
    MST_TRY(mst_check_control(&t->options, to, bytes));
    pthread_mutex_lock(&net.lock);
    const packet what = {.kind = CONTROL, .from = t->options.self, .to = to};
    const mst_status status = send_packet(t, what, &(mst_iov){data, bytes}, 1);
    pthread_mutex_unlock(&net.lock);
    return status;
}

static mst_status sim_send(mst_transport *t, int32_t to, mst_key key, const mst_iov *piece, int n, mst_timeline *done) {
    MST_TRY(mst_check_peer(&t->options, to));
    mst_status status = MST_OK;
    pthread_mutex_lock(&net.lock);
    if (!mst_mailbox_is_over(t->mailbox, key.generation))
        status = send_packet(t, (packet){.kind = DATA, .from = t->options.self, .to = to, .key = key}, piece, n);
    pthread_mutex_unlock(&net.lock);
    if (done && !status) mst_timeline_add(done, 1);
    return status;
}

static mst_status sim_post(mst_transport *t, int32_t from, mst_key key, void *into, size_t bytes, mst_timeline *done) {
    MST_TRY(mst_check_peer(&t->options, from));
    return mst_mailbox_post(t->mailbox, from, key, into, bytes, done);
}

/* ---- what happens, on the thread of the network ---- */

/* Returns why the sender must be given up, or NULL. */
static const char *hand_over(mst_transport *t, const packet *p) {
    if (p->kind == DATA) {
        const mst_mailbox_part part = {
            .from = p->from, .key = p->key, .total = p->bytes, .bytes = p->bytes, .data = p->data};
        return mst_mailbox_deliver(t->mailbox, &part, NULL, NULL);
    }
    if (p->bytes > t->options.most_control) return "its control message is longer than is allowed";
    const uint64_t instance = t->peer[p->from].instance;
    return mst_event_thread_control(t->events, p->from, instance, p->data, p->bytes) ? NULL : "no memory for a message";
}

static void arrive(const packet *p) {
    mst_transport *t = find_end(p->to, p->from, p->connection, false);
    if (!t) return;
    net.arrived++;
    net.history = mst_rng_mix(net.history, (uint64_t)p->due * 64 + (uint64_t)p->from * 8 + (uint64_t)p->to);
    const char *why = hand_over(t, p);
    if (!why) return;
    hear_broken(t, p->from, why);
    tell_broken(p->from, p->to, p->connection, mst_clock_now() + sim_delay(),
                "the peer has refused a message and closed the connection");
}

/* Connects T's end with O, and sends the messages that wait for O. */
static void open_end(mst_transport *t, const mst_transport *o, uint64_t connection) {
    sim_peer *p = &t->peer[o->options.self];
    p->connection = connection;
    p->instance = o->options.instance;
    mst_event_thread_connected(t->events, o->options.self, p->instance);
    for (packet *w = p->first, *next; w; w = next) {
        next = w->next;
        put_on_way(p, w);
    }
    p->first = NULL;
    p->last = &p->first;
}

static void make_connection(const packet *p) {
    mst_transport *a = find_end(p->from, p->to, p->connection, true);
    mst_transport *b = find_end(p->to, p->from, p->connection, true);
    int64_t until;
    if (a) a->peer[p->to].next = 0;
    if (b) b->peer[p->from].next = 0;
    if (a && b && !a->killed && !b->killed && !is_cut(p->from, p->to, &until)) {
        open_end(a, b, p->connection);
        open_end(b, a, p->connection);
    } else { /* an end is gone, or a cut has begun: tries to connect again, maybe with another process */
        if (a) connect_all(a);
        if (b) connect_all(b);
    }
}

/* Carries out P. False: the packet has been put back. */
static bool happen(packet *p) {
    int64_t until;
    const bool is_message = p->kind == CONTROL || p->kind == DATA;
    if (is_message && is_cut(p->from, p->to, &until)) {
        put(p, until);
        return false;
    }
    mst_transport *t = p->kind == BROKEN ? find_end(p->to, p->from, p->connection, false) : NULL;
    if (is_message) arrive(p);
    if (p->kind == MADE) make_connection(p);
    if (t) {
        hear_broken(t, p->from, p->why);
        connect_all(t);
    }
    for (t = net.open; t && p->kind == CUT_ENDS; t = t->next) connect_all(t);
    return true;
}

static void *run_network(void *context) {
    (void)context;
    pthread_mutex_lock(&net.lock);
    while (net.running) {
        packet *p = net.first;
        const int64_t left = p ? p->due - mst_clock_now() : MST_NEVER;
        const struct timespec until = mst_clock_timespec(p && left > 0 ? left : 0);
        if (!p) {
            pthread_cond_wait(&net.changed, &net.lock);
        } else if (left > 0) {
            pthread_cond_timedwait(&net.changed, &net.lock, &until);
        } else {
            net.first = p->next;
            if (happen(p)) free(p);
            pthread_cond_broadcast(&net.changed); /* closing waits for messages on their way */
        }
    }
    pthread_mutex_unlock(&net.lock);
    return NULL;
}

mst_status mst_sim_begin(const mst_sim_options *options) {
    const int n = options->num_faults < MST_SIM_FAULTS_MOST ? options->num_faults : MST_SIM_FAULTS_MOST;
    mst_condition_init(&net.changed);
    net.seed = options->seed;
    net.most_delay = options->most_delay;
    net.draws = net.last_connection = net.arrived = net.history = 0;
    net.num_faults = n;
    for (int i = 0; i < n; i++) net.fault[i] = (fault){.is = options->fault[i]};
    net.running = true;
    const mst_status status = mst_service_thread_start(run_network, NULL, &net.thread);
    if (status) net.running = false;
    return status;
}

void mst_sim_end(void) {
    pthread_mutex_lock(&net.lock);
    net.running = false;
    pthread_cond_broadcast(&net.changed);
    pthread_mutex_unlock(&net.lock);
    pthread_join(net.thread, NULL);
    for (packet *p = net.first, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    net.first = NULL;
    pthread_cond_destroy(&net.changed);
}

bool mst_sim_is_killed(int32_t task) {
    bool killed = false;
    pthread_mutex_lock(&net.lock);
    for (const mst_transport *t = net.open; t; t = t->next) killed |= t->options.self == task && t->killed;
    pthread_mutex_unlock(&net.lock);
    return killed;
}

uint64_t mst_sim_history(uint64_t *count) {
    pthread_mutex_lock(&net.lock);
    const uint64_t history = net.history;
    *count = net.arrived;
    pthread_mutex_unlock(&net.lock);
    return history;
}

/* ---- opening and closing ---- */

static void sim_begin(mst_transport *t, uint32_t generation) {
    mst_mailbox_begin(t->mailbox, generation);
}

static void sim_end(mst_transport *t) {
    mst_mailbox_end(t->mailbox);
}

static void sim_free(mst_transport *t) {
    mst_event_thread_stop(t->events);
    mst_mailbox_destroy(t->mailbox);
    for (int32_t i = 0; t->peer && i < t->options.num_tasks; i++) drop_waiting(&t->peer[i]);
    free(t->peer);
    mst_open_options_free(&t->options);
    free(t);
}

static mst_status make_sim(const mst_transport_options *options, mst_transport *t) {
    MST_TRY(mst_open_options_copy(options, &t->options));
    const int32_t num_tasks = t->options.num_tasks;
    if (!(t->peer = calloc((size_t)num_tasks, sizeof *t->peer))) return MST_NO_MEMORY("for %d tasks", num_tasks);
    for (int32_t i = 0; i < num_tasks; i++) t->peer[i].last = &t->peer[i].first;
    MST_TRY(mst_event_thread_start(&options->events, num_tasks, &t->events));
    return mst_mailbox_create(t->options.most_kept, t->events, &t->mailbox);
}

static mst_status listen_sim(mst_transport *t) {
    mst_status status = MST_OK;
    pthread_mutex_lock(&net.lock);
    if (!net.running) status = MST_FAIL(MST_UNAVAILABLE, "transport sim: no simulated network has begun");
    for (const mst_transport *o = net.open; o && !status && !t->options.only_connects; o = o->next)
        if (!o->options.only_connects && !o->killed && strcmp(o->options.listen, t->options.listen) == 0)
            status = MST_FAIL(MST_INVALID, "address '%s': task %d of this process listens there already",
                              t->options.listen, o->options.self);
    if (!status) {
        t->next = net.open;
        net.open = t;
        connect_all(t);
    }
    pthread_mutex_unlock(&net.lock);
    return status;
}

static mst_status sim_open(const mst_transport_options *options, mst_transport **out) {
    mst_transport *t = calloc(1, sizeof *t);
    if (!t) return MST_NO_MEMORY("for a transport");
    mst_status status = make_sim(options, t);
    if (!status) status = listen_sim(t);
    if (status)
        sim_free(t);
    else
        *out = t;
    return status;
}

/* Whether T has sent something that has not arrived yet. */
static bool has_unsent(const mst_transport *t) {
    for (int32_t i = 0; i < t->options.num_tasks; i++)
        if (t->peer[i].first) return true;
    for (const packet *p = net.first; p; p = p->next)
        if ((p->kind == CONTROL || p->kind == DATA) && p->from == t->options.self &&
            p->connection == t->peer[p->to].connection)
            return true;
    return false;
}

static void leave_network(mst_transport *t) {
    mst_transport **at = &net.open;
    while (*at != t) at = &(*at)->next;
    *at = t->next;
    for (int32_t i = 0; i < t->options.num_tasks; i++) {
        const int64_t soon = mst_clock_now() + sim_delay(), last = t->peer[i].last_due;
        tell_broken(i, t->options.self, t->peer[i].connection, soon > last ? soon : last,
                    "connection closed by the peer");
    }
}

static void sim_close(mst_transport *t, double seconds) {
    const int64_t deadline = mst_clock_after(seconds);
    pthread_mutex_lock(&net.lock);
    for (int64_t left; has_unsent(t) && (left = deadline - mst_clock_now()) > 0;) {
        const struct timespec until = mst_clock_timespec(left);
        pthread_cond_timedwait(&net.changed, &net.lock, &until);
    }
    leave_network(t);
    pthread_mutex_unlock(&net.lock);
    sim_free(t);
}

const mst_transport_type mst_transport_sim = {.size = sizeof(mst_transport_type),
                                              .name = "sim",
                                              .open = sim_open,
                                              .control = sim_control,
                                              .begin = sim_begin,
                                              .end = sim_end,
                                              .post = sim_post,
                                              .send = sim_send,
                                              .close = sim_close};

const mst_transport_row mst_transport_row_sim = {
    .name = "sim", .use = MST_TRANSPORT_FOR_TEST_TASKS, .type = &mst_transport_sim};
