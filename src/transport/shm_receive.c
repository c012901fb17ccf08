#include "transport/shm_inside.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_FILES = 4096 /* files of a peer that can be mapped here */ };

/* A message that has come. The sender is told when its last part has been copied or dropped. */
typedef struct arrival {
    mst_shm *shm;
    mst_shm_link *by;
    mst_shm_mapped *from;
    uint64_t number;
    _Atomic int64_t users;
} arrival;

static void leave_arrival(arrival *a) {
    if (atomic_fetch_sub(&a->users, 1) > 1) return;
    const mst_shm_packet done = {.kind = MST_SHM_DONE, .number = a->number};
    pthread_mutex_lock(&a->shm->lock);
    if (a->by->fd >= 0 && !mst_shm_packet_send(a->by->fd, &done, -1)) shutdown(a->by->fd, SHUT_RDWR);
    mst_shm_mapped_leave(a->from);
    mst_shm_link_leave(a->by);
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

static const char *take_control(const mst_shm *shm, const mst_shm_link *l, const mst_shm_packet *p) {
    if (!l->is_up || p->num_places) return "it sent a message in a wrong form";
    return shm->options.control(shm->options.context, l->task, l->instance, p->bytes, p->num_bytes);
}

static const char *take_small(mst_shm *shm, const mst_shm_link *l, const mst_shm_packet *p) {
    const mst_mailbox_part part = {
        .from = l->task, .key = p->key, .total = p->num_bytes, .bytes = p->num_bytes, .data = p->bytes};
    if (l->is_out || !l->is_up || p->num_places) return "it sent a message in a wrong form";
    return mst_mailbox_deliver(shm->options.mailbox, &part, NULL, NULL);
}

/* Returns the file of L with this number, or maps FD, which has come with the packet. NULL, and *WHY, if it fails. */
static mst_shm_mapped *file_of(mst_shm_link *l, uint64_t number, int fd, const char **why) {
    size_t count = 0;
    for (mst_shm_mapped *m = l->files; m; m = m->next, count++)
        if (m->number == number) return m;
    mst_shm_mapped *m = calloc(1, sizeof *m);
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

static const char *take_data(mst_shm *shm, mst_shm_link *l, const mst_shm_packet *p, int fd) {
    size_t total;
    const char *why = NULL;
    if (l->is_out || !l->is_up || p->num_bytes) return "it sent a message in a wrong form";
    pthread_mutex_lock(&shm->lock);
    mst_shm_mapped *m = file_of(l, p->file, fd, &why);
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

/* HELLO has come by L: the peer has made the link, or has answered this task's HELLO. False: the link is of no use. */
static bool take_hello(mst_shm *shm, mst_shm_link *l, const mst_shm_packet *p) {
    const bool fits = !l->is_up && p->from >= 0 && p->from < shm->options.num_tasks && p->to == shm->options.self;
    pthread_mutex_lock(&shm->lock);
    const uint64_t instance = !fits ? 0 : l->is_out ? l->instance : shm->expected[p->from];
    l->is_up = fits && instance == p->instance && (!l->is_out || l->task == p->from) &&
               (l->is_out || mst_shm_link_hello(shm, l->fd, p->from));
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

static void take_done(mst_shm *shm, mst_shm_link *l, uint64_t number) {
    pthread_mutex_lock(&shm->lock);
    mst_shm_sending **at = &shm->first;
    while (*at && ((*at)->number != number || (*at)->by != l->serial)) at = &(*at)->next;
    if (*at) mst_shm_sending_end(shm, at);
    if (l->undone > 0) l->undone--;
    pthread_mutex_unlock(&shm->lock);
}

static void take_gone(mst_shm *shm, mst_shm_link *l, uint64_t number) {
    pthread_mutex_lock(&shm->lock);
    mst_shm_mapped **at = &l->files;
    while (*at && (*at)->number != number) at = &(*at)->next;
    mst_shm_mapped *m = *at;
    if (m) {
        *at = m->next;
        mst_shm_mapped_leave(m);
    }
    pthread_mutex_unlock(&shm->lock);
}

/* ---- packets ---- */

/* Closes L because of WHY (NULL: the peer has closed it). If messages may be lost with L, the owner is asked to break
 * the other connections with the peer, too. It does so before the peer sees that L is closed. If the peer has not said
 * HELLO, nothing is lost, and the owner is not asked: the peer then sends over TCP. */
static void give_up(mst_shm *shm, mst_shm_link *l, const char *why) {
    pthread_mutex_lock(&shm->lock);
    if (!why && l->undone && shm->out[l->task] == l) why = "connection closed by the peer";
    const int32_t task = why && l->is_up ? l->task : -1;
    mst_shm_link_leave_out(
        shm, l); /* from here on nothing is sent by L: it would be lost, and a new connection would not get a link */
    pthread_mutex_unlock(&shm->lock);
    if (task >= 0) shm->options.refuse(shm->options.context, task, why);
    pthread_mutex_lock(&shm->lock);
    mst_shm_link_close(shm, l);
    pthread_mutex_unlock(&shm->lock);
}

/* Ends the messages that were sent by L, which is closed, and removes L. The process at its other end has ended: nobody
 * reads the bytes any more. */
static void end_process(mst_shm *shm, mst_shm_link *l) {
    pthread_mutex_lock(&shm->lock);
    for (mst_shm_sending **at = &shm->first; *at;)
        if ((*at)->by == l->serial)
            mst_shm_sending_end(shm, at);
        else
            at = &(*at)->next;
    epoll_ctl(shm->epoll, EPOLL_CTL_DEL, l->process, NULL);
    mst_shm_link_remove(shm, l);
    pthread_mutex_unlock(&shm->lock);
}

/* Takes the next packet of L; false if there is none, or if L has been closed. */
static bool take_packet(mst_shm *shm, mst_shm_link *l) {
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

void mst_shm_take(mst_shm *shm) {
    struct epoll_event event;
    pthread_mutex_lock(&shm->receiving);
    while (epoll_wait(shm->epoll, &event, 1, 0) == 1) {
        mst_shm_link *l = event.data.ptr;
        if (l->fd < 0)
            end_process(shm, l);
        else
            while (take_packet(shm, l)) continue;
    }
    pthread_mutex_unlock(&shm->receiving);
}
