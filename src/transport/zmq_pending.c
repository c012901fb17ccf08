#include "transport/zmq_pending.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/zmq_authenticator.h"
#include "transport/zmq_broken.h"

bool mst_zmq_pending_create(mst_transport *t) {
    t->most_pending = MST_ZMQ_PENDING + 2 * t->options.num_tasks;
    return (t->pending = calloc((size_t)t->most_pending, sizeof *t->pending));
}

/* Describes the other end of FD. The host is "" if there is none: FD is closed, and may be another file by now. */
static mst_zmq_pending find_peer(int fd) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    mst_zmq_pending p = {.has_ended = false};
    if (getpeername(fd, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, p.host, sizeof p.host, p.port, sizeof p.port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        p.host[0] = '\0';
    return p;
}

static void drop_pending(mst_transport *t, int i) {
    t->num_pending--;
    memmove(&t->pending[i], &t->pending[i + 1], (size_t)(t->num_pending - i) * sizeof *t->pending);
    /* the dropped connection may have been an excused one */
    if (t->num_excused > t->num_pending) t->num_excused = t->num_pending;
}

/* Ends the oldest pending connection: libzmq sees that it has ended, and closes it. */
static void end_oldest(mst_transport *t) {
    const mst_zmq_pending oldest = t->pending[0];
    drop_pending(t, 0);
    if (oldest.has_ended) return;
    const mst_zmq_pending now = find_peer(oldest.connection.fd);
    if (!now.host[0] || strcmp(now.host, oldest.host) != 0 || strcmp(now.port, oldest.port) != 0) return;
    shutdown(oldest.connection.fd, SHUT_RDWR);
    mst_zmq_authenticator_silent(t, oldest.host);
}

static mst_zmq_connection new_connection(mst_transport *t, int fd) {
    return (mst_zmq_connection){fd, ++t->num_connections};
}

void mst_zmq_pending_add(mst_transport *t, int fd) {
    if (t->num_pending == t->most_pending) end_oldest(t);
    mst_zmq_pending *p = &t->pending[t->num_pending++];
    *p = find_peer(fd);
    p->connection = new_connection(t, fd);
}

void mst_zmq_pending_excuse(mst_transport *t) {
    t->num_excused++;
}

/* The index of the pending connection with descriptor FD that has not ended; -1: there is none. */
static int find_open(const mst_transport *t, int fd) {
    for (int i = 0; i < t->num_pending; i++)
        if (t->pending[i].connection.fd == fd && !t->pending[i].has_ended) return i;
    return -1;
}

/* The index of the pending connection that has sent a message by descriptor FD; -1: there is none. */
static int find_sender(mst_transport *t, int fd) {
    mst_zmq_broken_look(t); /* first the events that libzmq has reported before the message */
    const int open = find_open(t, fd);
    for (int i = t->num_pending - 1; open < 0 && i >= 0; i--)
        if (t->pending[i].connection.fd == fd) return i;
    return open;
}

char *mst_zmq_pending_challenge(mst_transport *t, int fd, const unsigned char *id) {
    const int i = find_sender(t, fd);
    if (i < 0) return NULL;
    mst_zmq_pending *p = &t->pending[i];
    if (memcmp(p->id, id, MST_ZMQ_ID) != 0) p->challenge[0] = '\0';
    memcpy(p->id, id, MST_ZMQ_ID);
    return p->challenge;
}

mst_zmq_connection mst_zmq_pending_identified(mst_transport *t, int fd) {
    const int i = find_sender(t, fd);
    /* the connection has ended already, and FD may belong to another one now */
    if (i < 0) return new_connection(t, -1);
    const mst_zmq_connection connection = t->pending[i].connection;
    /* libzmq reports the success of this handshake; until that event is read, the count may be below 0 */
    t->num_excused--;
    drop_pending(t, i);
    return connection;
}

uint64_t mst_zmq_pending_mark_ended(mst_transport *t, int fd) {
    const int i = find_open(t, fd);
    if (i < 0) return 0;
    t->pending[i].has_ended = true;
    return t->pending[i].connection.number;
}

const char *mst_zmq_pending_remove(mst_transport *t, uint64_t number, bool failed) {
    int i = 0;
    while (i < t->num_pending && t->pending[i].connection.number != number) i++;
    if (i == t->num_pending) return NULL;
    const bool is_excused = !failed && t->num_excused > 0;
    if (is_excused) t->num_excused--;
    memcpy(t->gone, t->pending[i].host, sizeof t->gone);
    drop_pending(t, i);
    return is_excused || !t->gone[0] ? NULL : t->gone;
}
