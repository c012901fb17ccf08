/** Visitors: processes that are not tasks, and ask this one for its report (mst_transport_type.ask, `muster top`). A
 *  visitor has no number, so it cannot be mistaken for a task. It is answered once, and then keeps its place until its
 *  connection ends, or for some seconds. While all places are taken, other visitors are refused. */
#ifndef MUSTER_TRANSPORT_ZMQ_VISITOR_H
#define MUSTER_TRANSPORT_ZMQ_VISITOR_H

#include "transport/zmq_peer.h"

/** Answers the ASK of the DEALER with this id, which came by CONNECTION. */
void mst_zmq_visitor_answer(mst_transport *t, const unsigned char *id, mst_zmq_connection connection, int64_t now);
/** Connection NUMBER has ended. */
void mst_zmq_visitor_left(mst_transport *t, uint64_t number);

#endif
