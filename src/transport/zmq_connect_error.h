/** Finds out why a connection cannot be made, for messages about the wait for it. libzmq reports that an attempt has
 *  ended, but not why. Then one connection is tried without libzmq, which gives the system's error. That connection is
 *  closed before anything is sent. */
#ifndef MUSTER_TRANSPORT_ZMQ_CONNECT_ERROR_H
#define MUSTER_TRANSPORT_ZMQ_CONNECT_ERROR_H

#include <stdbool.h>

#include "transport/transport.h"

typedef struct mst_zmq_connect_error {
    bool reached;                  /**< something at the address has accepted the connection in this attempt */
    int probe;                     /**< socket of the attempt without libzmq; -1: none */
    char why[MST_TRANSPORT_DOING]; /**< why the last attempt has ended; "": not known */
} mst_zmq_connect_error;

/** The next four functions note in ERROR why an attempt to connect has ended. */

/** The host of ADDRESS cannot be resolved; WHY: the system's reason. */
void mst_zmq_connect_error_unresolved(mst_zmq_connect_error *error, const char *address, const char *why);
/** The attempt to connect to ENDPOINT, "tcp://" and an address in numbers, was ended by the other side. If nothing had
 *  accepted the connection, begins the attempt without libzmq. */
void mst_zmq_connect_error_ended(mst_zmq_connect_error *error, const char *endpoint);
/** The other side has sent nothing in time. */
void mst_zmq_connect_error_silent(mst_zmq_connect_error *error);
/** The process that listens there refuses this task for the reason WHY. */
void mst_zmq_connect_error_refused(mst_zmq_connect_error *error, const char *why);

/** Takes the result of the attempt without libzmq, if it is there. */
void mst_zmq_connect_error_update(mst_zmq_connect_error *error);
/** Clears the reason. Call it when the connection has been made, or is no longer needed. */
void mst_zmq_connect_error_clear(mst_zmq_connect_error *error);

#endif
