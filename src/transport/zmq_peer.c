#include "transport/zmq_peer.h"

#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "base/clock.h"
#include "transport/zmq_arrival.h"
#include "transport/zmq_authenticator.h"
#include "transport/zmq_curve.h"
#include "transport/zmq_dialer.h"
#include "transport/zmq_fit.h"
#include "transport/zmq_listener.h"
#include "transport/zmq_socket.h"

static const double MOST_BETWEEN_BEATS = 1; /* seconds */
const char mst_zmq_closed_by_peer[] = "connection closed by the peer";

int64_t mst_zmq_nanoseconds(double seconds) {
    return (int64_t)(seconds * 1e9);
}

mst_wire_header mst_zmq_header_to(const mst_transport *t, int32_t to, mst_wire_kind kind) {
    return (mst_wire_header){.kind = kind, .from = t->options.self, .to = to, .instance = t->options.instance};
}

void mst_zmq_send_kind(const mst_transport *t, mst_zmq_route route, int32_t to, mst_wire_kind kind, const char *text) {
    mst_zmq_send_text(route, mst_zmq_header_to(t, to, kind), text);
}

mst_zmq_route mst_zmq_dealer_route(const mst_zmq_peer *p) {
    return (mst_zmq_route){p->dealer, NULL};
}

mst_zmq_route mst_zmq_router_route(const mst_transport *t, const unsigned char *id) {
    return (mst_zmq_route){t->router, id};
}

