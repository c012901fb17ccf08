/* An entry is under way while one thread makes its executable: a call of this process, here, or an errand for other
 * tasks (executable_answers.c). A call looks on the disk; then it asks another task, or compiles. */
#include "task/task_executables.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "run/errand.h"
#include "task/task_executables_inside.h"

/* ---- creating, opening and closing ---- */

static mst_status make_for_process(void *context, const mst_executable_order *order, void **data, size_t *size) {
    return mst_task_executables_make(context, order, data, size);
}

mst_status mst_task_executables_create(const mst_task_executables_options *options, mst_task_executables **out) {
    mst_task_executables *x = aligned_alloc(_Alignof(mst_task_executables), sizeof *x);
    if (x) {
        *x = (mst_task_executables){.o = *options, .source = options->chief};
        atomic_init(&x->users, 1);
        x->exchange = (mst_executable_exchange){.make = make_for_process,
                                                .retain = mst_executables_retain,
                                                .release = mst_executables_release,
                                                .context = x};
        pthread_mutex_init(&x->lock, NULL);
        mst_condition_init(&x->changed);
        x->connected = calloc((size_t)options->num_tasks, sizeof *x->connected);
        x->member = calloc((size_t)options->num_tasks, sizeof *x->member);
        x->message = malloc(MST_EXECUTABLE_MESSAGE_HEAD + MST_EXECUTABLE_PIECE);
    }
    if (!x || !x->connected || !x->member || !x->message) {
        if (x) mst_executables_release(x);
        return MST_NO_MEMORY("for the executables of a task");
    }
    *out = x;
    return MST_OK;
}

void mst_task_executables_open(mst_task_executables *x, bool shares) {
    pthread_mutex_lock(&x->lock);
    x->is_open = true;
    pthread_mutex_unlock(&x->lock);
    if (shares) mst_executable_exchange_add(&x->exchange);
}

