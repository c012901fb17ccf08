#include "transport/zmq_connect_error.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void set_why(mst_zmq_connect_error *error, const char *why) {
    snprintf(error->why, sizeof error->why, "%s", why);
}

void mst_zmq_connect_error_unresolved(mst_zmq_connect_error *error, const char *address, const char *why) {
    const char *colon = strrchr(address, ':');
    snprintf(error->why, sizeof error->why, "the name '%.*s' is not known here: check its spelling, or DNS: %.60s",
             (int)(colon - address < 60 ? colon - address : 60), address, why);
}

static void set_errno(mst_zmq_connect_error *error, int number) {
    if (number == ECONNREFUSED)
        set_why(error, "connection refused: nothing listens there");
    else if (number == ETIMEDOUT)
        mst_zmq_connect_error_silent(error);
    else
        set_why(error, number ? strerror(number) : "");
}

static void close_probe(mst_zmq_connect_error *error) {
    if (error->probe >= 0) close(error->probe);
    error->probe = -1;
}

void mst_zmq_connect_error_update(mst_zmq_connect_error *error) {
    struct pollfd fd = {.fd = error->probe, .events = POLLOUT};
    int number = 0;
    socklen_t size = sizeof number;
    if (error->probe < 0 || poll(&fd, 1, 0) <= 0) return;
    getsockopt(error->probe, SOL_SOCKET, SO_ERROR, &number, &size);
    set_errno(error, number);
    close_probe(error);
}

/* Begins the attempt without libzmq: connects to NUMERIC, such as "127.0.0.1:2222" or "[::1]:2222". */
static void start_probe(mst_zmq_connect_error *error, const char *numeric) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    const char *colon = strrchr(numeric, ':');
    const bool brackets = numeric[0] == '[';
    struct addrinfo *found = NULL;
    char host[64];
    snprintf(host, sizeof host, "%.*s", (int)(colon - numeric) - 2 * brackets, numeric + brackets);
    if (getaddrinfo(host, colon + 1, &hints, &found)) return;
    error->probe = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (error->probe >= 0 && connect(error->probe, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS) {
        set_errno(error, errno);
        close_probe(error);
    }
    freeaddrinfo(found);
}

void mst_zmq_connect_error_ended(mst_zmq_connect_error *error, const char *endpoint) {
    if (error->reached)
        set_why(error,
                "what listens there ends the connection: it is not a Muster task, or has a different cluster key");
    else if (error->probe < 0)
        start_probe(error, endpoint + strlen("tcp://"));
}

void mst_zmq_connect_error_silent(mst_zmq_connect_error *error) {
    set_why(error, error->reached ? "what listens there does not answer: it is stopped, or is not a Muster task"
                                  : "no answer from there: a wrong address, or the port is closed by a firewall");
}

void mst_zmq_connect_error_refused(mst_zmq_connect_error *error, const char *why) {
    set_why(error, why);
}

void mst_zmq_connect_error_clear(mst_zmq_connect_error *error) {
    close_probe(error);
    error->why[0] = '\0';
}
