/* Each task that is asked has its own socket, which is used for one connection. If the connection cannot be made or
 * breaks, another one is tried, a few times. Everything runs on the caller's thread. */
#include "transport/zmq_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>
#include <zmq.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "transport/endpoint.h"
#include "transport/zmq_curve.h"
#include "transport/zmq_socket.h"
#include "transport/zmq_token.h"

enum { ENOUGH = 3 /* tries */, MOST_BYTES = 4 << 20, TICK = 50 /* ms */ };
static const int64_t PAUSE = 100000000; /* nanoseconds between two tries */

typedef struct asked {
    const char *address;
    mst_transport_answer *answer;
    mst_resolving *resolving;
    void *dealer, *monitor;
    mst_zmq_login login;
    unsigned tries;
    int64_t next_try;
    bool done;
} asked;

typedef struct asking {
    const mst_cluster_keys *keys;
    void *context;
    int wake; /* eventfd: a name was resolved */
    unsigned num_sockets;
    int n;
    asked *task;           /* [n] */
    zmq_pollitem_t *items; /* [2 n + 1] */
} asking;

static void give_up(asked *q, const char *why) {
    snprintf(q->answer->why, sizeof q->answer->why, "%s", why);
    q->done = true;
}

/* ---- connecting ---- */

static const mst_wire_header question = {.kind = MST_WIRE_ASK, .from = -1, .to = -1};

