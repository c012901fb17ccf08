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
/** Of one of them nothing wrong is known, and its end says nothing against it: its handshake has succeeded, or it came
 *  too late. libzmq does not say which it is. */
void mst_zmq_newcomer_excuse(mst_transport *t);
/** What the connection with descriptor FD, by which DEALER ID has sent a message, was challenged with: "" at first, for
 *  the caller to draw. NULL: it is no newcomer. */
char *mst_zmq_newcomer_challenge(mst_transport *t, int fd, const unsigned char *id);
/** The connection with descriptor FD, by which a message has come, has said whose it is. Returns it. */
mst_zmq_connection mst_zmq_newcomer_said(mst_transport *t, int fd);
/** The connection with descriptor FD has ended: returns its number, 0 where it is no newcomer. What it has said before
 *  may still have to be taken. */
uint64_t mst_zmq_newcomer_ends(mst_transport *t, int fd);
/** All that connection NUMBER, which has ended, has said was taken. FAILED: libzmq has told that its handshake has
 *  failed. Returns its host, until the next call; NULL: it was no newcomer, it was closed before anybody could ask for
 *  its host, or it may be one that is excused. */
const char *mst_zmq_newcomer_ended(mst_transport *t, uint64_t number, bool failed);

#endif