/* The connection by which messages to the peer go now. */
static mst_zmq_route route_to(const mst_transport *t, const mst_zmq_peer *p) {
    if (!t->options.address[p->task]) return mst_zmq_router_route(t, p->joined ? p->id : NULL);
    return p->state == MST_ZMQ_OPEN ? mst_zmq_dealer_route(p) : (mst_zmq_route){NULL, NULL};
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

void mst_zmq_tell_connected(mst_transport *t, mst_zmq_peer *p, uint64_t instance, int64_t now) {
    p->refused = p->said_bye = p->finished = false;
    p->instance = instance;
    if (p->state == MST_ZMQ_OPEN) mst_zmq_connect_error_clear(&p->connect_error);
    if (p->connected) return;
    p->connected = true;
    p->doing[0] = '\0';
    t->next_beat = now;
    mst_event_thread_connected(t->events, p->task, instance);
}

void mst_zmq_tell_refused(mst_transport *t, mst_zmq_peer *p, const char *why) {
    if (!p->connected && !p->refused) mst_event_thread_lost(t->events, p->task, 0, why);
    p->refused = true;
    mst_zmq_connect_error_refused(&p->connect_error, why);
}

void mst_zmq_tell_connect_error(mst_transport *t, mst_zmq_peer *p, int64_t now, char *text) {
    static const int64_t WHILE = 1000000000; /* nanoseconds */
    const bool is_late =
        p->state == MST_ZMQ_CONNECTING && now > p->next_try - mst_zmq_nanoseconds(t->options.timeout) + WHILE;
    mst_zmq_connect_error_update(&p->connect_error);
    if (is_late && !p->refused) mst_zmq_connect_error_silent(&p->connect_error);
    snprintf(text, MST_TRANSPORT_DOING, "%s", p->connect_error.why);
}

/* ---- both connections ---- */

/* Options of both kinds of sockets. The signs of life of this file detect a silent peer (beat), and the limits of TCP
 * close the remains of its connections. The heartbeat of libzmq 4.3.4 is not used: it ends this process by an assertion
 * in stream_engine_base.cpp. That happens if a heartbeat is due on a broken connection that still has messages to
 * read. */
void mst_zmq_set_options(const mst_transport *t, void *socket) {
    const mst_open_options *o = &t->options;
    const int timeout = (int)(o->timeout * 1000); /* ms */
    const size_t most = o->most_control > MST_ZMQ_PART ? o->most_control : MST_ZMQ_PART;
    const int64_t most_bytes = (int64_t)most + MST_WIRE_HEADER_SIZE + (o->has_keys ? MST_ZMQ_CURVE_BYTES : 0);
    mst_zmq_set_int(socket, ZMQ_LINGER, 0);
    mst_zmq_set_int(socket, ZMQ_RCVHWM, MST_ZMQ_FRAMES);
    mst_zmq_set_int(socket, ZMQ_HANDSHAKE_IVL, timeout);
    mst_zmq_set_int(socket, ZMQ_CONNECT_TIMEOUT, timeout);
    /* longer than the timeout of the beat, which reports the reason first */
    mst_zmq_set_int(socket, ZMQ_TCP_MAXRT, 2 * timeout);
    mst_zmq_set_int(socket, ZMQ_TCP_KEEPALIVE, 1);
    mst_zmq_set_int(socket, ZMQ_TCP_KEEPALIVE_IDLE, (timeout + 999) / 1000);
    mst_zmq_set_int(socket, ZMQ_TCP_KEEPALIVE_INTVL, (timeout + 999) / 1000);
    mst_zmq_set_int(socket, ZMQ_TCP_KEEPALIVE_CNT, 3);
    zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
}

void mst_zmq_close_sockets(mst_transport *t) {
    for (int32_t i = 0; t->peers && i < t->options.num_tasks; i++) {
        mst_zmq_dialer_close(t, &t->peers[i]);
        mst_zmq_connect_error_clear(&t->peers[i].connect_error);
    }
    mst_zmq_close(t->sockets, t->router, t->monitor);
    mst_zmq_close(t->sockets, t->authenticator, NULL);
    if (t->context) zmq_ctx_term(t->context);
}

void mst_zmq_break(mst_transport *t, mst_zmq_peer *p, const char *why, int64_t now) {
    if (p->joined)
        mst_zmq_send_kind(t, mst_zmq_router_route(t, p->id), p->task, MST_WIRE_REFUSE,
                          "the other connection has broken");
    p->joined = false;
    if (p->state == MST_ZMQ_OPEN) mst_zmq_dialer_pause(t, p, now);
    mst_zmq_drop(t, p, true);
    tell_lost(t, p, why);
}

void mst_zmq_expect_instance(mst_transport *t, mst_zmq_peer *p, uint64_t instance, int64_t now) {
    if (p->connected && p->instance != instance) mst_zmq_break(t, p, "another process has taken its place", now);
}

void mst_zmq_take_bye(mst_transport *t, mst_zmq_peer *p, mst_zmq_route back) {
    p->finished = true;
    if (!p->said_bye) mst_zmq_send_kind(t, back, p->task, MST_WIRE_BYE, "");
}

/* ---- the thread's work ---- */

double mst_zmq_beat_seconds(const mst_transport *t) {
    const double quarter = t->options.timeout / 4;
    return quarter < MOST_BETWEEN_BEATS ? quarter : MOST_BETWEEN_BEATS;
}

/* Sends signs of life to the peer. If JUDGE, also ends connections that have been silent. JUDGE is false if this task
 * itself was stopped for a while: then messages of the peer may not have been read yet. */
static void beat(mst_transport *t, mst_zmq_peer *p, const char *doing, int64_t now, bool judge) {
    const int64_t timeout = mst_zmq_nanoseconds(t->options.timeout);
    char why[MST_ZMQ_WHY];
    snprintf(why, sizeof why,
             "silent for %g s: its process is stopped, its machine is overloaded, or the network between is cut",
             t->options.timeout);
    if (p->state == MST_ZMQ_OPEN) {
        mst_zmq_send_kind(t, mst_zmq_dealer_route(p), p->task, MST_WIRE_ALIVE, doing);
        if (judge && now - p->dealer_heard > timeout) mst_zmq_break(t, p, why, now);
    }
    if (p->joined) {
        mst_zmq_send_kind(t, mst_zmq_router_route(t, p->id), p->task, MST_WIRE_ALIVE, doing);
        if (judge && now - p->router_heard > timeout) mst_zmq_listener_refuse(t, p, MST_WIRE_REFUSE, why, now);
    }
    mst_zmq_listener_look_one_way(t, p, now, judge);
}

/* Says goodbye to a peer that has got all messages. Returns whether nothing more is to be done for the peer. True also
 * for a peer that was lost and has not come back: it takes nothing any more. */
static bool say_bye(mst_transport *t, mst_zmq_peer *p) {
    const bool is_lost = p->instance && !p->connected;
    if (p->first || p->finished) return p->finished || is_lost;
    if (!has_route(t, p)) return true;
    if (!p->said_bye) mst_zmq_send_kind(t, route_to(t, p), p->task, MST_WIRE_BYE, "");
    p->said_bye = true;
    return false;
}

int64_t mst_zmq_work(mst_transport *t, int64_t now) {
    const bool beats_now = now >= t->next_beat, late = now - t->next_beat > mst_zmq_nanoseconds(t->options.timeout / 2);
    const mst_transport_report *report = &t->options.report;
    char doing[MST_TRANSPORT_DOING] = "";
    bool finished = true;
    mst_zmq_listener_work(t, now);
    if (t->authenticator && mst_zmq_authenticator_answer(t)) t->more = true;
    if (beats_now) t->next_beat = now + mst_zmq_nanoseconds(mst_zmq_beat_seconds(t));
    if (beats_now && report->doing) report->doing(report->context, doing);
    int64_t next = MST_NEVER;
    for (int32_t i = 0; i < t->options.num_tasks; i++) {
        mst_zmq_peer *p = &t->peers[i];
        mst_zmq_dialer_work(t, p, now);
        if (beats_now) beat(t, p, doing, now, !late);
        if (t->closing) finished &= say_bye(t, p);
        if (p->dealer && mst_zmq_is_readable(p->dealer)) t->more = true;
        if (mst_zmq_dialer_next(t, p) < next) next = mst_zmq_dialer_next(t, p);
    }
    if (t->next_beat < next) next = t->next_beat;
    t->finished = t->closing && finished;
    if (t->finished) pthread_cond_broadcast(&t->changed);
    return t->more || mst_zmq_is_readable(t->router) ? now : next;
}
