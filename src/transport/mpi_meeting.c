#include "transport/mpi_meeting.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "base/wake.h"
#include "base/wire_number.h"
#include "transport/pmi_server.h"
#include "transport/service_thread.h"

enum { HUB = 0, HEADER = 24, PART = 1 << 18 /* bytes of pairs in one message */ };

/* Start of each message. After it come the numbers of a header, then pairs. */
static const char mark[4] = {'M', 'P', 'I', '1'};

typedef enum meeting_kind {
    PAIRS = 1, /* pairs that have been put */
    COME,      /* to the hub: the sender is at the barrier */
    GO         /* from the hub: all tasks are at the barrier */
} meeting_kind;

typedef struct meeting_header {
    meeting_kind kind;
    uint32_t round;    /* number of barriers before */
    uint64_t instance; /* from the hub: of the receiving process; else 0 */
} meeting_header;

/* What the hub, task 0, has received from a task in this round. A round ends when all tasks are at the barrier. */
typedef struct guest {
    /* of its process; if another process has the number now, what the earlier one has sent is dropped */
    uint64_t instance;
    bool is_here;
    mst_pmi_text pairs;
} guest;

struct mst_mpi_meeting {
    mst_mpi_meeting_options options;
    int own, theirs; /* the ends of the socket: of this library, and of the MPI */
    int wake;        /* the descriptor that ends the thread */
    pthread_t thread;
    pthread_mutex_t lock; /* guards all members after it */
    mst_pmi_server server;
    uint32_t round;
    bool waits;    /* this process waits at the barrier */
    bool is_asked; /* the MPI of this process sends requests, or may still do so */
    guest *guest;  /* [num_tasks], only in the hub */
};

/* ---- messages ---- */

static void send_message(const mst_mpi_meeting *m, int32_t to, meeting_kind kind, uint64_t instance, const char *pairs,
                         size_t size) {
    unsigned char *message = malloc(HEADER + size);
    if (!message) return; /* no memory: the other tasks wait until their users end them */
    memcpy(message, mark, sizeof mark);
    unsigned char *at = mst_put_number(message + sizeof mark, kind, 4);
    at = mst_put_number(at, m->round, 4);
    at = mst_put_number(at, 0, 4); /* unused */
    at = mst_put_number(at, instance, 8);
    if (size) memcpy(at, pairs, size);
    if (m->options.send(m->options.context, to, message, HEADER + size)) (void)0; /* the transport reports lost tasks */
    free(message);
}

/* Sends the pairs in messages of whole lines. */
static void send_pairs(const mst_mpi_meeting *m, int32_t to, uint64_t instance, const mst_pmi_text *pairs) {
    for (size_t at = 0, size; at < pairs->size; at += size) {
        size = pairs->size - at;
        if (size > PART) size = PART;
        while (pairs->data[at + size - 1] != '\n') size--;
        send_message(m, to, PAIRS, instance, pairs->data + at, size);
    }
}

static bool read_header(const unsigned char *data, size_t bytes, meeting_header *out) {
    if (bytes < HEADER) return false;
    const unsigned char *at = data + sizeof mark;
    const uint64_t kind = mst_get_number(&at, 4);
    out->round = (uint32_t)mst_get_number(&at, 4);
    at += 4; /* unused */
    out->instance = mst_get_number(&at, 8);
    out->kind = (meeting_kind)kind;
    return kind >= PAIRS && kind <= GO && mst_pmi_are_pairs((const char *)data + HEADER, bytes - HEADER);
}

/* ---- the barrier ---- */

/* Sends the answer that the MPI of this process waits for. */
static void answer(const mst_mpi_meeting *m, const char *line) {
    if (send(m->own, line, strlen(line), MSG_NOSIGNAL) < 0) return; /* the MPI has ended */
}

/* Lets the MPI of this process pass the barrier: all tasks are at it, and their pairs are known. Under the lock. */
static void pass_barrier(mst_mpi_meeting *m) {
    m->round++;
    m->waits = false;
    answer(m, "cmd=barrier_out\n");
}

/* In the hub: if all tasks are at the barrier, tells them to go on. Under the lock. */
static void look_around(mst_mpi_meeting *m) {
    const int32_t n = m->options.num_tasks;
    mst_pmi_text all = {0};
    bool good = true;
    for (int32_t i = 0; i < n; i++)
        if (!m->guest[i].is_here) return;
    for (int32_t i = 0; i < n && good; i++)
        good = mst_pmi_text_add(&all, m->guest[i].pairs.data ? m->guest[i].pairs.data : "", m->guest[i].pairs.size);
    for (int32_t i = 0; i < n && good; i++) {
        guest *g = &m->guest[i];
        g->is_here = false;
        g->pairs.size = 0;
        if (i == HUB) continue;
        send_pairs(m, i, g->instance, &all);
        send_message(m, i, GO, g->instance, NULL, 0);
    }
    if (good && mst_pmi_server_add(&m->server, all.data, all.size)) pass_barrier(m);
    free(all.data);
}

/* The MPI of this process is at the barrier: sends its pairs to the hub, or in the hub keeps them. Under the lock. */
static void come_to_barrier(mst_mpi_meeting *m) {
    mst_pmi_text *own = &m->server.own;
    m->waits = true;
    if (m->options.task == HUB) {
        guest *g = &m->guest[HUB];
        g->is_here = mst_pmi_text_add(&g->pairs, own->data ? own->data : "", own->size);
        look_around(m);
    } else {
        send_pairs(m, HUB, 0, own);
        send_message(m, HUB, COME, 0, NULL, 0);
    }
    own->size = 0;
}

