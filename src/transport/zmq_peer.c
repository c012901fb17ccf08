#include "transport/zmq_peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/clock.h"
#include "base/escape.h"
#include "transport/zmq_authenticator.h"
#include "transport/zmq_broken.h"
#include "transport/zmq_curve.h"
#include "transport/zmq_fit.h"
#include "transport/zmq_pending.h"
#include "transport/zmq_socket.h"
#include "transport/zmq_status_client.h"
#include "transport/zmq_token.h"

enum {
    FRAMES = 8,       /* parts of one connection that may wait in libzmq, in each direction */
    MOST_AT_ONCE = 64 /* messages taken before the lock is released for other threads */
};
static const int64_t LEAST_ONE_WAY = 2000000000; /* least time given to two tasks to connect in both directions */
static const double MOST_BETWEEN_BEATS = 1;      /* seconds */
static const int64_t LEAST_PAUSE = 100000000, MOST_PAUSE = 1000000000; /* between two tries to connect */

static int64_t nanoseconds(double seconds) {
    return (int64_t)(seconds * 1e9);
}

static mst_wire_header message_to(const mst_transport *t, int32_t to, mst_wire_kind kind) {
    return (mst_wire_header){.kind = kind, .from = t->options.self, .to = to, .instance = t->options.instance};
}

static void send_text(const mst_transport *t, mst_zmq_route route, int32_t to, mst_wire_kind kind, const char *text) {
    mst_zmq_send_text(route, message_to(t, to, kind), text);
}

static mst_zmq_route dealer_route(const mst_zmq_peer *p) {
    return (mst_zmq_route){p->dealer, NULL};
}

static mst_zmq_route router_route(const mst_transport *t, const unsigned char *id) {
    return (mst_zmq_route){t->router, id};
}

/* The connection by which messages to the peer go now. */
static mst_zmq_route route_to(const mst_transport *t, const mst_zmq_peer *p) {
    if (!t->options.address[p->task]) return router_route(t, p->joined ? p->id : NULL);
    return p->state == MST_ZMQ_OPEN ? dealer_route(p) : (mst_zmq_route){NULL, NULL};
}

static bool has_route(const mst_transport *t, const mst_zmq_peer *p) {
    return t->options.address[p->task] ? p->state == MST_ZMQ_OPEN : p->joined;
}

/* ---- messages to the peer ---- */

static void pop(mst_zmq_peer *p) {
    mst_zmq_outgoing *o = p->first;
    p->first = o->next;
    if (!p->first) p->last = &p->first;
    mst_zmq_outgoing_leave(o);
}

void mst_zmq_flush(mst_transport *t, mst_zmq_peer *p) {
    if (!has_route(t, p)) return;
    const mst_zmq_route route = route_to(t, p);
    while (p->first && mst_zmq_outgoing_send(p->first, route)) pop(p);
}

void mst_zmq_drop(mst_transport *t, mst_zmq_peer *p, bool all) {
    mst_zmq_outgoing *o = p->first;
    p->first = NULL;
    p->last = &p->first;
    for (mst_zmq_outgoing *next; o; o = next) {
        next = o->next;
        o->next = NULL;
        const bool is_data = o->header.kind == MST_WIRE_DATA;
        if (all || (is_data && mst_mailbox_is_over(t->mailbox, o->header.key.generation))) {
            mst_zmq_outgoing_leave(o);
        } else {
            *p->last = o;
            p->last = &o->next;
        }
    }
}

/* ---- what the owner is told ---- */

static void tell_lost(mst_transport *t, mst_zmq_peer *p, const char *why) {
    char text[MST_ZMQ_WHY];
    if (!p->connected) return;
    p->connected = false;
    snprintf(text, sizeof text, "%s%s%s", why, p->doing[0] ? "; when last heard it " : "", p->doing);
    mst_event_thread_lost(t->events, p->task, p->instance, text);
}

/* A sign of life follows at once: it says what this task is doing. */
static void tell_connected(mst_transport *t, mst_zmq_peer *p, uint64_t instance, int64_t now) {
    p->refused = p->said_bye = p->finished = false;
    p->instance = instance;
    if (p->state == MST_ZMQ_OPEN) mst_zmq_connect_error_clear(&p->connect_error);
    if (p->connected) return;
    p->connected = true;
    p->doing[0] = '\0';
    t->next_beat = now;
    mst_event_thread_connected(t->events, p->task, instance);
}

/* A connection that did not exist yet was refused: reported once, as long as nothing changes. */
static void tell_refused(mst_transport *t, mst_zmq_peer *p, const char *why) {
    if (!p->connected && !p->refused) mst_event_thread_lost(t->events, p->task, 0, why);
    p->refused = true;
    mst_zmq_connect_error_refused(&p->connect_error, why);
}

/* ---- sockets ---- */

