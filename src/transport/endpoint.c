#include "transport/endpoint.h"

#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wake.h"
#include "transport/service_thread.h"

enum { HOST_SIZE = 256, MOST_FOUND = 8, MOST_PORT = 65535 };

/* Splits "host:port"; false if ADDRESS does not have this form. */
static bool split(const char *address, char host[HOST_SIZE], char port[8]) {
    const char *colon = strrchr(address, ':');
    if (!colon) return false;
    size_t length = (size_t)(colon - address);
    const bool brackets = length > 2 && address[0] == '[' && colon[-1] == ']';
    if (!brackets && memchr(address, ':', length)) return false;
    if (brackets) {
        address++;
        length -= 2;
    }
    char *end;
    const unsigned long number = strtoul(colon + 1, &end, 10);
    const bool is_number = colon[1] >= '0' && colon[1] <= '9' && *end == '\0' && number >= 1 && number <= MOST_PORT;
    if (!is_number || length == 0 || length >= HOST_SIZE) return false;
    memcpy(host, address, length);
    host[length] = '\0';
    snprintf(port, 8, "%lu", number);
    return true;
}

static void write_numeric(const struct addrinfo *found, char out[MST_NUMERIC_SIZE]) {
    char host[64] = "", port[8] = "";
    if (getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        out[0] = '\0';
    else
        snprintf(out, MST_NUMERIC_SIZE, found->ai_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* Fills OUT with the first MOST addresses that ADDRESS resolves to, and returns their number. *WHY: the reason if 0. */
static unsigned find_numeric(const char *address, int flags, char (*out)[MST_NUMERIC_SIZE], unsigned most,
                             const char **why) {
    char host[HOST_SIZE], port[8];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    struct addrinfo *found = NULL;
    unsigned count = 0;
    *why = "it is not of the form host:port";
    if (!split(address, host, port)) return 0;
    const int error = getaddrinfo(host, port, &hints, &found);
    *why = error ? gai_strerror(error) : "";
    if (error) return 0;
    for (const struct addrinfo *f = found; f && count < most; f = f->ai_next) write_numeric(f, out[count++]);
    freeaddrinfo(found);
    return count;
}

mst_status mst_endpoint_check(const char *address) {
    char host[HOST_SIZE], port[8];
    if (split(address, host, port)) return MST_OK;
    return MST_FAIL(MST_INVALID, "address '%s': write it as host:port or [IPv6 address]:port, with a port of 1 to %d",
                    address, MOST_PORT);
}

mst_status mst_endpoint_resolve(const char *address, char out[MST_NUMERIC_SIZE]) {
    char found[1][MST_NUMERIC_SIZE];
    const char *why;
    MST_TRY(mst_endpoint_check(address));
    if (!find_numeric(address, AI_PASSIVE, found, 1, &why))
        return MST_FAIL(MST_INVALID, "address '%s': its host is not known here: %s", address, why);
    memcpy(out, found[0], MST_NUMERIC_SIZE);
    return MST_OK;
}

bool mst_endpoint_is_loopback(const char *numeric) {
    static const char v4[] = "127.", v6[] = "[::1]:";
    return strncmp(numeric, v4, sizeof v4 - 1) == 0 || strncmp(numeric, v6, sizeof v6 - 1) == 0;
}

/* Shared by the resolving thread and the caller that started it. The last of the two to leave frees it. */
struct mst_resolving {
    _Atomic int users;
    atomic_bool ended;
    int wake; /* a duplicate of the caller's descriptor: stays open if the caller closes its own */
    unsigned count;
    const char *why; /* why no address was found */
    char found[MOST_FOUND][MST_NUMERIC_SIZE];
    char address[];
};

static void leave_resolving(mst_resolving *r) {
    if (atomic_fetch_sub(&r->users, 1) > 1) return;
    if (r->wake >= 0) close(r->wake);
    free(r);
}

static void *run_resolve(void *context) {
    mst_resolving *r = context;
    r->count = find_numeric(r->address, 0, r->found, MOST_FOUND, &r->why);
    atomic_store(&r->ended, true);
    mst_wake(r->wake);
    leave_resolving(r);
    return NULL;
}

static bool start_thread(mst_resolving *r, int wake) {
    pthread_t thread;
    r->wake = dup(wake);
    atomic_store(&r->users, 2);
    if (r->wake >= 0 && mst_service_thread_start(run_resolve, r, &thread) == MST_OK) {
        pthread_detach(thread);
        return true;
    }
    atomic_store(&r->users, 1);
    leave_resolving(r);
    return false;
}

mst_resolving *mst_resolve_start(const char *address, int wake) {
    const size_t length = strlen(address) + 1;
    mst_resolving *r = calloc(1, sizeof *r + length);
    if (!r) return NULL;
    memcpy(r->address, address, length);
    r->count = find_numeric(address, AI_NUMERICHOST, r->found, MOST_FOUND, &r->why);
    if (r->count == 0) return start_thread(r, wake) ? r : NULL;
    r->wake = -1; /* the address is in numbers already */
    atomic_store(&r->users, 1);
    atomic_store(&r->ended, true);
    return r;
}

bool mst_resolve_result(mst_resolving *r, unsigned choice, char out[MST_NUMERIC_SIZE]) {
    if (!atomic_load(&r->ended)) return false;
    out[0] = '\0';
    if (r->count) memcpy(out, r->found[choice % r->count], MST_NUMERIC_SIZE);
    return true;
}

const char *mst_resolve_why(const mst_resolving *r) {
    return r->why;
}

void mst_resolve_end(mst_resolving *r) {
    if (r) leave_resolving(r);
}
