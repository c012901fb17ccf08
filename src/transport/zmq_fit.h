/** Whether a task that connects fits into the list of tasks that this one has, and in words why it does not. */
#ifndef MUSTER_TRANSPORT_ZMQ_FIT_H
#define MUSTER_TRANSPORT_ZMQ_FIT_H

#include "transport/zmq_peer.h"

enum { MST_ZMQ_WHY = 320 };

/** Whether a task that says HELLO may join; else WHY not. */
bool mst_zmq_may_join(const mst_transport *t, const mst_message *hello, char why[MST_ZMQ_WHY]);
/** Whether an address that has come as SIZE bytes of TEXT is in the list of tasks. */
bool mst_zmq_is_listed(const mst_transport *t, const unsigned char *text, size_t size);
/** Says for both sides that this task cannot connect to the peer, which connects to it. */
void mst_zmq_say_one_way(const mst_transport *t, const mst_zmq_peer *peer, char why[MST_ZMQ_WHY]);

#endif
