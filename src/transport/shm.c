/* Order of locks: the receiver's lock, then the mailbox's, then the one of this file, under which no other is taken.
 * Only the receiver reads from sockets and closes them. The receiver is the thread of this file, or another thread that
 * waits for messages and has taken its place. */
#include "transport/shm.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "base/wake.h"
#include "transport/memory_file.h"
#include "transport/service_thread.h"
#include "transport/shm_listener.h"
#include "transport/shm_packet.h"

enum {
    MOST_UNDONE = 64, /* messages under way on a link: few enough that they and their answers fit into its socket */
    MOST_FILES = 4096 /* files of a peer that can be mapped here */
};

/* A file of a peer. It is shared by the link and each message that reads from it. */
typedef struct mapped {
    struct mapped *next;
    uint64_t number;
    mst_memory_file file;
    int64_t users;
} mapped;

/* A link. It is shared by the list and each message that has come by it. After it is closed, it stays on the list for
 * as long as the peer may read the bytes that were sent by it. */
typedef struct shm_link {
    struct shm_link *next;
    int64_t users;
    int fd;       /* -1: closed */
    int process;  /* of a link to send by: the process at the other end (pidfd_open); -1: not known */
    bool is_out;  /* made by this task, for sending */
    bool is_up;   /* the other end has said HELLO */
    int32_t task; /* the other end; of a link that the peer made: set once it is up */
    uint64_t instance;
    uint64_t serial;
    int undone;    /* messages sent and not DONE */
    mapped *files; /* of the peer */
} shm_link;

/* Memory of this task from which it sends. */
typedef struct owned {
    struct owned *next;
    uint64_t number;
    mst_memory_file file;
    uint64_t *given; /* [num_tasks] serial of the link by which each task has got the file */
} owned;

/* A message that was sent and has no DONE yet. */
typedef struct sending {
    struct sending *next;
    uint64_t number, by; /* serial of its link */
    uint32_t generation;
    mst_timeline *done;
} sending;

/* A message that has come. The sender is told when its last part has been copied or dropped. */
typedef struct arrival {
    mst_shm *shm;
    shm_link *by;
    mapped *from;
    uint64_t number;
    _Atomic int64_t users;
} arrival;

struct mst_shm {
    mst_shm_options options;
    char name[MST_SHM_LISTENER_SIZE];
    int listener, wake;
    int epoll; /* watches the links */
    int watch; /* watches the listener and `wake`, and `epoll` unless another thread receives */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t receiving; /* held by the receiver while it takes packets */
    mst_shm_packet packet;     /* the packet that the receiver reads */
    pthread_mutex_t lock;      /* guards all members after it, and links, files and messages */
    bool stopped;
    uint64_t floor; /* generations below it are over */
    uint32_t present;
    int *process;       /* [num_tasks] file descriptor of the process of the last link (pidfd_open); -1: none */
    uint64_t *expected; /* [num_tasks] only links of this instance are accepted; 0: none */
    shm_link **out;     /* [num_tasks] the link by which this task sends; NULL: none */
    shm_link *links;
    uint64_t num_links, num_files, num_sent; /* so far */
    owned *files;
    sending *first, **last, *spare;
};

/* ---- links and files of peers, under the lock ---- */

static void leave_mapped(mapped *m) {
    if (--m->users) return;
    mst_memory_file_unmap(&m->file);
    free(m);
}

static void leave_link(shm_link *l) {
    if (--l->users == 0) free(l);
}

/* From now on nothing is sent on L. */
static void leave_out(mst_shm *shm, const shm_link *l) {
    if (l->is_out && shm->out[l->task] == l) shm->out[l->task] = NULL;
}

/* Takes the closed link L off the list. */
static void remove_link(mst_shm *shm, shm_link *l) {
    shm_link **at = &shm->links;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    if (l->process >= 0) close(l->process);
    leave_link(l);
}

