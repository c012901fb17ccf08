#include "cluster/pmi.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum { LINE = 2 * MST_PMI_VALUE };

typedef struct pmi {
    int descriptor;
    double timeout;
    int64_t deadline;
    char line[LINE]; /* the last answer */
} pmi;

/* Reads a line, one byte at a time: bytes after it may be for another reader. */
static mst_status read_line(pmi *p) {
    struct pollfd ready = {.fd = p->descriptor, .events = POLLIN};
    size_t have = 0;
    for (;;) {
        const int64_t left = p->deadline - mst_clock_now();
        if (left <= 0)
            return MST_FAIL(MST_DEADLINE,
                            "PMI: mpiexec has not answered within %g s, perhaps because not all processes have "
                            "started: look at the output of the others",
                            p->timeout);
        if (poll(&ready, 1, (int)(left / 1000000) + 1) <= 0) continue;
        const ssize_t got = read(p->descriptor, p->line + have, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return MST_FAIL(MST_UNAVAILABLE,
                            "PMI: mpiexec has closed its connection to this process: it has ended, or does not speak "
                            "PMI-1: look at its output");
        if (p->line[have] == '\n') break;
        if (++have == sizeof p->line)
            return MST_FAIL(MST_CORRUPT,
                            "PMI: mpiexec has sent a line that is too long for PMI-1: take the mpiexec of MPICH or of "
                            "one of its relatives");
    }
    p->line[have] = '\0';
    return MST_OK;
}

static mst_status ask(pmi *p, const char *answer, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sends a line, and reads the answer, which must be the command ANSWER. */
static mst_status ask(pmi *p, const char *answer, const char *format, ...) {
    char text[LINE];
    va_list list;
    va_start(list, format);
    const int size = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (size >= LINE || send(p->descriptor, text, (size_t)size, MSG_NOSIGNAL) != size)
        return MST_FAIL(MST_UNAVAILABLE, "PMI: cannot send '%.*s' to mpiexec: it may have ended: look at its output",
                        (int)strcspn(text, "\n"), text);
    MST_TRY(read_line(p));
    const size_t length = strlen(answer);
    const bool is_it = strncmp(p->line, "cmd=", 4) == 0 && strncmp(p->line + 4, answer, length) == 0 &&
                       (p->line[4 + length] == ' ' || p->line[4 + length] == '\0');
    const char *code = strstr(p->line, " rc=");
    if (is_it && (!code || strcmp(code, " rc=0") == 0 || strncmp(code, " rc=0 ", 6) == 0)) return MST_OK;
    return MST_FAIL(
        MST_UNAVAILABLE,
        "PMI: mpiexec has answered '%.100s' to '%.*s', not '%s': take the mpiexec of MPICH or of one of its relatives",
        p->line, (int)strcspn(text, "\n"), text, answer);
}

/* Copies the value of KEY in the last answer to TEXT of SIZE bytes. */
static mst_status read_value(const pmi *p, const char *key, char *text, size_t size) {
    char word[32];
    snprintf(word, sizeof word, " %s=", key);
    const char *at = strstr(p->line, word), *value = at ? at + strlen(word) : "";
    const size_t length = strcspn(value, " ");
    if (length == 0 || length >= size)
        return MST_FAIL(MST_CORRUPT,
                        "PMI: mpiexec has answered '%.100s', in which '%s' is missing: take the mpiexec of MPICH or of "
                        "one of its relatives",
                        p->line, key);
    memcpy(text, value, length);
    text[length] = '\0';
    return MST_OK;
}

mst_status mst_pmi_share(int descriptor, int64_t rank, double timeout, bool finish, char value[MST_PMI_VALUE]) {
    pmi p = {.descriptor = descriptor, .timeout = timeout, .deadline = mst_clock_after(timeout)};
    char space[300];
    MST_TRY(ask(&p, "response_to_init", "cmd=init pmi_version=1 pmi_subversion=1\n"));
    MST_TRY(ask(&p, "my_kvsname", "cmd=get_my_kvsname\n"));
    MST_TRY(read_value(&p, "kvsname", space, sizeof space));
    if (rank == 0) MST_TRY(ask(&p, "put_result", "cmd=put kvsname=%s key=muster value=%s\n", space, value));
    MST_TRY(ask(&p, "barrier_out", "cmd=barrier_in\n"));
    if (rank != 0) {
        MST_TRY(ask(&p, "get_result", "cmd=get kvsname=%s key=muster\n", space));
        MST_TRY(read_value(&p, "value", value, MST_PMI_VALUE));
    }
    return finish ? ask(&p, "finalize_ack", "cmd=finalize\n") : MST_OK;
}
