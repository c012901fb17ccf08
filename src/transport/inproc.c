/* Transports between threads of one process. One lock guards which transports are open and which are connected. Bytes
 * are copied outside the lock, by the thread that sends or posts. Meanwhile the receiving transport counts that thread
 * in `users`, so that its mailbox is not freed. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "transport/mailbox.h"
#include "transport/open_options.h"
#include "transport/transport_row.h"

/* A message for a peer that is not open yet. */
typedef struct waiting {
    struct waiting *next;
    bool is_control;
    mst_key key; /* of a data message */
    size_t bytes;
    unsigned char data[];
} waiting;

typedef struct peer {
    mst_transport *other; /* NULL: not connected */
    bool wanted;          /* something was to be sent to it */
    waiting *first, **last;
} peer;

struct mst_transport {
    mst_open_options options;
    mst_event_thread *events;
    mst_mailbox *mailbox;
    /* under the lock */
    mst_transport *next;
    int users; /* other threads that are copying into the mailbox */
    peer *peers;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* the number of users or of waiting messages has dropped */
static mst_transport *open_transports;

/* ---- delivering ---- */

/* Returns why the sender must be given up, or NULL. */
static const char *deliver_data(mst_transport *to, int32_t from, mst_key key, const mst_iov *piece, int n) {
    mst_mailbox_part part = {.from = from, .key = key};
    for (int i = 0; i < n; i++) part.total += piece[i].bytes;
    const char *why = part.total ? NULL : mst_mailbox_deliver(to->mailbox, &part, NULL, NULL);
    for (int i = 0; i < n && !why; i++) {
        part.data = piece[i].data;
        part.bytes = piece[i].bytes;
        if (part.bytes) why = mst_mailbox_deliver(to->mailbox, &part, NULL, NULL);
        part.offset += part.bytes;
    }
    return why;
}

static const char *deliver_control(mst_transport *to, const mst_transport *from, const void *data, size_t bytes) {
    if (bytes > to->options.most_control) return "its control message is longer than is allowed";
    if (mst_event_thread_control(to->events, from->options.self, from->options.instance, data, bytes)) return NULL;
    return "no memory for its control message";
}

/* ---- connections; all under the lock ---- */

static void tell_lost(mst_transport *t, const mst_transport *other, const char *why) {
    mst_event_thread_lost(t->events, other->options.self, other->options.instance, why);
}

static void tell_connected(mst_transport *a, mst_transport *b) {
    mst_event_thread_connected(a->events, b->options.self, b->options.instance);
    mst_event_thread_connected(b->events, a->options.self, a->options.instance);
}

/* TO refuses a message of FROM and breaks their connection, which is made again at once. */
static void inproc_break(mst_transport *to, mst_transport *from, const char *why) {
    tell_lost(to, from, why);
    tell_lost(from, to, "the peer has refused a message and closed the connection");
    tell_connected(to, from);
}

static void drop_first(peer *p) {
    waiting *w = p->first;
    p->first = w->next;
    if (!p->first) p->last = &p->first;
    free(w);
}

/* Delivers the messages that have waited for the connection. */
static void flush(mst_transport *from, mst_transport *to) {
    peer *p = &from->peers[to->options.self];
    while (p->first) {
        const waiting *w = p->first;
        const mst_iov piece = {w->data, w->bytes};
        const char *why = w->is_control ? deliver_control(to, from, w->data, w->bytes)
                                        : deliver_data(to, from->options.self, w->key, &piece, 1);
        drop_first(p);
        if (why) inproc_break(to, from, why);
    }
    pthread_cond_broadcast(&changed);
}

/* Whether T has messages for O, and has its address. */
static bool wants(const mst_transport *t, const mst_transport *o) {
    const int32_t to = o->options.self;
    const char *address = to < t->options.num_tasks ? t->options.address[to] : NULL;
    return address && t->peers[to].wanted && !o->options.only_connects && strcmp(address, o->options.listen) == 0;
}

/* Connects T with all open transports, if either side wants it. */
static void connect_wanted(mst_transport *t) {
    for (mst_transport *o = open_transports; o; o = o->next) {
        const bool can = o->options.self != t->options.self && o->options.self < t->options.num_tasks &&
                         t->options.self < o->options.num_tasks;
        if (!can || t->peers[o->options.self].other || o->peers[t->options.self].other) continue;
        if (!wants(t, o) && !wants(o, t)) continue;
        t->peers[o->options.self].other = o;
        o->peers[t->options.self].other = t;
        tell_connected(t, o);
        flush(t, o);
        flush(o, t);
    }
}

/* Returns the peer, after connecting to it if that is possible. */
static peer *inproc_peer(mst_transport *t, int32_t to) {
    peer *p = &t->peers[to];
    p->wanted = true;
    if (!p->other) connect_wanted(t);
    return p;
}

/* ---- the functions of the type ---- */

/* Keeps a message until the peer is connected. */
static mst_status keep_for_peer(peer *p, bool is_control, mst_key key, const mst_iov *piece, int n) {
    size_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += piece[i].bytes;
    waiting *w = malloc(sizeof *w + bytes);
    if (!w) return MST_NO_MEMORY("for a message");
    *w = (waiting){.is_control = is_control, .key = key};
    for (int i = 0; i < n; i++) {
        if (piece[i].bytes) memcpy(w->data + w->bytes, piece[i].data, piece[i].bytes);
        w->bytes += piece[i].bytes;
    }
    *p->last = w;
    p->last = &w->next;
    return MST_OK;
}

static mst_status inproc_control(mst_transport *t, int32_t to, const void *data, size_t bytes) {
    MST_TRY(mst_check_control(&t->options, to, bytes));
    mst_status status = MST_OK;
    pthread_mutex_lock(&lock);
    peer *p = inproc_peer(t, to);
    if (p->other) {
        const char *why = deliver_control(p->other, t, data, bytes);
        if (why) inproc_break(p->other, t, why);
    } else {
        status = keep_for_peer(p, true, (mst_key){0}, &(mst_iov){data, bytes}, 1);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static mst_status inproc_send(mst_transport *t, int32_t to, mst_key key, const mst_iov *piece, int n,
                              mst_timeline *done) {
    MST_TRY(mst_check_peer(&t->options, to));
    mst_status status = MST_OK;
    pthread_mutex_lock(&lock);
    const bool over = mst_mailbox_is_over(t->mailbox, key.generation);
    peer *p = inproc_peer(t, to);
    mst_transport *other = over ? NULL : p->other;
    if (other) {
        other->users++;
        pthread_mutex_unlock(&lock);
        const char *why = deliver_data(other, t->options.self, key, piece, n);
        pthread_mutex_lock(&lock);
        other->users--;
        pthread_cond_broadcast(&changed);
        if (why && p->other == other) inproc_break(other, t, why);
    } else if (!over) {
        status = keep_for_peer(p, false, key, piece, n);
    }
    pthread_mutex_unlock(&lock);
    if (done && !status) mst_timeline_add(done, 1);
    return status;
}

static mst_status inproc_post(mst_transport *t, int32_t from, mst_key key, void *into, size_t bytes,
                              mst_timeline *done) {
    MST_TRY(mst_check_peer(&t->options, from));
    return mst_mailbox_post(t->mailbox, from, key, into, bytes, done);
}

static void inproc_begin(mst_transport *t, uint32_t generation) {
    mst_mailbox_begin(t->mailbox, generation);
}

/* Drops data of ended generations that waits for peers. */
static void drop_over(mst_transport *t) {
    for (int32_t i = 0; i < t->options.num_tasks; i++) {
        peer *p = &t->peers[i];
        waiting *w = p->first;
        p->first = NULL;
        p->last = &p->first;
        for (waiting *next; w; w = next) {
            next = w->next;
            w->next = NULL;
            if (w->is_control || !mst_mailbox_is_over(t->mailbox, w->key.generation)) {
                *p->last = w;
                p->last = &w->next;
            } else {
                free(w);
            }
        }
    }
    pthread_cond_broadcast(&changed);
}

static void inproc_end(mst_transport *t) {
    mst_mailbox_end(t->mailbox);
    pthread_mutex_lock(&lock);
    drop_over(t);
    pthread_mutex_unlock(&lock);
}

static void inproc_free(mst_transport *t) {
    mst_event_thread_stop(t->events);
    mst_mailbox_destroy(t->mailbox);
    for (int32_t i = 0; t->peers && i < t->options.num_tasks; i++)
        while (t->peers[i].first) drop_first(&t->peers[i]);
    free(t->peers);
    mst_open_options_free(&t->options);
    free(t);
}

static mst_status make_inproc(const mst_transport_options *options, mst_transport *t) {
    MST_TRY(mst_open_options_copy(options, &t->options));
    const int32_t num_tasks = t->options.num_tasks;
    if (!(t->peers = calloc((size_t)num_tasks, sizeof *t->peers))) return MST_NO_MEMORY("for %d tasks", num_tasks);
    for (int32_t i = 0; i < num_tasks; i++) t->peers[i].last = &t->peers[i].first;
    MST_TRY(mst_event_thread_start(&options->events, num_tasks, &t->events));
    return mst_mailbox_create(t->options.most_kept, t->events, &t->mailbox);
}

static mst_status listen_inproc(mst_transport *t) {
    mst_status status = MST_OK;
    pthread_mutex_lock(&lock);
    for (const mst_transport *o = open_transports; o && !status && !t->options.only_connects; o = o->next)
        if (!o->options.only_connects && strcmp(o->options.listen, t->options.listen) == 0)
            status = MST_FAIL(MST_INVALID, "address '%s': task %d of this process listens there already",
                              t->options.listen, o->options.self);
    if (!status) {
        t->next = open_transports;
        open_transports = t;
        connect_wanted(t);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static mst_status inproc_open(const mst_transport_options *options, mst_transport **out) {
    mst_transport *t = calloc(1, sizeof *t);
    if (!t) return MST_NO_MEMORY("for a transport");
    mst_status status = make_inproc(options, t);
    if (!status) status = listen_inproc(t);
    if (status)
        inproc_free(t);
    else
        *out = t;
    return status;
}

static bool has_waiting(const mst_transport *t) {
    for (int32_t i = 0; i < t->options.num_tasks; i++)
        if (t->peers[i].first) return true;
    return false;
}

/* Removes T from the list and from all connections. After the return no other transport refers to T, and no thread of
 * another transport uses it. */
static void leave_others(mst_transport *t) {
    mst_transport **at = &open_transports;
    while (*at != t) at = &(*at)->next;
    *at = t->next;
    for (int32_t i = 0; i < t->options.num_tasks; i++) {
        mst_transport *other = t->peers[i].other;
        if (!other) continue;
        other->peers[t->options.self].other = NULL;
        tell_lost(other, t, "connection closed by the peer");
    }
    while (t->users) pthread_cond_wait(&changed, &lock);
}

static void inproc_close(mst_transport *t, double seconds) {
    static const double MOST_SECONDS = 86400;
    const double limit = seconds < MOST_SECONDS ? seconds : MOST_SECONDS;
    const struct timespec until = mst_clock_timespec((int64_t)(limit * 1e9));
    pthread_mutex_lock(&lock);
    for (int late = 0; has_waiting(t) && !late;)
        late = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until);
    leave_others(t);
    pthread_mutex_unlock(&lock);
    inproc_free(t);
}

const mst_transport_type mst_transport_inproc = {.size = sizeof(mst_transport_type),
                                                 .name = "inproc",
                                                 .open = inproc_open,
                                                 .control = inproc_control,
                                                 .begin = inproc_begin,
                                                 .end = inproc_end,
                                                 .post = inproc_post,
                                                 .send = inproc_send,
                                                 .close = inproc_close};

const mst_transport_row mst_transport_row_inproc = {.name = "inproc", .type = &mst_transport_inproc};
