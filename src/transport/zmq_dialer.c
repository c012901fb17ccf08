#include "transport/zmq_dialer.h"

#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "base/clock.h"
#include "transport/zmq_arrival.h"
#include "transport/zmq_curve.h"
#include "transport/zmq_fit.h"
#include "transport/zmq_socket.h"
#include "transport/zmq_token.h"

static const int64_t LEAST_PAUSE = 100000000, MOST_PAUSE = 1000000000; /* nanoseconds between two tries */

/* ---- the socket ---- */

void mst_zmq_dialer_close(const mst_transport *t, mst_zmq_peer *p) {
    mst_zmq_close(t->sockets, p->dealer, p->monitor);
    p->dealer = p->monitor = NULL;
    p->login = (mst_zmq_login){.is_answered = false};
    p->state = MST_ZMQ_IDLE;
}

void mst_zmq_dialer_pause(const mst_transport *t, mst_zmq_peer *p, int64_t now) {
    const unsigned doublings = p->tries < 4 ? p->tries : 4;
    const int64_t pause = LEAST_PAUSE << doublings;
    mst_zmq_dialer_close(t, p);
    p->tries++;
    p->next_try = now + (pause < MOST_PAUSE ? pause : MOST_PAUSE);
}

/* Ends the connection with the peer, or the attempt to make it, because its socket can no longer be used. */
static void break_dealer(mst_transport *t, mst_zmq_peer *p, const char *why, int64_t now) {
    if (p->state == MST_ZMQ_OPEN)
        mst_zmq_break(t, p, why, now);
    else
        mst_zmq_dialer_pause(t, p, now);
}

