#include "transport/zmq_arrival.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

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
    mst_zmq_arrival *a = source;
    kept_frame *k = malloc(sizeof *k);
    if (!k) return NULL;
    zmq_msg_init(&k->frame);
    zmq_msg_move(&k->frame, &a->frame[a->payload]);
    /* asked for after the move: libzmq keeps short messages inside the frame itself */
    const unsigned char *data = (unsigned char *)zmq_msg_data(&k->frame) + a->skip;
    k->kept = (mst_kept_part){.data = data, .release = release_frame};
    return &k->kept;
}

static bool receive_frame(void *socket, zmq_msg_t *frame) {
    return zmq_msg_recv(frame, socket, ZMQ_DONTWAIT) >= 0;
}

static void receive_id(void *socket, mst_zmq_arrival *a, zmq_msg_t *frame) {
    a->has_id = zmq_msg_size(frame) == MST_ZMQ_ID;
    if (a->has_id) memcpy(a->id, zmq_msg_data(frame), MST_ZMQ_ID);
    if (!zmq_msg_more(frame) || !receive_frame(socket, frame)) a->wrong = "it sent an empty message";
}

bool mst_zmq_arrival_take(void *socket, bool routed, mst_zmq_arrival *a) {
    zmq_msg_t *first = &a->frame[0], *second = &a->frame[1];
    *a = (mst_zmq_arrival){.fd = -1};
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

void mst_zmq_arrival_end(mst_zmq_arrival *a) {
    zmq_msg_close(&a->frame[0]);
    zmq_msg_close(&a->frame[1]);
}

const char *mst_zmq_arrival_host(mst_zmq_arrival *a) {
    const char *host = zmq_msg_gets(&a->frame[0], "Peer-Address");
    return host ? host : "an unknown host";
}

/* ---- delivery ---- */

/* A sign of life of the peer. */
static void take_alive(mst_zmq_peer *p, const mst_zmq_arrival *a) {
    const size_t most = sizeof p->doing - 1, bytes = a->bytes < most ? a->bytes : most;
    if (bytes) memcpy(p->doing, a->data, bytes);
    p->doing[bytes] = '\0';
    mst_make_plain(p->doing);
}

const char *mst_zmq_arrival_deliver(mst_transport *t, mst_zmq_peer *p, mst_zmq_arrival *a) {
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
