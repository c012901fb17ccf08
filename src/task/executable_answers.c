/* Handles the messages of other tasks: requests for executables, and executables that they send. The functions that
 * handle messages are called under the lock, and do not wait. Errands (run/errand.h) do work that may take long:
 *
 *      search        another task has asked for an executable: looks for it on the disk
 *      compile_sent  compiles a text that another task has sent
 *      get_offered   gets an executable that the source of the generation has offered */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/no_memory.h"
#include "device/device.h"
#include "run/backend.h"
#include "run/errand.h"
#include "task/task_executables_inside.h"

/* ---- sending, under the lock ---- */

/* Sends a piece of the SIZE bytes of DATA, from OFFSET on. */
static void send_piece(mst_task_executables *x, int32_t to, mst_executable_message message, const void *data,
                       size_t size) {
    if (message.offset >= size) return;
    const size_t left = size - (size_t)message.offset;
    message.total = size;
    message.piece = (const char *)data + message.offset;
    message.bytes = left < MST_EXECUTABLE_PIECE ? left : MST_EXECUTABLE_PIECE;
    mst_executables_send(x, to, &message);
}

/* Asks a task that waits for E for its source: the one that has begun to send it, or else the first. */
static void ask_for_source(mst_task_executables *x, mst_executable_entry *e) {
    for (int32_t i = 0; i < x->o.num_tasks && e->sender < 0; i++)
        if (e->asks[i]) e->sender = i;
    if (e->sender < 0) return;
    mst_executables_send(
        x, e->sender,
        &(mst_executable_message){.kind = MST_EXECUTABLE_ASK_SOURCE, .key = e->key, .offset = e->source.got});
}

/* ---- errands for other tasks ---- */

typedef struct errand_context {
    mst_task_executables *x;
    mst_executable_entry *e;
    void *source; /* encoded; NULL: of a search */
    mst_executable_order order;
} errand_context;

static void release_errand(void *context) {
    errand_context *c = context;
    mst_executable_entry_leave(c->x, c->e);
    mst_executables_release(c->x);
    free(c->source);
    free(c);
}

/* Starts an errand that makes E, under the lock. SOURCE then belongs to it, if it starts. */
static mst_status start_errand(mst_task_executables *x, mst_executable_entry *e, const mst_errand_type *type,
                               void *source, const mst_executable_order *order) {
    mst_errand *errand;
    errand_context *c = calloc(1, sizeof *c);
    if (!c) return MST_NO_MEMORY("for a program that another task needs");
    *c = (errand_context){.x = x, .e = e, .source = source};
    if (order) c->order = *order;
    e->users++;
    mst_executables_retain(x);
    const mst_status status = mst_errand_start(type, c, &errand);
    if (!status) {
        e->is_under_way = true;
        mst_errand_leave(errand); /* frees nothing: the work has not ended, since it needs the lock */
        return MST_OK;
    }
    e->users--;
    atomic_fetch_sub(&x->users, 1); /* the owner is still there */
    free(c);
    return status;
}

static mst_status search(void *context) {
    const errand_context *c = context;
    mst_task_executables *x = c->x;
    unsigned char hash[MST_EXECUTABLE_HASH];
    void *data;
    size_t size;
    if (mst_executable_find(&c->e->key, &data, &size)) data = mst_executable_take(data, size, hash);
    pthread_mutex_lock(&x->lock);
    c->e->is_searched = true;
    if (data) {
        mst_executable_entry_end(x, c->e, MST_OK, data, size, hash);
    } else {
        c->e->is_under_way = false;
        ask_for_source(x, c->e);
        pthread_cond_broadcast(&x->changed); /* a call of this process may wait to make it */
    }
    pthread_mutex_unlock(&x->lock);
    return MST_OK;
}

/* Compiles a text that was sent. *DATA is NULL if the backend cannot do that. */
static mst_status compile_text(const mst_executable_order *order, void **data, size_t *size) {
    const mst_device_type *type = mst_device_type_find(order->device_type, strlen(order->device_type));
    *data = NULL;
    *size = 0;
    if (!type || !type->backend || !type->backend->compile_text) return MST_OK;
    return type->backend->compile_text(&order->source, data, size);
}

