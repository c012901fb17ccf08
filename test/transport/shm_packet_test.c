/* Packets of shared memory between two ends of a socket: a packet with more than one file descriptor is refused, and
 * none of its descriptors stays open. */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/test.h"
#include "transport/shm_packet.h"

enum { MOST_FDS = 8 };

/* The number that the next file descriptor will have. */
static int next_fd(void) {
    const int fd = fcntl(0, F_DUPFD_CLOEXEC, 0);
    assert_true(fd >= 0);
    close(fd);
    return fd;
}

/* HELLO with COUNT file descriptors. */
static void send_hello(int socket, int count) {
    const mst_shm_packet hello = {.kind = MST_SHM_HELLO, .from = 1, .instance = 7};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(MOST_FDS * sizeof(int))];
    } with = {0};
    struct iovec bytes = {(void *)(uintptr_t)&hello, offsetof(mst_shm_packet, place)};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (count) {
        const int fds[MOST_FDS] = {0};
        message.msg_control = &with;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        with.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN((size_t)count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&with.header), fds, (size_t)count * sizeof(int));
    }
    assert_int_equal(sendmsg(socket, &message, 0), bytes.iov_len);
}

static void at_most_one_file_descriptor_comes_along(void **state) {
    (void)state;
    int ends[2], fd;
    mst_shm_packet packet;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    const int before = next_fd();
    for (int count = 0; count <= MOST_FDS; count++) {
        send_hello(ends[0], count);
        assert_int_equal(mst_shm_packet_receive(ends[1], &packet, &fd), count < 2 ? MST_SHM_PACKET : MST_SHM_WRONG);
        assert_int_equal(fd >= 0, count == 1);
        if (fd >= 0) close(fd);
        assert_int_equal(next_fd(), before);
    }
    close(ends[0]);
    assert_int_equal(mst_shm_packet_receive(ends[1], &packet, &fd), MST_SHM_ENDED);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_most_one_file_descriptor_comes_along)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
