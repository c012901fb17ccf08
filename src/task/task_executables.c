/* The entries are in one list. An entry is under way while one thread makes its executable, in one of these ways:
 *
 *      make_entry    a call of this process: looks on the disk; then asks the source of the generation, or compiles
 *      search        an errand, because another task has asked: looks on the disk
 *      compile_sent  an errand: compiles a text that another task has sent
 *
 * Everything else is done by the events, under the lock, and does not wait. */
#include "task/task_executables.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "device/device.h"
#include "messages/executable_message.h"
#include "run/backend.h"
#include "run/errand.h"

static const double AGAIN = 1;                   /* seconds after which a task asks again */
static const size_t MOST_KEPT = (size_t)1 << 30; /* bytes in memory */
enum { MOST_ERROR = 900 };

/* Bytes that come in pieces, from the first to the last. */
typedef struct arriving {
    unsigned char *data; /* NULL: nothing has come */
    size_t total, got;
    unsigned char hash[MST_EXECUTABLE_HASH]; /* as the sender has named it */
} arriving;

/* How a call of this process gets an executable from another task. */
typedef struct fetch {
    const mst_executable_order *order;
    void *source; /* of the order, encoded; NULL: nobody has asked for it yet */
    size_t source_size;
    int32_t asked;       /* -1: nobody */
    uint64_t generation; /* in which the next one was set */
    int32_t next;        /* member that is asked next whether it has it */
    int64_t asked_at;
    unsigned char own_hash[MST_EXECUTABLE_HASH]; /* of what this task's disk has; zeros: it has nothing */
    arriving bytes;
    bool has_own;
    bool is_told;          /* that the other task has it now */
    bool is_there;         /* all bytes have come, or there are none to come: one of the next two, or a failure */
    bool is_same, is_none; /* those of the own hash are the same; it cannot be had as bytes */
    mst_failure failure;   /* of the other task, or of what it has sent */
} fetch;

typedef struct entry {
    struct entry *next;
    mst_executable_key key;
    int64_t users; /* calls and errands that have it */
    bool is_under_way;
    bool is_searched; /* the disk does not have it */
    void *data;       /* NULL: it is not there */
    size_t size;
    unsigned char hash[MST_EXECUTABLE_HASH];
    uint64_t used;  /* number of the last use */
    fetch *fetch;   /* under way from another task; NULL: not */
    bool *asks;     /* [num_tasks] wait for it */
    int32_t sender; /* task that sends the source; -1: none */
    arriving source;
} entry;

struct mst_task_executables {
    mst_executable_exchange exchange;
    mst_task_executables_options o;
    _Atomic int64_t users; /* the owner, calls and errands */
    pthread_mutex_t lock;  /* guards all members after it */
    pthread_cond_t changed;
    bool is_open, is_closed;
    int32_t source;       /* of the generation */
    uint64_t generations; /* number of those that have begun */
    int32_t *member;      /* [num_members] tasks of the generation */
    int32_t num_members;
    bool is_over;              /* the job: this task compiles itself */
    mst_failure ended, failed; /* of the generation, until the next one begins; of the job */
    bool *connected;           /* [num_tasks] */
    entry *entries;
    size_t kept; /* bytes of all entries */
    uint64_t num_uses;
    unsigned char *message; /* room for one that is sent */
};

/* ---- entries, under the lock ---- */

static void arriving_drop(arriving *a) {
    free(a->data);
    *a = (arriving){.data = NULL};
}

static entry *find_entry(const mst_task_executables *x, const mst_executable_key *key) {
    entry *e = x->entries;
    while (e && memcmp(e->key.byte, key->byte, sizeof key->byte) != 0) e = e->next;
    return e;
}

