/** Outgoing messages through libzmq.
 *
 *  Small messages are copied, and so are done at once. The memory of large ones is lent to libzmq in parts: each part
 *  is a frame that follows a frame with its header. Other messages of the same connection therefore need not wait for
 *  all of a large one. Also, little memory is on loan when a generation ends. */
#ifndef MUSTER_TRANSPORT_ZMQ_OUTGOING_H
#define MUSTER_TRANSPORT_ZMQ_OUTGOING_H

#include <pthread.h>

#include "transport/wire_header.h"

enum {
    MST_ZMQ_PART = 1 << 20,    /**< most bytes of a part of data */
    MST_ZMQ_COPIED = 32 << 10, /**< up to so many bytes are copied, and not lent */
    MST_ZMQ_ID = 17            /**< bytes of a DEALER's id */
};

/** Counts the frames in libzmq whose memory is lent to it. */
typedef struct mst_zmq_loans {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    int64_t count;
} mst_zmq_loans;

/** Waits until nothing is on loan; false: DEADLINE (base/clock.h) came first. */
bool mst_zmq_loans_wait(mst_zmq_loans *loans, int64_t deadline);

typedef struct mst_zmq_outgoing {
    struct mst_zmq_outgoing *next;
    _Atomic int64_t users;  /**< the queue that holds the message, and each frame of it in libzmq */
    mst_wire_header header; /**< of the next part */
    mst_timeline *done;     /**< rises when the last user has left; NULL: nobody waits */
    mst_zmq_loans *loans;
    int n, at;     /**< n: pieces, at least one; at: the piece from which the next part is taken */
    size_t offset; /**< in that piece */
    mst_iov piece[];
} mst_zmq_outgoing;

/** A message of the N pieces, for the queue. If the bytes are few or COPY is set, they are copied, and DONE has risen
 *  on return. NULL if there is no memory. */
mst_zmq_outgoing *mst_zmq_outgoing_create(const mst_wire_header *header, const mst_iov *piece, int n, bool copy,
                                          mst_timeline *done, mst_zmq_loans *loans);
/** Removes one user. */
void mst_zmq_outgoing_leave(mst_zmq_outgoing *outgoing);

/** The way to a peer: a DEALER, or a ROUTER together with the id of the peer's DEALER. */
typedef struct mst_zmq_route {
    void *socket;            /**< NULL: there is no way now */
    const unsigned char *id; /**< [MST_ZMQ_ID]; NULL for a DEALER */
} mst_zmq_route;

/** Sends as much as the socket takes. True: everything has been sent, or dropped because the connection is gone. */
bool mst_zmq_outgoing_send(mst_zmq_outgoing *outgoing, mst_zmq_route route);
/** Sends a message of BYTES, or drops it if the socket does not take it. */
void mst_zmq_send_bytes(mst_zmq_route route, mst_wire_header header, const void *data, size_t bytes);
/** Sends a message of TEXT ("": none), or drops it if the socket does not take it. */
void mst_zmq_send_text(mst_zmq_route route, mst_wire_header header, const char *text);

#endif
