/** Why a connection cannot be made, for those who wait for it. libzmq reports that an attempt has ended, but not why.
 *  Then one connection is tried without libzmq: it gives the system's error, and is closed before anything is sent. */
#ifndef MUSTER_TRANSPORT_ZMQ_TROUBLE_H
#define MUSTER_TRANSPORT_ZMQ_TROUBLE_H

#include <stdbool.h>

#include "transport/transport.h"

typedef struct mst_zmq_trouble {
    bool reached;                  /**< something at the address has accepted the connection in this attempt */
    int probe;                     /**< socket of the attempt without libzmq; -1: none */
    char why[MST_TRANSPORT_DOING]; /**< why the last attempt has ended; "": not known */
} mst_zmq_trouble;

/** The host of ADDRESS cannot be resolved; WHY: the system's reason. */
void mst_zmq_trouble_name(mst_zmq_trouble *trouble, const char *address, const char *why);
/** The attempt to connect to ENDPOINT, "tcp://" and an address in numbers, was ended by the other side. */
void mst_zmq_trouble_ended(mst_zmq_trouble *trouble, const char *endpoint);
/** The other side has sent nothing. */
void mst_zmq_trouble_silent(mst_zmq_trouble *trouble);
/** The process that listens there refuses this task for the reason WHY. */
void mst_zmq_trouble_refused(mst_zmq_trouble *trouble, const char *why);
/** Takes the result of the probe, if it is there. */
void mst_zmq_trouble_look(mst_zmq_trouble *trouble);
/** The connection exists, or is not wanted any more. */
void mst_zmq_trouble_end(mst_zmq_trouble *trouble);

#endif