/* The entry of KEY, which is added if there is none; NULL: there is no memory. */
static entry *need_entry(mst_task_executables *x, const mst_executable_key *key) {
    entry *e = find_entry(x, key);
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

static void free_entry(entry *e) {
    arriving_drop(&e->source);
    free(e->data);
    free(e->asks);
    free(e);
}

static bool is_asked(const mst_task_executables *x, const entry *e) {
    for (int32_t i = 0; i < x->o.num_tasks; i++)
        if (e->asks[i]) return true;
    return false;
}

/* Frees entries that have nothing and that nobody wants, and then those used least recently, if all together have more
 * bytes than are kept. */
static void tidy(mst_task_executables *x) {
    for (;;) {
        entry **oldest = NULL;
        for (entry **at = &x->entries; *at;) {
            entry *e = *at;
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
        entry *e = *oldest;
        *oldest = e->next;
        x->kept -= e->size;
        free_entry(e);
    }
}

/* ---- sending, under the lock ---- */

/* A message that is not sent is lost, as others are with their connections: who waits asks again. */
static void send_message(mst_task_executables *x, int32_t to, const mst_executable_message *message) {
    if (!x->is_open || x->is_closed) return;
    const size_t bytes = mst_executable_message_encode(message, x->message);
    if (x->o.send(x->o.context, to, x->message, bytes)) return;
}

/* Sends a piece of the SIZE bytes of DATA, from OFFSET on. */
static void send_piece(mst_task_executables *x, int32_t to, mst_executable_message message, const void *data,
                       size_t size) {
    if (message.offset >= size) return;
    const size_t left = size - (size_t)message.offset;
    message.total = size;
    message.piece = (const char *)data + message.offset;
    message.bytes = left < MST_EXECUTABLE_PIECE ? left : MST_EXECUTABLE_PIECE;
    send_message(x, to, &message);
}

/* The message that an executable is there; its piece may be added. */
static mst_executable_message bytes_message(const entry *e) {
    mst_executable_message m = {.kind = MST_EXECUTABLE_BYTES, .key = e->key, .total = e->size};
    memcpy(m.hash, e->hash, sizeof m.hash);
    return m;
}

static void send_error(mst_task_executables *x, int32_t to, const entry *e, const mst_failure *failure) {
    char text[MOST_ERROR];
    snprintf(text, sizeof text, "%s", failure->message);
    send_message(x, to,
                 &(mst_executable_message){.kind = MST_EXECUTABLE_FAILED,
                                           .key = e->key,
                                           .total = failure->code,
                                           .piece = text,
                                           .bytes = strlen(text)});
}

/* Whether this task makes what others ask for, and does not get it from another one. */
static bool is_source(const mst_task_executables *x) {
    return x->source == x->o.self || x->is_over;
}

static void ask(mst_task_executables *x, entry *e) {
    fetch *f = e->fetch;
    const mst_executable_message_kind kind = is_source(x) ? MST_EXECUTABLE_ASK_HELD : MST_EXECUTABLE_ASK;
    mst_executable_message m = {.kind = kind, .key = e->key, .offset = f->bytes.got};
    memcpy(m.hash, f->own_hash, sizeof m.hash);
    f->asked_at = mst_clock_now();
    send_message(x, f->asked, &m);
}

/* Asks a task that waits for E for its source: the one that has begun to send it, or else the first. */
static void ask_for_source(mst_task_executables *x, entry *e) {
    for (int32_t i = 0; i < x->o.num_tasks && e->sender < 0; i++)
        if (e->asks[i]) e->sender = i;
    if (e->sender < 0) return;
    send_message(x, e->sender,
                 &(mst_executable_message){.kind = MST_EXECUTABLE_ASK_SOURCE, .key = e->key, .offset = e->source.got});
}

/* ---- what has been made, under the lock ---- */

/* E is under way no more. With STATUS MST_OK, DATA is its bytes, which now belong to it, and HASH their hash; or NULL,
 * if it cannot be had as bytes. Else the calling thread's error says why there is none. Answers those who wait. */
static void end_entry(mst_task_executables *x, entry *e, mst_status status, void *data, size_t size,
                      const unsigned char *hash) {
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
        const mst_executable_message none = {.kind = MST_EXECUTABLE_NONE, .key = e->key}, there = bytes_message(e);
        e->asks[i] = false;
        if (status)
            send_error(x, i, e, &failure);
        else
            send_message(x, i, data ? &there : &none);
    }
    arriving_drop(&e->source);
    e->sender = -1;
    pthread_cond_broadcast(&x->changed);
    if (status) (void)!mst_failure_restore(&failure);
}

/* ---- lives ---- */

static void retain_executables(void *context) {
    mst_task_executables *x = context;
    atomic_fetch_add(&x->users, 1);
}

static void release_executables(void *context) {
    mst_task_executables *x = context;
    if (atomic_fetch_sub(&x->users, 1) > 1) return;
    for (entry *e = x->entries, *next; e; e = next) {
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

/* The executables of X, and E among them, have one user less. */
static void leave_entry(mst_task_executables *x, entry *e) {
    pthread_mutex_lock(&x->lock);
    e->users--;
    tidy(x);
    pthread_mutex_unlock(&x->lock);
}

static mst_status make_for_process(void *context, const mst_executable_order *order, void **data, size_t *size) {
    return mst_task_executables_make(context, order, data, size);
}

mst_status mst_task_executables_create(const mst_task_executables_options *options, mst_task_executables **out) {
    mst_task_executables *x = aligned_alloc(_Alignof(mst_task_executables), sizeof *x);
    if (x) {
        *x = (mst_task_executables){.o = *options, .source = options->chief};
        atomic_init(&x->users, 1);
        x->exchange = (mst_executable_exchange){
            .make = make_for_process, .retain = retain_executables, .release = release_executables, .context = x};
        pthread_mutex_init(&x->lock, NULL);
        mst_condition_init(&x->changed);
        x->connected = calloc((size_t)options->num_tasks, sizeof *x->connected);
        x->member = calloc((size_t)options->num_tasks, sizeof *x->member);
        x->message = malloc(MST_EXECUTABLE_MESSAGE_HEAD + MST_EXECUTABLE_PIECE);
    }
    if (!x || !x->connected || !x->member || !x->message) {
        if (x) release_executables(x);
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
    if (x) release_executables(x);
}

/* ---- errands for other tasks ---- */

typedef struct errand_context {
    mst_task_executables *x;
    entry *e;
    void *source; /* encoded; NULL: of a search */
    mst_executable_order order;
} errand_context;

static void release_errand(void *context) {
    errand_context *c = context;
    leave_entry(c->x, c->e);
    release_executables(c->x);
    free(c->source);
    free(c);
}

/* Starts an errand that makes E, under the lock. SOURCE then belongs to it, if it starts. */
static mst_status start_errand(mst_task_executables *x, entry *e, const mst_errand_type *type, void *source,
                               const mst_executable_order *order) {
    mst_errand *errand;
    errand_context *c = calloc(1, sizeof *c);
    if (!c) return MST_NO_MEMORY("for a program that another task needs");
    *c = (errand_context){.x = x, .e = e, .source = source};
    if (order) c->order = *order;
    e->users++;
    retain_executables(x);
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
    const bool found = mst_executable_find(&c->e->key, &data, &size) && size > 0 && size <= MST_EXECUTABLE_MOST;
    if (found)
        crypto_hash_sha256(hash, data, size);
    else
        free(data);
    pthread_mutex_lock(&x->lock);
    c->e->is_searched = true;
    if (found) {
        end_entry(x, c->e, MST_OK, data, size, hash);
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

/* Leaves of DATA, which was compiled here, what can be sent, and gives its hash. */
static void *take_compiled(void *data, size_t size, unsigned char hash[MST_EXECUTABLE_HASH]) {
    if (data && size > 0 && size <= MST_EXECUTABLE_MOST) {
        crypto_hash_sha256(hash, data, size);
        return data;
    }
    free(data);
    return NULL;
}

static mst_status compile_sent(void *context) {
    const errand_context *c = context;
    mst_task_executables *x = c->x;
    unsigned char hash[MST_EXECUTABLE_HASH];
    void *data = NULL;
    size_t size = 0;
    const uint64_t errors = mst_error_count();
    const mst_status status = mst_error_complete(compile_text(&c->order, &data, &size), errors);
    data = take_compiled(data, size, hash);
    if (data) mst_executable_keep(&c->e->key, data, size);
    pthread_mutex_lock(&x->lock);
    end_entry(x, c->e, status, data, size, hash);
    pthread_mutex_unlock(&x->lock);
    return MST_OK;
}

static const mst_errand_type search_type = {search, release_errand}, compile_type = {compile_sent, release_errand};

/* ---- messages, under the lock ---- */

/* Sends what M asks for of E, which is there. */
static void answer_ask(mst_task_executables *x, int32_t from, const entry *e, const mst_executable_message *m) {
    mst_executable_message answer = bytes_message(e);
    if (memcmp(m->hash, e->hash, sizeof e->hash) == 0) {
        send_message(x, from, &answer);
        return;
    }
    answer.offset = m->offset;
    send_piece(x, from, answer, e->data, e->size);
}

static void take_ask(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    entry *e = need_entry(x, &m->key);
    if (!e) return;
    if (e->data) {
        answer_ask(x, from, e, m);
        return;
    }
    e->asks[from] = true;
    if (e->is_under_way || !is_source(x)) return;
    if (!e->is_searched && !start_errand(x, e, &search_type, NULL, NULL)) return;
    e->is_searched = true;
    ask_for_source(x, e);
}

static void take_held_ask(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    const entry *e = find_entry(x, &m->key);
    if (e && e->data)
        answer_ask(x, from, e, m);
    else
        send_message(x, from, &(mst_executable_message){.kind = MST_EXECUTABLE_NONE, .key = m->key});
}

/* Adds the piece of M to what has come before, of which there may be MOST bytes. *TAKEN: it was the next one. */
static mst_status take_piece(arriving *a, const mst_executable_message *m, size_t most, bool *taken) {
    *taken = false;
    if (m->total > most)
        return MST_FAIL(MST_INVALID, "a program of %llu bytes is refused, which another task sends: it may have %zu",
                        (unsigned long long)m->total, most);
    if (a->data && (a->total != m->total || memcmp(a->hash, m->hash, sizeof a->hash) != 0)) arriving_drop(a);
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
    entry *e = find_entry(x, &m->key);
    fetch *f = e ? e->fetch : NULL;
    bool taken;
    if (!f || f->is_there || f->asked != from) return;
    f->is_same = f->has_own && !m->bytes && memcmp(m->hash, f->own_hash, sizeof m->hash) == 0;
    const mst_status status = take_piece(&f->bytes, m, MST_EXECUTABLE_MOST, &taken);
    mst_failure_keep(&f->failure, status);
    f->is_there = status || f->is_same || (taken && f->bytes.got == f->bytes.total);
    if (!f->is_there && (taken || (!m->bytes && !f->is_told))) ask(x, e);
    f->is_told = f->is_told || !m->bytes;
    if (f->is_there) pthread_cond_broadcast(&x->changed);
}

static void take_answer(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    entry *e = find_entry(x, &m->key);
    fetch *f = e ? e->fetch : NULL;
    if (!f || f->is_there || f->asked != from) return;
    f->is_there = true;
    f->is_none = m->kind == MST_EXECUTABLE_NONE;
    if (!f->is_none) {
        const bool is_code = m->total > MST_OK && m->total <= MST_INTERNAL;
        f->failure = (mst_failure){.code = is_code ? (mst_status)m->total : MST_INTERNAL, .file = __FILE__};
        snprintf(f->failure.message, sizeof f->failure.message, "%s: %.*s", x->o.name[from],
                 (int)(m->bytes < MOST_ERROR ? m->bytes : MOST_ERROR), (const char *)m->piece);
        mst_make_plain(f->failure.message);
    }
    pthread_cond_broadcast(&x->changed);
}

static void take_source_ask(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    entry *e = find_entry(x, &m->key);
    fetch *f = e ? e->fetch : NULL;
    if (!f || f->is_there || f->asked != from) return;
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

/* The source of E is there. */
static mst_status compile_source(mst_task_executables *x, entry *e) {
    mst_executable_order order;
    mst_executable_key key;
    MST_TRY(mst_executable_source_decode(e->source.data, e->source.total, &order));
    mst_executable_key_make(&order.source, &key);
    if (memcmp(key.byte, e->key.byte, sizeof key.byte) != 0)
        return MST_FAIL(MST_CORRUPT, "%s has sent another program to be compiled than it has asked for",
                        x->o.name[e->sender]);
    MST_TRY(start_errand(x, e, &compile_type, e->source.data, &order));
    e->source = (arriving){.data = NULL};
    return MST_OK;
}

static void take_source(mst_task_executables *x, int32_t from, const mst_executable_message *m) {
    entry *e = find_entry(x, &m->key);
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
    mst_failure failure; /* only of this task: others may send it well */
    mst_failure_keep(&failure, status);
    send_error(x, from, e, &failure);
    e->asks[from] = false;
    arriving_drop(&e->source);
    e->sender = -1;
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
        default: break;
    }
}

void mst_task_executables_received(mst_task_executables *x, int32_t from, const void *data, size_t bytes) {
    mst_executable_message message;
    if (!mst_executable_message_decode(data, bytes, &message)) return;
    pthread_mutex_lock(&x->lock);
    if (x->is_open && !x->is_closed && from != x->o.self) take_message(x, from, &message);
    tidy(x);
    pthread_mutex_unlock(&x->lock);
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
    for (entry *e = x->entries; e; e = e->next) {
        e->asks[task] = false;
        if (e->sender == task) {
            arriving_drop(&e->source);
            e->sender = -1;
        }
        if (e->fetch && e->fetch->asked == task) e->fetch->asked = -1; /* asks again, when it is back */
    }
    tidy(x);
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

void mst_task_executables_begin(mst_task_executables *x, int32_t source, const int32_t *member, int32_t num_members) {
    pthread_mutex_lock(&x->lock);
    x->source = source;
    x->generations++;
    x->num_members = num_members;
    memcpy(x->member, member, (size_t)num_members * sizeof *member);
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
    entry *e;
    const mst_executable_order *order;
    fetch fetch;
    void *own; /* what the disk has; NULL: nothing */
    size_t own_size;
} executable_call;

/* Nobody waits for another task while no generation is under way. */
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
    const fetch *f = x->is_closed ? NULL : c->e->fetch;
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

/* The task that is asked now; -1: none, the executable is made here. The source asks all members whether they have what
 * it lacks, since an earlier source, which was lost, may have given it to them. */
static int32_t find_asked(const mst_task_executables *x, fetch *f, int64_t since) {
    const double waited = (double)(mst_clock_now() - since) * 1e-9;
    if (!is_source(x)) return x->generations || x->connected[x->source] || waited < x->o.patience ? x->source : -1;
    if (x->is_over || x->generations < 2) return -1;
    if (f->generation != x->generations) f->next = 0;
    f->generation = x->generations;
    while (f->next < x->num_members && x->member[f->next] == x->o.self) f->next++;
    return f->next < x->num_members ? x->member[f->next] : -1;
}

/* Asks task TO for E, if that is due. */
static void ask_again(mst_task_executables *x, entry *e, int32_t to) {
    fetch *f = e->fetch;
    if (f->asked != to) {
        arriving_drop(&f->bytes);
        f->is_told = false;
        f->asked = to;
    } else if (mst_clock_now() - f->asked_at < (int64_t)(AGAIN * 1e9)) {
        return;
    }
    ask(x, e);
}

/* Whether the source has learnt from a member that it does not have the executable: it asks the next one. */
static bool ask_next_member(const mst_task_executables *x, fetch *f) {
    if (!f->is_there || !is_source(x) || !(f->is_none || f->failure.code)) return false;
    f->is_there = f->is_none = false;
    f->failure.code = MST_OK;
    f->next++;
    return true;
}

/* Gets the executable from another task, under the lock. *HERE: it is to be made here. */
static mst_status fetch_entry(executable_call *c, bool *here) {
    mst_task_executables *x = c->x;
    fetch *f = &c->fetch;
    const int64_t since = mst_clock_now();
    int32_t to = -1;
    f->order = c->order;
    f->asked = -1;
    c->e->fetch = f;
    while (!x->is_closed && (to = find_asked(x, f, since)) >= 0) {
        if (ask_next_member(x, f)) continue;
        if (f->is_there) break;
        ask_again(x, c->e, to);
        const struct timespec until = mst_clock_timespec((int64_t)(AGAIN * 1e9));
        if (!f->is_there) pthread_cond_timedwait(&x->changed, &x->lock, &until);
    }
    c->e->fetch = NULL;
    if (x->is_closed) return closed_error();
    *here = to < 0;
    if (*here) return f->asked >= 0 && x->failed.code ? mst_failure_restore(&x->failed) : MST_OK;
    return f->failure.code ? mst_failure_restore(&f->failure) : MST_OK;
}

/* Checks what has come, and keeps it on the disk. */
static mst_status keep_fetched(const executable_call *c) {
    const arriving *a = &c->fetch.bytes;
    unsigned char hash[MST_EXECUTABLE_HASH];
    crypto_hash_sha256(hash, a->data, a->total);
    if (memcmp(hash, a->hash, sizeof hash) != 0)
        return MST_FAIL(
            MST_CORRUPT,
            "the compiled program that %s has sent is damaged: its bytes do not have the hash that it names",
            c->x->o.name[c->fetch.asked]);
    mst_executable_keep(&c->e->key, a->data, a->total);
    return MST_OK;
}

/* What a call has made. */
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
    if (data) mst_executable_keep(&c->e->key, data, m->size);
    m->data = take_compiled(data, m->size, m->hash);
    return MST_OK;
}

/* Makes the executable. Not under the lock; the entry is under way. */
static mst_status make_it(executable_call *c, made *m) {
    bool here = true;
    if (c->order->refused) return compile_here(c, m);
    if (mst_executable_find(&c->e->key, &c->own, &c->own_size))
        c->fetch.has_own = c->own_size > 0 && c->own_size <= MST_EXECUTABLE_MOST;
    if (c->fetch.has_own) crypto_hash_sha256(c->fetch.own_hash, c->own, c->own_size);
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

static mst_status copy_out(const entry *e, void **data, size_t *size) {
    if (!(*data = malloc(e->size))) return MST_NO_MEMORY("for a compiled program, %zu bytes", e->size);
    memcpy(*data, e->data, e->size);
    *size = e->size;
    return MST_OK;
}

/* Under the lock, which it leaves while it makes the executable. */
static mst_status make_entry(executable_call *c, void **data, size_t *size) {
    mst_task_executables *x = c->x;
    entry *e = c->e;
    made m = {.data = NULL};
    while (e->is_under_way && !x->is_closed) pthread_cond_wait(&x->changed, &x->lock);
    if (x->is_closed) return closed_error();
    if (e->data && !c->order->refused) return copy_out(e, data, size);
    e->is_under_way = true;
    pthread_mutex_unlock(&x->lock);
    mst_status status = make_it(c, &m);
    pthread_mutex_lock(&x->lock);
    end_entry(x, e, status, m.data, m.size, m.hash);
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
    if ((c.e = need_entry(x, &key))) c.e->users++;
    pthread_mutex_unlock(&x->lock);
    if (!c.e) return MST_NO_MEMORY("for a program");
    const mst_errand_watch watch = {.check = check_call, .tell = tell_call, .context = &c};
    mst_errand_set_watch(&watch);
    pthread_mutex_lock(&x->lock);
    const mst_status status = make_entry(&c, data, size);
    pthread_mutex_unlock(&x->lock);
    mst_errand_set_watch(NULL);
    leave_entry(x, c.e);
    arriving_drop(&c.fetch.bytes);
    free(c.fetch.source);
    free(c.own);
    return status;
}