/* Closes FD. FD may also be open elsewhere, for example in a forked process; it is therefore first removed from the
 * epoll, which would otherwise go on reporting it. */
static void close_watched(const mst_shm *shm, int fd) {
    epoll_ctl(shm->epoll, EPOLL_CTL_DEL, fd, NULL);
    close(fd);
}

/* Closes L. The peer may still read what was sent by L and is not DONE, until its process has ended. */
static void close_link(mst_shm *shm, shm_link *l) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
    leave_out(shm, l);
    close_watched(shm, l->fd);
    l->fd = -1;
    for (mapped *m = l->files, *next; m; m = next) {
        next = m->next;
        leave_mapped(m);
    }
    l->files = NULL;
    const bool stays = l->undone && l->process >= 0 && !shm->stopped;
    if (!stays || epoll_ctl(shm->epoll, EPOLL_CTL_ADD, l->process, &event)) remove_link(shm, l);
}

/* Adds a link that takes over FD. NULL if there is no memory; FD is closed then. */
static shm_link *add_link(mst_shm *shm, int fd, bool is_out, int32_t task, uint64_t instance) {
    shm_link *l = malloc(sizeof *l);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
    if (l)
        *l = (shm_link){.next = shm->links,
                        .users = 1,
                        .fd = fd,
                        .process = -1,
                        .is_out = is_out,
                        .task = task,
                        .instance = instance,
                        .serial = ++shm->num_links};
    if (!l || epoll_ctl(shm->epoll, EPOLL_CTL_ADD, fd, &event)) { /* the thread may receive from it at once */
        free(l);
        close(fd);
        return NULL;
    }
    shm->links = l;
    return l;
}

static bool say_hello(const mst_shm *shm, int fd, int32_t to) {
    const mst_shm_packet hello = {
        .kind = MST_SHM_HELLO, .from = shm->options.self, .to = to, .instance = shm->options.instance};
    return mst_shm_packet_send(fd, &hello, -1);
}

/* ---- what has come ---- */

static void leave_arrival(arrival *a) {
    if (atomic_fetch_sub(&a->users, 1) > 1) return;
    const mst_shm_packet done = {.kind = MST_SHM_DONE, .number = a->number};
    pthread_mutex_lock(&a->shm->lock);
    if (a->by->fd >= 0 && !mst_shm_packet_send(a->by->fd, &done, -1)) shutdown(a->by->fd, SHUT_RDWR);
    leave_mapped(a->from);
    leave_link(a->by);
    pthread_mutex_unlock(&a->shm->lock);
    free(a);
}

/* A part that stays in the sender's memory until memory is posted for it. */
typedef struct kept_place {
    mst_kept_part kept;
    arrival *message;
} kept_place;

typedef struct delivery {
    mst_mailbox_part part;
    arrival *message;
} delivery;

static void release_place(mst_kept_part *kept) {
    kept_place *k = (kept_place *)kept;
    leave_arrival(k->message);
    free(k);
}

static mst_kept_part *keep_place(void *source) {
    const delivery *d = source;
    kept_place *k = malloc(sizeof *k);
    if (!k) return NULL;
    *k = (kept_place){.kept = {.data = d->part.data, .floor = d->part.floor, .release = release_place},
                      .message = d->message};
    atomic_fetch_add(&d->message->users, 1);
    return &k->kept;
}

static const char *take_control(const mst_shm *shm, const shm_link *l, const mst_shm_packet *p) {
    if (!l->is_up || p->num_places) return "it sent a message in a wrong form";
    return shm->options.control(shm->options.context, l->task, l->instance, p->bytes, p->num_bytes);
}

static const char *take_small(mst_shm *shm, const shm_link *l, const mst_shm_packet *p) {
    const mst_mailbox_part part = {
        .from = l->task, .key = p->key, .total = p->num_bytes, .bytes = p->num_bytes, .data = p->bytes};
    if (l->is_out || !l->is_up || p->num_places) return "it sent a message in a wrong form";
    return mst_mailbox_deliver(shm->options.mailbox, &part, NULL, NULL);
}

