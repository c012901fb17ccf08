#include "cluster/rendezvous.h"

#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "cluster/free_ports.h"

static const int64_t SAID_APART = 2000000000; /* nanoseconds */
enum { LINE = 128, WHY = 400, GRACE = 5 /* seconds for the error of worker 0 to come */ };
static const char greeting[] = "muster-rendezvous-1";

/* ---- addresses ---- */

/* Writes the host of a socket's address in numbers; an IPv4 address mapped to IPv6 is written as IPv4. */
static void write_host(const struct sockaddr *address, socklen_t size, char host[MST_HOST_TEXT]) {
    static const char mapped[] = "::ffff:";
    const size_t skip = sizeof mapped - 1;
    host[0] = '\0';
    if (getnameinfo(address, size, host, MST_HOST_TEXT, NULL, 0, NI_NUMERICHOST)) return;
    if (strncmp(host, mapped, skip) == 0 && strchr(host, '.')) memmove(host, host + skip, strlen(host + skip) + 1);
}

static void host_of(int connection, bool peer, char host[MST_HOST_TEXT]) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    struct sockaddr *a = (struct sockaddr *)&address;
    host[0] = '\0';
    if ((peer ? getpeername(connection, a, &size) : getsockname(connection, a, &size)) == 0) write_host(a, size, host);
}

static bool is_loopback(const char *host) {
    mst_address address = {.port = 0};
    snprintf(address.host, sizeof address.host, "%s", host);
    return mst_address_is_loopback(&address);
}

static void print_address(const char *host, int port, char text[MST_ADDRESS_TEXT]) {
    mst_address address = {.port = (uint16_t)port};
    snprintf(address.host, sizeof address.host, "%s", host);
    mst_address_print(&address, text);
}

void mst_rendezvous_own_addresses(int port, char *text, size_t size) {
    struct ifaddrs *all = NULL;
    size_t used = 0;
    text[0] = '\0';
    if (getifaddrs(&all)) return;
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        char host[MST_HOST_TEXT], address[MST_ADDRESS_TEXT];
        const bool is_v6 = a->ifa_addr && a->ifa_addr->sa_family == AF_INET6;
        if (!a->ifa_addr || !(a->ifa_flags & IFF_UP) || (a->ifa_flags & IFF_LOOPBACK)) continue;
        if (!is_v6 && a->ifa_addr->sa_family != AF_INET) continue;
        write_host(a->ifa_addr, is_v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in), host);
        if (!host[0] || strchr(host, '%')) continue; /* such an address is valid on one network link only */
        print_address(host, port, address);
        if (used + strlen(address) + 2 > size) break;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", address);
    }
    freeifaddrs(all);
}

/* ---- worker 0 listens ---- */

static int try_to_listen(const struct sockaddr *address, socklen_t size) {
    const int on = 1, off = 0, descriptor = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->sa_family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(descriptor, address, size) == 0 && listen(descriptor, SOMAXCONN) == 0) return descriptor;
    const int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

static int listen_everywhere(int port) {
    const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int descriptor = try_to_listen((const struct sockaddr *)&v6, sizeof v6);
    if (descriptor >= 0 || (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL)) return descriptor;
    return try_to_listen((const struct sockaddr *)&v4, sizeof v4);
}

static struct addrinfo *look_up(const mst_address *address, const char **why) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", address->port);
    const int error = getaddrinfo(address->host, port, &hints, &found);
    *why = error ? gai_strerror(error) : "";
    return error ? NULL : found;
}