/* Options of both kinds of sockets. The signs of life of this file detect a silent peer (beat), and the limits of TCP
 * close the remains of its connections. The heartbeat of libzmq 4.3.4 is not used. If it is due after a connection has
 * broken that still has messages to read, an assertion in stream_engine_base.cpp ends this process. */
static void set_options(const mst_transport *t, void *socket) {
    const mst_open_options *o = &t->options;
    const int timeout = (int)(o->timeout * 1000); /* ms */
    const size_t most = o->most_control > MST_ZMQ_PART ? o->most_control : MST_ZMQ_PART;
    const int64_t most_bytes = (int64_t)most + MST_WIRE_HEADER_SIZE + (o->has_keys ? MST_ZMQ_CURVE_BYTES : 0);
    mst_zmq_set_int(socket, ZMQ_LINGER, 0);
    mst_zmq_set_int(socket, ZMQ_RCVHWM, FRAMES);
    mst_zmq_set_int(socket, ZMQ_HANDSHAKE_IVL, timeout);
    mst_zmq_set_int(socket, ZMQ_CONNECT_TIMEOUT, timeout);
    mst_zmq_set_int(socket, ZMQ_TCP_MAXRT, 2 * timeout); /* the beat reports the reason before that */
    mst_zmq_set_int(socket, ZMQ_TCP_KEEPALIVE, 1);
    mst_zmq_set_int(socket, ZMQ_TCP_KEEPALIVE_IDLE, (timeout + 999) / 1000);
    mst_zmq_set_int(socket, ZMQ_TCP_KEEPALIVE_INTVL, (timeout + 999) / 1000);
    mst_zmq_set_int(socket, ZMQ_TCP_KEEPALIVE_CNT, 3);
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
}

bool mst_zmq_listen(mst_transport *t) {
    if (!(t->context = zmq_ctx_new())) return false;
    zmq_ctx_set(t->context, ZMQ_MAX_SOCKETS, 3 * t->options.num_tasks + 16);
    if (!(t->router = zmq_socket(t->context, ZMQ_ROUTER))) return false;
    set_options(t, t->router);
    mst_zmq_set_int(t->router, ZMQ_SNDHWM, 0);
    mst_zmq_set_int(t->router, ZMQ_ROUTER_MANDATORY, 1);
    mst_zmq_set_int(t->router, ZMQ_ROUTER_HANDOVER, 1);
    mst_zmq_set_int(t->router, ZMQ_IPV6, strchr(t->listen, '[') != NULL);
    if ((t->options.has_keys || t->options.has_token) && !mst_zmq_authenticator_open(t)) return false;
    if (t->options.has_keys && !mst_zmq_curve_listen(t)) return false;
    if (t->options.has_token && !mst_zmq_token_listen(t)) return false;
    /* Without an authenticator libzmq takes any bytes for the start of a message, and reports them as a side that has
     * gone. */
    const int gone = t->authenticator ? ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL : 0;
    t->monitor = mst_zmq_monitor_open(t->context, t->num_sockets++, t->router,
                                      ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                                          ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | gone);
    if (!t->monitor || !mst_zmq_watch(t->sockets, t->router, t->monitor)) return false;
    if (t->authenticator && !mst_zmq_watch(t->sockets, t->authenticator, NULL)) return false;
    if (!t->options.only_connects && zmq_bind(t->router, t->listen) != 0) return false;
    t->logins.since = mst_clock_now(); /* after the bind: from now on nobody else can listen at this address */
    return true;
}

static void close_dealer(const mst_transport *t, mst_zmq_peer *p) {
    mst_zmq_close(t->sockets, p->dealer, p->monitor);
    p->dealer = p->monitor = NULL;
    p->login = (mst_zmq_login){.is_answered = false};
    p->state = MST_ZMQ_IDLE;
}

void mst_zmq_close_sockets(mst_transport *t) {
    for (int32_t i = 0; t->peers && i < t->options.num_tasks; i++) {
        close_dealer(t, &t->peers[i]);
        mst_zmq_connect_error_clear(&t->peers[i].connect_error);
    }
    mst_zmq_close(t->sockets, t->router, t->monitor);
    mst_zmq_close(t->sockets, t->authenticator, NULL);
    if (t->context) zmq_ctx_term(t->context);
}

/* The pause doubles from try to try, up to MOST_PAUSE. */
static void pause_dealer(const mst_transport *t, mst_zmq_peer *p, int64_t now) {
    const unsigned doublings = p->tries < 4 ? p->tries : 4;
    const int64_t pause = LEAST_PAUSE << doublings;
    close_dealer(t, p);
    p->tries++;
    p->next_try = now + (pause < MOST_PAUSE ? pause : MOST_PAUSE);
}

void mst_zmq_break(mst_transport *t, mst_zmq_peer *p, const char *why, int64_t now) {
    if (p->joined) send_text(t, router_route(t, p->id), p->task, MST_WIRE_REFUSE, "the other connection has broken");
    p->joined = false;
    if (p->state == MST_ZMQ_OPEN) pause_dealer(t, p, now);
    mst_zmq_drop(t, p, true);
    tell_lost(t, p, why);
}

