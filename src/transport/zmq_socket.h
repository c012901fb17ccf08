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
/** From now on EPOLL is readable when one of the two, of which MONITOR may be NULL, may have something to tell. False
 *  where there is no memory. */
bool mst_zmq_watch(int epoll, void *socket, void *monitor);
/** Closes both, which EPOLL watches no more; each may be NULL. EPOLL is -1 where none did. */
void mst_zmq_close(int epoll, void *socket, void *monitor);

#endif
