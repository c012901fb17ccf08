#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "task/task_executables_inside.h"

static const size_t MOST_KEPT = (size_t)1 << 30; /* bytes in memory */

void mst_arriving_drop(mst_arriving *a) {
    free(a->data);
    *a = (mst_arriving){.data = NULL};
}

mst_executable_entry *mst_executable_entry_find(const mst_task_executables *x, const mst_executable_key *key) {
    mst_executable_entry *e = x->entries;
    while (e && memcmp(e->key.byte, key->byte, sizeof key->byte) != 0) e = e->next;
    return e;
}

mst_executable_entry *mst_executable_entry_need(mst_task_executables *x, const mst_executable_key *key) {
    mst_executable_entry *e = mst_executable_entry_find(x, key);
    if (!e && (e = calloc(1, sizeof *e))) {
        e->asks = calloc((size_t)x->o.num_tasks, sizeof *e->asks);
        if (!e->asks) {
            free(e);
            return NULL;
        }
        e->key = *key;
        e->sender = -1;
        e->next = x->entries;
        x->entries = e;
    }
    if (e) e->used = ++x->num_uses;
    return e;
}

static void free_entry(mst_executable_entry *e) {
    mst_arriving_drop(&e->source);
    free(e->data);
    free(e->asks);
    free(e);
}

static bool is_asked(const mst_task_executables *x, const mst_executable_entry *e) {
    for (int32_t i = 0; i < x->o.num_tasks; i++)
        if (e->asks[i]) return true;
    return false;
}

void mst_executables_tidy(mst_task_executables *x) {
    for (;;) {
        mst_executable_entry **oldest = NULL;
        for (mst_executable_entry **at = &x->entries; *at;) {
            mst_executable_entry *e = *at;
            if (e->users || is_asked(x, e)) {
                at = &e->next;
            } else if (!e->data) {
                *at = e->next;
                free_entry(e);
            } else {
                if (!oldest || e->used < (*oldest)->used) oldest = at;
                at = &e->next;
            }
        }
        if (x->kept <= MOST_KEPT || !oldest) return;
        mst_executable_entry *e = *oldest;
        *oldest = e->next;
        x->kept -= e->size;
        free_entry(e);
    }
}

/* ---- sending, under the lock ---- */

void mst_executables_send(mst_task_executables *x, int32_t to, const mst_executable_message *message) {
    if (!x->is_open || x->is_closed) return;
    const size_t bytes = mst_executable_message_encode(message, x->message);
    if (x->o.send(x->o.context, to, x->message, bytes)) return;
}

mst_executable_message mst_executable_entry_message(const mst_executable_entry *e) {
    mst_executable_message m = {.kind = MST_EXECUTABLE_BYTES, .key = e->key, .total = e->size};
    memcpy(m.hash, e->hash, sizeof m.hash);
    return m;
}

void mst_executables_send_error(mst_task_executables *x, int32_t to, const mst_executable_entry *e,
                                const mst_failure *failure) {
    char text[MST_EXECUTABLE_ERROR];
    snprintf(text, sizeof text, "%s", failure->message);
    mst_executables_send(x, to,
                         &(mst_executable_message){.kind = MST_EXECUTABLE_FAILED,
                                                   .key = e->key,
                                                   .total = failure->code,
                                                   .piece = text,
                                                   .bytes = strlen(text)});
}

bool mst_executables_are_source(const mst_task_executables *x) {
    return x->source == x->o.self || x->is_over;
}

void mst_executables_ask(mst_task_executables *x, mst_executable_entry *e) {
    mst_executable_fetch *f = e->fetch;
    const bool only_held = !f->order || mst_executables_are_source(x);
    mst_executable_message m = {
        .kind = only_held ? MST_EXECUTABLE_ASK_HELD : MST_EXECUTABLE_ASK, .key = e->key, .offset = f->bytes.got};
    memcpy(m.hash, f->own_hash, sizeof m.hash);
    f->ask_at = mst_clock_after(MST_EXECUTABLE_AGAIN);
    mst_executables_send(x, f->asked, &m);
}

void mst_executable_entry_offer(mst_task_executables *x, const mst_executable_entry *e) {
    int32_t m = 0;
    if (x->is_over || x->source != x->o.self || !e->data) return;
    while (m < x->num_members && x->member[m] == x->o.self) m++;
    if (m < x->num_members)
        mst_executables_send(x, x->member[m], &(mst_executable_message){.kind = MST_EXECUTABLE_OFFER, .key = e->key});
}

/* ---- what has been made, under the lock ---- */

void mst_executable_entry_end(mst_task_executables *x, mst_executable_entry *e, mst_status status, void *data,
                              size_t size, const unsigned char *hash) {
    mst_failure failure;
    mst_failure_keep(&failure, status);
    e->is_under_way = false;
    if (!status) {
        free(e->data);
        x->kept -= e->size;
        e->data = data;
        e->size = data ? size : 0;
        x->kept += e->size;
        if (data) memcpy(e->hash, hash, sizeof e->hash);
    }
    for (int32_t i = 0; i < x->o.num_tasks; i++) {
        if (!e->asks[i]) continue;
        const mst_executable_message none = {.kind = MST_EXECUTABLE_NONE, .key = e->key},
                                     there = mst_executable_entry_message(e);
        e->asks[i] = false;
        if (status)
            mst_executables_send_error(x, i, e, &failure);
        else
            mst_executables_send(x, i, data ? &there : &none);
    }
    mst_executable_entry_offer(x, e);
    mst_arriving_drop(&e->source);
    e->sender = -1;
    pthread_cond_broadcast(&x->changed);
    if (status) (void)!mst_failure_restore(&failure);
}

void *mst_executable_take(void *data, size_t size, unsigned char hash[MST_EXECUTABLE_HASH]) {
    if (data && size > 0 && size <= MST_EXECUTABLE_MOST) {
        crypto_hash_sha256(hash, data, size);
        return data;
    }
    free(data);
    return NULL;
}

void *mst_executable_take_compiled(const mst_executable_key *key, void *data, size_t size,
                                   unsigned char hash[MST_EXECUTABLE_HASH]) {
    if (data) mst_executable_keep(key, data, size);
    return mst_executable_take(data, size, hash);
}

void mst_executables_retain(void *context) {
    mst_task_executables *x = context;
    atomic_fetch_add(&x->users, 1);
}

void mst_executables_release(void *context) {
    mst_task_executables *x = context;
    if (atomic_fetch_sub(&x->users, 1) > 1) return;
    for (mst_executable_entry *e = x->entries, *next; e; e = next) {
        next = e->next;
        free_entry(e);
    }
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->changed);
    free(x->connected);
    free(x->member);
    free(x->message);
    free(x);
}

void mst_executable_entry_leave(mst_task_executables *x, mst_executable_entry *e) {
    pthread_mutex_lock(&x->lock);
    e->users--;
    mst_executables_tidy(x);
    pthread_mutex_unlock(&x->lock);
}