static bool open_socket(asking *a, asked *q, const char *numeric) {
    unsigned char id[MST_ZMQ_ID] = "V"; /* ids of tasks begin with "M" */
    char endpoint[MST_NUMERIC_SIZE + 16];
    const int64_t most = MOST_BYTES;
    if (getrandom(id + 1, sizeof id - 1, 0) != sizeof id - 1) return false;
    if (!(q->dealer = zmq_socket(a->context, ZMQ_DEALER))) return false;
    mst_zmq_set_int(q->dealer, ZMQ_LINGER, 0);
    mst_zmq_set_int(q->dealer, ZMQ_RECONNECT_IVL, -1);
    mst_zmq_set_int(q->dealer, ZMQ_IPV6, numeric[0] == '[');
    zmq_setsockopt(q->dealer, ZMQ_MAXMSGSIZE, &most, sizeof most);
    zmq_setsockopt(q->dealer, ZMQ_ROUTING_ID, id, sizeof id);
    const bool is_token = a->keys && a->keys->is_token, shows = is_token && mst_endpoint_is_loopback(numeric);
    q->login = (mst_zmq_login){.is_answered = false};
    if (a->keys && !is_token && !mst_zmq_curve_connect(a->keys, q->dealer)) return false;
    if (shows && !mst_zmq_token_connect(a->keys, numeric, q->dealer, &q->login)) return false;
    q->monitor = mst_zmq_monitor_open(a->context, a->num_sockets++, q->dealer,
                                      ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                          ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
    snprintf(endpoint, sizeof endpoint, "tcp://%s", numeric);
    return q->monitor && zmq_connect(q->dealer, endpoint) == 0;
}

static void close_asked(asked *q) {
    mst_zmq_close(-1, q->dealer, q->monitor);
    q->dealer = q->monitor = NULL;
}

static void connect_asked(asking *a, asked *q, int64_t now) {
    char numeric[MST_NUMERIC_SIZE];
    if (now < q->next_try) return;
    if (!q->resolving && !(q->resolving = mst_resolve_start(q->address, a->wake))) {
        give_up(q, "there is no memory or thread to look its name up");
        return;
    }
    if (!mst_resolve_result(q->resolving, q->tries, numeric)) return;
    if (!numeric[0]) {
        give_up(q, "its host is not known here");
    } else if (!open_socket(a, q, numeric)) {
        give_up(q, zmq_strerror(errno));
    } else {
        mst_zmq_send_text((mst_zmq_route){q->dealer, NULL}, question, "");
    }
}

/* ---- what arrives ---- */

/* Why a try has ended with EVENT. A task sends nothing to a caller with another key, and ends the connection. *FINAL:
 * another try would end in the same way. */
static const char *judge(const asking *a, const asked *q, uint16_t event, int value, bool *final) {
    const bool keys = a->keys && !a->keys->is_token, token = q->login.text[0];
    const bool is_other = event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
    *final = is_other;
    if (is_other && value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
        return keys    ? "it has no cluster key: leave --cluster-key out"
               : token ? "it has a cluster key or --insecure: give --cluster-key FILE or --insecure too"
                       : "it has a cluster key or a user's token: give --cluster-key FILE, or leave --insecure out";
    if (is_other) return "what listens there is not a Muster task";
    if (event == ZMQ_EVENT_CLOSED) return "nothing listens there";
    return keys
               ? "it ends all connections, as a task with a different cluster key or none does: give the --cluster-key "
                 "FILE of its tasks"
           : token ? mst_zmq_token_missing
                   : "it ends all connections, as a task with a cluster key does: give --cluster-key FILE";
}

static void end_try(const asking *a, asked *q, uint16_t event, int value, int64_t now) {
    bool final;
    const char *why = judge(a, q, event, value, &final);
    close_asked(q);
    q->next_try = now + PAUSE;
    snprintf(q->answer->why, sizeof q->answer->why, "%s", why);
    q->done = final || ++q->tries == ENOUGH;
}

/* Takes a frame, which is an answer or says why there is none. */
static void take_frame(const mst_cluster_keys *keys, asked *q, zmq_msg_t *frame) {
    const unsigned char *data = zmq_msg_data(frame);
    const size_t size = zmq_msg_size(frame), header = size < MST_WIRE_HEADER_SIZE ? size : MST_WIRE_HEADER_SIZE;
    const unsigned char *body = data + header;
    const size_t bytes = size - header;
    mst_transport_answer *answer = q->answer;
    mst_wire_header message;
    const char *why = mst_wire_header_decode(data, header, bytes, &message);
    const bool is_awaited = !why && message.kind != MST_WIRE_REFUSE && mst_zmq_token_is_awaited(&q->login);
    if (is_awaited && message.kind == MST_WIRE_CHALLENGE &&
        mst_zmq_token_answer(keys, &q->login, body, bytes, q->dealer, question, ""))
        return;
    q->done = true;
    if (why) {
        give_up(q, why);
    } else if (is_awaited) {
        give_up(q, mst_zmq_token_missing);
    } else if (message.kind == MST_WIRE_REPORT && bytes > 0) {
        if (!(answer->data = malloc(bytes))) {
            give_up(q, "there is no memory for its answer");
            return;
        }
        memcpy(answer->data, body, bytes);
        answer->bytes = bytes;
        answer->why[0] = '\0';
    } else if (message.kind == MST_WIRE_REFUSE) {
        const int most = (int)(bytes < sizeof answer->why / 2 ? bytes : sizeof answer->why / 2);
        snprintf(answer->why, sizeof answer->why, "it refuses: %.*s", most, body);
    } else {
        give_up(q, "it has sent what is no answer");
    }
}

static void work(asking *a, asked *q, int64_t now) {
    uint16_t event;
    int value;
    zmq_msg_t frame;
    if (q->done) return;
    if (!q->dealer) {
        connect_asked(a, q, now);
        return;
    }
    const bool ended = mst_zmq_monitor_take(q->monitor, &event, &value);
    zmq_msg_init(&frame);
    if (zmq_msg_recv(&frame, q->dealer, ZMQ_DONTWAIT) >= 0)
        take_frame(a->keys, q, &frame);
    else if (ended)
        end_try(a, q, event, value, now);
    zmq_msg_close(&frame);
}

/* ---- all tasks ---- */

static int collect_items(asking *a) {
    int count = 1;
    a->items[0] = (zmq_pollitem_t){.fd = a->wake, .events = ZMQ_POLLIN};
    for (int i = 0; i < a->n; i++) {
        if (!a->task[i].dealer) continue;
        a->items[count++] = (zmq_pollitem_t){.socket = a->task[i].dealer, .events = ZMQ_POLLIN};
        a->items[count++] = (zmq_pollitem_t){.socket = a->task[i].monitor, .events = ZMQ_POLLIN};
    }
    return count;
}

/* Returns whether some task has not answered yet. */
static bool work_all(asking *a) {
    bool left = false;
    for (int i = 0; i < a->n; i++) {
        work(a, &a->task[i], mst_clock_now());
        left |= !a->task[i].done;
    }
    return left;
}

static void ask_all(asking *a, double seconds) {
    const int64_t deadline = mst_clock_after(seconds);
    while (work_all(a) && mst_clock_now() < deadline) {
        uint64_t count;
        if (zmq_poll(a->items, collect_items(a), TICK) > 0 && (a->items[0].revents & ZMQ_POLLIN) &&
            read(a->wake, &count, sizeof count) < 0) {
            /* nothing to do: work_all() looks at all names anyway */
        }
    }
}

static mst_status open_asking(asking *a, const char *const *address, double seconds, mst_transport_answer *answer) {
    a->task = calloc((size_t)a->n + 1, sizeof *a->task);
    a->items = calloc(2 * (size_t)a->n + 1, sizeof *a->items);
    a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    a->context = zmq_ctx_new();
    if (!a->task || !a->items || a->wake < 0 || !a->context) return MST_NO_MEMORY("to ask %d tasks", a->n);
    /* of each task: the DEALER and the two ends of its monitor */
    zmq_ctx_set(a->context, ZMQ_MAX_SOCKETS, 3 * a->n + 16);
    for (int i = 0; i < a->n; i++) {
        answer[i] = (mst_transport_answer){.data = NULL};
        a->task[i] = (asked){.address = address[i], .answer = &answer[i]};
        if (address[i])
            snprintf(answer[i].why, sizeof answer[i].why, "no answer within %g s", seconds);
        else
            give_up(&a->task[i], "its address is not known");
    }
    return MST_OK;
}

mst_status mst_zmq_ask(const mst_cluster_keys *keys, const char *const *address, int n, double seconds,
                       mst_transport_answer *answer) {
    asking a = {.keys = keys, .n = n, .wake = -1};
    for (int i = 0; i < n; i++)
        if (address[i]) MST_TRY(mst_endpoint_check(address[i]));
    const mst_status status = open_asking(&a, address, seconds, answer);
    if (!status) ask_all(&a, seconds);
    /* closed now, so that each task that has answered sees the end, and has room for the next status client */
    for (int i = 0; i < n && a.task; i++) {
        close_asked(&a.task[i]);
        mst_resolve_end(a.task[i].resolving);
    }
    if (a.context) zmq_ctx_term(a.context);
    if (a.wake >= 0) close(a.wake);
    free(a.items);
    free(a.task);
    return status;
}