/* The peer is now process INSTANCE: connections to an earlier process are of no use. */
static void expect_instance(mst_transport *t, mst_zmq_peer *p, uint64_t instance, int64_t now) {
    if (p->connected && p->instance != instance) mst_zmq_break(t, p, "another process has taken its place", now);
}

/* ---- the connection that this task makes ---- */

/* The socket of a connection, or of an attempt to connect, is of no use any more. */
static void break_dealer(mst_transport *t, mst_zmq_peer *p, const char *why, int64_t now) {
    if (p->state == MST_ZMQ_OPEN)
        mst_zmq_break(t, p, why, now);
    else
        pause_dealer(t, p, now);
}

static bool open_dealer(mst_transport *t, mst_zmq_peer *p, const char *numeric) {
    unsigned char id[MST_ZMQ_ID];
    char endpoint[MST_NUMERIC_SIZE + 16];
    const uint32_t number = t->num_sockets++, self = (uint32_t)t->options.self;
    if (!(p->dealer = zmq_socket(t->context, ZMQ_DEALER))) return false;
    id[0] = 'M'; /* ids made by libzmq begin with 0 */
    memcpy(id + 1, &self, 4);
    memcpy(id + 5, &number, 4);
    memcpy(id + 9, &t->options.instance, 8);
    set_options(t, p->dealer);
    mst_zmq_set_int(p->dealer, ZMQ_SNDHWM, FRAMES);
    mst_zmq_set_int(p->dealer, ZMQ_RECONNECT_IVL, -1);
    mst_zmq_set_int(p->dealer, ZMQ_IPV6, numeric[0] == '[');
    zmq_setsockopt(p->dealer, ZMQ_ROUTING_ID, id, sizeof id);
    if (t->options.has_keys && !mst_zmq_curve_connect(&t->options.keys, p->dealer)) return false;
    const bool shows = t->options.has_token && mst_endpoint_is_loopback(numeric);
    if (shows && !mst_zmq_token_connect(&t->options.keys, numeric, p->dealer, &p->login)) return false;
    p->monitor = mst_zmq_monitor_open(t->context, t->num_sockets++, p->dealer,
                                      ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED |
                                          ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                          ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
    snprintf(endpoint, sizeof endpoint, "tcp://%s", numeric);
    return p->monitor && mst_zmq_watch(t->sockets, p->dealer, p->monitor) && zmq_connect(p->dealer, endpoint) == 0;
}

/* Continues to make a connection that is wanted. */
static void connect_dealer(mst_transport *t, mst_zmq_peer *p, int64_t now) {
    char numeric[MST_NUMERIC_SIZE], text[MST_ZMQ_SAID];
    if (p->state == MST_ZMQ_IDLE && now >= p->next_try) {
        p->resolving = mst_resolve_start(t->options.address[p->task], t->wake);
        p->state = MST_ZMQ_RESOLVING;
    }
    if (p->state == MST_ZMQ_CONNECTING && now >= p->next_try) {
        mst_zmq_connect_error_silent(&p->connect_error);
        pause_dealer(t, p, now);
    }
    if (p->state != MST_ZMQ_RESOLVING) return;
    if (p->resolving && !mst_resolve_result(p->resolving, p->tries, numeric)) return;
    const bool found = p->resolving && numeric[0];
    if (p->resolving && !found)
        mst_zmq_connect_error_unresolved(&p->connect_error, t->options.address[p->task], mst_resolve_why(p->resolving));
    mst_resolve_end(p->resolving);
    p->resolving = NULL;
    if (!found || !open_dealer(t, p, numeric)) {
        pause_dealer(t, p, now);
        return;
    }
    p->state = MST_ZMQ_CONNECTING;
    p->connect_error.reached = false;
    p->next_try = now + nanoseconds(t->options.timeout);
    mst_zmq_say_hello(t, text);
    send_text(t, dealer_route(p), p->task, MST_WIRE_HELLO, text);
}

/* ---- the connection that the peer has made ---- */

/* A message that has arrived: a frame with the header; the bytes follow it, or are in a frame of their own. */
typedef struct arrival {
    unsigned char id[MST_ZMQ_ID]; /* of the DEALER that sent it to the ROUTER */
    bool has_id;
    int fd;                        /* of its connection, as in the events of libzmq's monitor */
    mst_zmq_connection connection; /* set for the first message of a connection */
    zmq_msg_t frame[2];
    int payload; /* index of the frame with the bytes */
    size_t skip; /* offset of the bytes in that frame */
    const unsigned char *data;
    size_t bytes;
    mst_wire_header message;
    const char *wrong; /* why the message cannot be read; NULL: it can */
} arrival;

/* Refuses the peer's connection. The peer learns why, and makes a new one. */
static void refuse_joined(mst_transport *t, mst_zmq_peer *p, mst_wire_kind kind, const char *why, int64_t now) {
    send_text(t, router_route(t, p->id), p->task, kind, why);
    p->joined = false;
    mst_zmq_break(t, p, why, now);
}

/* The peer connects to this task, but this task cannot connect to the peer although it has messages for it. As long as
 * that lasts, the peer is refused and told why: messages in one direction only are of no use. JUDGE: this task itself
 * was not stopped. */
static void look_one_way(mst_transport *t, mst_zmq_peer *p, int64_t now, bool judge) {
    const int64_t timeout = nanoseconds(t->options.timeout), limit = timeout > LEAST_ONE_WAY ? timeout : LEAST_ONE_WAY;
    const bool is_one_way = p->joined && p->wanted && t->options.address[p->task] && p->state != MST_ZMQ_OPEN;
    char why[MST_ZMQ_WHY];
    if (!is_one_way || !p->one_way_since || !judge) p->one_way_since = is_one_way ? now : 0;
    if (!is_one_way || now - p->one_way_since <= limit) return;
    p->one_way = true;
    p->one_way_since = 0;
    mst_zmq_say_one_way(t, p, why);
    refuse_joined(t, p, MST_WIRE_MISFIT, why, now);
    tell_refused(t, p, why);
    mst_event_thread_misfit(t->events, p->task, why);
}

/* Seconds between two signs of life. */
static double beat_seconds(const mst_transport *t) {
    const double quarter = t->options.timeout / 4;
    return quarter < MOST_BETWEEN_BEATS ? quarter : MOST_BETWEEN_BEATS;
}

/* The host from which a frame came, as libzmq has noted it in the frame. */
static const char *host_of(zmq_msg_t *frame) {
    const char *host = zmq_msg_gets(frame, "Peer-Address");
    return host ? host : "an unknown host";
}

/* A second process has the peer's number. It tries again until the first one is lost, and then takes its place. If a
 * sign of life of the first one comes that was sent after the second had come, the second is refused for good. */
static void refuse_second(mst_transport *t, mst_zmq_peer *p, const unsigned char *id, uint64_t instance,
                          zmq_msg_t *frame, int64_t now) {
    const int64_t beat = nanoseconds(beat_seconds(t));
    char why[MST_ZMQ_WHY];
    if (p->second != instance) {
        p->second = instance;
        p->second_came = now;
        p->told_second = false;
    }
    if (p->router_heard - p->second_came <= beat / 2) {
        snprintf(why, sizeof why, "task %d is connected to task %d from another process", p->task, t->options.self);
        send_text(t, router_route(t, id), p->task, MST_WIRE_REFUSE, why);
        return;
    }
    send_text(t, router_route(t, id), p->task, MST_WIRE_TAKEN, p->host);
    if (!p->told_second) mst_event_thread_taken(t->events, t->options.self, p->task, host_of(frame));
    p->told_second = true;
}

/* The sender of M has another list of tasks, in which it has the address in SAID. If this task's list does not have
 * that address, the sender belongs to another job and uses the address of this task by mistake: this task goes on. */
static void tell_misfit(mst_transport *t, const mst_wire_header *m, const mst_zmq_said *said, const char *why) {
    const int32_t listed = mst_zmq_find_listed(t, said->address);
    const int32_t number = mst_zmq_has_other_lists(t, said) ? listed : m->from; /* M's number is from its own lists */
    const bool is_number = number >= 0 && number < t->options.num_tasks && number != t->options.self;
    if (!is_number || listed < 0) return;
    mst_zmq_peer *p = &t->peers[number];
    if (p->misfit == m->instance) return; /* it tries again and again */
    p->misfit = m->instance;
    mst_event_thread_misfit(t->events, p->task, why);
}

static void take_hello(mst_transport *t, arrival *a, int64_t now) {
    const mst_wire_header *m = &a->message;
    const unsigned char *id = a->id;
    zmq_msg_t *frame = &a->frame[0];
    const char *listener = t->shm ? mst_shm_listener_name(t->shm) : "";
    char why[MST_ZMQ_WHY];
    mst_zmq_said said;
    mst_zmq_read_hello(a->data, a->bytes, &said);
    const bool fits = mst_zmq_may_join(t, m, &said, why);
    mst_zmq_peer *p = fits ? &t->peers[m->from] : NULL;
    if (m->from == t->options.self && m->to == m->from && m->instance != t->options.instance)
        mst_event_thread_taken(t->events, m->to, m->from, host_of(frame));
    if (p && p->one_way) mst_zmq_say_one_way(t, p, why);
    if (!fits) tell_misfit(t, m, &said, why);
    if (!p || p->one_way) {
        send_text(t, router_route(t, id), m->from, MST_WIRE_MISFIT, why);
        return;
    }
    if (p->joined && p->joined_instance != m->instance) {
        refuse_second(t, p, id, m->instance, frame, now);
        return;
    }
    if (p->joined) mst_zmq_break(t, p, "it has made a new connection", now);
    expect_instance(t, p, m->instance, now);
    p->joined = true;
    p->joined_instance = m->instance;
    p->connection = a->connection;
    snprintf(p->host, sizeof p->host, "%s", host_of(frame));
    p->router_heard = now;
    memcpy(p->id, id, MST_ZMQ_ID);
    if (t->shm) mst_shm_expect(t->shm, p->task, m->instance);
    send_text(t, router_route(t, id), p->task, MST_WIRE_WELCOME, listener);
    tell_connected(t, p, m->instance, now);
    mst_zmq_flush(t, p);
}

/* ---- messages of the peer ---- */

/* A frame that is kept until memory is posted for its bytes. */
typedef struct kept_frame {
    mst_kept_part kept;
    zmq_msg_t frame;
} kept_frame;

static void release_frame(mst_kept_part *kept) {
    kept_frame *k = (kept_frame *)kept;
    zmq_msg_close(&k->frame);
    free(k);
}

static mst_kept_part *keep_frame(void *source) {
    arrival *a = source;
    kept_frame *k = malloc(sizeof *k);
    if (!k) return NULL;
    zmq_msg_init(&k->frame);
    zmq_msg_move(&k->frame, &a->frame[a->payload]);
    const unsigned char *data = (unsigned char *)zmq_msg_data(&k->frame) + a->skip; /* short ones lie in the frame */
    k->kept = (mst_kept_part){.data = data, .release = release_frame};
    return &k->kept;
}

static bool receive_frame(void *socket, zmq_msg_t *frame) {
    return zmq_msg_recv(frame, socket, ZMQ_DONTWAIT) >= 0;
}

static void receive_id(void *socket, arrival *a, zmq_msg_t *frame) {
    a->has_id = zmq_msg_size(frame) == MST_ZMQ_ID;
    if (a->has_id) memcpy(a->id, zmq_msg_data(frame), MST_ZMQ_ID);
    if (!zmq_msg_more(frame) || !receive_frame(socket, frame)) a->wrong = "it sent an empty message";
}

/* Takes the next message; false if there is none. ROUTED: SOCKET is a ROUTER, which puts the sender's id before it. */
static bool receive(void *socket, bool routed, arrival *a) {
    zmq_msg_t *first = &a->frame[0], *second = &a->frame[1];
    *a = (arrival){.fd = -1};
    zmq_msg_init(first);
    zmq_msg_init(second);
    if (!receive_frame(socket, first)) return false;
    if (routed) receive_id(socket, a, first);
    a->fd = zmq_msg_get(first, ZMQ_SRCFD);
    const size_t size = zmq_msg_size(first);
    const bool apart = zmq_msg_more(first) && receive_frame(socket, second);
    const size_t header = size < MST_WIRE_HEADER_SIZE ? size : MST_WIRE_HEADER_SIZE;
    if (apart && size > header) a->wrong = "it sent a message in a wrong form";
    while (apart && zmq_msg_more(second) && receive_frame(socket, second))
        a->wrong = "it sent a message in a wrong form";
    a->payload = apart;
    a->skip = apart ? 0 : header;
    a->bytes = zmq_msg_size(&a->frame[a->payload]) - a->skip;
    a->data = (const unsigned char *)zmq_msg_data(&a->frame[a->payload]) + a->skip;
    if (!a->wrong) a->wrong = mst_wire_header_decode(zmq_msg_data(first), header, a->bytes, &a->message);
    return true;
}

static void arrival_end(arrival *a) {
    zmq_msg_close(&a->frame[0]);
    zmq_msg_close(&a->frame[1]);
}

/* A sign of life of the peer. */
static void take_alive(mst_zmq_peer *p, const arrival *a) {
    const size_t most = sizeof p->doing - 1, bytes = a->bytes < most ? a->bytes : most;
    if (bytes) memcpy(p->doing, a->data, bytes);
    p->doing[bytes] = '\0';
    mst_make_plain(p->doing);
}

/* Takes a control or data message, or a sign of life. Returns NULL, or why the connection to its sender must be given
 * up. */
static const char *take_payload(mst_transport *t, mst_zmq_peer *p, arrival *a) {
    const mst_wire_header *m = &a->message;
    if (m->kind == MST_WIRE_ALIVE) take_alive(p, a);
    if (m->kind == MST_WIRE_DATA) {
        const mst_mailbox_part part = {m->from, m->key, m->total, m->offset, a->bytes, a->data, NULL};
        return mst_mailbox_deliver(t->mailbox, &part, keep_frame, a);
    }
    if (m->kind != MST_WIRE_CONTROL) return NULL;
    if (a->bytes > t->options.most_control) return "its control message is longer than is allowed";
    if (mst_event_thread_control(t->events, m->from, m->instance, a->data, a->bytes)) return NULL;
    return "no memory for its control message";
}

/* The peer whose present connection comes from the DEALER with this id; NULL: there is none. */
static mst_zmq_peer *find_joined(const mst_transport *t, const arrival *a) {
    uint32_t task;
    memcpy(&task, a->id + 1, 4);
    mst_zmq_peer *p = task < (uint32_t)t->options.num_tasks ? &t->peers[task] : NULL;
    return p && p->joined && memcmp(p->id, a->id, MST_ZMQ_ID) == 0 ? p : NULL;
}

/* The peer closes its transport, or has seen that this one is closed. */
static void take_bye(mst_transport *t, mst_zmq_peer *p, mst_zmq_route back) {
    p->finished = true;
    if (!p->said_bye) send_text(t, back, p->task, MST_WIRE_BYE, "");
}

static const char closed_why[] = "connection closed by the peer";

/* The peer's connection to this task has ended. */
static void break_joined(mst_transport *t, mst_zmq_peer *p, int64_t now) {
    p->joined = false;
    mst_zmq_break(t, p, closed_why, now);
}

/* Whether the first message of a connection may be accepted: with a token, the sender must answer a challenge. */
static bool may_speak(mst_transport *t, arrival *a) {
    if (!t->options.has_token) return true;
    const char *login = zmq_msg_gets(&a->frame[0], "User-Id");
    const mst_zmq_admission admission = mst_zmq_token_check(t, a->id, a->fd, login, &a->message, &a->data, &a->bytes);
    if (admission == MST_ZMQ_REJECTED) {
        mst_zmq_authenticator_unproved(t, host_of(&a->frame[0]));
        send_text(t, router_route(t, a->id), a->message.from, MST_WIRE_REFUSE, "it has not answered the challenge");
    }
    return admission == MST_ZMQ_ADMITTED;
}

static void take_first(mst_transport *t, arrival *a, int64_t now) {
    a->connection = mst_zmq_pending_identified(t, a->fd);
    if (a->message.kind == MST_WIRE_HELLO)
        take_hello(t, a, now);
    else
        mst_zmq_status_client_answer(t, a->id, a->connection, now);
}

/* Takes a message that has come by the connection that the peer has made. */
static void take_routed(mst_transport *t, arrival *a, int64_t now) {
    const mst_wire_header *m = &a->message;
    if (!a->has_id) return; /* it comes from another program */
    if (!a->wrong && (m->kind == MST_WIRE_HELLO || m->kind == MST_WIRE_ASK)) {
        if (may_speak(t, a)) take_first(t, a, now);
        return;
    }
    mst_zmq_peer *p = find_joined(t, a);
    const char *why = a->wrong ? a->wrong : p ? NULL : "this connection was given up";
    if (!why && (m->from != p->task || m->to != t->options.self || m->instance != p->joined_instance))
        why = "its messages are of another task than it said";
    if (p) p->router_heard = now;
    if (!why) why = take_payload(t, p, a);
    if (p && why)
        refuse_joined(t, p, MST_WIRE_REFUSE, why, now);
    else if (why)
        send_text(t, router_route(t, a->id), 0, MST_WIRE_REFUSE, why);
    else if (m->kind == MST_WIRE_BYE) {
        take_bye(t, p, router_route(t, p->id));
        break_joined(t, p, now);
    }
}

/* The process that listens at the peer's address has not proved that it has the token. */
static void refuse_listener(mst_transport *t, mst_zmq_peer *p, int64_t now) {
    tell_refused(t, p, mst_zmq_token_missing);
    pause_dealer(t, p, now);
}

static bool answer_challenge(const mst_transport *t, mst_zmq_peer *p, const arrival *a) {
    char text[MST_ZMQ_SAID];
    mst_zmq_say_hello(t, text);
    return mst_zmq_token_answer(&t->options.keys, &p->login, a->data, a->bytes, p->dealer,
                                message_to(t, p->task, MST_WIRE_HELLO), text);
}

static void take_refusal(mst_transport *t, mst_zmq_peer *p, const arrival *a, int64_t now) {
    char text[MST_ZMQ_WHY - 64], why[MST_ZMQ_WHY];
    const bool taken = a->message.kind == MST_WIRE_TAKEN, misfit = a->message.kind == MST_WIRE_MISFIT;
    snprintf(text, sizeof text, "%.*s", (int)(a->bytes < sizeof text ? a->bytes : sizeof text), a->data);
    snprintf(why, sizeof why, "refused by the peer: %s%s", taken ? "it is connected to another process at " : "", text);
    if (p->state != MST_ZMQ_OPEN) tell_refused(t, p, why);
    if (p->state != MST_ZMQ_OPEN && taken) mst_event_thread_taken(t->events, p->task, t->options.self, text);
    break_dealer(t, p, why, now);
    if (misfit && p->task == t->options.self) p->finished = true, p->wanted = false; /* it is reported once */
    if (misfit) mst_event_thread_misfit(t->events, p->task, text);
}

static void take_welcome(mst_transport *t, mst_zmq_peer *p, const arrival *a, int64_t now) {
    const uint64_t instance = a->message.instance;
    if (p->state == MST_ZMQ_OPEN) return;
    expect_instance(t, p, instance, now);
    p->state = MST_ZMQ_OPEN;
    p->tries = p->cut_short = 0;
    p->one_way = false;
    if (t->shm) mst_shm_connect(t->shm, p->task, instance, a->data, a->bytes);
    tell_connected(t, p, instance, now);
    mst_zmq_flush(t, p);
}

/* Takes a message that has come by the connection that this task has made. */
static void take_answer(mst_transport *t, mst_zmq_peer *p, arrival *a, int64_t now) {
    const mst_wire_header *m = &a->message;
    const char *why = a->wrong;
    p->dealer_heard = now;
    if (!why && m->kind != MST_WIRE_REFUSE && mst_zmq_token_is_awaited(&p->login)) {
        if (m->kind != MST_WIRE_CHALLENGE || !answer_challenge(t, p, a)) refuse_listener(t, p, now);
        return;
    }
    if (!why && (m->kind == MST_WIRE_REFUSE || m->kind == MST_WIRE_TAKEN || m->kind == MST_WIRE_MISFIT)) {
        take_refusal(t, p, a, now);
        return;
    }
    if (!why && (m->from != p->task || m->to != t->options.self)) why = "what it answers is of another task";
    if (!why && m->kind == MST_WIRE_WELCOME) take_welcome(t, p, a, now);
    if (!why) why = take_payload(t, p, a);
    if (!why && m->kind == MST_WIRE_BYE) {
        take_bye(t, p, dealer_route(p));
        why = closed_why;
    }
    if (why) break_dealer(t, p, why, now);
}

/* ---- the thread's work ---- */

static void end_broken(mst_transport *t, const mst_zmq_broken *b, int64_t now) {
    const char *pending = mst_zmq_pending_ended(t, b->connection, b->handshake_end != 0);
    if (pending) mst_zmq_authenticator_failed(t, pending, b->handshake_end, b->error);
    mst_zmq_status_client_left(t, b->connection);
    for (int32_t k = 0; k < t->options.num_tasks; k++)
        if (t->peers[k].joined && t->peers[k].connection.number == b->connection) break_joined(t, &t->peers[k], now);
}

/* Messages that arrived before a connection broke are taken before the break: libzmq reports the break last. */
static void work_router(mst_transport *t, int64_t now) {
    int taken = 0;
    arrival a;
    mst_zmq_broken_look(t);
    while (taken < MOST_AT_ONCE && receive(t->router, true, &a)) {
        take_routed(t, &a, now);
        arrival_end(&a);
        taken++;
    }
    t->more = taken == MOST_AT_ONCE || t->num_broken == MST_ZMQ_BROKEN;
    for (int i = 0; i < t->num_broken; i++) end_broken(t, &t->broken[i], now);
    t->num_broken = 0;
}

#define SAME_KEY ": give all tasks the same --cluster-key FILE"
#define SAME_WAY "give all tasks the same --cluster-key FILE, or all of them --insecure, or none of them either"

/* Whether the connection of the peer's DEALER, or the attempt to make it, has ended, and with which EVENT. */
static bool take_end(mst_zmq_peer *p, uint16_t *event, int *value) {
    while (p->dealer && mst_zmq_monitor_take(p->monitor, event, value)) {
        if (*event != ZMQ_EVENT_CONNECTED) return true;
        p->connect_error.reached = true;
    }
    return false;
}

/* An attempt to connect has ended with EVENT: tells the owner if keys are the reason. A listener sends nothing to a
 * peer with another key, and ends the connection at once. A task that is killed also does so, but not several times in
 * a row. A task that is stopped lets the time run out. */
static void judge_end(mst_transport *t, mst_zmq_peer *p, uint16_t event, int value, int64_t now) {
    enum { ENOUGH = 3 };
    const bool keys = t->options.has_keys, token = p->login.text[0];
    const bool early = p->next_try - now > nanoseconds(t->options.timeout) / 2;
    const bool ended = event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL || event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    char endpoint[MST_NUMERIC_SIZE + 16] = "";
    size_t size = sizeof endpoint;
    if (!p->refused && zmq_getsockopt(p->dealer, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0)
        mst_zmq_connect_error_ended(&p->connect_error, endpoint);
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL && value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
        tell_refused(t, p,
                     keys    ? "it has no cluster key" SAME_KEY
                     : token ? "it has a cluster key or --insecure, and this task has neither: " SAME_WAY
                             : "it has a cluster key or a user's token, and this task has neither: " SAME_WAY);
    p->cut_short = ended && early ? p->cut_short + 1 : 0;
    if (p->cut_short == ENOUGH)
        tell_refused(t, p,
                     keys    ? "it ends all connections, as a task with a different cluster key or none does" SAME_KEY
                     : token ? mst_zmq_token_missing
                             : "it ends all connections, as a task with a cluster key does" SAME_KEY);
}

static void work_dealer(mst_transport *t, mst_zmq_peer *p, int64_t now) {
    int value, taken = 0;
    uint16_t event;
    arrival a;
    const bool broken = take_end(p, &event, &value);
    while (p->dealer && taken++ < MOST_AT_ONCE && receive(p->dealer, false, &a)) {
        take_answer(t, p, &a, now);
        arrival_end(&a);
    }
    if (broken && p->dealer) {
        if (p->state == MST_ZMQ_CONNECTING) judge_end(t, p, event, value, now);
        break_dealer(t, p, closed_why, now);
    }
    if (p->wanted && p->state != MST_ZMQ_OPEN && t->options.address[p->task]) connect_dealer(t, p, now);
    mst_zmq_flush(t, p);
}

/* Sends signs of life to the peer, and ends connections that have been silent. JUDGE: this task itself was not
 * stopped. */
static void beat(mst_transport *t, mst_zmq_peer *p, const char *doing, int64_t now, bool judge) {
    const int64_t timeout = nanoseconds(t->options.timeout);
    char why[MST_ZMQ_WHY];
    snprintf(why, sizeof why,
             "silent for %g s: its process is stopped, its machine is overloaded, or the network between is cut",
             t->options.timeout);
    if (p->state == MST_ZMQ_OPEN) {
        send_text(t, dealer_route(p), p->task, MST_WIRE_ALIVE, doing);
        if (judge && now - p->dealer_heard > timeout) mst_zmq_break(t, p, why, now);
    }
    if (p->joined) {
        send_text(t, router_route(t, p->id), p->task, MST_WIRE_ALIVE, doing);
        if (judge && now - p->router_heard > timeout) refuse_joined(t, p, MST_WIRE_REFUSE, why, now);
    }
    look_one_way(t, p, now, judge);
}

/* Says goodbye to a peer that has everything. Returns whether nothing more is to be done for it. That is so too for a
 * peer that was lost and has not come back, since it takes nothing any more. */
static bool say_bye(mst_transport *t, mst_zmq_peer *p) {
    const bool is_lost = p->instance && !p->connected;
    if (p->first || p->finished) return p->finished || is_lost;
    if (!has_route(t, p)) return true;
    if (!p->said_bye) send_text(t, route_to(t, p), p->task, MST_WIRE_BYE, "");
    p->said_bye = true;
    return false;
}

void mst_zmq_tell_connect_error(mst_transport *t, mst_zmq_peer *p, int64_t now, char *text) {
    static const int64_t WHILE = 1000000000;
    const bool is_late = p->state == MST_ZMQ_CONNECTING && now > p->next_try - nanoseconds(t->options.timeout) + WHILE;
    mst_zmq_connect_error_update(&p->connect_error);
    if (is_late && !p->refused) mst_zmq_connect_error_silent(&p->connect_error);
    snprintf(text, MST_TRANSPORT_DOING, "%s", p->connect_error.why);
}

/* The time of the next work for the peer, even if nothing arrives. */
static int64_t next_work(const mst_transport *t, const mst_zmq_peer *p) {
    const bool waits = p->wanted && t->options.address[p->task];
    return waits && (p->state == MST_ZMQ_IDLE || p->state == MST_ZMQ_CONNECTING) ? p->next_try : MST_NEVER;
}

int64_t mst_zmq_work(mst_transport *t, int64_t now) {
    const bool beats_now = now >= t->next_beat, late = now - t->next_beat > nanoseconds(t->options.timeout / 2);
    const mst_transport_report *report = &t->options.report;
    char doing[MST_TRANSPORT_DOING] = "";
    bool finished = true;
    work_router(t, now);
    if (t->authenticator && mst_zmq_authenticator_answer(t)) t->more = true;
    if (beats_now) t->next_beat = now + nanoseconds(beat_seconds(t));
    if (beats_now && report->doing) report->doing(report->context, doing);
    int64_t next = MST_NEVER;
    for (int32_t i = 0; i < t->options.num_tasks; i++) {
        mst_zmq_peer *p = &t->peers[i];
        work_dealer(t, p, now);
        if (beats_now) beat(t, p, doing, now, !late);
        if (t->closing) finished &= say_bye(t, p);
        if (p->dealer && mst_zmq_is_readable(p->dealer)) t->more = true;
        if (next_work(t, p) < next) next = next_work(t, p);
    }
    if (t->next_beat < next) next = t->next_beat;
    t->finished = t->closing && finished;
    if (t->finished) pthread_cond_broadcast(&t->changed);
    return t->more || mst_zmq_is_readable(t->router) ? now : next;
}