/* In the hub: takes a message from task FROM, pairs or COME. Under the lock. */
static void take_guest(mst_mpi_meeting *m, int32_t from, uint64_t instance, const meeting_header *h, const char *pairs,
                       size_t size) {
    guest *g = &m->guest[from];
    if (g->instance != instance) {
        g->instance = instance;
        g->is_here = false;
        g->pairs.size = 0;
    }
    if (h->round != m->round || g->is_here) return;
    if (h->kind == PAIRS && !mst_pmi_text_add(&g->pairs, pairs, size)) return;
    g->is_here = h->kind == COME;
    if (g->is_here) look_around(m);
}

bool mst_mpi_meeting_received(mst_mpi_meeting *m, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    const char *pairs = (const char *)data + HEADER;
    meeting_header h;
    if (bytes < sizeof mark || memcmp(data, mark, sizeof mark) != 0) return false;
    if (from < 0 || from >= m->options.num_tasks || from == m->options.task || !read_header(data, bytes, &h))
        return true; /* dropped: not a message that a task of this job sends */
    pthread_mutex_lock(&m->lock);
    if (m->options.task == HUB && h.kind != GO) take_guest(m, from, instance, &h, pairs, bytes - HEADER);
    const bool waited = from == HUB && m->waits && h.round == m->round && h.instance == m->options.instance;
    if (waited && h.kind == PAIRS && !mst_pmi_server_add(&m->server, pairs, bytes - HEADER)) m->waits = false;
    if (waited && h.kind == GO) pass_barrier(m);
    pthread_mutex_unlock(&m->lock);
    return true;
}

/* ---- what the MPI of this process asks ---- */

/* Answers a request. False: no more requests will come. */
static bool take_line(mst_mpi_meeting *m, const char *line) {
    char text[MST_PMI_LINE];
    pthread_mutex_lock(&m->lock);
    const mst_pmi_turn turn = mst_pmi_server_take(&m->server, line, text);
    if (turn == MST_PMI_WAITS) come_to_barrier(m);
    if (turn == MST_PMI_ANSWERED || turn == MST_PMI_FINISHED) answer(m, text);
    m->is_asked = turn != MST_PMI_FINISHED;
    pthread_mutex_unlock(&m->lock);
    return turn == MST_PMI_ANSWERED || turn == MST_PMI_WAITS;
}

/* Takes the whole lines of the *HAVE bytes, and keeps the remaining ones. */
static bool take_lines(mst_mpi_meeting *m, char *bytes, size_t *have) {
    char *line = bytes, *end;
    while ((end = memchr(line, '\n', *have - (size_t)(line - bytes)))) {
        *end = '\0';
        if (!take_line(m, line)) return false;
        line = end + 1;
    }
    *have -= (size_t)(line - bytes);
    memmove(bytes, line, *have);
    return *have < MST_PMI_LINE;
}

/* Serves the MPI until it has no more requests, or the meeting ends. */
static void *serve_mpi(void *context) {
    mst_mpi_meeting *m = context;
    char bytes[MST_PMI_LINE];
    size_t have = 0;
    for (bool goes_on = true; goes_on;) {
        struct pollfd ready[] = {{.fd = m->own, .events = POLLIN}, {.fd = m->wake, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR) break;
        if (ready[1].revents) break;
        if (!ready[0].revents) continue;
        const ssize_t got = recv(m->own, bytes + have, sizeof bytes - have, 0);
        if (got <= 0) break;
        have += (size_t)got;
        goes_on = take_lines(m, bytes, &have);
    }
    return NULL;
}

/* ---- opening and closing ---- */

int mst_mpi_meeting_descriptor(mst_mpi_meeting *m) {
    pthread_mutex_lock(&m->lock);
    m->is_asked = true;
    pthread_mutex_unlock(&m->lock);
    return m->theirs;
}

void mst_mpi_meeting_end(mst_mpi_meeting *m) {
    mst_wake(m->wake);
    pthread_join(m->thread, NULL);
}

void mst_mpi_meeting_free(mst_mpi_meeting *m) {
    if (!m) return;
    for (int32_t i = 0; m->guest && i < m->options.num_tasks; i++) free(m->guest[i].pairs.data);
    mst_pmi_server_free(&m->server);
    free(m->guest);
    close(m->wake);
    if (!m->is_asked) {
        close(m->own);
        close(m->theirs);
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static mst_status open_descriptors(mst_mpi_meeting *m) {
    int ends[2];
    m->wake = eventfd(0, EFD_CLOEXEC);
    if (m->wake < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return MST_FAIL(MST_IO, "transport mpi: cannot make a socket: %s: allow more open files (ulimit -n)",
                        strerror(errno));
    m->own = ends[0];
    m->theirs = ends[1];
    return MST_OK;
}

mst_status mst_mpi_meeting_open(const mst_mpi_meeting_options *options, mst_mpi_meeting **out) {
    mst_mpi_meeting *m = calloc(1, sizeof *m);
    guest *guests = options->task == HUB ? calloc((size_t)options->num_tasks, sizeof *guests) : NULL;
    if (!m || (options->task == HUB && !guests)) {
        free(m), free(guests);
        return MST_NO_MEMORY("for an MPI of %d tasks", (int)options->num_tasks);
    }
    *m = (mst_mpi_meeting){
        .options = *options, .own = -1, .theirs = -1, .server = {.num_tasks = options->num_tasks}, .guest = guests};
    pthread_mutex_init(&m->lock, NULL);
    mst_status status = open_descriptors(m);
    if (!status) status = mst_service_thread_start(serve_mpi, m, &m->thread);
    if (status)
        mst_mpi_meeting_free(m);
    else
        *out = m;
    return status;
}
