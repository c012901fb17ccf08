/* The queue and the thread of a summary writer (writer.h).
 *
 * Callers append an entry under the lock, and wait only if the queue has more than queue_bytes. The thread takes the
 * whole list at once and writes it without the lock. The first error is kept, and returned by the next flush or close.
 * If writers are open when the program exits, atexit writes what is on their queues, for at most EXIT_SECONDS. */
#include "summary/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "base/process.h"
#include "base/thread.h"

static const double DEFAULT_SECONDS = 2, MOST_SECONDS = 86400, EXIT_SECONDS = 10;
static const int64_t DEFAULT_BYTES = INT64_C(64) << 20;

struct mst_summary_writer {
    mst_event_file *file;
    double flush_seconds;
    int64_t queue_bytes;
    uint64_t process;
    pthread_t thread;
    pthread_mutex_t lock; /* protects all members that follow, except `next_open` */
    pthread_cond_t wake;  /* for the thread: the queue is not empty any more, or `urgent` or `closing` was set */
    pthread_cond_t moved; /* for callers: the queue has room, or entries were written */
    mst_entry *first, **last;
    int64_t bytes;            /* of entries on the queue and those that the thread is writing */
    uint64_t pushed, written; /* numbers of entries so far */
    bool urgent;              /* the thread must write the queue at once */
    bool closing;
    bool has_hparams, hparams_failed; /* hyperparameters were written; mst_summary_hparams_failed was called */
    mst_failure failure;              /* the first error that was not returned yet */
    mst_summary_writer *next_open;    /* protected by open_lock */
};

/* ---- open writers, whose queues are written when the program exits ---- */

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static mst_summary_writer *open_writers;

/* Waits until everything pushed so far is written, or until DEADLINE (NULL: no limit). Call it with the lock held. */
static void drain(mst_summary_writer *w, const struct timespec *deadline) {
    const uint64_t target = w->pushed;
    int late = 0;
    w->urgent = true;
    pthread_cond_signal(&w->wake);
    while (w->written < target && !late)
        late =
            deadline ? pthread_cond_timedwait(&w->moved, &w->lock, deadline) : pthread_cond_wait(&w->moved, &w->lock);
}

static void drain_all(void) {
    const struct timespec deadline = mst_clock_timespec((int64_t)(EXIT_SECONDS * 1e9));
    if (pthread_mutex_trylock(&open_lock)) return; /* the exiting thread is opening or closing a writer */
    for (mst_summary_writer *w = open_writers; w; w = w->next_open) {
        if (w->process != mst_process_number()) continue;
        pthread_mutex_lock(&w->lock);
        drain(w, &deadline);
        pthread_mutex_unlock(&w->lock);
    }
    pthread_mutex_unlock(&open_lock);
}

static void register_exit(void) {
    (void)atexit(drain_all);
}

static void add_open(mst_summary_writer *w) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_exit);
    pthread_mutex_lock(&open_lock);
    w->next_open = open_writers;
    open_writers = w;
    pthread_mutex_unlock(&open_lock);
}

static void remove_open(const mst_summary_writer *w) {
    pthread_mutex_lock(&open_lock);
    mst_summary_writer **at = &open_writers;
    while (*at && *at != w) at = &(*at)->next_open;
    if (*at) *at = w->next_open;
    pthread_mutex_unlock(&open_lock);
}

/* ---- the thread ---- */

void mst_summary_fail(mst_summary_writer *w, mst_status status) {
    pthread_mutex_lock(&w->lock);
    if (!w->failure.code) mst_failure_keep(&w->failure, status);
    pthread_mutex_unlock(&w->lock);
}

/* Writes the entries of a list and frees them. The first error is kept. After an I/O error, *BROKEN is set, and all
 * further entries are dropped. */
