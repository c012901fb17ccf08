/** The authenticator of a zmq transport is a socket. Through it libzmq asks whether a new connection is allowed, by the
 *  protocol ZAP (ZeroMQ's RFC 27). All functions are called under the transport's lock.
 *
 *      a cluster's key    CURVE: whether the public key is the connector's (zmq_curve.h)
 *      a user's token     PLAIN: whether login and proof are right (zmq_token.h)
 *
 *  The owner is told who was refused, once for each host. */
#ifndef MUSTER_TRANSPORT_ZMQ_AUTHENTICATOR_H
#define MUSTER_TRANSPORT_ZMQ_AUTHENTICATOR_H

#include "transport/zmq_peer.h"

/** Opens it, before the ROUTER is bound: otherwise libzmq would ask nobody. False if that fails. */
bool mst_zmq_authenticator_open(mst_transport *t);
/** Answers the pending questions. Returns whether there may be more. */
bool mst_zmq_authenticator_answer(mst_transport *t);
/** Called when a connection from HOST has ended before the other side said which process it is. EVENT is libzmq's event
 *  for the failed handshake, and ERROR its error; EVENT is 0 if there was no such event. Tells the owner if the other
 *  side uses other keys, or has sent bytes that are not a message; once for each host. Tells nothing if this
 *  authenticator refused the other side, or if the other side only closed the connection during the handshake. Without
 *  an authenticator the owner is not told of bytes that are not a message: libzmq reports them as a connection that was
 *  only closed. */
void mst_zmq_authenticator_failed(mst_transport *t, const char *host, uint16_t event, int error);
/** A connection from HOST was let in, but could not answer the challenge (zmq_token.h): tells the owner, once for each
 *  host. */
void mst_zmq_authenticator_unproved(mst_transport *t, const char *host);
/** A pending connection from HOST was ended because there were too many (zmq_pending.h): tells the owner, once for each
 *  host. */
void mst_zmq_authenticator_silent(mst_transport *t, const char *host);

#endif
