#include "transport/zmq_newcomer.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/zmq_authenticator.h"
#include "transport/zmq_broken.h"

bool mst_zmq_newcomers_create(mst_transport *t) {
    t->most_newcomers = MST_ZMQ_NEWCOMERS + 2 * t->options.num_tasks;
    return (t->newcomer = calloc((size_t)t->most_newcomers, sizeof *t->newcomer));
}

/* Describes the other end of FD. The host is "" if there is none: FD is closed, and may be another file by now. */
static mst_zmq_newcomer find_peer(int fd) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    mst_zmq_newcomer n = {.has_ended = false};
    if (getpeername(fd, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, n.host, sizeof n.host, n.port, sizeof n.port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        n.host[0] = '\0';
    return n;
}

static void drop_newcomer(mst_transport *t, int i) {
    t->num_newcomers--;
    memmove(&t->newcomer[i], &t->newcomer[i + 1], (size_t)(t->num_newcomers - i) * sizeof *t->newcomer);
    /* the dropped newcomer may have been one of the excused ones */
    if (t->num_excused > t->num_newcomers) t->num_excused = t->num_newcomers;
}

/* Ends the oldest newcomer: libzmq sees that the connection has ended, and closes it. */
static void end_oldest(mst_transport *t) {
    const mst_zmq_newcomer oldest = t->newcomer[0];
    drop_newcomer(t, 0);
    if (oldest.has_ended) return;
    const mst_zmq_newcomer now = find_peer(oldest.connection.fd);
    if (!now.host[0] || strcmp(now.host, oldest.host) != 0 || strcmp(now.port, oldest.port) != 0) return;
    shutdown(oldest.connection.fd, SHUT_RDWR);
    mst_zmq_authenticator_silent(t, oldest.host);
}

static mst_zmq_connection new_connection(mst_transport *t, int fd) {
    return (mst_zmq_connection){fd, ++t->num_connections};
}

void mst_zmq_newcomer_came(mst_transport *t, int fd) {
    if (t->num_newcomers == t->most_newcomers) end_oldest(t);
    mst_zmq_newcomer *n = &t->newcomer[t->num_newcomers++];
    *n = find_peer(fd);
    n->connection = new_connection(t, fd);
}

void mst_zmq_newcomer_excuse(mst_transport *t) {
    t->num_excused++;
}

/* The index of the newcomer with descriptor FD that has not ended; -1: there is none. */
static int find_open(const mst_transport *t, int fd) {
    for (int i = 0; i < t->num_newcomers; i++)
        if (t->newcomer[i].connection.fd == fd && !t->newcomer[i].has_ended) return i;
    return -1;
}

/* The index of the newcomer that has sent a message through descriptor FD; -1: there is none. */
static int find_sender(mst_transport *t, int fd) {
    mst_zmq_broken_look(t); /* the events of libzmq that came before the message */
    const int open = find_open(t, fd);
    for (int i = t->num_newcomers - 1; open < 0 && i >= 0; i--)
        if (t->newcomer[i].connection.fd == fd) return i;
    return open;
}

char *mst_zmq_newcomer_challenge(mst_transport *t, int fd, const unsigned char *id) {
    const int i = find_sender(t, fd);
    if (i < 0) return NULL;
    mst_zmq_newcomer *n = &t->newcomer[i];
    if (memcmp(n->id, id, MST_ZMQ_ID) != 0) n->challenge[0] = '\0';
    memcpy(n->id, id, MST_ZMQ_ID);
    return n->challenge;
}

mst_zmq_connection mst_zmq_newcomer_said(mst_transport *t, int fd) {
    const int i = find_sender(t, fd);
    if (i < 0) return new_connection(t, -1); /* the connection has ended; FD may belong to another one now */
    const mst_zmq_connection connection = t->newcomer[i].connection;
    t->num_excused--; /* below 0 until libzmq's event is read */
    drop_newcomer(t, i);
    return connection;
}

uint64_t mst_zmq_newcomer_ends(mst_transport *t, int fd) {
    const int i = find_open(t, fd);
    if (i < 0) return 0;
    t->newcomer[i].has_ended = true;
    return t->newcomer[i].connection.number;
}

const char *mst_zmq_newcomer_ended(mst_transport *t, uint64_t number, bool failed) {
    int i = 0;
    while (i < t->num_newcomers && t->newcomer[i].connection.number != number) i++;
    if (i == t->num_newcomers) return NULL;
    const bool is_excused = !failed && t->num_excused > 0;
    if (is_excused) t->num_excused--;
    memcpy(t->gone, t->newcomer[i].host, sizeof t->gone);
    drop_newcomer(t, i);
    return is_excused || !t->gone[0] ? NULL : t->gone;
}
