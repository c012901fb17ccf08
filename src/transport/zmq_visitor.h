/** Visitors: processes that are no tasks, and ask what this one does (mst_transport_type.ask, `muster top`). A visitor
 *  has no number, so that it cannot be taken for a task. It is answered once, and then keeps its place until its
 *  connection ends, or for some seconds; as long as all places are taken others are refused. */
#ifndef MUSTER_TRANSPORT_ZMQ_VISITOR_H
#define MUSTER_TRANSPORT_ZMQ_VISITOR_H

#include "transport/zmq_peer.h"

/** Answers ASK from the DEALER with this id, whose connection is FD. LOGIN: its, where the transport has a token. */
void mst_zmq_visitor_answer(mst_transport *t, const unsigned char *id, int fd, const char *login, int64_t now);
/** Connection FD has ended. */
void mst_zmq_visitor_left(mst_transport *t, int fd);

#endif