mst_status mst_rendezvous_listen(const char *text, int *out, int *port) {
    mst_address address = {.port = 0};
    const char *why;
    int descriptor = -1;
    if (*text) {
        MST_TRY(mst_address_parse(text, &address));
        *port = address.port;
    } else {
        MST_TRY(mst_find_free_ports(1, port));
    }
    struct addrinfo *found = *text && !mst_address_is_loopback(&address) ? look_up(&address, &why) : NULL;
    errno = EADDRNOTAVAIL;
    if (found && !is_loopback(address.host)) {
        char host[MST_HOST_TEXT];
        write_host(found->ai_addr, found->ai_addrlen, host);
        if (!is_loopback(host)) descriptor = try_to_listen(found->ai_addr, found->ai_addrlen);
    }
    if (descriptor < 0 && errno == EADDRNOTAVAIL) descriptor = listen_everywhere(*port);
    if (found) freeaddrinfo(found);
    if (descriptor < 0)
        return errno == EADDRINUSE
                   ? MST_FAIL(MST_UNAVAILABLE,
                              "worker 0 cannot listen on port %d for the others, because another program does: end it, "
                              "or take another port",
                              *port)
                   : MST_FAIL(MST_UNAVAILABLE,
                              "worker 0 cannot listen on port %d for the others: %s: take another port", *port,
                              strerror(errno));
    *out = descriptor;
    return MST_OK;
}

/* ---- worker 0 waits ---- */

/* A connection; it belongs to a worker once its line has come. */
typedef struct guest {
    int descriptor;
    int64_t rank; /* -1: not known yet */
    size_t have;
    char line[LINE];
} guest;

typedef struct meeting {
    mst_rendezvous *r;
    int listener, port;
    guest *guest;                 /* [most] */
    struct pollfd *poll;          /* [most + 1] */
    int most, num_here;           /* number of places; number of workers that are there, this one included */
    char own_host[MST_HOST_TEXT]; /* of worker 0; "": not known yet */
    char why[WHY];                /* "": nothing is wrong */
} meeting;

static void send_text(int descriptor, const char *text, size_t size) {
    const struct timeval most = {.tv_sec = GRACE};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    while (size > 0) {
        const ssize_t sent = send(descriptor, text, size, MSG_NOSIGNAL);
        if (sent <= 0) return; /* not sent: the worker tries again, until its time runs out */
        text += sent;
        size -= (size_t)sent;
    }
}

static void end_guest(meeting *m, guest *g) {
    if (g->rank >= 0) {
        m->r->address[g->rank][0] = '\0';
        m->num_here--;
    }
    close(g->descriptor);
    *g = (guest){.descriptor = -1, .rank = -1};
}

static void refuse(meeting *m, guest *g, const char *why) {
    char text[WHY + 4];
    send_text(g->descriptor, text, (size_t)snprintf(text, sizeof text, "!%s\n", why));
    end_guest(m, g);
}

static bool has_address(const mst_rendezvous *r, const char *address) {
    for (int64_t i = 0; i < r->size; i++)
        if (strcmp(r->address[i], address) == 0) return true;
    return false;
}

/* Takes a whole line that has come. */
static void take_line(meeting *m, guest *g) {
    mst_rendezvous *r = m->r;
    char word[32], host[MST_HOST_TEXT], here[MST_HOST_TEXT], address[MST_ADDRESS_TEXT];
    uint64_t tag;
    int64_t rank, size;
    int port;
    if (sscanf(g->line, "%31s %" SCNx64 " %" SCNd64 " %" SCNd64 " %d", word, &tag, &rank, &size, &port) != 5 ||
        strcmp(word, greeting) != 0 || port < 1 || port > UINT16_MAX) {
        end_guest(m, g);
    } else if (tag != r->tag) {
        refuse(m, g, "what listens there is worker 0 of another job");
    } else if (size != r->size || rank < 1 || rank >= size) {
        snprintf(m->why, sizeof m->why,
                 "worker 0 was told of %lld processes, and another one that it is number %lld of %lld: start all with "
                 "one command",
                 (long long)r->size, (long long)rank, (long long)size);
    } else if (*r->address[rank]) {
        snprintf(m->why, sizeof m->why, "two processes are worker %lld: give each its own number", (long long)rank);
    } else {
        host_of(g->descriptor, true, host);
        host_of(g->descriptor, false, here);
        const bool near = is_loopback(host);
        if (!near && !m->own_host[0]) snprintf(m->own_host, sizeof m->own_host, "%s", here);
        /* a worker on this host: its host is filled in at the end */
        if (near) host[0] = '\0';
        print_address(host, port, address);
        if (has_address(r, address)) {
            refuse(m, g, "again");
            return;
        }
        g->rank = rank;
        memcpy(r->address[rank], address, sizeof address);
        m->num_here++;
    }
}

