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
/** A connection with descriptor FD has been accepted. */
void mst_zmq_newcomer_came(mst_transport *t, int fd);
/** One of the newcomers has done nothing wrong, so that its end is no reason to report it: its handshake has succeeded,
 *  or it came too late. libzmq does not say which newcomer it is. */
void mst_zmq_newcomer_excuse(mst_transport *t);
/** The challenge that was sent on the connection with descriptor FD, by which DEALER ID has sent a message. "" at
 *  first: the caller draws it. NULL: the connection is not a newcomer. */
char *mst_zmq_newcomer_challenge(mst_transport *t, int fd, const unsigned char *id);
/** The connection with descriptor FD, by which a message has come, has said whose it is. Returns it. */
mst_zmq_connection mst_zmq_newcomer_said(mst_transport *t, int fd);
/** The connection with descriptor FD has ended: returns its number, 0 if it is not a newcomer. Messages that it sent
 *  before may not have been read yet. */
uint64_t mst_zmq_newcomer_ends(mst_transport *t, int fd);
/** Connection NUMBER has ended, and all its messages have been read. FAILED: libzmq has reported that its handshake has
 *  failed. Returns its host, valid until the next call. NULL: it was not a newcomer, was closed before its host could
 *  be found out, or may be one that is excused. */
const char *mst_zmq_newcomer_ended(mst_transport *t, uint64_t number, bool failed);

#endif
