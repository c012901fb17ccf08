#include "transport/shm_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "base/wake.h"
#include "transport/service_thread.h"

/* ---- the thread ---- */

/* Accepts a link that a peer makes. */
static void accept_link(mst_shm *shm) {
    const int fd = accept4(shm->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    /* for example, because no file descriptors are left: no more links are accepted, and peers send over TCP */
    if (fd < 0) {
        if (errno != EAGAIN && errno != ECONNABORTED) epoll_ctl(shm->watch, EPOLL_CTL_DEL, shm->listener, NULL);
        return;
    }
    pthread_mutex_lock(&shm->lock);
    if (mst_shm_is_same_user(fd))
        mst_shm_link_add(shm, fd, false, -1, 0);
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
    shm->out = calloc(num_tasks, sizeof(mst_shm_link *));
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
            mst_shm_link_close(shm, shm->links);
        else
            mst_shm_link_remove(shm, shm->links);
    pthread_mutex_unlock(&shm->lock);
}

void mst_shm_close(mst_shm *shm) {
    if (!shm) return;
    mst_shm_stop(shm);
    mst_shm_memory_close(shm);
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
