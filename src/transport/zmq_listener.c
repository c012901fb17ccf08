#include "transport/zmq_listener.h"

#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "base/clock.h"
#include "transport/zmq_arrival.h"
#include "transport/zmq_authenticator.h"
#include "transport/zmq_broken.h"
#include "transport/zmq_curve.h"
#include "transport/zmq_fit.h"
#include "transport/zmq_pending.h"
#include "transport/zmq_socket.h"
#include "transport/zmq_status_client.h"
#include "transport/zmq_token.h"

/* Least time given to two tasks to connect in both directions, in nanoseconds. */
static const int64_t LEAST_ONE_WAY = 2000000000;

bool mst_zmq_listen(mst_transport *t) {
    if (!(t->context = zmq_ctx_new())) return false;
    /* of each task: the DEALER and the two ends of its monitor */
    zmq_ctx_set(t->context, ZMQ_MAX_SOCKETS, 3 * t->options.num_tasks + 16);
    if (!(t->router = zmq_socket(t->context, ZMQ_ROUTER))) return false;
    mst_zmq_set_options(t, t->router);
    mst_zmq_set_int(t->router, ZMQ_SNDHWM, 0);
    mst_zmq_set_int(t->router, ZMQ_ROUTER_MANDATORY, 1);
    mst_zmq_set_int(t->router, ZMQ_ROUTER_HANDOVER, 1);
    mst_zmq_set_int(t->router, ZMQ_IPV6, strchr(t->listen, '[') != NULL);
    if ((t->options.has_keys || t->options.has_token) && !mst_zmq_authenticator_open(t)) return false;
    if (t->options.has_keys && !mst_zmq_curve_listen(t)) return false;
    if (t->options.has_token && !mst_zmq_token_listen(t)) return false;
    /* Without an authenticator libzmq takes any bytes for the start of a message. If they are not one, it reports only
     * that the other side has gone. */
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

/* ---- tasks that connect ---- */

void mst_zmq_listener_refuse(mst_transport *t, mst_zmq_peer *p, mst_wire_kind kind, const char *why, int64_t now) {
    mst_zmq_send_kind(t, mst_zmq_router_route(t, p->id), p->task, kind, why);
    p->joined = false;
    mst_zmq_break(t, p, why, now);
}

void mst_zmq_listener_look_one_way(mst_transport *t, mst_zmq_peer *p, int64_t now, bool judge) {
    const int64_t timeout = mst_zmq_nanoseconds(t->options.timeout),
                  limit = timeout > LEAST_ONE_WAY ? timeout : LEAST_ONE_WAY;
    const bool is_one_way = p->joined && p->wanted && t->options.address[p->task] && p->state != MST_ZMQ_OPEN;
    char why[MST_ZMQ_WHY];
    if (!is_one_way || !p->one_way_since || !judge) p->one_way_since = is_one_way ? now : 0;
    if (!is_one_way || now - p->one_way_since <= limit) return;
    p->one_way = true;
    p->one_way_since = 0;
    mst_zmq_say_one_way(t, p, why);
    mst_zmq_listener_refuse(t, p, MST_WIRE_LIST_MISMATCH, why, now);
    mst_zmq_tell_refused(t, p, why);
    mst_event_thread_list_mismatch(t->events, p->task, why);
}

/* A second process has the peer's number. It tries again until the first process is lost, and then takes its place. If
 * the first process sends a sign of life after the arrival of the second, both are alive. Then the second is refused
 * finally. */
static void refuse_second(mst_transport *t, mst_zmq_peer *p, mst_zmq_arrival *a, int64_t now) {
    const uint64_t instance = a->message.instance;
    const mst_zmq_route back = mst_zmq_router_route(t, a->id);
    const int64_t beat = mst_zmq_nanoseconds(mst_zmq_beat_seconds(t));
    char why[MST_ZMQ_WHY];
    if (p->second != instance) {
        p->second = instance;
        p->second_came = now;
        p->told_second = false;
    }
    if (p->router_heard - p->second_came <= beat / 2) {
        snprintf(why, sizeof why, "task %d is connected to task %d from another process", p->task, t->options.self);
        mst_zmq_send_kind(t, back, p->task, MST_WIRE_REFUSE, why);
        return;
    }
    mst_zmq_send_kind(t, back, p->task, MST_WIRE_TAKEN, p->host);
    if (!p->told_second) mst_event_thread_taken(t->events, t->options.self, p->task, mst_zmq_arrival_host(a));
    p->told_second = true;
}

/* Tells the owner that the sender of M has another list of tasks than this task. SAID has the sender's address in that
 * list. If the address is not in this task's list, the owner is not told: the sender belongs to another job, and has
 * connected to this task by mistake. */
static void tell_list_mismatch(mst_transport *t, const mst_wire_header *m, const mst_zmq_said *said, const char *why) {
    const int32_t listed = mst_zmq_find_listed(t, said->address);
    /* the number in M is from the sender's lists */
    const int32_t number = mst_zmq_has_other_lists(t, said) ? listed : m->from;
    const bool is_number = number >= 0 && number < t->options.num_tasks && number != t->options.self;
    if (!is_number || listed < 0) return;
    mst_zmq_peer *p = &t->peers[number];
    if (p->list_mismatch == m->instance) return; /* the owner is told once, though the process tries again and again */
    p->list_mismatch = m->instance;
    mst_event_thread_list_mismatch(t->events, p->task, why);
}

static void take_hello(mst_transport *t, mst_zmq_arrival *a, int64_t now) {
    const mst_wire_header *m = &a->message;
    const mst_zmq_route back = mst_zmq_router_route(t, a->id);
    const char *listener = t->shm ? mst_shm_listener_name(t->shm) : "";
    char why[MST_ZMQ_WHY];
    mst_zmq_said said;
    mst_zmq_read_hello(a->data, a->bytes, &said);
    const bool fits = mst_zmq_may_join(t, m, &said, why);
    mst_zmq_peer *p = fits ? &t->peers[m->from] : NULL;
    if (m->from == t->options.self && m->to == m->from && m->instance != t->options.instance)
        mst_event_thread_taken(t->events, m->to, m->from, mst_zmq_arrival_host(a));
    if (p && p->one_way) mst_zmq_say_one_way(t, p, why);
    if (!fits) tell_list_mismatch(t, m, &said, why);
    if (!p || p->one_way) {
        mst_zmq_send_kind(t, back, m->from, MST_WIRE_LIST_MISMATCH, why);
        return;
    }
    if (p->joined && p->joined_instance != m->instance) {
        refuse_second(t, p, a, now);
        return;
    }
    if (p->joined) mst_zmq_break(t, p, "it has made a new connection", now);
    mst_zmq_expect_instance(t, p, m->instance, now);
    p->joined = true;
    p->joined_instance = m->instance;
    p->connection = a->connection;
    snprintf(p->host, sizeof p->host, "%s", mst_zmq_arrival_host(a));
    p->router_heard = now;
    memcpy(p->id, a->id, MST_ZMQ_ID);
    if (t->shm) mst_shm_expect(t->shm, p->task, m->instance);
    mst_zmq_send_kind(t, back, p->task, MST_WIRE_WELCOME, listener);
    mst_zmq_tell_connected(t, p, m->instance, now);
    mst_zmq_flush(t, p);
}

/* ---- messages ---- */

/* The peer whose present connection comes from the DEALER with this id; NULL: there is none. */
static mst_zmq_peer *find_joined(const mst_transport *t, const mst_zmq_arrival *a) {
    uint32_t task;
    memcpy(&task, a->id + 1, 4);
    mst_zmq_peer *p = task < (uint32_t)t->options.num_tasks ? &t->peers[task] : NULL;
    return p && p->joined && memcmp(p->id, a->id, MST_ZMQ_ID) == 0 ? p : NULL;
}

/* Ends the connection that the peer has made to this task. */
static void break_joined(mst_transport *t, mst_zmq_peer *p, int64_t now) {
    p->joined = false;
    mst_zmq_break(t, p, mst_zmq_closed_by_peer, now);
}

/* Whether the first message of a connection may be accepted: with a token, the sender must answer a challenge. */
static bool may_speak(mst_transport *t, mst_zmq_arrival *a) {
    if (!t->options.has_token) return true;
    const char *login = zmq_msg_gets(&a->frame[0], "User-Id");
    const mst_zmq_admission admission = mst_zmq_token_check(t, a->id, a->fd, login, &a->message, &a->data, &a->bytes);
    if (admission == MST_ZMQ_REJECTED) {
        mst_zmq_authenticator_unproved(t, mst_zmq_arrival_host(a));
        mst_zmq_send_kind(t, mst_zmq_router_route(t, a->id), a->message.from, MST_WIRE_REFUSE,
                          "it has not answered the challenge");
    }
    return admission == MST_ZMQ_ADMITTED;
}

static void take_first(mst_transport *t, mst_zmq_arrival *a, int64_t now) {
    a->connection = mst_zmq_pending_identified(t, a->fd);
    if (a->message.kind == MST_WIRE_HELLO)
        take_hello(t, a, now);
    else
        mst_zmq_status_client_answer(t, a->id, a->connection, now);
}

/* Takes a message that has come by the connection that the peer has made. */
static void take_routed(mst_transport *t, mst_zmq_arrival *a, int64_t now) {
    const mst_wire_header *m = &a->message;
    if (!a->has_id) return; /* ids of another form come from programs that are not Muster */
    if (!a->wrong && (m->kind == MST_WIRE_HELLO || m->kind == MST_WIRE_ASK)) {
        if (may_speak(t, a)) take_first(t, a, now);
        return;
    }
    mst_zmq_peer *p = find_joined(t, a);
    const char *why = a->wrong ? a->wrong : p ? NULL : "this connection was given up";
    if (!why && (m->from != p->task || m->to != t->options.self || m->instance != p->joined_instance))
        why = "its messages are of another task than it said";
    if (p) p->router_heard = now;
    if (!why) why = mst_zmq_arrival_deliver(t, p, a);
    if (p && why)
        mst_zmq_listener_refuse(t, p, MST_WIRE_REFUSE, why, now);
    else if (why)
        mst_zmq_send_kind(t, mst_zmq_router_route(t, a->id), 0, MST_WIRE_REFUSE, why);
    else if (m->kind == MST_WIRE_BYE) {
        mst_zmq_take_bye(t, p, mst_zmq_router_route(t, p->id));
        break_joined(t, p, now);
    }
}

static void end_broken(mst_transport *t, const mst_zmq_broken *b, int64_t now) {
    const char *pending = mst_zmq_pending_remove(t, b->connection, b->handshake_end != 0);
    if (pending) mst_zmq_authenticator_failed(t, pending, b->handshake_end, b->error);
    mst_zmq_status_client_left(t, b->connection);
    for (int32_t k = 0; k < t->options.num_tasks; k++)
        if (t->peers[k].joined && t->peers[k].connection.number == b->connection) break_joined(t, &t->peers[k], now);
}

void mst_zmq_listener_work(mst_transport *t, int64_t now) {
    int taken = 0;
    mst_zmq_arrival a;
    mst_zmq_broken_look(t);
    while (taken < MST_ZMQ_MOST_AT_ONCE && mst_zmq_arrival_take(t->router, true, &a)) {
        take_routed(t, &a, now);
        mst_zmq_arrival_end(&a);
        taken++;
    }
    t->more = taken == MST_ZMQ_MOST_AT_ONCE || t->num_broken == MST_ZMQ_BROKEN;
    for (int i = 0; i < t->num_broken; i++) end_broken(t, &t->broken[i], now);
    t->num_broken = 0;
}
