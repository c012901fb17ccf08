/** The door of a zmq transport: a socket at which libzmq asks, by a protocol of its own (ZAP, ZeroMQ's RFC 27), whether
 *  who has begun to connect may come in. All under the transport's lock.
 *
 *      a cluster's key    CURVE: whose public key is the connector's (zmq_curve.h)
 *      a user's token     PLAIN: whose login and proof are right (zmq_token.h)
 *
 *  Who is refused is told to the owner, once for each host. */
#ifndef MUSTER_TRANSPORT_ZMQ_DOOR_H
#define MUSTER_TRANSPORT_ZMQ_DOOR_H

#include "transport/zmq_peer.h"

/** Opens the door, before the ROUTER is bound: without one libzmq would ask nobody. False where that fails. */
bool mst_zmq_door_open(mst_transport *t);
/** Answers what is asked. Returns whether more may be asked. */
bool mst_zmq_door_answer(mst_transport *t);
/** A connection from HOST has ended before it has said whose it is. EVENT is how libzmq has told that its handshake
 *  has failed, with ERROR; 0: it has not. Tells the owner, once for each host, whether the other side uses other keys,
 *  or has sent what is no message; not where it only has gone, which without a door cannot be told from such bytes, or
 *  was refused at the door. */
void mst_zmq_door_failed(mst_transport *t, const char *host, uint16_t event, int error);
/** A connection from HOST was let in, but could not answer the challenge (zmq_token.h): tells the owner, once for each
 *  host. */
void mst_zmq_door_unproved(mst_transport *t, const char *host);
/** A newcomer from HOST was ended because there were too many (zmq_newcomer.h): tells the owner, once for each host. */
void mst_zmq_door_silent(mst_transport *t, const char *host);

#endif