static bool open_dealer(mst_transport *t, mst_zmq_peer *p, const char *numeric) {
    unsigned char id[MST_ZMQ_ID];
    char endpoint[MST_NUMERIC_SIZE + 16];
    const uint32_t number = t->num_sockets++, self = (uint32_t)t->options.self;
    if (!(p->dealer = zmq_socket(t->context, ZMQ_DEALER))) return false;
    id[0] = 'M';              /* ids made by libzmq begin with 0 */
    memcpy(id + 1, &self, 4); /* read by the listener of the peer */
    memcpy(id + 5, &number, 4);
    memcpy(id + 9, &t->options.instance, 8);
    mst_zmq_set_options(t, p->dealer);
    mst_zmq_set_int(p->dealer, ZMQ_SNDHWM, MST_ZMQ_FRAMES);
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

/* Takes the next step in making a connection to a peer for which there are messages. */
static void connect_dealer(mst_transport *t, mst_zmq_peer *p, int64_t now) {
    char numeric[MST_NUMERIC_SIZE], text[MST_ZMQ_SAID];
    if (p->state == MST_ZMQ_IDLE && now >= p->next_try) {
        p->resolving = mst_resolve_start(t->options.address[p->task], t->wake);
        p->state = MST_ZMQ_RESOLVING;
    }
    if (p->state == MST_ZMQ_CONNECTING && now >= p->next_try) {
        mst_zmq_connect_error_silent(&p->connect_error);
        mst_zmq_dialer_pause(t, p, now);
    }
    if (p->state != MST_ZMQ_RESOLVING) return;
    if (p->resolving && !mst_resolve_result(p->resolving, p->tries, numeric)) return;
    const bool found = p->resolving && numeric[0];
    if (p->resolving && !found)
        mst_zmq_connect_error_unresolved(&p->connect_error, t->options.address[p->task], mst_resolve_why(p->resolving));
    mst_resolve_end(p->resolving);
    p->resolving = NULL;
    if (!found || !open_dealer(t, p, numeric)) {
        mst_zmq_dialer_pause(t, p, now);
        return;
    }
    p->state = MST_ZMQ_CONNECTING;
    p->connect_error.reached = false;
    p->next_try = now + mst_zmq_nanoseconds(t->options.timeout);
    mst_zmq_say_hello(t, text);
    mst_zmq_send_kind(t, mst_zmq_dealer_route(p), p->task, MST_WIRE_HELLO, text);
}

/* ---- answers of the peer ---- */

/* Ends the attempt: the process that listens at the peer's address has not proved that it has the token. */
static void refuse_listener(mst_transport *t, mst_zmq_peer *p, int64_t now) {
    mst_zmq_tell_refused(t, p, mst_zmq_token_missing);
    mst_zmq_dialer_pause(t, p, now);
}

static bool answer_challenge(const mst_transport *t, mst_zmq_peer *p, const mst_zmq_arrival *a) {
    char text[MST_ZMQ_SAID];
    mst_zmq_say_hello(t, text);
    return mst_zmq_token_answer(&t->options.keys, &p->login, a->data, a->bytes, p->dealer,
                                mst_zmq_header_to(t, p->task, MST_WIRE_HELLO), text);
}

static void take_refusal(mst_transport *t, mst_zmq_peer *p, const mst_zmq_arrival *a, int64_t now) {
    char text[MST_ZMQ_WHY - 64], why[MST_ZMQ_WHY];
    const bool taken = a->message.kind == MST_WIRE_TAKEN, list_mismatch = a->message.kind == MST_WIRE_LIST_MISMATCH;
    snprintf(text, sizeof text, "%.*s", (int)(a->bytes < sizeof text ? a->bytes : sizeof text), a->data);
    snprintf(why, sizeof why, "refused by the peer: %s%s", taken ? "it is connected to another process at " : "", text);
    if (p->state != MST_ZMQ_OPEN) mst_zmq_tell_refused(t, p, why);
    if (p->state != MST_ZMQ_OPEN && taken) mst_event_thread_taken(t->events, p->task, t->options.self, text);
    break_dealer(t, p, why, now);
    /* the other process with this task's number has finally refused this one: no more tries, and the owner is told
     * once */
    if (list_mismatch && p->task == t->options.self) p->finished = true, p->wanted = false;
    if (list_mismatch) mst_event_thread_list_mismatch(t->events, p->task, text);
}

static void take_welcome(mst_transport *t, mst_zmq_peer *p, const mst_zmq_arrival *a, int64_t now) {
    const uint64_t instance = a->message.instance;
    if (p->state == MST_ZMQ_OPEN) return;
    mst_zmq_expect_instance(t, p, instance, now);
    p->state = MST_ZMQ_OPEN;
    p->tries = p->cut_short = 0;
    p->one_way = false;
    if (t->shm) mst_shm_connect(t->shm, p->task, instance, a->data, a->bytes);
    mst_zmq_tell_connected(t, p, instance, now);
    mst_zmq_flush(t, p);
}

/* Takes a message that has come by the connection that this task has made. */
static void take_answer(mst_transport *t, mst_zmq_peer *p, mst_zmq_arrival *a, int64_t now) {
    const mst_wire_header *m = &a->message;
    const char *why = a->wrong;
    p->dealer_heard = now;
    if (!why && m->kind != MST_WIRE_REFUSE && mst_zmq_token_is_awaited(&p->login)) {
        if (m->kind != MST_WIRE_CHALLENGE || !answer_challenge(t, p, a)) refuse_listener(t, p, now);
        return;
    }
    if (!why && (m->kind == MST_WIRE_REFUSE || m->kind == MST_WIRE_TAKEN || m->kind == MST_WIRE_LIST_MISMATCH)) {
        take_refusal(t, p, a, now);
        return;
    }
    if (!why && (m->from != p->task || m->to != t->options.self)) why = "what it answers is of another task";
    if (!why && m->kind == MST_WIRE_WELCOME) take_welcome(t, p, a, now);
    if (!why) why = mst_zmq_arrival_deliver(t, p, a);
    if (!why && m->kind == MST_WIRE_BYE) {
        mst_zmq_take_bye(t, p, mst_zmq_dealer_route(p));
        why = mst_zmq_closed_by_peer;
    }
    if (why) break_dealer(t, p, why, now);
}

/* ---- the end of a connection ---- */

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

/* An attempt to connect has ended with EVENT: tells the owner if the two tasks have different keys. A listener sends
 * nothing to a peer with another key, and ends the connection at once. A task that is being killed also ends a
 * connection at once, but not several times in a row. If the listener's process is stopped (SIGSTOP), the attempt lasts
 * for its whole time. */
static void judge_end(mst_transport *t, mst_zmq_peer *p, uint16_t event, int value, int64_t now) {
    enum { ENOUGH = 3 };
    const bool keys = t->options.has_keys, token = p->login.text[0];
    const bool early = p->next_try - now > mst_zmq_nanoseconds(t->options.timeout) / 2;
    const bool ended = event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL || event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    char endpoint[MST_NUMERIC_SIZE + 16] = "";
    size_t size = sizeof endpoint;
    if (!p->refused && zmq_getsockopt(p->dealer, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0)
        mst_zmq_connect_error_ended(&p->connect_error, endpoint);
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL && value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
        mst_zmq_tell_refused(t, p,
                             keys    ? "it has no cluster key" SAME_KEY
                             : token ? "it has a cluster key or --insecure, and this task has neither: " SAME_WAY
                                     : "it has a cluster key or a user's token, and this task has neither: " SAME_WAY);
    p->cut_short = ended && early ? p->cut_short + 1 : 0;
    if (p->cut_short == ENOUGH)
        mst_zmq_tell_refused(
            t, p,
            keys    ? "it ends all connections, as a task with a different cluster key or none does" SAME_KEY
            : token ? mst_zmq_token_missing
                    : "it ends all connections, as a task with a cluster key does" SAME_KEY);
}

void mst_zmq_dialer_work(mst_transport *t, mst_zmq_peer *p, int64_t now) {
    int value, taken = 0;
    uint16_t event;
    mst_zmq_arrival a;
    const bool broken = take_end(p, &event, &value);
    while (p->dealer && taken++ < MST_ZMQ_MOST_AT_ONCE && mst_zmq_arrival_take(p->dealer, false, &a)) {
        take_answer(t, p, &a, now);
        mst_zmq_arrival_end(&a);
    }
    if (broken && p->dealer) {
        if (p->state == MST_ZMQ_CONNECTING) judge_end(t, p, event, value, now);
        break_dealer(t, p, mst_zmq_closed_by_peer, now);
    }
    if (p->wanted && p->state != MST_ZMQ_OPEN && t->options.address[p->task]) connect_dealer(t, p, now);
    mst_zmq_flush(t, p);
}

int64_t mst_zmq_dialer_next(const mst_transport *t, const mst_zmq_peer *p) {
    const bool waits = p->wanted && t->options.address[p->task];
    return waits && (p->state == MST_ZMQ_IDLE || p->state == MST_ZMQ_CONNECTING) ? p->next_try : MST_NEVER;
}
