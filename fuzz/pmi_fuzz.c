/* clang -fsanitize=fuzzer,address,undefined: lines of PMI-1, as what an MPI asks, and as what mpiexec answers. An
 * answer is one line, what was put are pairs, and a value that was shared has no space in it. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/pmi.h"
#include "memory.h"
#include "transport/pmi_server.h"

static void ask(mst_pmi_server *server, char *line) {
    char answer[MST_PMI_LINE];
    if (mst_pmi_server_take(server, line, answer) == MST_PMI_ABORTED) return;
    const size_t size = strlen(answer);
    if (size == 0 || strchr(answer, '\n') != answer + size - 1) __builtin_trap();
}

static void ask_all(char *text) {
    mst_pmi_server server = {.num_tasks = 2};
    for (char *line = text, *end; line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end) *end = '\0';
        ask(&server, line);
    }
    if (server.own.data && !mst_pmi_are_pairs(server.own.data, server.own.size)) __builtin_trap();
    mst_pmi_server_free(&server);
}

/* All answers are there before the first is asked for, and the connection ends behind them. */
static void answer_all(const uint8_t *data, size_t size, int64_t rank) {
    char value[MST_PMI_VALUE] = "v";
    int end[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, end)) return;
    const bool sent = size == 0 || send(end[1], data, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
    shutdown(end[1], SHUT_WR);
    if (sent && mst_pmi_share(end[0], rank, 10, true, value) == MST_OK && (!*value || strchr(value, ' ')))
        __builtin_trap();
    close(end[0]);
    close(end[1]);
}

static void read_input(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) return;
    memcpy(text, data, size);
    text[size] = '\0';
    mst_pmi_are_pairs(text, size);
    for (int rank = 0; rank < 2; rank++) answer_all(data, size, rank);
    ask_all(text);
    free(text);
}

FUZZ(read_input, 8, 1 << 12)