static void read_guest(meeting *m, guest *g) {
    const ssize_t got = recv(g->descriptor, g->line + g->have, sizeof g->line - 1 - g->have, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    g->have += got > 0 ? (size_t)got : 0;
    g->line[g->have] = '\0';
    const bool is_whole = strchr(g->line, '\n') != NULL;
    if (got <= 0 || g->rank >= 0 || (!is_whole && g->have == sizeof g->line - 1))
        end_guest(m, g); /* a worker sends nothing more */
    else if (is_whole)
        take_line(m, g);
}

/* Accepts a connection. If no place is free, the oldest connection that has sent nothing is closed. */
static void let_in(meeting *m) {
    const int descriptor = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC);
    if (descriptor < 0) return;
    guest *place = NULL;
    for (int i = 0; i < m->most && !place; i++)
        if (m->guest[i].descriptor < 0) place = &m->guest[i];
    for (int i = 0; i < m->most && !place; i++)
        if (m->guest[i].rank < 0) place = &m->guest[i];
    /* no connection can be closed to make room: this does not happen, since there are more places than workers */
    if (!place) {
        close(descriptor);
        return;
    }
    if (place->descriptor >= 0) end_guest(m, place);
    *place = (guest){.descriptor = descriptor, .rank = -1};
}

/* Writes which workers have not come: "workers 1, 3 of 4". */
static void list_missing(const mst_rendezvous *r, char *text, size_t size) {
    enum { MOST = 8 };
    int64_t count = 0;
    int64_t missing = 0;
    for (int64_t i = 1; i < r->size; i++) missing += !*r->address[i];
    size_t used = (size_t)snprintf(text, size, missing > 1 ? "workers" : "worker");
    for (int64_t i = 1; i < r->size; i++) {
        if (*r->address[i] || count++ >= MOST) continue;
        used += (size_t)snprintf(text + used, size - used, "%s %lld", count > 1 ? "," : "", (long long)i);
    }
    if (count > MOST) used += (size_t)snprintf(text + used, size - used, " and %lld more", (long long)(count - MOST));
    snprintf(text + used, size - used, " of %lld", (long long)r->size);
}

/* Whether it is time to say again for whom this process waits. *SAID: when it was last said; at first, when the wait
 * began. */
static bool is_time_to_say(const mst_rendezvous *r, int64_t *said) {
    const int64_t now = mst_clock_now();
    if (!r->log || now - *said < SAID_APART) return false;
    *said = now;
    return true;
}

static void wait_for_all(meeting *m, int64_t deadline) {
    char list[200];
    int64_t said = mst_clock_now();
    while (m->num_here < m->r->size && !m->why[0]) {
        const int64_t now = mst_clock_now();
        if (now >= deadline) return;
        const int64_t left = deadline - now < SAID_APART ? deadline - now : SAID_APART;
        if (is_time_to_say(m->r, &said)) {
            list_missing(m->r, list, sizeof list);
            fprintf(m->r->log, "worker:0: waiting for %s to come to port %d of this machine\n", list, m->port);
        }
        m->poll[0] = (struct pollfd){.fd = m->listener, .events = POLLIN};
        for (int i = 0; i < m->most; i++)
            m->poll[i + 1] = (struct pollfd){.fd = m->guest[i].descriptor, .events = POLLIN};
        if (poll(m->poll, (nfds_t)m->most + 1, (int)(left / 1000000) + 1) <= 0) continue;
        for (int i = 0; i < m->most && !m->why[0]; i++)
            if (m->poll[i + 1].revents && m->guest[i].descriptor >= 0) read_guest(m, &m->guest[i]);
        if (m->poll[0].revents) let_in(m);
    }
}

