#include "transport/zmq_authenticator.h"

#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "base/clock.h"
#include "transport/zmq_pending.h"
#include "transport/zmq_token.h"

bool mst_zmq_authenticator_open(mst_transport *t) {
    return (t->authenticator = zmq_socket(t->context, ZMQ_REP)) &&
           zmq_bind(t->authenticator, "inproc://zeromq.zap.01") == 0;
}

/* ---- who was refused ---- */

static const char no_token[] = "it does not have this user's token";

/* Whether no connection from HOST was refused before, and there is room to note HOST. */
static bool is_new(mst_transport *t, const char *host) {
    for (int i = 0; i < t->num_strangers; i++)
        if (strcmp(t->stranger[i], host) == 0) return false;
    if (t->num_strangers == MST_ZMQ_STRANGERS) return false;
    snprintf(t->stranger[t->num_strangers++], sizeof t->stranger[0], "%s", host);
    return true;
}

static void tell_stranger(mst_transport *t, const char *host, const char *why) {
    char line[256];
    if (!is_new(t, host)) return;
    snprintf(line, sizeof line, "refuses a connection%s%.64s: %s", *host ? " from " : "", host, why);
    mst_event_thread_stranger(t->events, line);
}

void mst_zmq_authenticator_failed(mst_transport *t, const char *host, uint16_t event, int error) {
    const mst_open_options *o = &t->options;
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL || event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) return;
    const bool has_other_keys = event && (error == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH ||
                                          (o->has_keys && error == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC));
    tell_stranger(t, host,
                  !has_other_keys ? "it does not speak the protocol of Muster's tasks"
                  : o->has_keys   ? "it has a different cluster key, or none"
                  : o->has_token
                      ? "it does not have this user's token, which this task, being without --cluster-key, asks for"
                      : "it uses a cluster key or a user's token, which this task, being --insecure, does not have");
}

void mst_zmq_authenticator_unproved(mst_transport *t, const char *host) {
    tell_stranger(t, host, no_token);
}

void mst_zmq_authenticator_silent(mst_transport *t, const char *host) {
    tell_stranger(t, host, "too many connections have sent nothing yet, and this is the oldest of them");
}

/* ---- questions ---- */

/* Positions of the frames in a question. */
enum { ID = 1, ADDRESS = 3, MECHANISM = 5, CREDENTIAL = 6, SECOND_CREDENTIAL = 7 };

typedef struct question {
    unsigned char id[64];
    size_t id_size;
    char host[MST_ZMQ_HOST], login[MST_TOKEN_LOGIN];
    bool is_curve, is_plain, has_key, has_proof;
} question;

static bool is_same(zmq_msg_t *frame, const void *data, size_t size) {
    return zmq_msg_size(frame) == size && memcmp(zmq_msg_data(frame), data, size) == 0;
}

/* Copies the frame as text; "" if it is too long. */
static void copy_text(zmq_msg_t *frame, char *text, size_t size) {
    const size_t length = zmq_msg_size(frame) < size ? zmq_msg_size(frame) : 0;
    memcpy(text, zmq_msg_data(frame), length);
    text[length] = '\0';
}

static void read_frame(const mst_transport *t, zmq_msg_t *frame, int place, question *q) {
    const mst_cluster_keys *keys = &t->options.keys;
    if (place == ID && zmq_msg_size(frame) <= sizeof q->id) {
        q->id_size = zmq_msg_size(frame);
        memcpy(q->id, zmq_msg_data(frame), q->id_size);
    }
    if (place == ADDRESS) copy_text(frame, q->host, sizeof q->host);
    if (place == MECHANISM) q->is_curve = is_same(frame, "CURVE", 5);
    if (place == MECHANISM) q->is_plain = is_same(frame, "PLAIN", 5);
    if (place == CREDENTIAL && q->is_curve) q->has_key = is_same(frame, keys->connector.public_key, MST_CURVE_KEY);
    if (place == CREDENTIAL && q->is_plain) copy_text(frame, q->login, sizeof q->login);
    if (place == SECOND_CREDENTIAL && q->is_plain)
        q->has_proof = mst_zmq_token_is_proved(t, q->login, zmq_msg_data(frame), zmq_msg_size(frame));
}

/* Takes the next question; false if there is none. */
static bool take_question(const mst_transport *t, question *q) {
    zmq_msg_t frame;
    int place = 0;
    *q = (question){.id_size = 0};
    zmq_msg_init(&frame);
    for (bool more = true; more && zmq_msg_recv(&frame, t->authenticator, ZMQ_DONTWAIT) >= 0; place++) {
        read_frame(t, &frame, place, q);
        more = zmq_msg_more(&frame);
    }
    zmq_msg_close(&frame);
    return place > 0;
}

/* Sends the answer. The login in it goes along with each message of the connection (User-Id). */
static void send_answer(void *authenticator, const question *q, bool allowed) {
    const char *const code = allowed ? "200" : "400", *const text = allowed ? "" : "refused";
    const int more = ZMQ_SNDMORE | ZMQ_DONTWAIT;
    /* if the answer cannot be sent, the connection is not let in: its handshake times out */
    if (zmq_send(authenticator, "1.0", 3, more) < 0 || zmq_send(authenticator, q->id, q->id_size, more) < 0 ||
        zmq_send(authenticator, code, 3, more) < 0 || zmq_send(authenticator, text, strlen(text), more) < 0 ||
        zmq_send(authenticator, q->login, strlen(q->login), more) < 0 ||
        zmq_send(authenticator, "", 0, ZMQ_DONTWAIT) < 0)
        return;
}

static void answer_key(mst_transport *t, const question *q) {
    const bool has_shown = q->is_curve && q->has_key;
    send_answer(t->authenticator, q, has_shown);
    if (!has_shown) tell_stranger(t, q->host, "it has a different cluster key");
}

/* A task that was stopped while it connected may come too late: it tries again, and is not reported as a stranger. */
static void answer_token(mst_transport *t, const question *q) {
    mst_token_login login;
    const bool has_shown = q->is_plain && q->has_proof && mst_token_login_read(q->login, &login);
    const mst_token_use_result use =
        has_shown ? mst_token_use(&t->logins, &login, mst_clock_now()) : MST_TOKEN_OUT_OF_TIME;
    send_answer(t->authenticator, q, use == MST_TOKEN_TAKEN);
    if (!has_shown) tell_stranger(t, q->host, no_token);
    if (has_shown && use == MST_TOKEN_OUT_OF_TIME) mst_zmq_pending_excuse(t);
    if (use == MST_TOKEN_USED_BEFORE) tell_stranger(t, q->host, "it repeats the proof of an earlier connection");
}

static void answer(mst_transport *t, const question *q) {
    if (t->options.has_token)
        answer_token(t, q);
    else
        answer_key(t, q);
}

bool mst_zmq_authenticator_answer(mst_transport *t) {
    enum { MOST_AT_ONCE = 64 };
    question q;
    for (int i = 0; i < MOST_AT_ONCE; i++) {
        if (!take_question(t, &q)) return false;
        answer(t, &q);
    }
    return true;
}
