/* clang -fsanitize=fuzzer,address,undefined: packets of shared memory as another process sends them, any bytes with up
 * to three file descriptors, of which the first byte says how many. A packet that is taken is sent again as the same
 * bytes, its places are in the file, and no descriptor stays open. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memory.h"
#include "transport/shm_packet.h"

enum { MOST_FDS = 3, FILE_BYTES = 1 << 20 };

static int ends[2] = {-1, -1};

/* The number that the next file descriptor will have. */
static int next_fd(void) {
    const int fd = fcntl(ends[0], F_DUPFD_CLOEXEC, 0);
    if (fd < 0) __builtin_trap();
    close(fd);
    return fd;
}

static void send_input(const uint8_t *data, size_t size, size_t num_fds) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(MOST_FDS * sizeof(int))];
    } with = {0};
    const int fds[MOST_FDS] = {ends[0], ends[0], ends[0]};
    struct iovec bytes = {(void *)(uintptr_t)data, size};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (num_fds) {
        message.msg_control = &with;
        message.msg_controllen = CMSG_SPACE(num_fds * sizeof(int));
        with.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(num_fds * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&with.header), fds, num_fds * sizeof(int));
    }
    if (sendmsg(ends[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size) __builtin_trap();
}

/* PACKET, which came as the SIZE bytes at DATA. */
static void check_packet(const mst_shm_packet *packet, const uint8_t *data, size_t size) {
    static unsigned char again[sizeof *packet + 1];
    size_t total, sum = 0;
    const bool fits = mst_shm_packet_total(packet, FILE_BYTES, &total);
    bool inside = true;
    for (uint32_t i = 0; i < packet->num_places; i++) {
        const mst_shm_place place = packet->place[i];
        inside &= place.offset <= FILE_BYTES && place.bytes <= FILE_BYTES - place.offset;
        sum += inside ? place.bytes : 0;
    }
    if (fits != inside || (fits && total != sum)) __builtin_trap();
    if (!mst_shm_packet_send(ends[1], packet, -1)) __builtin_trap();
    if (recv(ends[0], again, sizeof again, MSG_DONTWAIT) != (ssize_t)size || memcmp(again, data, size) != 0)
        __builtin_trap();
}

static void read_input(const uint8_t *data, size_t size) {
    static mst_shm_packet packet;
    int fd;
    if (size < 2) return; /* of a packet without bytes the receiver thinks that it is the end */
    const size_t num_fds = data[0] % (MOST_FDS + 1);
    if (ends[0] < 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) abort();
    const int before = next_fd();
    data++, size--;
    send_input(data, size, num_fds);
    const mst_shm_arrival arrival = mst_shm_packet_receive(ends[1], &packet, &fd);
    if (arrival != MST_SHM_PACKET && arrival != MST_SHM_WRONG) __builtin_trap();
    if ((fd >= 0) != (arrival == MST_SHM_PACKET && num_fds == 1)) __builtin_trap();
    if (fd >= 0) close(fd);
    if (next_fd() != before) __builtin_trap();
    if (arrival == MST_SHM_PACKET) check_packet(&packet, data, size);
}

FUZZ(read_input, 0, 1 << 10)
