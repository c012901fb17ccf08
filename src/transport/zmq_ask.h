/** The asking side of zmq_status_client.h: asks tasks for their reports, as a process that is not a task. */
#ifndef MUSTER_TRANSPORT_ZMQ_ASK_H
#define MUSTER_TRANSPORT_ZMQ_ASK_H

#include "transport/transport.h"

/** As mst_transport_type.ask. */
MST_CHECKED mst_status mst_zmq_ask(const mst_cluster_keys *keys, const char *const *address, int n, double seconds,
                                   mst_transport_answer *answer);

#endif
