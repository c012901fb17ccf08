/** The connection that this task makes to a peer, by a DEALER: states in zmq_peer.h. All functions are called under the
 *  transport's lock. */
#ifndef MUSTER_TRANSPORT_ZMQ_DIALER_H
#define MUSTER_TRANSPORT_ZMQ_DIALER_H

#include "transport/zmq_peer.h"

/** Takes what has come by the connection, continues to make it if it is wanted, and sends the waiting messages. */
void mst_zmq_dialer_work(mst_transport *t, mst_zmq_peer *p, int64_t now);
/** The time of the next work for the connection, even if nothing arrives. */
int64_t mst_zmq_dialer_next(const mst_transport *t, const mst_zmq_peer *p);
/** Closes the DEALER, and lets some time pass before the next try. The time doubles from try to try, up to a second. */
void mst_zmq_dialer_pause(const mst_transport *t, mst_zmq_peer *p, int64_t now);
/** Closes the DEALER. There may be none. */
void mst_zmq_dialer_close(const mst_transport *t, mst_zmq_peer *p);

#endif
