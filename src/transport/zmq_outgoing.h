/** Messages on their way out through libzmq.
 *
 *  Small ones are copied, so that they are done at once. The memory of large ones is lent to libzmq in parts, each a
 *  frame behind a frame with its header: then other messages of the same connection need not wait until all of a large
 *  one is through, and little is on loan when a generation ends. */
#ifndef MUSTER_TRANSPORT_ZMQ_OUTGOING_H
#define MUSTER_TRANSPORT_ZMQ_OUTGOING_H

#include <pthread.h>

#include "transport/message.h"

enum { MST_ZMQ_PART = 1 << 20, MST_ZMQ_COPIED = 32 << 10, MST_ZMQ_ID = 17 };

/** Counts the frames of others' memory that libzmq has. */
typedef struct mst_zmq_loans {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    int64_t count;
} mst_zmq_loans;

/** Waits until nothing is on loan, or until DEADLINE (base/clock.h): false. */
bool mst_zmq_loans_wait(mst_zmq_loans *loans, int64_t deadline);

typedef struct mst_zmq_outgoing {
    struct mst_zmq_outgoing *next;
    _Atomic int64_t users; /**< the queue that it is in, and each frame of it that libzmq has */
    mst_message header;    /**< of the next part */
    mst_timeline *done;    /**< rises when the last user has gone; NULL: nobody waits */
    mst_zmq_loans *loans;
    int n, at;     /**< pieces, at least one; the one from which the next part is taken */
    size_t offset; /**< in that piece */
    mst_iov piece[];
} mst_zmq_outgoing;

/** A message of the N pieces, for the queue; of a copy of their bytes where they are few or COPY is set, and then DONE
 *  has risen on return. NULL without memory. */
mst_zmq_outgoing *mst_zmq_outgoing_create(const mst_message *header, const mst_iov *piece, int n, bool copy,
                                          mst_timeline *done, mst_zmq_loans *loans);
/** One user less. */
void mst_zmq_outgoing_leave(mst_zmq_outgoing *outgoing);

/** The way to a peer: a DEALER, or a ROUTER with the id of the peer's DEALER. */
typedef struct mst_zmq_route {
    void *socket;            /**< NULL: there is none now */
    const unsigned char *id; /**< [MST_ZMQ_ID]; NULL for a DEALER */
} mst_zmq_route;

/** Sends what the socket takes. True: all of it has been sent, or dropped because the connection is gone. */
bool mst_zmq_outgoing_send(mst_zmq_outgoing *outgoing, mst_zmq_route route);
/** Sends a message of BYTES, or drops it where the socket does not take it. */
void mst_zmq_send_bytes(mst_zmq_route route, mst_message header, const void *data, size_t bytes);
/** Sends a message of TEXT ("": none), likewise. */
void mst_zmq_send_text(mst_zmq_route route, mst_message header, const char *text);

#endif
