#include "transport/zmq_broken.h"

#include <zmq.h>

#include "transport/zmq_pending.h"
#include "transport/zmq_socket.h"

/* The connection of a task or a status client with descriptor FD; NULL: none. */
static mst_zmq_connection *find_open(mst_transport *t, int fd) {
    for (int32_t i = 0; i < t->options.num_tasks; i++)
        if (t->peers[i].joined && t->peers[i].connection.fd == fd) return &t->peers[i].connection;
    for (int i = 0; i < MST_ZMQ_STATUS_CLIENTS; i++)
        if (t->status_client[i].came && t->status_client[i].connection.fd == fd) return &t->status_client[i].connection;
    return NULL;
}

/* The number of the connection with descriptor FD, which has just ended; 0: unknown. FD may already belong to the next
 * connection when the end of this one is handled. */
static uint64_t ended_number(mst_transport *t, int fd) {
    const uint64_t number = mst_zmq_pending_mark_ended(t, fd);
    mst_zmq_connection *connection = number ? NULL : find_open(t, fd);
    if (!connection) return number;
    connection->fd = -1;
    return connection->number;
}

void mst_zmq_broken_look(mst_transport *t) {
    int value;
    uint16_t event;
    while (t->num_broken < MST_ZMQ_BROKEN && mst_zmq_monitor_take(t->monitor, &event, &value)) {
        if (event == ZMQ_EVENT_ACCEPTED) {
            mst_zmq_pending_add(t, value);
        } else if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
            mst_zmq_pending_excuse(t);
        } else if (event != ZMQ_EVENT_DISCONNECTED) {
            t->handshake_end = event;
            t->handshake_error = value;
        } else {
            t->broken[t->num_broken++] = (mst_zmq_broken){ended_number(t, value), t->handshake_end, t->handshake_error};
            t->handshake_end = 0;
        }
    }
}
