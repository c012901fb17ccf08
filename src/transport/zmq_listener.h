/** The ROUTER at which the peers connect to this task. It says which of them may join, takes their messages, and
 *  notices the ends of their connections. All functions are called under the transport's lock. */
#ifndef MUSTER_TRANSPORT_ZMQ_LISTENER_H
#define MUSTER_TRANSPORT_ZMQ_LISTENER_H

#include "transport/zmq_peer.h"

/** Opens the ROUTER, and binds it if the transport listens; errno if that fails. */
bool mst_zmq_listen(mst_transport *t);
/** Takes what has arrived. Messages that arrived before a connection broke are taken before the break: libzmq reports
 *  the break last. */
void mst_zmq_listener_work(mst_transport *t, int64_t now);
/** Refuses the peer's connection with a message of KIND. The peer learns why, and makes a new one. */
void mst_zmq_listener_refuse(mst_transport *t, mst_zmq_peer *p, mst_wire_kind kind, const char *why, int64_t now);
/** Checks whether the peer connects to this task, but this task cannot connect to the peer although it has messages for
 *  it. As long as that lasts, the peer is refused and told why: messages in one direction only are of no use. JUDGE
 *  false: this task itself was stopped for a while, so the time without a connection is counted from now. */
void mst_zmq_listener_look_one_way(mst_transport *t, mst_zmq_peer *p, int64_t now, bool judge);

#endif