/* Returns the file of L with this number, or maps FD, which has come with the packet. NULL, and *WHY, if it fails. */
static mapped *file_of(shm_link *l, uint64_t number, int fd, const char **why) {
    size_t count = 0;
    for (mapped *m = l->files; m; m = m->next, count++)
        if (m->number == number) return m;
    mapped *m = calloc(1, sizeof *m);
    *why = fd < 0                ? "it sends from memory that it has not shared"
           : count == MOST_FILES ? "it shares more memory than can be mapped"
           : !m                  ? "no memory for what it sent"
                                 : mst_memory_file_map(fd, &m->file);
    if (*why) {
        free(m);
        return NULL;
    }
    m->number = number;
    m->users = 1;
    m->next = l->files;
    l->files = m;
    return m;
}

static const char *deliver_places(mst_shm *shm, const mst_shm_packet *p, size_t total, arrival *a) {
    const char *why = NULL;
    delivery d = {.part = {.from = a->by->task, .key = p->key, .total = total, .floor = a->from->file.floor},
                  .message = a};
    for (uint32_t i = 0; i < p->num_places && !why; i++) {
        d.part.data = (const char *)(uintptr_t)a->from->file.floor + p->place[i].offset;
        d.part.bytes = p->place[i].bytes;
        why = mst_mailbox_deliver(shm->options.mailbox, &d.part, keep_place, &d);
        d.part.offset += d.part.bytes;
    }
    return why;
}

static const char *take_data(mst_shm *shm, shm_link *l, const mst_shm_packet *p, int fd) {
    size_t total;
    const char *why = NULL;
    if (l->is_out || !l->is_up || p->num_bytes) return "it sent a message in a wrong form";
    pthread_mutex_lock(&shm->lock);
    mapped *m = file_of(l, p->file, fd, &why);
    const bool fits = m && mst_shm_packet_total(p, m->file.size, &total) && total > 0;
    arrival *a = fits ? malloc(sizeof *a) : NULL;
    if (a) {
        *a = (arrival){.shm = shm, .by = l, .from = m, .number = p->number, .users = 1};
        l->users++;
        m->users++;
    }
    pthread_mutex_unlock(&shm->lock);
    if (!m) return why;
    if (!fits) return "the lengths in a message of it do not fit together";
    if (!a) return "no memory for what it sent";
    why = deliver_places(shm, p, total, a);
    leave_arrival(a);
    return why;
}

/* A peer has made a link, or has answered HELLO. False: the link is of no use. */
static bool take_hello(mst_shm *shm, shm_link *l, const mst_shm_packet *p) {
    const bool fits = !l->is_up && p->from >= 0 && p->from < shm->options.num_tasks && p->to == shm->options.self;
    pthread_mutex_lock(&shm->lock);
    const uint64_t instance = !fits ? 0 : l->is_out ? l->instance : shm->expected[p->from];
    l->is_up = fits && instance == p->instance && (!l->is_out || l->task == p->from) &&
               (l->is_out || say_hello(shm, l->fd, p->from));
    if (l->is_up) {
        l->task = p->from;
        l->instance = p->instance;
        if (shm->process[l->task] >= 0) close(shm->process[l->task]);
        shm->process[l->task] = mst_shm_process(l->fd);
        if (l->is_out) l->process = mst_shm_process(l->fd);
    }
    const bool is_up = l->is_up;
    pthread_mutex_unlock(&shm->lock);
    return is_up;
}

/* Takes the sending at AT, which is over, off the list. Under the lock. */
static void end_sending(mst_shm *shm, sending **at) {
    sending *s = *at;
    *at = s->next;
    if (shm->last == &s->next) shm->last = at;
    if (s->done) mst_timeline_add(s->done, 1);
    s->next = shm->spare;
    shm->spare = s;
}

