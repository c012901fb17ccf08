/** Pending connections: incoming ones that have not said yet whose they are. Their handshake is pending, or no message
 *  has come after it. A process has a limited number of descriptors, and needs some for its files. There are therefore
 *  at most MST_ZMQ_PENDING pending connections, and 2 more for each task. When the thread of the transport sees one
 *  more, it ends the oldest. If that was from a task or a status client, this one connects again. All functions are
 *  called under the transport's lock. */
#ifndef MUSTER_TRANSPORT_ZMQ_PENDING_H
#define MUSTER_TRANSPORT_ZMQ_PENDING_H

#include "transport/zmq_peer.h"

enum { MST_ZMQ_PENDING = 64 };

/** Allocates the list of pending connections. False: there is no memory. */
bool mst_zmq_pending_create(mst_transport *t);
/** A connection with descriptor FD has been accepted. */
void mst_zmq_pending_add(mst_transport *t, int fd);
/** One of them has done nothing wrong: its handshake has succeeded, or it came too late. Its end is then no
 *  reason for a report. libzmq does not say which one it is. */
void mst_zmq_pending_excuse(mst_transport *t);
/** The challenge sent on the connection with descriptor FD, by which DEALER ID has sent a message. It is "" at first:
 *  the caller draws it. NULL: the connection is not pending. */
char *mst_zmq_pending_challenge(mst_transport *t, int fd, const unsigned char *id);
/** The connection with descriptor FD has sent its first message, and said whose it is. Returns the connection. */
mst_zmq_connection mst_zmq_pending_identified(mst_transport *t, int fd);
/** The connection with descriptor FD has ended: returns its number, 0 if it is not pending. Messages that it sent
 *  before may not have been read yet. */
uint64_t mst_zmq_pending_ends(mst_transport *t, int fd);
/** Connection NUMBER has ended, and all its messages have been read. FAILED: libzmq has reported a failed handshake.
 *  Returns its host, valid until the next call. NULL: it was not pending, was closed before its host was known, or
 *  may be one that is excused. */
const char *mst_zmq_pending_ended(mst_transport *t, uint64_t number, bool failed);

#endif
