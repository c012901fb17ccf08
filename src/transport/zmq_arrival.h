/** Messages that have arrived at the sockets of libzmq. */
#ifndef MUSTER_TRANSPORT_ZMQ_ARRIVAL_H
#define MUSTER_TRANSPORT_ZMQ_ARRIVAL_H

#include <zmq.h>

#include "transport/zmq_peer.h"

/** A message that has arrived: a frame with the header; the bytes follow it, or are in a frame of their own. */
typedef struct mst_zmq_arrival {
    unsigned char id[MST_ZMQ_ID]; /**< of the DEALER that sent it to the ROUTER */
    bool has_id; /**< false: the id has another form, so the sender is not Muster, or SOCKET is no ROUTER */
    int fd;      /**< of its connection, as in the events of libzmq's monitor */
    mst_zmq_connection connection; /**< set for the first message of a connection */
    zmq_msg_t frame[2];
    int payload; /**< index of the frame with the bytes */
    size_t skip; /**< offset of the bytes in that frame */
    const unsigned char *data;
    size_t bytes;
    mst_wire_header message;
    const char *wrong; /**< why the message cannot be read; NULL: it can */
} mst_zmq_arrival;

/** Takes the next message; false if there is none. ROUTED: SOCKET is a ROUTER, which puts the sender's id before it. */
bool mst_zmq_arrival_take(void *socket, bool routed, mst_zmq_arrival *out);
/** Closes the frames of a message that was taken. */
void mst_zmq_arrival_end(mst_zmq_arrival *arrival);
/** The host from which ARRIVAL came, as libzmq has noted it in the frame. */
const char *mst_zmq_arrival_host(mst_zmq_arrival *arrival);
/** Delivers a control or data message of the peer, or a sign of life. Returns NULL, or why the connection to its sender
 *  must be given up. */
const char *mst_zmq_arrival_deliver(mst_transport *t, mst_zmq_peer *p, mst_zmq_arrival *arrival);

#endif
