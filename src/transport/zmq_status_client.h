/** Status clients: processes that are not tasks, and ask this one for its report (mst_transport_type.ask, `muster
 *  top`). A status client has no number, so it cannot be mistaken for a task. It is answered once. It then keeps its
 *  place until its connection ends, but for some seconds at most. While all places are taken, others are refused. */
#ifndef MUSTER_TRANSPORT_ZMQ_STATUS_CLIENT_H
#define MUSTER_TRANSPORT_ZMQ_STATUS_CLIENT_H

#include "transport/zmq_peer.h"

/** Answers the ASK of the DEALER with this id, which came by CONNECTION. */
void mst_zmq_status_client_answer(mst_transport *t, const unsigned char *id, mst_zmq_connection connection,
                                  int64_t now);
/** Connection NUMBER has ended. */
void mst_zmq_status_client_left(mst_transport *t, uint64_t number);

#endif
