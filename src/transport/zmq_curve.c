#include "transport/zmq_curve.h"

#include <string.h>
#include <zmq.h>

static bool set_key(void *socket, int option, const unsigned char key[MST_CURVE_KEY]) {
    return zmq_setsockopt(socket, option, key, MST_CURVE_KEY) == 0;
}

static bool set_pair(void *socket, const mst_curve_pair *pair) {
    return set_key(socket, ZMQ_CURVE_PUBLICKEY, pair->public_key) &&
           set_key(socket, ZMQ_CURVE_SECRETKEY, pair->secret_key);
}

/* The door opens before the ROUTER is bound, and closes after it: without one libzmq would ask nobody. */
bool mst_zmq_curve_listen(mst_transport *t) {
    const int on = 1;
    if (!(t->door = zmq_socket(t->context, ZMQ_REP)) || zmq_bind(t->door, "inproc://zeromq.zap.01")) return false;
    return zmq_setsockopt(t->router, ZMQ_CURVE_SERVER, &on, sizeof on) == 0 &&
           set_pair(t->router, &t->options.keys.listener);
}

bool mst_zmq_curve_connect(const mst_cluster_keys *keys, void *dealer) {
    return set_key(dealer, ZMQ_CURVE_SERVERKEY, keys->listener.public_key) && set_pair(dealer, &keys->connector);
}

/* ---- the door ---- */

/* Frames of a question, by their places. */
enum { ID = 1, MECHANISM = 5, PUBLIC_KEY = 6 };

typedef struct question {
    unsigned char id[64];
    size_t id_size;
    bool is_curve, has_key;
} question;

static bool is_same(zmq_msg_t *frame, const void *data, size_t size) {
    return zmq_msg_size(frame) == size && memcmp(zmq_msg_data(frame), data, size) == 0;
}

static void read_frame(const mst_transport *t, zmq_msg_t *frame, int place, question *q) {
    if (place == ID && zmq_msg_size(frame) <= sizeof q->id) {
        q->id_size = zmq_msg_size(frame);
        memcpy(q->id, zmq_msg_data(frame), q->id_size);
    }
    if (place == MECHANISM) q->is_curve = is_same(frame, "CURVE", 5);
    if (place == PUBLIC_KEY) q->has_key = is_same(frame, t->options.keys.connector.public_key, MST_CURVE_KEY);
}

/* False where there is no question. */
static bool take_question(const mst_transport *t, question *q) {
    zmq_msg_t frame;
    int place = 0;
    *q = (question){.id_size = 0};
    zmq_msg_init(&frame);
    for (bool more = true; more && zmq_msg_recv(&frame, t->door, ZMQ_DONTWAIT) >= 0; place++) {
        read_frame(t, &frame, place, q);
        more = zmq_msg_more(&frame);
    }
    zmq_msg_close(&frame);
    return place > 0;
}

static void send_answer(void *door, const question *q) {
    const bool allowed = q->is_curve && q->has_key;
    const char *const code = allowed ? "200" : "400", *const text = allowed ? "" : "another key";
    const int more = ZMQ_SNDMORE | ZMQ_DONTWAIT;
    /* where it cannot be sent, who asked is not let in: its handshake runs out of time */
    if (zmq_send(door, "1.0", 3, more) < 0 || zmq_send(door, q->id, q->id_size, more) < 0 ||
        zmq_send(door, code, 3, more) < 0 || zmq_send(door, text, strlen(text), more) < 0 ||
        zmq_send(door, "", 0, more) < 0 || zmq_send(door, "", 0, ZMQ_DONTWAIT) < 0)
        return;
}

bool mst_zmq_curve_answer(mst_transport *t) {
    enum { MOST_AT_ONCE = 64 };
    question q;
    for (int i = 0; i < MOST_AT_ONCE; i++) {
        if (!take_question(t, &q)) return false;
        send_answer(t->door, &q);
    }
    return true;
}
