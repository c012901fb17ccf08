#include "transport/shm_inside.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- links and files of peers, under the lock ---- */

void mst_shm_mapped_leave(mst_shm_mapped *m) {
    if (--m->users) return;
    mst_memory_file_unmap(&m->file);
    free(m);
}

void mst_shm_link_leave(mst_shm_link *l) {
    if (--l->users == 0) free(l);
}

void mst_shm_link_leave_out(mst_shm *shm, const mst_shm_link *l) {
    if (l->is_out && shm->out[l->task] == l) shm->out[l->task] = NULL;
}

void mst_shm_link_remove(mst_shm *shm, mst_shm_link *l) {
    mst_shm_link **at = &shm->links;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    if (l->process >= 0) close(l->process);
    mst_shm_link_leave(l);
}

/* Closes FD. FD may also be open elsewhere, for example in a forked process: the epoll would then go on reporting it.
 * FD is therefore removed from the epoll first. */
static void close_watched(const mst_shm *shm, int fd) {
    epoll_ctl(shm->epoll, EPOLL_CTL_DEL, fd, NULL);
    close(fd);
}

void mst_shm_link_close(mst_shm *shm, mst_shm_link *l) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
    mst_shm_link_leave_out(shm, l);
    close_watched(shm, l->fd);
    l->fd = -1;
    for (mst_shm_mapped *m = l->files, *next; m; m = next) {
        next = m->next;
        mst_shm_mapped_leave(m);
    }
    l->files = NULL;
    const bool stays = l->undone && l->process >= 0 && !shm->stopped;
    if (!stays || epoll_ctl(shm->epoll, EPOLL_CTL_ADD, l->process, &event)) mst_shm_link_remove(shm, l);
}

mst_shm_link *mst_shm_link_add(mst_shm *shm, int fd, bool is_out, int32_t task, uint64_t instance) {
    mst_shm_link *l = malloc(sizeof *l);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
    if (l)
        *l = (mst_shm_link){.next = shm->links,
                            .users = 1,
                            .fd = fd,
                            .process = -1,
                            .is_out = is_out,
                            .task = task,
                            .instance = instance,
                            .serial = ++shm->num_links};
    if (!l || epoll_ctl(shm->epoll, EPOLL_CTL_ADD, fd, &event)) { /* from here on the receiver may read from FD */
        free(l);
        close(fd);
        return NULL;
    }
    shm->links = l;
    return l;
}

bool mst_shm_link_hello(const mst_shm *shm, int fd, int32_t to) {
    const mst_shm_packet hello = {
        .kind = MST_SHM_HELLO, .from = shm->options.self, .to = to, .instance = shm->options.instance};
    return mst_shm_packet_send(fd, &hello, -1);
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
    mst_shm_link *old = shm->out[task];
    const bool is_there = old && old->instance == instance;
    if (old && !is_there) { /* the receiver sees the end of the old link, and closes it */
        shutdown(old->fd, SHUT_RDWR);
        shm->out[task] = NULL;
    }
    const int fd =
        /* after the stop nobody would close a new link */
        is_there || shm->stopped ? -1 : mst_shm_listener_connect(name);
    if (fd >= 0 && mst_shm_link_hello(shm, fd, task))
        shm->out[task] = mst_shm_link_add(shm, fd, true, task, instance);
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
