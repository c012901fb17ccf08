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
/** Connection FD has said whose it is, or has ended: it is none any more. Returns its host, "" where that is not known,
 *  until the next call; NULL: it was none. */
const char *mst_zmq_newcomer_gone(mst_transport *t, int fd);

#endif