static void complete_addresses(meeting *m, int port) {
    mst_rendezvous *r = m->r;
    print_address(m->own_host[0] ? m->own_host : "localhost", port, r->address[0]);
    for (int64_t i = 1; i < r->size; i++) {
        if (r->address[i][0] != ':') continue;
        const int its_port = (int)strtol(r->address[i] + 1, NULL, 10);
        print_address(m->own_host[0] ? m->own_host : "localhost", its_port, r->address[i]);
    }
}

static mst_status tell_all(meeting *m) {
    const size_t most = (size_t)m->r->size * (MST_ADDRESS_TEXT + 1);
    char *text = malloc(most);
    size_t size = 0;
    if (!text) return MST_NO_MEMORY("for the addresses of %lld workers", (long long)m->r->size);
    for (int64_t i = 0; i < m->r->size; i++)
        size += (size_t)snprintf(text + size, most - size, "%s\n", m->r->address[i]);
    for (int i = 0; i < m->most; i++)
        if (m->guest[i].rank >= 0) send_text(m->guest[i].descriptor, text, size);
    free(text);
    return MST_OK;
}

static mst_status end_meeting(meeting *m, int port) {
    if (!m->why[0] && m->num_here < m->r->size) {
        char list[200];
        list_missing(m->r, list, sizeof list);
        snprintf(m->why, sizeof m->why, "%s did not come to worker 0 within %g s", list, m->r->timeout);
    }
    if (!m->why[0]) {
        complete_addresses(m, port);
        return tell_all(m);
    }
    for (int i = 0; i < m->most; i++)
        if (m->guest[i].descriptor >= 0) refuse(m, &m->guest[i], m->why);
    return MST_FAIL(MST_DEADLINE, "%s", m->why);
}

mst_status mst_rendezvous_lead(mst_rendezvous *r, int listener, int port, const char *address) {
    meeting m = {.r = r, .listener = listener, .port = port, .most = (int)r->size + 16, .num_here = 1};
    mst_address own;
    const int64_t deadline = mst_clock_after(r->timeout);
    memset(r->address, 0, (size_t)r->size * sizeof *r->address);
    snprintf(r->address[0], sizeof r->address[0],
             "worker 0"); /* until complete_addresses: equals no worker's address */
    if (*address && !mst_address_parse(address, &own) && !mst_address_is_loopback(&own))
        snprintf(m.own_host, sizeof m.own_host, "%s", own.host);
    m.guest = malloc((size_t)m.most * sizeof *m.guest);
    m.poll = malloc(((size_t)m.most + 1) * sizeof *m.poll);
    mst_status status = MST_OK;
    if (m.guest && m.poll) {
        for (int i = 0; i < m.most; i++) m.guest[i] = (guest){.descriptor = -1, .rank = -1};
        wait_for_all(&m, deadline);
        status = end_meeting(&m, port);
        for (int i = 0; i < m.most; i++)
            if (m.guest[i].descriptor >= 0) close(m.guest[i].descriptor);
    } else {
        status = MST_NO_MEMORY("for %lld workers", (long long)r->size);
    }
    close(listener);
    free(m.guest);
    free(m.poll);
    return status;
}

/* ---- the other workers ---- */

static void pause_a_while(void) {
    const struct timespec pause = {.tv_nsec = 100000000};
    nanosleep(&pause, NULL);
}

/* Waits until DEADLINE for one of EVENTS. */
static bool await(int descriptor, short events, int64_t deadline) {
    struct pollfd p = {.fd = descriptor, .events = events};
    for (;;) {
        const int64_t left = deadline - mst_clock_now();
        if (left <= 0) return false;
        if (poll(&p, 1, (int)(left / 1000000) + 1) > 0) return true;
    }
}

static int connect_to(const struct addrinfo *to, int64_t deadline, const char **why) {
    int error = 0;
    socklen_t size = sizeof error;
    const int descriptor = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, to->ai_addr, to->ai_addrlen) == 0) return descriptor;
    const bool waits = errno == EINPROGRESS;
    if (!waits) error = errno;
    if (waits && !await(descriptor, POLLOUT, deadline)) error = ETIMEDOUT;
    if (!error) getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
    if (!error) return descriptor;
    *why = strerror(error);
    close(descriptor);
    return -1;
}

