#include "transport/zmq_socket.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zmq.h>

void mst_zmq_set_int(void *socket, int option, int value) {
    zmq_setsockopt(socket, option, &value, sizeof value);
}

bool mst_zmq_is_readable(void *socket) {
    int events = 0;
    size_t size = sizeof events;
    return zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN);
}

void *mst_zmq_monitor_open(void *context, unsigned number, void *socket, int events) {
    char endpoint[64];
    snprintf(endpoint, sizeof endpoint, "inproc://monitor-%u", number);
    void *monitor = zmq_socket_monitor(socket, endpoint, events) == 0 ? zmq_socket(context, ZMQ_PAIR) : NULL;
    if (!monitor) return NULL;
    mst_zmq_set_int(monitor, ZMQ_LINGER, 0);
    if (zmq_connect(monitor, endpoint) == 0) return monitor;
    zmq_close(monitor);
    return NULL;
}

bool mst_zmq_monitor_take(void *monitor, uint16_t *event, int *value) {
    zmq_msg_t frame;
    uint32_t number;
    zmq_msg_init(&frame);
    const bool there = zmq_msg_recv(&frame, monitor, ZMQ_DONTWAIT) >= (int)(sizeof *event + sizeof number);
    if (there) {
        const unsigned char *at = zmq_msg_data(&frame);
        memcpy(event, at, sizeof *event);
        memcpy(&number, at + sizeof *event, sizeof number);
        *value = (int)number;
        zmq_msg_recv(&frame, monitor, ZMQ_DONTWAIT); /* the second frame, an address, is not used */
    }
    zmq_msg_close(&frame);
    return there;
}

/* Calls the kernel directly, so that ThreadSanitizer does not see this use of the descriptor. ThreadSanitizer does not
 * see either that libzmq closes the descriptor. It would mistake the next descriptor with that number for the same
 * one. */
static int control(int epoll, int operation, void *socket) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = socket};
    int fd;
    size_t size = sizeof fd;
    if (zmq_getsockopt(socket, ZMQ_FD, &fd, &size) != 0) return -1;
    return (int)syscall(SYS_epoll_ctl, epoll, operation, fd, &event);
}

static bool watch_socket(int epoll, void *socket) {
    return !socket || control(epoll, EPOLL_CTL_ADD, socket) == 0;
}

bool mst_zmq_watch(int epoll, void *socket, void *monitor) {
    return watch_socket(epoll, socket) && watch_socket(epoll, monitor);
}

static void close_socket(int epoll, void *socket) {
    if (!socket) return;
    if (epoll >= 0) control(epoll, EPOLL_CTL_DEL, socket);
    zmq_close(socket);
}

/* Closes the socket's end of the monitor first: libzmq would otherwise wait for somebody to read from the monitor. */
void mst_zmq_close(int epoll, void *socket, void *monitor) {
    if (monitor) zmq_socket_monitor(socket, NULL, 0);
    close_socket(epoll, socket);
    close_socket(epoll, monitor);
}