static void take_done(mst_shm *shm, shm_link *l, uint64_t number) {
    pthread_mutex_lock(&shm->lock);
    sending **at = &shm->first;
    while (*at && ((*at)->number != number || (*at)->by != l->serial)) at = &(*at)->next;
    if (*at) end_sending(shm, at);
    if (l->undone > 0) l->undone--;
    pthread_mutex_unlock(&shm->lock);
}

static void take_gone(mst_shm *shm, shm_link *l, uint64_t number) {
    pthread_mutex_lock(&shm->lock);
    mapped **at = &l->files;
    while (*at && (*at)->number != number) at = &(*at)->next;
    mapped *m = *at;
    if (m) {
        *at = m->next;
        leave_mapped(m);
    }
    pthread_mutex_unlock(&shm->lock);
}

/* ---- the thread ---- */

/* Closes L because of WHY (NULL: the peer has closed it). If messages may be lost with it, the owner also breaks the
 * other connections with the peer, before the peer sees that the link is closed. If the peer has not said HELLO,
 * nothing is lost, and the owner is not told: the peer then sends over TCP. */
static void give_up(mst_shm *shm, shm_link *l, const char *why) {
    pthread_mutex_lock(&shm->lock);
    if (!why && l->undone && shm->out[l->task] == l) why = "connection closed by the peer";
    const int32_t task = why && l->is_up ? l->task : -1;
    leave_out(shm, l); /* else messages sent meanwhile would be lost, and a new connection would find L still in use */
    pthread_mutex_unlock(&shm->lock);
    if (task >= 0) shm->options.refuse(shm->options.context, task, why);
    pthread_mutex_lock(&shm->lock);
    close_link(shm, l);
    pthread_mutex_unlock(&shm->lock);
}

/* The process at the other end of L, which is closed, has ended: nobody reads the bytes sent by L any more. */
static void end_process(mst_shm *shm, shm_link *l) {
    pthread_mutex_lock(&shm->lock);
    for (sending **at = &shm->first; *at;)
        if ((*at)->by == l->serial)
            end_sending(shm, at);
        else
            at = &(*at)->next;
    epoll_ctl(shm->epoll, EPOLL_CTL_DEL, l->process, NULL);
    remove_link(shm, l);
    pthread_mutex_unlock(&shm->lock);
}

/* Takes the next packet of L; false if there is none, or if L has been closed. */
static bool take_packet(mst_shm *shm, shm_link *l) {
    const mst_shm_packet *p = &shm->packet;
    const char *why = NULL;
    int fd;
    switch (mst_shm_packet_receive(l->fd, &shm->packet, &fd)) {
        case MST_SHM_NOTHING: return false;
        case MST_SHM_ENDED: give_up(shm, l, NULL); return false;
        case MST_SHM_WRONG: give_up(shm, l, "it sent a message in a wrong form"); return false;
        case MST_SHM_PACKET: break;
    }
    bool good = true;
    switch ((mst_shm_kind)p->kind) {
        case MST_SHM_HELLO: good = take_hello(shm, l, p); break;
        case MST_SHM_SMALL: why = take_small(shm, l, p); break;
        case MST_SHM_DATA: why = take_data(shm, l, p, fd); break;
        case MST_SHM_DONE: take_done(shm, l, p->number); break;
        case MST_SHM_GONE: take_gone(shm, l, p->file); break;
        case MST_SHM_CONTROL: why = take_control(shm, l, p); break;
        case MST_SHM_KINDS: break;
    }
    if (fd >= 0) close(fd);
    if (!good || why) give_up(shm, l, why);
    return good && !why;
}

