/* A program that belongs to no job. It listens on a port of this machine, and sends nothing to programs that
 * connect, until it is ended. Usage: listener PORT. It prints a line when it listens. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count != 2) return 2;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtoul(arguments[1], NULL, 10)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    if (listening < 0 || setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
        bind(listening, (const struct sockaddr *)&address, sizeof address) || listen(listening, 16)) {
        perror("listener");
        return 1;
    }
    puts("listens");
    fflush(stdout);
    for (;;) pause();
}
