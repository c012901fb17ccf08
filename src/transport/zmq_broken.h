/** What libzmq says of the connections that others have made: those that come, and those that have ended. All under the
 *  transport's lock. */
#ifndef MUSTER_TRANSPORT_ZMQ_BROKEN_H
#define MUSTER_TRANSPORT_ZMQ_BROKEN_H

#include "transport/zmq_peer.h"

/** Takes it: newcomers are noted (zmq_newcomer.h), and those that have ended stand behind the others in `broken`, until
 *  that is full. */
void mst_zmq_broken_look(mst_transport *t);

#endif