/* Accepts a link that a peer makes. */
static void accept_link(mst_shm *shm) {
    const int fd = accept4(shm->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) { /* for example, no file descriptors are left: from now on peers send over TCP */
        if (errno != EAGAIN && errno != ECONNABORTED) epoll_ctl(shm->watch, EPOLL_CTL_DEL, shm->listener, NULL);
        return;
    }
    pthread_mutex_lock(&shm->lock);
    if (mst_shm_is_same_user(fd))
        add_link(shm, fd, false, -1, 0);
    else
        close(fd);
    pthread_mutex_unlock(&shm->lock);
}

static bool is_stopped(mst_shm *shm) {
    pthread_mutex_lock(&shm->lock);
    const bool stopped = shm->stopped;
    pthread_mutex_unlock(&shm->lock);
    return stopped;
}

void mst_shm_take(mst_shm *shm) {
    struct epoll_event event;
    pthread_mutex_lock(&shm->receiving);
    while (epoll_wait(shm->epoll, &event, 1, 0) == 1) {
        shm_link *l = event.data.ptr;
        if (l->fd < 0)
            end_process(shm, l);
        else
            while (take_packet(shm, l)) continue;
    }
    pthread_mutex_unlock(&shm->receiving);
}

static void *run_shm(void *context) {
    mst_shm *shm = context;
    struct epoll_event event;
    while (!is_stopped(shm)) {
        if (epoll_wait(shm->watch, &event, 1, -1) != 1) continue;
        if (event.data.ptr == &shm->listener)
            accept_link(shm);
        else if (event.data.ptr)
            mst_shm_take(shm);
    }
    return NULL;
}

/* Sets whether the thread watches the links. */
static void watch_links(mst_shm *shm, bool watches) {
    struct epoll_event links = {.events = watches ? EPOLLIN : 0, .data.ptr = &shm->epoll};
    epoll_ctl(shm->watch, EPOLL_CTL_MOD, shm->epoll, &links);
}

void mst_shm_take_over(mst_shm *shm) {
    watch_links(shm, false);
}

int mst_shm_links(const mst_shm *shm) {
    return shm->epoll;
}

void mst_shm_hand_back(mst_shm *shm) {
    watch_links(shm, true);
}

/* ---- opening and closing ---- */

