/** Newcomers: connections that a transport was given and of which nobody has said yet whose they are, because their
 *  handshake is pending or no word has come after it. A process has so many descriptors, and needs some for its
 *  files. So there are MST_ZMQ_NEWCOMERS at most, and 2 more for each task; when the thread of the transport sees that
 *  one more has come, the oldest is ended. A task or a visitor connects again. All under the transport's lock. */
#ifndef MUSTER_TRANSPORT_ZMQ_NEWCOMER_H
#define MUSTER_TRANSPORT_ZMQ_NEWCOMER_H

#include "transport/zmq_peer.h"

enum { MST_ZMQ_NEWCOMERS = 64 };

/** Makes room for them. False: there is no memory. */
bool mst_zmq_newcomers_create(mst_transport *t);
/** Connection FD has been accepted. */
void mst_zmq_newcomer_came(mst_transport *t, int fd);
/** The handshake of one of them has succeeded; libzmq does not say of which. */
void mst_zmq_newcomer_let_in(mst_transport *t);
/** Connection FD has said whose it is. */
void mst_zmq_newcomer_said(mst_transport *t, int fd);
/** Connection FD has ended; FAILED: libzmq has told that its handshake has failed. Returns its host, until the next
 *  call; NULL: it was no newcomer, it was closed before anybody could ask for its host, or it may be one whose
 *  handshake had succeeded, of which nothing wrong is known. */
const char *mst_zmq_newcomer_ended(mst_transport *t, int fd, bool failed);

#endif
