#include "transport/shm_packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for one file descriptor. */
typedef union ancillary {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
} ancillary;

static size_t packet_size(const mst_shm_packet *p) {
    return offsetof(mst_shm_packet, place) + p->num_places * sizeof *p->place + p->num_bytes;
}

static bool send_all(int socket, const struct msghdr *message, size_t bytes) {
    ssize_t sent;
    do sent = sendmsg(socket, message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)bytes;
}

bool mst_shm_packet_send(int socket, const mst_shm_packet *packet, int fd) {
    struct iovec bytes = {(void *)(uintptr_t)packet, packet_size(packet)};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    ancillary with = {0};
    if (fd >= 0) {
        message.msg_control = &with;
        message.msg_controllen = sizeof with;
        with.header =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&with.header), &fd, sizeof fd);
    }
    return send_all(socket, &message, bytes.iov_len);
}

bool mst_shm_packet_send_bytes(int socket, const mst_shm_packet *packet, const mst_iov *piece, int n) {
    struct iovec bytes[1 + MST_SHM_PLACES];
    const struct msghdr message = {.msg_iov = bytes, .msg_iovlen = 1 + (size_t)n};
    bytes[0] = (struct iovec){(void *)(uintptr_t)packet, offsetof(mst_shm_packet, bytes)};
    for (int i = 0; i < n; i++) bytes[1 + i] = (struct iovec){(void *)(uintptr_t)piece[i].data, piece[i].bytes};
    return send_all(socket, &message, packet_size(packet));
}

/* The file descriptor in MESSAGE, which has room for one; -1: there is none. */
static int take_fd(struct msghdr *message) {
    const struct cmsghdr *header = CMSG_FIRSTHDR(message);
    int fd = -1;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

static bool is_packet(const mst_shm_packet *packet, size_t size) {
    return size >= offsetof(mst_shm_packet, place) && packet->kind > 0 && packet->kind < MST_SHM_KINDS &&
           packet->num_places <= MST_SHM_PLACES && packet->num_bytes <= MST_SHM_BYTES &&
           (packet->num_places == 0 || packet->num_bytes == 0) && size == packet_size(packet);
}

mst_shm_arrival mst_shm_packet_receive(int socket, mst_shm_packet *out, int *fd) {
    struct iovec bytes = {out, sizeof *out};
    ancillary with = {0};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &with};
    ssize_t size;
    *fd = -1;
    /* not CMSG_SPACE: its padding has room for a second descriptor, which nobody would close */
    message.msg_controllen = CMSG_LEN(sizeof *fd);
    /* ECONNRESET: the other end was closed before it had read everything; the packets that it has sent come next */
    do size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (size < 0 && (errno == EINTR || errno == ECONNRESET));
    if (size <= 0) return size < 0 && errno == EAGAIN ? MST_SHM_NOTHING : MST_SHM_ENDED;
    *fd = take_fd(&message);
    if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) && is_packet(out, (size_t)size)) return MST_SHM_PACKET;
    if (*fd >= 0) close(*fd);
    *fd = -1;
    return MST_SHM_WRONG;
}

bool mst_shm_packet_total(const mst_shm_packet *packet, size_t size, size_t *out) {
    size_t total = 0;
    for (uint32_t i = 0; i < packet->num_places; i++) {
        const mst_shm_place *p = &packet->place[i];
        if (p->offset > size || p->bytes > size - p->offset || p->bytes > SIZE_MAX / 2 - total) return false;
        total += p->bytes;
    }
    *out = total;
    return true;
}
