/** Pending connections: incoming connections whose sender is not identified yet. Their handshake has not ended, or no
 *  message has come after it. A process has a limited number of descriptors, and needs some for its files. There are
 *  therefore at most MST_ZMQ_PENDING + 2 * num_tasks pending connections. If one more comes, the thread of the
 *  transport ends the oldest. A task or a status client whose connection was ended in this way connects again. All
 *  functions are called under the transport's lock. */
#ifndef MUSTER_TRANSPORT_ZMQ_PENDING_H
#define MUSTER_TRANSPORT_ZMQ_PENDING_H

#include "transport/zmq_peer.h"

enum { MST_ZMQ_PENDING = 64 };

/** Allocates the list of pending connections. False: there is no memory. */
bool mst_zmq_pending_create(mst_transport *t);
/** A connection with descriptor FD has been accepted. */
void mst_zmq_pending_add(mst_transport *t, int fd);
/** One pending connection has done nothing wrong: its handshake has succeeded, or its login was only too late. libzmq
 *  does not say which one. Therefore one pending connection that later ends without a failed handshake is not
 *  reported. */
void mst_zmq_pending_excuse(mst_transport *t);
/** DEALER ID has sent a message by the connection with descriptor FD. Returns the challenge (zmq_token.h) that was sent
 *  to it. "": there is none yet, and the caller writes one there. NULL: the connection is not pending. */
char *mst_zmq_pending_challenge(mst_transport *t, int fd, const unsigned char *id);
/** A message has identified the sender of the connection with descriptor FD, which is no longer pending. Returns the
 *  connection; with descriptor -1 if it was not pending. */
mst_zmq_connection mst_zmq_pending_identified(mst_transport *t, int fd);
/** The connection with descriptor FD has ended: returns its number, 0 if it is not pending. Messages that it sent
 *  before may not have been read yet. */
uint64_t mst_zmq_pending_mark_ended(mst_transport *t, int fd);
/** Connection NUMBER has ended, and all its messages have been read. FAILED: libzmq has reported a failed handshake.
 *  Returns its host, which is to be reported; valid until the next call. NULL: nothing is to be reported, because the
 *  connection was not pending, its host is not known, or it may be excused (mst_zmq_pending_excuse). */
const char *mst_zmq_pending_remove(mst_transport *t, uint64_t number, bool failed);

#endif
