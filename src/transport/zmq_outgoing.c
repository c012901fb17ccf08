#include "transport/zmq_outgoing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/clock.h"

/* ---- loans ---- */

bool mst_zmq_loans_wait(mst_zmq_loans *loans, int64_t deadline) {
    const struct timespec until = mst_clock_timespec(deadline == MST_NEVER ? 0 : deadline - mst_clock_now());
    int late = 0;
    pthread_mutex_lock(&loans->lock);
    while (loans->count && !late)
        late = deadline == MST_NEVER ? pthread_cond_wait(&loans->returned, &loans->lock)
                                     : pthread_cond_clockwait(&loans->returned, &loans->lock, CLOCK_MONOTONIC, &until);
    const bool all = loans->count == 0;
    pthread_mutex_unlock(&loans->lock);
    return all;
}

static void change_loans(mst_zmq_loans *loans, int64_t change) {
    pthread_mutex_lock(&loans->lock);
    loans->count += change;
    if (loans->count == 0) pthread_cond_broadcast(&loans->returned);
    pthread_mutex_unlock(&loans->lock);
}

/* ---- messages ---- */

static mst_zmq_outgoing *create_copy(const mst_iov *piece, int n, size_t bytes) {
    mst_zmq_outgoing *o = malloc(sizeof *o + sizeof *o->piece + bytes);
    if (!o) return NULL;
    unsigned char *copy = (unsigned char *)(o->piece + 1);
    o->n = 1;
    o->piece[0] = (mst_iov){copy, bytes};
    for (int i = 0; i < n; copy += piece[i++].bytes)
        if (piece[i].bytes) memcpy(copy, piece[i].data, piece[i].bytes);
    return o;
}

static mst_zmq_outgoing *create_lent(const mst_iov *piece, int n) {
    mst_zmq_outgoing *o = malloc(sizeof *o + (size_t)n * sizeof *o->piece);
    if (!o) return NULL;
    o->n = 0;
    for (int i = 0; i < n; i++)
        if (piece[i].bytes) o->piece[o->n++] = piece[i];
    return o;
}

mst_zmq_outgoing *mst_zmq_outgoing_create(const mst_wire_header *header, const mst_iov *piece, int n, bool copy,
                                          mst_timeline *done, mst_zmq_loans *loans) {
    size_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += piece[i].bytes;
    copy |= bytes <= MST_ZMQ_COPIED;
    mst_zmq_outgoing *o = copy ? create_copy(piece, n, bytes) : create_lent(piece, n);
    if (!o) return NULL;
    o->next = NULL;
    atomic_init(&o->users, 1);
    o->header = *header;
    o->header.total = bytes;
    o->header.offset = 0;
    o->done = copy ? NULL : done;
    o->loans = copy ? NULL : loans;
    o->at = 0;
    o->offset = 0;
    if (copy && done) mst_timeline_add(done, 1);
    return o;
}

void mst_zmq_outgoing_leave(mst_zmq_outgoing *o) {
    if (atomic_fetch_sub(&o->users, 1) > 1) return;
    if (o->done) mst_timeline_add(o->done, 1);
    free(o);
}

/* Called by libzmq, on any thread, to give a frame back. */
static void return_frame(void *data, void *hint) {
    mst_zmq_outgoing *o = hint;
    mst_zmq_loans *loans = o->loans;
    (void)data;
    mst_zmq_outgoing_leave(o);
    if (loans) change_loans(loans, -1);
}

/* ---- frames ---- */

/* Sends MESSAGE; closes it if that fails. */
static bool send_frame(void *socket, zmq_msg_t *message, int flags) {
    if (zmq_msg_send(message, socket, flags | ZMQ_DONTWAIT) >= 0) return true;
    const int error = errno;
    zmq_msg_close(message);
    errno = error;
    return false;
}

/* Sends the header and the bytes together as the frame that begins a part. */
static bool send_first(mst_zmq_route route, const mst_wire_header *header, const void *data, size_t bytes, int flags) {
    zmq_msg_t message;
    if (zmq_msg_init_size(&message, MST_WIRE_HEADER_SIZE + bytes)) return false;
    unsigned char *at = zmq_msg_data(&message);
    mst_wire_header_encode(header, at);
    if (bytes) memcpy(at + MST_WIRE_HEADER_SIZE, data, bytes);
    if (route.id && zmq_send(route.socket, route.id, MST_ZMQ_ID, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
        const int error = errno;
        zmq_msg_close(&message);
        errno = error;
        return false;
    }
    return send_frame(route.socket, &message, flags);
}

/* Sends bytes of O without a copy. A socket that has taken the first frame also takes the second. */
static bool send_lent(mst_zmq_route route, mst_zmq_outgoing *o, const unsigned char *data, size_t bytes) {
    zmq_msg_t message;
    atomic_fetch_add(&o->users, 1);
    if (o->loans) change_loans(o->loans, 1);
    /* libzmq does not change the bytes that it sends */
    if (zmq_msg_init_data(&message, (void *)(uintptr_t)data, bytes, return_frame, o)) {
        return_frame(NULL, o);
        return false;
    }
    if (!send_first(route, &o->header, NULL, 0, ZMQ_SNDMORE)) {
        const int error = errno;
        zmq_msg_close(&message);
        errno = error;
        return false;
    }
    return send_frame(route.socket, &message, 0);
}

/* Sends the next part. A control message is one part, of any length. */
static bool send_part(mst_zmq_route route, mst_zmq_outgoing *o, size_t *sent) {
    const mst_iov *piece = &o->piece[o->at];
    const unsigned char *data = (const unsigned char *)piece->data + o->offset;
    size_t bytes = piece->bytes - o->offset;
    if (o->header.kind == MST_WIRE_DATA && bytes > MST_ZMQ_PART) bytes = MST_ZMQ_PART;
    *sent = bytes;
    if (bytes <= MST_ZMQ_COPIED) return send_first(route, &o->header, data, bytes, 0);
    return send_lent(route, o, data, bytes);
}

bool mst_zmq_outgoing_send(mst_zmq_outgoing *o, mst_zmq_route route) {
    do {
        size_t sent;
        if (!send_part(route, o, &sent)) return errno == EHOSTUNREACH;
        o->header.offset += sent;
        o->offset += sent;
        if (o->offset == o->piece[o->at].bytes) {
            o->at++;
            o->offset = 0;
        }
    } while (o->at < o->n);
    return true;
}

void mst_zmq_send_bytes(mst_zmq_route route, mst_wire_header header, const void *data, size_t bytes) {
    header.total = bytes;
    if (!send_first(route, &header, data, bytes, 0)) {
        /* dropped: the socket does not take it, or the connection is gone. Both are noticed elsewhere */
    }
}

void mst_zmq_send_text(mst_zmq_route route, mst_wire_header header, const char *text) {
    mst_zmq_send_bytes(route, header, text, strlen(text));
}
