/** CURVE, ZeroMQ's encryption, for the sockets of a zmq transport whose cluster has a key. Each side proves that it has
 *  its pair of keys:
 *
 *      DEALER                                       ROUTER
 *      knows the listener's public key  --------->  has the listener's pair: nobody else can answer
 *      has the connector's pair         --------->  is this public key allowed? (zmq_authenticator.h)
 *
 *  All functions are called under the transport's lock. */
#ifndef MUSTER_TRANSPORT_ZMQ_CURVE_H
#define MUSTER_TRANSPORT_ZMQ_CURVE_H

#include "transport/zmq_peer.h"

enum { MST_ZMQ_CURVE_BYTES = 64 /* a frame grows by at most this much when it is encrypted */ };

/** Makes the ROUTER, which is not bound yet, ask the authenticator. */
bool mst_zmq_curve_listen(mst_transport *t);
/** Makes a DEALER, which is not connected yet, use the keys. */
bool mst_zmq_curve_connect(const mst_cluster_keys *keys, void *dealer);

#endif