static mst_status compile_sent(void *context) {
    const errand_context *c = context;
    mst_task_executables *x = c->x;
    unsigned char hash[MST_EXECUTABLE_HASH];
    void *data = NULL;
    size_t size = 0;
    const uint64_t errors = mst_error_count();
    const mst_status status = mst_error_complete(compile_text(&c->order, &data, &size), errors);
    data = mst_executable_take_compiled(&c->e->key, data, size, hash);
    pthread_mutex_lock(&x->lock);
    mst_executable_entry_end(x, c->e, status, data, size, hash);
    pthread_mutex_unlock(&x->lock);
    return MST_OK;
}

static mst_status get_offered(void *context) {
    const errand_context *c = context;
    mst_executable_fetch_offered(c->x, c->e);
    return MST_OK;
}

static const mst_errand_type search_type = {search, release_errand}, compile_type = {compile_sent, release_errand},
                             offer_type = {get_offered, release_errand};

/* ---- messages, under the lock ---- */

/* Sends the piece of E that M asks for. E has bytes. */
static void answer_ask(mst_task_executables *x, int32_t from, const mst_executable_entry *e,
                       const mst_executable_message *m) {
    mst_executable_message answer = mst_executable_entry_message(e);
    if (memcmp(m->hash, e->hash, sizeof e->hash) == 0) {
        mst_executables_send(x, from, &answer);
        return;
    }
    answer.offset = m->offset;
    send_piece(x, from, answer, e->data, e->size);
}

static void take_ask(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    mst_executable_entry *e = mst_executable_entry_need(x, &m->key);
    if (!e) return;
    if (e->data) {
        answer_ask(x, from, e, m);
        return;
    }
    e->asks[from] = true;
    if (e->is_under_way || !mst_executables_are_source(x)) return;
    if (!e->is_searched && !start_errand(x, e, &search_type, NULL, NULL)) return;
    e->is_searched = true;
    ask_for_source(x, e);
}

static void take_held_ask(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    const mst_executable_entry *e = mst_executable_entry_find(x, &m->key);
    if (e && e->data)
        answer_ask(x, from, e, m);
    else
        mst_executables_send(x, from, &(mst_executable_message){.kind = MST_EXECUTABLE_NONE, .key = m->key});
}

/* Appends the piece of M to the bytes that have come, MOST bytes at most. *TAKEN: it was the next piece. */
static mst_status take_piece(mst_arriving *a, const mst_executable_message *m, size_t most, bool *taken) {
    *taken = false;
    if (m->total > most)
        return MST_FAIL(MST_INVALID,
                        "a program of %llu bytes is refused, which another task sends: it may have %zu: "
                        "all tasks need the same version of Muster",
                        (unsigned long long)m->total, most);
    if (a->data && (a->total != m->total || memcmp(a->hash, m->hash, sizeof a->hash) != 0)) mst_arriving_drop(a);
    if (!m->bytes || m->offset != a->got) return MST_OK;
    if (!a->data) {
        if (!(a->data = malloc((size_t)m->total)))
            return MST_NO_MEMORY("for a program that another task sends, %zu bytes", (size_t)m->total);
        a->total = (size_t)m->total;
        memcpy(a->hash, m->hash, sizeof a->hash);
    }
    memcpy(a->data + a->got, m->piece, m->bytes);
    a->got += m->bytes;
    *taken = true;
    return MST_OK;
}

static void take_bytes(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    mst_executable_entry *e = mst_executable_entry_find(x, &m->key);
    mst_executable_fetch *f = e ? e->fetch : NULL;
    bool taken;
    if (!f || f->is_there || f->asked != from) return;
    f->is_same = f->has_own && !m->bytes && memcmp(m->hash, f->own_hash, sizeof m->hash) == 0;
    const mst_status status = take_piece(&f->bytes, m, MST_EXECUTABLE_MOST, &taken);
    mst_failure_keep(&f->failure, status);
    f->is_there = status || f->is_same || (taken && f->bytes.got == f->bytes.total);
    if (!f->is_there && (taken || (!m->bytes && !f->is_told))) mst_executables_ask(x, e);
    f->is_told = f->is_told || !m->bytes;
    if (f->is_there) pthread_cond_broadcast(&x->changed);
}

