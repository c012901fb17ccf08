/** Functions for all sockets of libzmq here, and the monitor sockets that report events of their connections. */
#ifndef MUSTER_TRANSPORT_ZMQ_SOCKET_H
#define MUSTER_TRANSPORT_ZMQ_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

void mst_zmq_set_int(void *socket, int option, int value);
/** Whether SOCKET has a message that can be taken. */
bool mst_zmq_is_readable(void *socket);

/** A socket that receives EVENTS of the connections of SOCKET; NULL if it cannot be made. NUMBER must differ between
 *  the monitors of CONTEXT. */
void *mst_zmq_monitor_open(void *context, unsigned number, void *socket, int events);
/** Takes the next event; false if there is none. *VALUE: the connection's file descriptor, or an error number. */
bool mst_zmq_monitor_take(void *monitor, uint16_t *event, int *value);
/** From now on EPOLL is readable when SOCKET or MONITOR may have something to read. MONITOR may be NULL. False: there
 *  is no memory. */
bool mst_zmq_watch(int epoll, void *socket, void *monitor);
/** Closes both, and removes them from EPOLL. Each may be NULL. EPOLL is -1 if they are in none. */
void mst_zmq_close(int epoll, void *socket, void *monitor);

#endif
