/** The events of libzmq about the connections that others make: new ones, and ones that have ended. All under the
 *  transport's lock. */
#ifndef MUSTER_TRANSPORT_ZMQ_BROKEN_H
#define MUSTER_TRANSPORT_ZMQ_BROKEN_H

#include "transport/zmq_peer.h"

/** Takes these events: newcomers are noted (zmq_newcomer.h), and connections that have ended are added at the end of
 *  `broken`, until that is full. */
void mst_zmq_broken_look(mst_transport *t);

#endif
