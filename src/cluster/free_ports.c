#include "cluster/free_ports.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_PORT = 10000, END_OF_PORTS = 65536 };

/* Whether PORT can be bound to every address of this machine: a task may listen on any of them. */
static bool is_free(int port) {
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool free = descriptor >= 0 && bind(descriptor, (const struct sockaddr *)&address, sizeof address) == 0;
    if (descriptor >= 0) close(descriptor);
    return free;
}

/* The first port used for outgoing connections. */
static int end_of_range(void) {
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
    int first = 0;
    if (file) {
        if (fscanf(file, "%d", &first) != 1) first = 0;
        fclose(file);
    }
    return first > FIRST_PORT && first < END_OF_PORTS ? first : END_OF_PORTS;
}

mst_status mst_find_free_ports(int count, int *port) {
    const int size = end_of_range() - FIRST_PORT;
    unsigned begin; /* random: two launchers that run at the same time should not look at the same ports */
    if (getrandom(&begin, sizeof begin, GRND_NONBLOCK) != sizeof begin) begin = (unsigned)time(NULL);
    int found = 0;
    for (int i = 0; i < size && found < count; i++) {
        const int next = FIRST_PORT + (int)((begin % (unsigned)size + (unsigned)i) % (unsigned)size);
        if (is_free(next)) port[found++] = next;
    }
    if (found == count) return MST_OK;
    return MST_FAIL(MST_UNAVAILABLE, "only %d ports from %d to %d are free, for %d tasks: start fewer", found,
                    FIRST_PORT, FIRST_PORT + size - 1, count);
}
