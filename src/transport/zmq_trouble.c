#include "transport/zmq_trouble.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void trouble_set(mst_zmq_trouble *trouble, const char *why) {
    snprintf(trouble->why, sizeof trouble->why, "%s", why);
}

void mst_zmq_trouble_name(mst_zmq_trouble *trouble, const char *address, const char *why) {
    const char *colon = strrchr(address, ':');
    snprintf(trouble->why, sizeof trouble->why, "the name '%.*s' is not known here: check its spelling, or DNS: %.60s",
             (int)(colon - address < 60 ? colon - address : 60), address, why);
}

static void trouble_from(mst_zmq_trouble *trouble, int error) {
    if (error == ECONNREFUSED)
        trouble_set(trouble, "connection refused: nothing listens there");
    else if (error == ETIMEDOUT)
        mst_zmq_trouble_silent(trouble);
    else
        trouble_set(trouble, error ? strerror(error) : "");
}

static void trouble_close(mst_zmq_trouble *trouble) {
    if (trouble->probe >= 0) close(trouble->probe);
    trouble->probe = -1;
}

void mst_zmq_trouble_look(mst_zmq_trouble *trouble) {
    struct pollfd fd = {.fd = trouble->probe, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;
    if (trouble->probe < 0 || poll(&fd, 1, 0) <= 0) return;
    getsockopt(trouble->probe, SOL_SOCKET, SO_ERROR, &error, &size);
    trouble_from(trouble, error);
    trouble_close(trouble);
}

/* Begins to connect to NUMERIC, "127.0.0.1:2222" or "[::1]:2222". */
static void trouble_probe(mst_zmq_trouble *trouble, const char *numeric) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    const char *colon = strrchr(numeric, ':');
    const bool brackets = numeric[0] == '[';
    struct addrinfo *found = NULL;
    char host[64];
    snprintf(host, sizeof host, "%.*s", (int)(colon - numeric) - 2 * brackets, numeric + brackets);
    if (getaddrinfo(host, colon + 1, &hints, &found)) return;
    trouble->probe = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (trouble->probe >= 0 && connect(trouble->probe, found->ai_addr, found->ai_addrlen) != 0 &&
        errno != EINPROGRESS) {
        trouble_from(trouble, errno);
        trouble_close(trouble);
    }
    freeaddrinfo(found);
}

void mst_zmq_trouble_ended(mst_zmq_trouble *trouble, const char *endpoint) {
    if (trouble->reached)
        trouble_set(trouble,
                    "what listens there ends the connection: it is not a Muster task, or has a different cluster key");
    else if (trouble->probe < 0)
        trouble_probe(trouble, endpoint + strlen("tcp://"));
}

void mst_zmq_trouble_silent(mst_zmq_trouble *trouble) {
    trouble_set(trouble, trouble->reached
                             ? "what listens there does not answer: it is stopped, or is not a Muster task"
                             : "no answer from there: a wrong address, or the port is closed by a firewall");
}

void mst_zmq_trouble_refused(mst_zmq_trouble *trouble, const char *why) {
    trouble_set(trouble, why);
}

void mst_zmq_trouble_end(mst_zmq_trouble *trouble) {
    trouble_close(trouble);
    trouble->why[0] = '\0';
}
