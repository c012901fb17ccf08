#include "transport/shm_inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* messages under way on a link; so few that they and their answers always fit into the link's socket */
    MOST_UNDONE = 64
};

/* ---- memory ---- */

static mst_shm_owned *make_owned(const mst_shm *shm, size_t bytes) {
    mst_shm_owned *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->given = calloc((size_t)shm->options.num_tasks, sizeof *o->given);
    if (o->given && mst_memory_file_make(bytes, &o->file) == MST_OK) return o;
    free(o->given);
    free(o);
    return NULL;
}

static void free_owned(mst_shm_owned *o) {
    mst_memory_file_unmap(&o->file);
    free(o->given);
    free(o);
}

void *mst_shm_alloc(mst_shm *shm, size_t bytes) {
    mst_shm_owned *o = make_owned(shm, bytes);
    if (!o) return NULL;
    pthread_mutex_lock(&shm->lock);
    o->number = ++shm->num_files;
    o->next = shm->files;
    shm->files = o;
    pthread_mutex_unlock(&shm->lock);
    return mst_memory_file_data(&o->file);
}

/* Tells the tasks that have mapped the file of O that it is gone. Under the lock. */
static void say_gone(const mst_shm *shm, const mst_shm_owned *o) {
    const mst_shm_packet gone = {.kind = MST_SHM_GONE, .file = o->number};
    for (int32_t i = 0; i < shm->options.num_tasks; i++) {
        const mst_shm_link *l = shm->out[i];
        /* a peer that cannot be told keeps the mapping until the link ends */
        if (l && l->serial == o->given[i]) mst_shm_packet_send(l->fd, &gone, -1);
    }
}

void mst_shm_free(mst_shm *shm, void *memory) {
    if (!memory) return;
    pthread_mutex_lock(&shm->lock);
    mst_shm_owned **at = &shm->files;
    while (mst_memory_file_data(&(*at)->file) != memory) at = &(*at)->next;
    mst_shm_owned *o = *at;
    *at = o->next;
    say_gone(shm, o);
    pthread_mutex_unlock(&shm->lock);
    free_owned(o);
}

/* ---- sending ---- */

/* Whether all pieces lie in O; fills P with their places. */
static bool find_places(const mst_shm_owned *o, const mst_iov *piece, int n, mst_shm_packet *p) {
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

static mst_shm_sending *make_sending(mst_shm *shm, uint64_t by, uint32_t generation, mst_timeline *done) {
    mst_shm_sending *s = shm->spare ? shm->spare : malloc(sizeof *s);
    if (!s) return NULL;
    if (shm->spare) shm->spare = s->next;
    *s = (mst_shm_sending){.number = ++shm->num_sent, .by = by, .generation = generation, .done = done};
    return s;
}

void mst_shm_sending_end(mst_shm *shm, mst_shm_sending **at) {
    mst_shm_sending *s = *at;
    *at = s->next;
    if (shm->last == &s->next) shm->last = at;
    if (s->done) mst_timeline_add(s->done, 1);
    s->next = shm->spare;
    shm->spare = s;
}

/* Sends packet P by link L, with the file of O if the peer does not have it yet. Under the lock. */
static bool send_by(mst_shm *shm, mst_shm_link *l, mst_shm_owned *o, mst_shm_packet *p, mst_timeline *done) {
    mst_shm_sending *s = make_sending(shm, l->serial, p->key.generation, done);
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
static bool send_small(const mst_shm_link *l, mst_shm_packet *p, const mst_iov *piece, int n, mst_timeline *done) {
    p->kind = MST_SHM_SMALL;
    p->num_places = 0;
    if (!mst_shm_packet_send_bytes(l->fd, p, piece, n)) return false;
    if (done) mst_timeline_add(done, 1);
    return true;
}

static bool send_large(mst_shm *shm, mst_shm_link *l, mst_shm_packet *p, const mst_iov *piece, int n,
                       mst_timeline *done) {
    mst_shm_owned *o = l->undone < MOST_UNDONE ? shm->files : NULL;
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
    mst_shm_link *l = shm->out[to];
    const bool goes = l && l->is_up && key.generation >= shm->floor;
    const bool sent = goes && (is_small ? send_small(l, &p, piece, n, done) : send_large(shm, l, &p, piece, n, done));
    pthread_mutex_unlock(&shm->lock);
    return sent;
}

/* The link that TASK has made; NULL: there is none. Under the lock. */
static const mst_shm_link *link_of(const mst_shm *shm, int32_t task) {
    const mst_shm_link *l = shm->links;
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
    const mst_shm_link *l = back ? link_of(shm, to) : shm->out[to];
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

/* Ends the generations so far in all files of this task. Peers see the new floor before any memory is overwritten.
 * Under the lock. */
static void raise_floors(mst_shm *shm) {
    shm->floor = (uint64_t)shm->present + 1;
    for (mst_shm_owned *o = shm->files; o; o = o->next) atomic_store(o->file.floor, shm->floor);
#ifndef __SANITIZE_THREAD__ /* ThreadSanitizer does not support fences */
    atomic_thread_fence(memory_order_release);
#endif
}

void mst_shm_end(mst_shm *shm) {
    pthread_mutex_lock(&shm->lock);
    raise_floors(shm);
    for (mst_shm_sending **at = &shm->first; *at;)
        if ((*at)->generation >= shm->floor)
            at = &(*at)->next;
        else
            mst_shm_sending_end(shm, at);
    pthread_mutex_unlock(&shm->lock);
}

/* ---- the end ---- */

static void free_sendings(mst_shm_sending *s) {
    for (mst_shm_sending *next; s; s = next) {
        next = s->next;
        free(s);
    }
}

void mst_shm_memory_close(mst_shm *shm) {
    for (const mst_shm_sending *s = shm->first; s; s = s->next)
        if (s->done) mst_timeline_add(s->done, 1);
    free_sendings(shm->first);
    free_sendings(shm->spare);
    for (mst_shm_owned *o = shm->files, *next; o; o = next) {
        next = o->next;
        free_owned(o);
    }
}