void mst_task_executables_close(mst_task_executables *x) {
    if (!x) return;
    mst_executable_exchange_remove(&x->exchange);
    pthread_mutex_lock(&x->lock);
    x->is_closed = true;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

void mst_task_executables_release(mst_task_executables *x) {
    if (x) mst_executables_release(x);
}

/* ---- other events ---- */

void mst_task_executables_connected(mst_task_executables *x, int32_t task) {
    pthread_mutex_lock(&x->lock);
    x->connected[task] = true;
    pthread_mutex_unlock(&x->lock);
}

void mst_task_executables_lost(mst_task_executables *x, int32_t task) {
    pthread_mutex_lock(&x->lock);
    x->connected[task] = false;
    for (mst_executable_entry *e = x->entries; e; e = e->next) {
        e->asks[task] = false;
        if (e->sender == task) {
            mst_arriving_drop(&e->source);
            e->sender = -1;
        }
        if (e->fetch && e->fetch->asked == task) e->fetch->asked = -1; /* asks again, when it is back */
    }
    mst_executables_tidy(x);
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

void mst_task_executables_begin(mst_task_executables *x, int32_t source, const int32_t *member, int32_t num_members) {
    pthread_mutex_lock(&x->lock);
    x->source = source;
    x->generations++;
    x->num_members = num_members;
    memcpy(x->member, member, (size_t)num_members * sizeof *member);
    for (const mst_executable_entry *e = x->entries; e; e = e->next) mst_executable_entry_offer(x, e);
    x->ended.code = MST_OK;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

void mst_task_executables_end(mst_task_executables *x, const mst_failure *failure) {
    pthread_mutex_lock(&x->lock);
    x->ended = *failure;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

void mst_task_executables_finish(mst_task_executables *x, const mst_failure *failure) {
    pthread_mutex_lock(&x->lock);
    x->is_over = true;
    if (failure) x->failed = *failure;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

/* ---- calls of this process ---- */

typedef struct executable_call {
    mst_task_executables *x;
    mst_executable_entry *e;
    const mst_executable_order *order;
    mst_executable_fetch fetch;
    void *own; /* what the disk has; NULL: nothing */
    size_t own_size;
} executable_call;

/* No call waits for another task while no generation is under way. */
static mst_status check_call(void *context) {
    const executable_call *c = context;
    mst_task_executables *x = c->x;
    pthread_mutex_lock(&x->lock);
    const mst_failure *failure = x->failed.code ? &x->failed : &x->ended;
    const mst_status status = c->e->fetch && failure->code ? mst_failure_restore(failure) : MST_OK;
    pthread_mutex_unlock(&x->lock);
    return status;
}

static void tell_call(void *context, char *text, size_t size) {
    const executable_call *c = context;
    mst_task_executables *x = c->x;
    pthread_mutex_lock(&x->lock);
    const mst_executable_fetch *f = x->is_closed ? NULL : c->e->fetch;
    if (f && f->asked >= 0) {
        const char *does = "which compiles it for all";
        if (f->bytes.got) does = "which sends it";
        if (!x->connected[f->asked]) does = "to which it has no connection";
        snprintf(text, size, "%s waits for %s, %s", x->o.name[x->o.self], x->o.name[f->asked], does);
    }
    pthread_mutex_unlock(&x->lock);
}

static mst_status closed_error(void) {
    return MST_FAIL(MST_CANCELLED, "the task was closed while it waited for a program that another task compiles");
}

/* The task that is asked now; -1: none, the executable is made here. If the source lacks an executable, it asks all
 * members for it, since an earlier source, which was lost, may have given it to them. */
static int32_t find_asked(const mst_task_executables *x, mst_executable_fetch *f, int64_t alone_at) {
    if (!mst_executables_are_source(x))
        return x->generations || x->connected[x->source] || mst_clock_now() < alone_at ? x->source : -1;
    if (x->is_over || x->generations < 2) return -1;
    if (f->generation != x->generations) f->next = 0;
    f->generation = x->generations;
    while (f->next < x->num_members && x->member[f->next] == x->o.self) f->next++;
    return f->next < x->num_members ? x->member[f->next] : -1;
}

/* Asks task TO for E, if that is due. */
static void ask_again(mst_task_executables *x, mst_executable_entry *e, int32_t to) {
    mst_executable_fetch *f = e->fetch;
    if (f->asked != to) {
        mst_arriving_drop(&f->bytes);
        f->is_told = false;
        f->asked = to;
    } else if (mst_clock_now() < f->ask_at) {
        return;
    }
    mst_executables_ask(x, e);
}

/* Whether a member has answered the source that it does not have the executable. Then the source asks the next one. */
static bool ask_next_member(const mst_task_executables *x, mst_executable_fetch *f) {
    if (!f->is_there || !mst_executables_are_source(x) || !(f->is_none || f->failure.code)) return false;
    f->is_there = f->is_none = false;
    f->failure.code = MST_OK;
    f->next++;
    return true;
}

/* Gets the executable from another task, under the lock. *HERE: it is to be made here. */
static mst_status fetch_entry(executable_call *c, bool *here) {
    mst_task_executables *x = c->x;
    mst_executable_fetch *f = &c->fetch;
    const int64_t alone_at = mst_clock_after(x->o.patience);
    int32_t to = -1;
    f->order = c->order;
    f->asked = -1;
    c->e->fetch = f;
    while (!x->is_closed && (to = find_asked(x, f, alone_at)) >= 0) {
        if (ask_next_member(x, f)) continue;
        if (f->is_there) break;
        ask_again(x, c->e, to);
        const struct timespec until = mst_clock_timespec((int64_t)MST_EXECUTABLE_AGAIN * 1000000000);
        if (!f->is_there) pthread_cond_timedwait(&x->changed, &x->lock, &until);
    }
    c->e->fetch = NULL;
    if (x->is_closed) return closed_error();
    *here = to < 0;
    if (*here) return f->asked >= 0 && x->failed.code ? mst_failure_restore(&x->failed) : MST_OK;
    return f->failure.code ? mst_failure_restore(&f->failure) : MST_OK;
}

/* Records that the received bytes are damaged. Not under the lock. */
static mst_status damaged_error(const executable_call *c) {
    mst_task_executables *x = c->x;
    pthread_mutex_lock(&x->lock);
    const mst_status status =
        x->is_closed ? closed_error() /* the names are there until then */
                     : MST_FAIL(MST_CORRUPT,
                                "the compiled program that %s has sent is damaged: its bytes do not have the hash that "
                                "it names: start the job again, and check the memory of both machines",
                                x->o.name[c->fetch.asked]);
    pthread_mutex_unlock(&x->lock);
    return status;
}

/* Checks the received bytes, and keeps them on disk. Not under the lock. */
static mst_status keep_fetched(const executable_call *c) {
    const mst_arriving *a = &c->fetch.bytes;
    unsigned char hash[MST_EXECUTABLE_HASH];
    crypto_hash_sha256(hash, a->data, a->total);
    if (memcmp(hash, a->hash, sizeof hash) != 0) return damaged_error(c);
    mst_executable_keep(&c->e->key, a->data, a->total);
    return MST_OK;
}

/* The executable that a call has made. */
typedef struct made {
    void *data; /* for the entry; NULL: it cannot be had as bytes */
    size_t size;
    unsigned char hash[MST_EXECUTABLE_HASH];
    bool is_compiled; /* the caller has it already */
} made;

static mst_status compile_here(const executable_call *c, made *m) {
    const uint64_t errors = mst_error_count();
    void *data = NULL;
    m->is_compiled = true;
    MST_TRY(mst_error_complete(c->order->compile(c->order->context, &data, &m->size), errors));
    m->data = mst_executable_take_compiled(&c->e->key, data, m->size, m->hash);
    return MST_OK;
}

/* Makes the executable. Not under the lock; the entry is under way. */
static mst_status make_it(executable_call *c, made *m) {
    bool here = true;
    if (c->order->refused) return compile_here(c, m);
    if (mst_executable_find(&c->e->key, &c->own, &c->own_size))
        c->own = mst_executable_take(c->own, c->own_size, c->fetch.own_hash);
    c->fetch.has_own = c->own;
    pthread_mutex_lock(&c->x->lock);
    const mst_status status = fetch_entry(c, &here);
    pthread_mutex_unlock(&c->x->lock);
    if (status) return status;
    if (here ? !c->fetch.has_own : c->fetch.is_none) return compile_here(c, m);
    if (here || c->fetch.is_same) {
        m->data = c->own;
        m->size = c->own_size;
        memcpy(m->hash, c->fetch.own_hash, sizeof m->hash);
        c->own = NULL;
        return MST_OK;
    }
    MST_TRY(keep_fetched(c));
    m->data = c->fetch.bytes.data;
    m->size = c->fetch.bytes.total;
    memcpy(m->hash, c->fetch.bytes.hash, sizeof m->hash);
    c->fetch.bytes.data = NULL;
    return MST_OK;
}

static mst_status copy_out(const mst_executable_entry *e, void **data, size_t *size) {
    if (!(*data = malloc(e->size))) return MST_NO_MEMORY("for a compiled program, %zu bytes", e->size);
    memcpy(*data, e->data, e->size);
    *size = e->size;
    return MST_OK;
}

/* Under the lock, which it leaves while it makes the executable. */
static mst_status make_entry(executable_call *c, void **data, size_t *size) {
    mst_task_executables *x = c->x;
    mst_executable_entry *e = c->e;
    made m = {.data = NULL};
    while (e->is_under_way && !x->is_closed) pthread_cond_wait(&x->changed, &x->lock);
    if (x->is_closed) return closed_error();
    if (e->data && !c->order->refused) return copy_out(e, data, size);
    e->is_under_way = true;
    pthread_mutex_unlock(&x->lock);
    mst_status status = make_it(c, &m);
    pthread_mutex_lock(&x->lock);
    mst_executable_entry_end(x, e, status, m.data, m.size, m.hash);
    if (status || m.is_compiled) return status;
    return copy_out(e, data, size);
}

mst_status mst_task_executables_make(mst_task_executables *x, const mst_executable_order *order, void **data,
                                     size_t *size) {
    executable_call c = {.x = x, .order = order};
    mst_executable_key key;
    *data = NULL;
    *size = 0;
    mst_executable_key_make(&order->source, &key);
    pthread_mutex_lock(&x->lock);
    if ((c.e = mst_executable_entry_need(x, &key))) c.e->users++;
    pthread_mutex_unlock(&x->lock);
    if (!c.e) return MST_NO_MEMORY("for a program");
    mst_executables_retain(x);
    const mst_errand_watch watch = {.check = check_call, .tell = tell_call, .context = &c};
    mst_errand_set_watch(&watch);
    pthread_mutex_lock(&x->lock);
    const mst_status status = make_entry(&c, data, size);
    pthread_mutex_unlock(&x->lock);
    mst_errand_set_watch(NULL);
    mst_executable_entry_leave(x, c.e);
    mst_executables_release(x);
    mst_arriving_drop(&c.fetch.bytes);
    free(c.fetch.source);
    free(c.own);
    return status;
}

void mst_executable_fetch_offered(mst_task_executables *x, mst_executable_entry *e) {
    executable_call c = {.x = x, .e = e};
    bool here = true;
    pthread_mutex_lock(&x->lock);
    const mst_status fetched = fetch_entry(&c, &here);
    pthread_mutex_unlock(&x->lock);
    mst_arriving *a = &c.fetch.bytes;
    const bool is_got = !fetched && !here && !c.fetch.is_none && !keep_fetched(&c);
    pthread_mutex_lock(&x->lock);
    if (is_got) {
        mst_executable_entry_end(x, e, MST_OK, a->data, a->total, a->hash);
        a->data = NULL;
    } else {
        e->is_under_way = false; /* a task that waits for it makes it itself */
        pthread_cond_broadcast(&x->changed);
    }
    pthread_mutex_unlock(&x->lock);
    mst_arriving_drop(a);
}
