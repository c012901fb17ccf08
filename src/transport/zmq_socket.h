/** What all sockets of libzmq here have in common, and the sockets that tell what happens to their connections. */
#ifndef MUSTER_TRANSPORT_ZMQ_SOCKET_H
#define MUSTER_TRANSPORT_ZMQ_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

void mst_zmq_set_int(void *socket, int option, int value);
/** Whether SOCKET has a message that can be taken. */
bool mst_zmq_is_readable(void *socket);

/** A socket that receives EVENTS of the connections of SOCKET; NULL where there can be none. NUMBER: no two monitors of
 *  CONTEXT have the same. */
void *mst_zmq_monitor_open(void *context, unsigned number, void *socket, int events);
/** The next event; false where there is none. *VALUE: the connection's file descriptor, or an error's number. */
bool mst_zmq_monitor_take(void *monitor, uint16_t *event, int *value);
/** From now on EPOLL is readable when SOCKET may have something to tell: what there was before must have been taken. False
 *  where there is no memory. */
bool mst_zmq_watch(int epoll, void *socket);
/** Before SOCKET, which may be NULL, is closed. */
void mst_zmq_unwatch(int epoll, void *socket);
/** Closes both; each may be NULL. */
void mst_zmq_close(void *socket, void *monitor);

#endif
