/* Unix sockets at which processes of one user on one machine connect, to share memory (shm_listener.h). */
#include "transport/shm_listener.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

bool mst_shm_is_same_user(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* A pidfd becomes readable when its process ends, so the caller notices a killed peer. */
int mst_shm_process(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid <= 0) return -1;
    return (int)syscall(SYS_pidfd_open, peer.pid, 0);
}

static socklen_t unix_address(const char *name, struct sockaddr_un *out) {
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(out->sun_path + 1, name, MST_SHM_LISTENER_SIZE - 1); /* a 0 before the name: not a file */
    return offsetof(struct sockaddr_un, sun_path) + MST_SHM_LISTENER_SIZE;
}

static int make_socket(void) {
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

mst_status mst_shm_listener_open(char name[MST_SHM_LISTENER_SIZE], int *out) {
    struct sockaddr_un address;
    uint64_t random[2];
    *out = -1;
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return MST_FAIL(MST_UNAVAILABLE, "cannot get random numbers: %s", strerror(errno));
    snprintf(name, MST_SHM_LISTENER_SIZE, "muster-%016llx%016llx", (unsigned long long)random[0],
             (unsigned long long)random[1]);
    const socklen_t size = unix_address(name, &address);
    *out = make_socket();
    if (*out < 0 || bind(*out, (const struct sockaddr *)&address, size) || listen(*out, SOMAXCONN))
        return MST_FAIL(MST_UNAVAILABLE, "cannot listen at a Unix socket: %s", strerror(errno));
    return MST_OK;
}

int mst_shm_listener_connect(const char *name) {
    struct sockaddr_un address;
    const socklen_t size = unix_address(name, &address);
    const int fd = make_socket();
    if (fd < 0) return -1;
    if (connect(fd, (const struct sockaddr *)&address, size) == 0 && mst_shm_is_same_user(fd)) return fd;
    close(fd);
    return -1;
}