static void write_list(mst_summary_writer *w, mst_entry *entry, bool *broken) {
    uint64_t count = 0;
    int64_t bytes = 0;
    while (entry) {
        mst_entry *next = entry->next;
        mst_status status = *broken ? MST_OK : mst_entry_write(entry, w->file);
        if (status) mst_summary_fail(w, status);
        *broken |= status == MST_IO;
        count++;
        bytes += entry->bytes;
        mst_entry_free(entry);
        entry = next;
    }
    mst_status status = *broken ? MST_OK : mst_event_file_flush(w->file);
    if (status) mst_summary_fail(w, status);
    *broken |= status != MST_OK;
    pthread_mutex_lock(&w->lock);
    w->written += count;
    w->bytes -= bytes;
    pthread_cond_broadcast(&w->moved);
    pthread_mutex_unlock(&w->lock);
}

/* Waits until the queue must be written (writer.h), and takes all of it. NULL: the writer is closed and the queue is
 * empty. */
static mst_entry *writer_take(mst_summary_writer *w) {
    pthread_mutex_lock(&w->lock);
    while (!w->first && !w->closing) pthread_cond_wait(&w->wake, &w->lock);
    const struct timespec until = mst_clock_timespec((int64_t)(w->flush_seconds * 1e9));
    int late = 0;
    while (!w->urgent && !w->closing && !late) late = pthread_cond_timedwait(&w->wake, &w->lock, &until);
    mst_entry *list = w->first;
    w->first = NULL;
    w->last = &w->first;
    w->urgent = false;
    pthread_mutex_unlock(&w->lock);
    return list;
}

static void *work(void *context) {
    mst_summary_writer *w = context;
    bool broken = false;
    for (mst_entry *list; (list = writer_take(w)) != NULL;) write_list(w, list, &broken);
    return NULL;
}

/* ---- the queue ---- */

mst_entry *mst_entry_create(mst_summary_writer *w, mst_entry_kind kind, const char *tag, int64_t step) {
    static const char *const whats[] = {"scalar", "histogram", "histogram", "image", "text",
                                        "graph",  "trace",     "hparams",   "start"};
    if (!tag || !*tag) {
        mst_summary_fail(w, MST_FAIL(MST_INVALID, "summary: a %s without a tag", whats[kind]));
        return NULL;
    }
    const size_t length = strlen(tag);
    mst_entry *entry = calloc(1, sizeof *entry + length + 1);
    if (!entry) {
        mst_summary_fail(w, MST_NO_MEMORY("for a summary"));
        return NULL;
    }
    entry->kind = kind;
    entry->wall_time = mst_clock_wall();
    entry->step = step;
    memcpy(entry->tag, tag, length + 1);
    return entry;
}

void mst_entry_free(mst_entry *entry) {
    if (!entry) return;
    mst_tensor_release(entry->tensor);
    free(entry->data);
    free(entry);
}

