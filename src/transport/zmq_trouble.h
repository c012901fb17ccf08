/** Why a connection cannot be made, for who waits for it. libzmq says that an attempt has ended, and not why: then one
 *  is made without it, from which the system's error is known, and which is closed before anything is sent. */
#ifndef MUSTER_TRANSPORT_ZMQ_TROUBLE_H
#define MUSTER_TRANSPORT_ZMQ_TROUBLE_H

#include <stdbool.h>

#include "transport/transport.h"

typedef struct mst_zmq_trouble {
    bool reached;                  /**< in this attempt something has taken the connection */
    int probe;                     /**< the one that is made without libzmq; -1: none */
    char why[MST_TRANSPORT_DOING]; /**< of the last attempt that has ended; "": nothing is known */
} mst_zmq_trouble;

/** The host of ADDRESS has no number; WHY as the system says it. */
void mst_zmq_trouble_name(mst_zmq_trouble *trouble, const char *address, const char *why);
/** The attempt to connect to ENDPOINT, "tcp://" and an address in numbers, has been ended from there. */
void mst_zmq_trouble_ended(mst_zmq_trouble *trouble, const char *endpoint);
/** Nothing has come from there. */
void mst_zmq_trouble_silent(mst_zmq_trouble *trouble);
/** Who listens there refuses this task, and says WHY. */
void mst_zmq_trouble_refused(mst_zmq_trouble *trouble, const char *why);
/** Takes what is known of the probe by now. */
void mst_zmq_trouble_look(mst_zmq_trouble *trouble);
/** The connection is there, or is not wanted any more. */
void mst_zmq_trouble_end(mst_zmq_trouble *trouble);

#endif