static void take_answer(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    mst_executable_entry *e = mst_executable_entry_find(x, &m->key);
    mst_executable_fetch *f = e ? e->fetch : NULL;
    if (!f || f->is_there || f->asked != from) return;
    f->is_there = true;
    f->is_none = m->kind == MST_EXECUTABLE_NONE;
    if (!f->is_none) {
        const bool is_code = m->total > MST_OK && m->total <= MST_INTERNAL;
        f->failure = (mst_failure){.code = is_code ? (mst_status)m->total : MST_INTERNAL, .file = __FILE__};
        snprintf(f->failure.message, sizeof f->failure.message, "%s: %.*s", x->o.name[from],
                 (int)(m->bytes < MST_EXECUTABLE_ERROR ? m->bytes : MST_EXECUTABLE_ERROR), (const char *)m->piece);
        mst_make_plain(f->failure.message);
    }
    pthread_cond_broadcast(&x->changed);
}

static void take_source_ask(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    mst_executable_entry *e = mst_executable_entry_find(x, &m->key);
    mst_executable_fetch *f = e ? e->fetch : NULL;
    if (!f || !f->order || f->is_there || f->asked != from) return;
    const mst_status status = f->source ? MST_OK : mst_executable_source_encode(f->order, &f->source, &f->source_size);
    if (status) {
        mst_failure_keep(&f->failure, status);
        f->is_there = true;
        pthread_cond_broadcast(&x->changed);
        return;
    }
    send_piece(x, from, (mst_executable_message){.kind = MST_EXECUTABLE_SOURCE, .key = e->key, .offset = m->offset},
               f->source, f->source_size);
}

/* The source of E has arrived completely. */
static mst_status compile_source(mst_task_executables *x, mst_executable_entry *e) {
    mst_executable_order order;
    mst_executable_key key;
    MST_TRY(mst_executable_source_decode(e->source.data, e->source.total, &order));
    mst_executable_key_make(&order.source, &key);
    if (memcmp(key.byte, e->key.byte, sizeof key.byte) != 0)
        return MST_FAIL(MST_CORRUPT,
                        "%s has sent another program to be compiled than it has asked for: "
                        "all tasks need the same version of Muster",
                        x->o.name[e->sender]);
    MST_TRY(start_errand(x, e, &compile_type, e->source.data, &order));
    e->source = (mst_arriving){.data = NULL};
    return MST_OK;
}

static void take_source(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    mst_executable_entry *e = mst_executable_entry_find(x, &m->key);
    bool taken;
    if (!e || e->is_under_way || e->data || e->sender != from) return;
    mst_status status = take_piece(&e->source, m, MST_EXECUTABLE_SOURCE_MOST, &taken);
    if (!status && !taken) return;
    if (!status && e->source.got < e->source.total) {
        ask_for_source(x, e);
        return;
    }
    if (!status) status = compile_source(x, e);
    if (!status) return;
    mst_failure failure; /* only as sent by this task: others may send it intact */
    mst_failure_keep(&failure, status);
    mst_executables_send_error(x, from, e, &failure);
    e->asks[from] = false;
    mst_arriving_drop(&e->source);
    e->sender = -1;
}

/* Begins to get the executable that the source offers. If that is not possible, the offer is dropped: the source may
 * offer it again. */
static void take_offer(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    mst_executable_entry *e = from == x->source ? mst_executable_entry_need(x, &m->key) : NULL;
    if (!e || e->data || e->is_under_way) return;
    if (start_errand(x, e, &offer_type, NULL, NULL)) return;
}

static void take_message(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    switch (m->kind) {
        case MST_EXECUTABLE_ASK: take_ask(x, from, m); break;
        case MST_EXECUTABLE_ASK_HELD: take_held_ask(x, from, m); break;
        case MST_EXECUTABLE_BYTES: take_bytes(x, from, m); break;
        case MST_EXECUTABLE_FAILED:
        case MST_EXECUTABLE_NONE: take_answer(x, from, m); break;
        case MST_EXECUTABLE_ASK_SOURCE: take_source_ask(x, from, m); break;
        case MST_EXECUTABLE_SOURCE: take_source(x, from, m); break;
        case MST_EXECUTABLE_OFFER: take_offer(x, from, m); break;
        default: break;
    }
}

void mst_task_executables_received(mst_task_executables *x, int32_t from, const void *data, size_t bytes) {
    mst_executable_message message;
    if (!mst_executable_message_decode(data, bytes, &message)) return;
    pthread_mutex_lock(&x->lock);
    if (x->is_open && !x->is_closed && from != x->o.self) take_message(x, from, &message);
    mst_executables_tidy(x);
    pthread_mutex_unlock(&x->lock);
}
