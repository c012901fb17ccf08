/** The events of libzmq about incoming connections: new ones, and ones that have ended. All functions are called under
 *  the transport's lock. */
#ifndef MUSTER_TRANSPORT_ZMQ_BROKEN_H
#define MUSTER_TRANSPORT_ZMQ_BROKEN_H

#include "transport/zmq_peer.h"

/** Takes these events. New connections are noted as pending (zmq_pending.h). Connections that have ended are appended
 *  to `broken`, until it is full. */
void mst_zmq_broken_look(mst_transport *t);

#endif
