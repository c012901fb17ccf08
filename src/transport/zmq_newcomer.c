#include "transport/zmq_newcomer.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/zmq_door.h"

bool mst_zmq_newcomers_create(mst_transport *t) {
    t->most_newcomers = MST_ZMQ_NEWCOMERS + 2 * t->options.num_tasks;
    return (t->newcomer = calloc((size_t)t->most_newcomers, sizeof *t->newcomer));
}

/* Who is at the other end of FD. The host is "" where there is none: FD is closed, and may be another file by now. */
static mst_zmq_newcomer find_peer(int fd) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    mst_zmq_newcomer n = {.fd = fd};
    if (getpeername(fd, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, n.host, sizeof n.host, n.port, sizeof n.port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        n.host[0] = '\0';
    return n;
}

static void drop_newcomer(mst_transport *t, int i) {
    t->num_newcomers--;
    memmove(&t->newcomer[i], &t->newcomer[i + 1], (size_t)(t->num_newcomers - i) * sizeof *t->newcomer);
    /* the one that is dropped may have been among them */
    if (t->num_let_in > t->num_newcomers) t->num_let_in = t->num_newcomers;
}

/* libzmq finds the connection ended, and closes it. */
static void end_oldest(mst_transport *t) {
    const mst_zmq_newcomer oldest = t->newcomer[0];
    drop_newcomer(t, 0);
    const mst_zmq_newcomer now = find_peer(oldest.fd);
    if (!now.host[0] || strcmp(now.host, oldest.host) != 0 || strcmp(now.port, oldest.port) != 0) return;
    shutdown(oldest.fd, SHUT_RDWR);
    mst_zmq_door_silent(t, oldest.host);
}

void mst_zmq_newcomer_came(mst_transport *t, int fd) {
    if (t->num_newcomers == t->most_newcomers) end_oldest(t);
    t->newcomer[t->num_newcomers++] = find_peer(fd);
}

void mst_zmq_newcomer_let_in(mst_transport *t) {
    t->num_let_in++;
}

/* The place of the one with FD; -1: there is none. */
static int find_newcomer(const mst_transport *t, int fd) {
    for (int i = 0; i < t->num_newcomers; i++)
        if (t->newcomer[i].fd == fd) return i;
    return -1;
}

void mst_zmq_newcomer_said(mst_transport *t, int fd) {
    const int i = find_newcomer(t, fd);
    if (i < 0) return;
    t->num_let_in--; /* less than 0 until libzmq's event is taken */
    drop_newcomer(t, i);
}

const char *mst_zmq_newcomer_ended(mst_transport *t, int fd, bool failed) {
    const int i = find_newcomer(t, fd);
    if (i < 0) return NULL;
    const bool let_in = !failed && t->num_let_in > 0;
    if (let_in) t->num_let_in--;
    memcpy(t->gone, t->newcomer[i].host, sizeof t->gone);
    drop_newcomer(t, i);
    return let_in || !t->gone[0] ? NULL : t->gone;
}