/* Connects to one of the addresses; -1: to none, and WHY says why. */
static int connect_any(const char *const *address, int n, int64_t deadline, const char **why) {
    const int64_t second = mst_clock_after(1);
    for (int i = 0; i < n; i++) {
        mst_address parsed;
        if (mst_address_parse(address[i], &parsed)) continue;
        struct addrinfo *found = look_up(&parsed, why);
        int descriptor = -1;
        for (const struct addrinfo *f = found; f && descriptor < 0; f = f->ai_next)
            descriptor = connect_to(f, second < deadline ? second : deadline, why);
        if (found) freeaddrinfo(found);
        if (descriptor >= 0) return descriptor;
    }
    return -1;
}

/* Everything that worker 0 sends until it closes the connection; the caller frees it. NULL if that is nothing, or too
 * much. */
static char *read_answer(int descriptor, size_t most, int64_t deadline) {
    char *text = malloc(most + 1);
    size_t have = 0;
    ssize_t got = 1;
    while (text && have < most && got > 0 && await(descriptor, POLLIN, deadline)) {
        got = recv(descriptor, text + have, most - have, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            got = 1;
        else if (got > 0)
            have += (size_t)got;
    }
    if (!text || got != 0 || have == 0 || text[have - 1] != '\n') {
        free(text);
        return NULL;
    }
    text[have] = '\0';
    return text;
}

/* Reads a list of all addresses. */
static bool take_list(mst_rendezvous *r, char *text) {
    char *rest = NULL;
    int64_t count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), count++) {
        mst_address address;
        if (count == r->size || mst_address_parse(line, &address)) return false;
        mst_address_print(&address, r->address[count]);
    }
    return count == r->size;
}

/* Tries once to join. *DONE: no other try is needed. */
static mst_status try_to_join(mst_rendezvous *r, int descriptor, int64_t deadline, bool *done) {
    char line[LINE];
    int port;
    MST_TRY(mst_find_free_ports(1, &port));
    const int size = snprintf(line, sizeof line, "%s %" PRIx64 " %lld %lld %d\n", greeting, r->tag, (long long)r->rank,
                              (long long)r->size, port);
    if (send(descriptor, line, (size_t)size, MSG_NOSIGNAL) != size) return MST_OK;
    char *answer = read_answer(descriptor, (size_t)r->size * (MST_ADDRESS_TEXT + 1) + WHY, deadline);
    mst_status status = MST_OK;
    *done = answer && strcmp(answer, "!again\n") != 0;
    if (*done && answer[0] == '!')
        status = MST_FAIL(MST_DEADLINE, "%.*s", (int)strcspn(answer + 1, "\n"), answer + 1);
    else if (*done && !take_list(r, answer))
        status =
            MST_FAIL(MST_CORRUPT,
                     "worker 0 has not sent a list of %lld addresses: run the same version of Muster on all workers",
                     (long long)r->size);
    free(answer);
    return status;
}

mst_status mst_rendezvous_join(mst_rendezvous *r, const char *const *address, int n) {
    const int64_t deadline = mst_clock_after(r->timeout), last = mst_clock_after(r->timeout + GRACE);
    const char *why = "no answer";
    int64_t said = mst_clock_now();
    bool done = false;
    while (mst_clock_now() < deadline) {
        const int descriptor = connect_any(address, n, deadline, &why);
        if (descriptor >= 0) {
            why = "it closes the connection, or does not answer";
            const mst_status status = try_to_join(r, descriptor, last, &done);
            close(descriptor);
            if (status || done) return status;
        }
        if (is_time_to_say(r, &said))
            fprintf(r->log, "worker:%lld: waiting for worker 0 at %s (%s)\n", (long long)r->rank,
                    n > 0 ? address[0] : "any address", why);
        pause_a_while();
    }
    return MST_FAIL(MST_DEADLINE, "worker %lld of %lld has not found worker 0 at %s within %g s: %s",
                    (long long)r->rank, (long long)r->size, n > 0 ? address[0] : "any address", r->timeout, why);
}