static mst_status watch(mst_shm *shm) {
    struct epoll_event listener = {.events = EPOLLIN, .data.ptr = &shm->listener}, wake = {.events = EPOLLIN},
                       links = {.events = EPOLLIN, .data.ptr = &shm->epoll};
    if ((shm->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0 || (shm->watch = epoll_create1(EPOLL_CLOEXEC)) < 0 ||
        (shm->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0 ||
        epoll_ctl(shm->watch, EPOLL_CTL_ADD, shm->listener, &listener) ||
        epoll_ctl(shm->watch, EPOLL_CTL_ADD, shm->wake, &wake) ||
        epoll_ctl(shm->watch, EPOLL_CTL_ADD, shm->epoll, &links))
        return MST_FAIL(MST_UNAVAILABLE, "cannot watch Unix sockets: %s", strerror(errno));
    return MST_OK;
}

static mst_status make_shm(mst_shm *shm) {
    const size_t num_tasks = (size_t)shm->options.num_tasks;
    mst_memory_file probe;
    shm->expected = calloc(num_tasks, sizeof *shm->expected);
    shm->out = calloc(num_tasks, sizeof(shm_link *));
    shm->process = malloc(num_tasks * sizeof *shm->process);
    for (size_t i = 0; shm->process && i < num_tasks; i++) shm->process[i] = -1;
    if (!shm->expected || !shm->out || !shm->process) return MST_NO_MEMORY("for %zu tasks", num_tasks);
    MST_TRY(mst_memory_file_make(1, &probe));
    mst_memory_file_unmap(&probe);
    MST_TRY(mst_shm_listener_open(shm->name, &shm->listener));
    MST_TRY(watch(shm));
    MST_TRY(mst_service_thread_start(run_shm, shm, &shm->thread));
    shm->has_thread = true;
    return MST_OK;
}

mst_status mst_shm_open(const mst_shm_options *options, mst_shm **out) {
    mst_shm *shm = calloc(1, sizeof *shm);
    if (!shm) return MST_NO_MEMORY("for a transport");
    shm->options = *options;
    shm->listener = shm->epoll = shm->watch = shm->wake = -1;
    shm->last = &shm->first;
    pthread_mutex_init(&shm->receiving, NULL);
    pthread_mutex_init(&shm->lock, NULL);
    const mst_status status = make_shm(shm);
    if (status)
        mst_shm_close(shm);
    else
        *out = shm;
    return status;
}

void mst_shm_stop(mst_shm *shm) {
    if (!shm || !shm->has_thread) return;
    pthread_mutex_lock(&shm->lock);
    shm->stopped = true;
    pthread_mutex_unlock(&shm->lock);
    mst_wake(shm->wake);
    pthread_join(shm->thread, NULL);
    shm->has_thread = false;
    pthread_mutex_lock(&shm->lock);
    while (shm->links)
        if (shm->links->fd >= 0)
            close_link(shm, shm->links);
        else
            remove_link(shm, shm->links);
    pthread_mutex_unlock(&shm->lock);
}

static void free_sendings(sending *s) {
    for (sending *next; s; s = next) {
        next = s->next;
        free(s);
    }
}

static void free_owned(owned *o) {
    mst_memory_file_unmap(&o->file);
    free(o->given);
    free(o);
}

void mst_shm_close(mst_shm *shm) {
    if (!shm) return;
    mst_shm_stop(shm);
    for (const sending *s = shm->first; s; s = s->next)
        if (s->done) mst_timeline_add(s->done, 1);
    free_sendings(shm->first);
    free_sendings(shm->spare);
    for (owned *o = shm->files, *next; o; o = next) {
        next = o->next;
        free_owned(o);
    }
    if (shm->listener >= 0) close(shm->listener);
    if (shm->epoll >= 0) close(shm->epoll);
    if (shm->watch >= 0) close(shm->watch);
    if (shm->wake >= 0) close(shm->wake);
    pthread_mutex_destroy(&shm->lock);
    for (int32_t i = 0; shm->process && i < shm->options.num_tasks; i++)
        if (shm->process[i] >= 0) close(shm->process[i]);
    pthread_mutex_destroy(&shm->receiving);
    free(shm->expected);
    free(shm->out);
    free(shm->process);
    free(shm);
}

/* ---- making links ---- */

const char *mst_shm_listener_name(const mst_shm *shm) {
    return shm->name;
}

void mst_shm_expect(mst_shm *shm, int32_t task, uint64_t instance) {
    pthread_mutex_lock(&shm->lock);
    shm->expected[task] = instance;
    pthread_mutex_unlock(&shm->lock);
}

void mst_shm_connect(mst_shm *shm, int32_t task, uint64_t instance, const void *name, size_t length) {
    if (length != MST_SHM_LISTENER_SIZE - 1) return;
    pthread_mutex_lock(&shm->lock);
    shm_link *old = shm->out[task];
    const bool is_there = old && old->instance == instance;
    if (old && !is_there) { /* the thread closes it */
        shutdown(old->fd, SHUT_RDWR);
        shm->out[task] = NULL;
    }
    const int fd =
        is_there || shm->stopped ? -1 : mst_shm_listener_connect(name); /* once stopped, nobody would close it */
    if (fd >= 0 && say_hello(shm, fd, task))
        shm->out[task] = add_link(shm, fd, true, task, instance);
    else if (fd >= 0)
        close(fd);
    pthread_mutex_unlock(&shm->lock);
}

bool mst_shm_has_link(mst_shm *shm, int32_t task) {
    pthread_mutex_lock(&shm->lock);
    const bool is_up = shm->out[task] && shm->out[task]->is_up;
    pthread_mutex_unlock(&shm->lock);
    return is_up;
}

bool mst_shm_makes_link(mst_shm *shm, int32_t task) {
    pthread_mutex_lock(&shm->lock);
    const bool makes = shm->out[task] && !shm->out[task]->is_up;
    pthread_mutex_unlock(&shm->lock);
    return makes;
}

bool mst_shm_has_ended(mst_shm *shm, int32_t task) {
    pthread_mutex_lock(&shm->lock);
    struct pollfd process = {.fd = shm->process[task], .events = POLLIN};
    const bool has = process.fd >= 0 && poll(&process, 1, 0) == 1 && (process.revents & POLLIN);
    pthread_mutex_unlock(&shm->lock);
    return has;
}

/* ---- memory ---- */

static owned *make_owned(const mst_shm *shm, size_t bytes) {
    owned *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->given = calloc((size_t)shm->options.num_tasks, sizeof *o->given);
    if (o->given && mst_memory_file_make(bytes, &o->file) == MST_OK) return o;
    free(o->given);
    free(o);
    return NULL;
}

void *mst_shm_alloc(mst_shm *shm, size_t bytes) {
    owned *o = make_owned(shm, bytes);
    if (!o) return NULL;
    pthread_mutex_lock(&shm->lock);
    o->number = ++shm->num_files;
    o->next = shm->files;
    shm->files = o;
    pthread_mutex_unlock(&shm->lock);
    return mst_memory_file_data(&o->file);
}

/* Tells the tasks that have mapped it. Under the lock. */
static void say_gone(const mst_shm *shm, const owned *o) {
    const mst_shm_packet gone = {.kind = MST_SHM_GONE, .file = o->number};
    for (int32_t i = 0; i < shm->options.num_tasks; i++) {
        const shm_link *l = shm->out[i];
        /* a peer that cannot be told keeps the mapping until the link ends */
        if (l && l->serial == o->given[i]) mst_shm_packet_send(l->fd, &gone, -1);
    }
}

void mst_shm_free(mst_shm *shm, void *memory) {
    if (!memory) return;
    pthread_mutex_lock(&shm->lock);
    owned **at = &shm->files;
    while (mst_memory_file_data(&(*at)->file) != memory) at = &(*at)->next;
    owned *o = *at;
    *at = o->next;
    say_gone(shm, o);
    pthread_mutex_unlock(&shm->lock);
    free_owned(o);
}

/* ---- sending ---- */

/* Whether all pieces lie in O; fills P with their places. */
static bool find_places(const owned *o, const mst_iov *piece, int n, mst_shm_packet *p) {
    const uintptr_t begin = (uintptr_t)o->file.floor;
    p->num_places = 0;
    for (int i = 0; i < n; i++) {
        const uintptr_t at = (uintptr_t)piece[i].data;
        if (piece[i].bytes == 0) continue;
        if (p->num_places == MST_SHM_PLACES || at < begin || at - begin >= o->file.size) return false;
        p->place[p->num_places++] = (mst_shm_place){at - begin, piece[i].bytes};
    }
    p->file = o->number;
    return p->num_places > 0;
}

static sending *make_sending(mst_shm *shm, uint64_t by, uint32_t generation, mst_timeline *done) {
    sending *s = shm->spare ? shm->spare : malloc(sizeof *s);
    if (!s) return NULL;
    if (shm->spare) shm->spare = s->next;
    *s = (sending){.number = ++shm->num_sent, .by = by, .generation = generation, .done = done};
    return s;
}

/* Under the lock. */
static bool send_by(mst_shm *shm, shm_link *l, owned *o, mst_shm_packet *p, mst_timeline *done) {
    sending *s = make_sending(shm, l->serial, p->key.generation, done);
    if (!s) return false;
    p->number = s->number;
    const bool is_new = o->given[l->task] != l->serial;
    const bool sent = mst_shm_packet_send(l->fd, p, is_new ? o->file.fd : -1);
    if (sent) {
        o->given[l->task] = l->serial;
        l->undone++;
        *shm->last = s;
        shm->last = &s->next;
    } else {
        s->next = shm->spare;
        shm->spare = s;
    }
    return sent;
}

/* Sends a small message along with its key. */
static bool send_small(const shm_link *l, mst_shm_packet *p, const mst_iov *piece, int n, mst_timeline *done) {
    p->kind = MST_SHM_SMALL;
    p->num_places = 0;
    if (!mst_shm_packet_send_bytes(l->fd, p, piece, n)) return false;
    if (done) mst_timeline_add(done, 1);
    return true;
}

static bool send_large(mst_shm *shm, shm_link *l, mst_shm_packet *p, const mst_iov *piece, int n, mst_timeline *done) {
    owned *o = l->undone < MOST_UNDONE ? shm->files : NULL;
    while (o && !find_places(o, piece, n, p)) o = o->next;
    return o && send_by(shm, l, o, p, done);
}

bool mst_shm_send(mst_shm *shm, int32_t to, mst_key key, const mst_iov *piece, int n, mst_timeline *done) {
    mst_shm_packet p;
    size_t bytes = 0;
    memset(&p, 0, offsetof(mst_shm_packet, place));
    p.kind = MST_SHM_DATA;
    p.key = key;
    for (int i = 0; i < n; i++) bytes += piece[i].bytes;
    const bool is_small = bytes <= MST_SHM_BYTES && n <= MST_SHM_PLACES;
    if (is_small) p.num_bytes = (uint32_t)bytes;
    pthread_mutex_lock(&shm->lock);
    shm_link *l = shm->out[to];
    const bool goes = l && l->is_up && key.generation >= shm->floor;
    const bool sent = goes && (is_small ? send_small(l, &p, piece, n, done) : send_large(shm, l, &p, piece, n, done));
    pthread_mutex_unlock(&shm->lock);
    return sent;
}

/* The link that TASK has made; NULL: there is none. Under the lock. */
static const shm_link *link_of(const mst_shm *shm, int32_t task) {
    const shm_link *l = shm->links;
    while (l && !(l->fd >= 0 && !l->is_out && l->is_up && l->task == task && l->instance == shm->expected[task]))
        l = l->next;
    return l;
}

bool mst_shm_control(mst_shm *shm, int32_t to, bool back, const void *data, size_t bytes) {
    mst_shm_packet p;
    memset(&p, 0, offsetof(mst_shm_packet, place));
    p.kind = MST_SHM_CONTROL;
    p.num_bytes = (uint32_t)bytes;
    if (bytes > MST_SHM_BYTES) return false;
    pthread_mutex_lock(&shm->lock);
    const shm_link *l = back ? link_of(shm, to) : shm->out[to];
    const bool sent = l && l->is_up && mst_shm_packet_send_bytes(l->fd, &p, &(mst_iov){data, bytes}, 1);
    pthread_mutex_unlock(&shm->lock);
    return sent;
}

/* ---- generations ---- */

void mst_shm_begin(mst_shm *shm, uint32_t generation) {
    pthread_mutex_lock(&shm->lock);
    shm->present = generation;
    pthread_mutex_unlock(&shm->lock);
}

/* Under the lock: peers learn the new floor before the memory is overwritten. */
static void raise_floors(mst_shm *shm) {
    shm->floor = (uint64_t)shm->present + 1;
    for (owned *o = shm->files; o; o = o->next) atomic_store(o->file.floor, shm->floor);
#ifndef __SANITIZE_THREAD__ /* which knows no fences */
    atomic_thread_fence(memory_order_release);
#endif
}

void mst_shm_end(mst_shm *shm) {
    pthread_mutex_lock(&shm->lock);
    raise_floors(shm);
    for (sending **at = &shm->first; *at;)
        if ((*at)->generation >= shm->floor)
            at = &(*at)->next;
        else
            end_sending(shm, at);
    pthread_mutex_unlock(&shm->lock);
}