/* Waits while the queue is full. An entry larger than the whole queue is admitted when the queue is empty. */
void mst_summary_push(mst_summary_writer *w, mst_entry *entry, size_t bytes) {
    entry->bytes = (int64_t)(sizeof *entry + bytes);
    if (mst_process_check(w->process, "summary writer")) { /* after a fork, the thread is in another process */
        mst_entry_free(entry);
        return;
    }
    pthread_mutex_lock(&w->lock);
    while (w->bytes && w->bytes + entry->bytes > w->queue_bytes) {
        w->urgent = true;
        pthread_cond_signal(&w->wake);
        pthread_cond_wait(&w->moved, &w->lock);
    }
    const bool was_empty = !w->first;
    *w->last = entry;
    w->last = &entry->next;
    w->pushed++;
    w->bytes += entry->bytes;
    const bool half = w->bytes > w->queue_bytes / 2 && !w->urgent;
    if (half) w->urgent = true;
    if (was_empty || half) pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void mst_summary_has_hparams(mst_summary_writer *w) {
    pthread_mutex_lock(&w->lock);
    w->has_hparams = true;
    pthread_mutex_unlock(&w->lock);
}

void mst_summary_hparams_failed(mst_summary_writer *writer) {
    if (MST_IS_NULL(writer)) return;
    pthread_mutex_lock(&writer->lock);
    writer->hparams_failed = true;
    pthread_mutex_unlock(&writer->lock);
}

/* ---- open, flush, close ---- */

static mst_status told(mst_summary_writer *w) {
    mst_failure failure;
    pthread_mutex_lock(&w->lock);
    failure = w->failure;
    w->failure.code = MST_OK;
    pthread_mutex_unlock(&w->lock);
    return failure.code ? mst_failure_restore(&failure) : MST_OK;
}

mst_status mst_summary_flush(mst_summary_writer *writer) {
    if (MST_IS_NULL(writer)) return MST_INVALID;
    MST_TRY(mst_process_check(writer->process, "summary writer"));
    pthread_mutex_lock(&writer->lock);
    if (writer->written < writer->pushed) drain(writer, NULL);
    pthread_mutex_unlock(&writer->lock);
    return told(writer);
}

static void free_writer(mst_summary_writer *w) {
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    pthread_cond_destroy(&w->moved);
    free(w);
}

mst_status mst_summary_writer_close(mst_summary_writer *w) {
    if (!w) return MST_OK;
    MST_TRY(mst_process_check(w->process, "summary writer"));
    mst_entry *end = w->has_hparams ? mst_hparams_end(w, w->hparams_failed) : NULL;
    if (end) mst_summary_push(w, end, end->size);
    remove_open(w);
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    mst_status status = mst_event_file_close(w->file);
    if (status) mst_summary_fail(w, status);
    status = told(w);
    free_writer(w);
    return status;
}

static mst_status writer_start(mst_summary_writer *w) {
    if (!mst_thread_start(&w->thread, work, w)) return MST_OK;
    return MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a thread for summaries: allow more threads (ulimit -u)");
}

static mst_status check_options(const mst_summary_options *o) {
    if (!(o->flush_seconds >= 0 && o->flush_seconds <= MOST_SECONDS))
        return MST_FAIL(MST_INVALID, "summary writer: flush_seconds is %g, must be from 0 (the default, %g) to %g",
                        o->flush_seconds, DEFAULT_SECONDS, MOST_SECONDS);
    if (o->queue_bytes < 0) return MST_FAIL(MST_INVALID, "summary writer: queue_bytes must not be negative");
    if (o->resume_step < 0) return MST_FAIL(MST_INVALID, "summary writer: resume_step must not be negative");
    return MST_OK;
}

static mst_summary_writer *writer_make(const mst_summary_options *o) {
    mst_summary_writer *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    pthread_mutex_init(&w->lock, NULL);
    mst_condition_init(&w->wake);
    mst_condition_init(&w->moved);
    w->flush_seconds = o->flush_seconds > 0 ? o->flush_seconds : DEFAULT_SECONDS;
    w->queue_bytes = o->queue_bytes ? o->queue_bytes : DEFAULT_BYTES;
    w->process = mst_process_number();
    w->last = &w->first;
    return w;
}

mst_status mst_summary_writer_create(const char *folder, const mst_summary_options *options, mst_summary_writer **out) {
    if (MST_IS_NULL(folder) || MST_IS_NULL(out)) return MST_INVALID;
    const mst_summary_options o = options ? *options : (mst_summary_options){0};
    *out = NULL;
    MST_TRY(check_options(&o));
    mst_summary_writer *w = writer_make(&o);
    if (!w) return MST_NO_MEMORY("for a summary writer");
    mst_status status = mst_event_file_create(folder, &w->file);
    if (!status) status = writer_start(w);
    if (status) {
        mst_failure failure;
        mst_failure_keep(&failure, status);
        if (mst_event_file_close(w->file)) { /* its error is ignored: the first error counts */
        }
        free_writer(w);
        return mst_failure_restore(&failure);
    }
    add_open(w);
    /* twice, because TensorBoard treats the first start event in a folder as the beginning of the run */
    for (int i = 0; i < 2 && o.resume_step; i++) {
        mst_entry *entry = mst_entry_create(w, MST_ENTRY_START, "start", o.resume_step);
        if (entry) mst_summary_push(w, entry, 0);
    }
    *out = w;
    return MST_OK;
}
