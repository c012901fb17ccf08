/** The same batches, with the next N made in advance by a background thread of the iterator: for maps, records and
 *  pictures. Data in memory does not need it. If the rows of a batch take more than a millisecond, several threads make
 *  them together, one per core or .threads of them. The order does not depend on their number. Must come after
 *  mst_dataset_batch. Memory: N + 1 batches, or N + 1 parts of batches in a task that trains on a part of each batch.
 *
 *  With MST_AUTOTUNE for N, the iterator begins with one batch. It doubles the number each time the caller has to wait
 *  although all batches were ready before, to at most 64, and no more than fit in 256 MiB. OPTIONS may be NULL. Fails
 *  with MST_INVALID for N below 1 that is not MST_AUTOTUNE, or a dataset of rows. */
#ifdef MST_DATASET_HEADER
enum { MST_AUTOTUNE = -1 };

MST_API MST_CHECKED mst_status mst_dataset_prefetch(mst_dataset *dataset, int64_t n, mst_dataset **out);

typedef struct mst_prefetch_options {
    int zero_;
    int64_t threads; /**< number of threads that make the rows of a batch; 0: one per core */
} mst_prefetch_options;
MST_API MST_CHECKED mst_status mst_dataset_prefetch_with(mst_dataset *dataset, int64_t n,
                                                         const mst_prefetch_options *options, mst_dataset **out);
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "base/process.h"
#include "base/thread.h"
#include "data/cancel.h"
#include "data/cursors/cursor.h"
#include "data/nested.h"
#include "data/team_fetch.h"
#include "device/device.h"
#include "tensor/buffer.h"
#include "tensor/string.h"

enum { MOST_THREADS = 1024, AUTOTUNE_MOST = 64, AUTOTUNE_BYTES = 256 << 20 };

typedef struct prefetch {
    mst_dataset base;
    int64_t n; /* number of batches in advance, or MST_AUTOTUNE */
    int threads;
} prefetch;

typedef struct slot {
    int64_t count;        /* rows of the batch */
    mst_row_range wanted; /* the rows that are in the slot */
    void **component;
    size_t *capacity; /* bytes allocated for each component */
    mst_shape *shape; /* shape of a row of each component */
    bool has_shape;   /* shape differs from that of the dataset: this batch was padded */
    mst_arena text;   /* the bytes of strings */
} slot;

/* A ring of slots between one thread that fills them and one caller that empties them. The lock protects everything
 * except what only the thread uses while it is busy: the upstream cursor and the slot after the filled ones. */
typedef struct prefetch_cursor {
    mst_cursor base;
    mst_team_fetch *fetch;
    int64_t num_slots;  /* current size of the ring */
    int64_t most_slots; /* the size to which it may grow */
    bool was_full;      /* since the ring grew, there was a time when the caller found all batches ready */
    slot *slots;        /* [most_slots] */
    pthread_t thread;
    bool has_thread;
    uint64_t process; /* number of the process in which the thread was started */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t first;  /* the slot that is emptied next */
    int64_t filled; /* number of filled slots, including the one that the caller uses */
    bool looked_at; /* the caller uses slot `first` */
    bool busy;      /* the thread is filling a slot */
    bool paused;    /* the thread must not begin another slot */
    bool ended;     /* there is nothing left to fill */
    atomic_bool quit;
    mst_failure failure; /* the error that ended it */
    mst_bookmark start;  /* position at which upstream began */
    int64_t passed;      /* elements that the caller has passed since then */
} prefetch_cursor;

/* Allocates room for COUNT rows of each component, in the shape that they have in ELEMENT. */
static mst_status make_room(const mst_dataset *dataset, slot *s, const mst_element *element, int64_t count) {
    for (int i = 0; i < dataset->num_components; i++) {
        size_t bytes;
        s->shape[i] = mst_dataset_row_shape(dataset, element, i);
        const int64_t elements = mst_shape_count(s->shape[i]);
        if (elements < 0) continue; /* padded: differs from batch to batch */
        if (__builtin_mul_overflow((size_t)count, (size_t)elements * mst_dtype_size(dataset->row[i].dtype), &bytes))
            return MST_NO_MEMORY("for a batch of %lld rows", (long long)count);
        if (bytes <= s->capacity[i] && s->component[i]) continue;
        mst_buffer_free(s->component[i]);
        s->component[i] = NULL;
        s->capacity[i] = 0;
        MST_TRY(mst_buffer_alloc(bytes, &s->component[i]));
        s->capacity[i] = bytes;
    }
    s->has_shape = element && element->shape;
    return MST_OK;
}

/* Copies the bytes of strings to the slot. */
static mst_status keep_strings(const prefetch_cursor *c, slot *s) {
    const mst_dataset *dataset = c->base.dataset;
    mst_arena_clear(&s->text);
    for (int i = 0; i < dataset->num_components; i++) {
        if (dataset->row[i].dtype != MST_STRING) continue;
        MST_TRY(mst_strings_keep(&s->text, s->component[i], s->wanted.count * mst_shape_count(s->shape[i])));
    }
    mst_team_fetch_forget_strings(c->fetch);
    return MST_OK;
}

static mst_status prefetch_copy(prefetch_cursor *c, slot *s, const mst_element *element) {
    s->wanted = mst_shard_window_rows(c->base.window, element->count);
    MST_TRY(make_room(c->base.dataset, s, element, s->wanted.count));
    MST_TRY(mst_team_fetch_copy_all(c->fetch, element, s->wanted.first, s->wanted.count, s->component));
    return keep_strings(c, s);
}

static mst_status prefetch_fill(prefetch_cursor *c, slot *s) {
    mst_element element;
    mst_cursor *upstream = c->base.upstream;
    s->count = 0;
    MST_TRY(upstream->type->batch(upstream, &element));
    if (element.count) MST_TRY(prefetch_copy(c, s, &element));
    mst_cursor_forget(upstream, element.rows, element.rows ? element.count : 0);
    s->count = element.count;
    return MST_OK;
}

static void *prefetch_run(void *argument) {
    prefetch_cursor *c = argument;
    mst_unbind_thread();
    mst_cancel_watch(&c->quit);
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->quit && (c->paused || c->ended || c->filled == c->num_slots))
            pthread_cond_wait(&c->changed, &c->lock);
        if (c->quit) break;
        slot *s = &c->slots[(c->first + c->filled) % c->num_slots];
        c->busy = true;
        pthread_mutex_unlock(&c->lock);
        mst_status status = prefetch_fill(c, s);
        pthread_mutex_lock(&c->lock);
        c->busy = false;
        mst_failure_keep(&c->failure, status);
        if (status || s->count == 0)
            c->ended = true;
        else
            c->filled++;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static mst_status start_thread(prefetch_cursor *c) {
    const int error = mst_thread_start(&c->thread, prefetch_run, c);
    if (error) return MST_FAIL(MST_UNAVAILABLE, "prefetch: cannot start a thread: %s", strerror(error));
    c->has_thread = true;
    c->process = mst_process_number();
    return MST_OK;
}

/* Returns with the lock held and the thread idle. */
static void pause_thread(prefetch_cursor *c) {
    pthread_mutex_lock(&c->lock);
    c->paused = true;
    while (c->busy) pthread_cond_wait(&c->changed, &c->lock);
}

static void resume_thread(prefetch_cursor *c) {
    c->paused = false;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static mst_status check_process(const prefetch_cursor *c) {
    return c->has_thread ? mst_process_check(c->process, "iterator with prefetch") : MST_OK;
}

/* Allocates room for the largest batch, so that later ones need more only if their rows are longer (padded_batch). */
static mst_status make_all_room(prefetch_cursor *c) {
    const mst_dataset *dataset = c->base.dataset;
    const int64_t most = mst_shard_window_rows(c->base.window, mst_dataset_most_rows(dataset)).count;
    for (int64_t i = 0; i < c->num_slots; i++)
        if (make_room(dataset, &c->slots[i], NULL, most)) return mst_error_prefix("prefetch");
    return MST_OK;
}

/* Starts again while the thread is paused. STATUS says whether upstream reached its position. */
static mst_status prefetch_begin(prefetch_cursor *c, mst_status status, int64_t passed) {
    if (!status) status = make_all_room(c);
    c->start.count = 0;
    mst_cursor_save(c->base.upstream, &c->start);
    c->passed = passed;
    c->first = c->filled = 0;
    c->looked_at = c->was_full = false;
    c->ended = status != MST_OK;
    c->failure.code = MST_OK;
    resume_thread(c);
    MST_TRY(status);
    return c->has_thread ? MST_OK : start_thread(c);
}

static mst_status prefetch_start(mst_cursor *cursor, int64_t epoch) {
    prefetch_cursor *c = (prefetch_cursor *)cursor;
    MST_TRY(check_process(c));
    pause_thread(c);
    return prefetch_begin(c, cursor->upstream->type->start(cursor->upstream, epoch), 0);
}

/* Upstream is ahead of the caller. So the saved position consists of the position at which upstream began, and the
 * number of elements that the caller has passed since. */
static void prefetch_save(const mst_cursor *cursor, mst_bookmark *bookmark) {
    const prefetch_cursor *c = (const prefetch_cursor *)cursor;
    mst_bookmark_put(bookmark, c->passed);
    mst_bookmark_put_all(bookmark, &c->start);
}

static mst_status restore_upstream(mst_cursor *upstream, mst_bookmark *start, int64_t passed) {
    int64_t skipped;
    MST_TRY(mst_cursor_restore(upstream, start));
    mst_cursor_settle(upstream);
    return upstream->type->skip(upstream, passed, &skipped);
}

static mst_status prefetch_restore(mst_cursor *cursor, mst_bookmark *bookmark) {
    prefetch_cursor *c = (prefetch_cursor *)cursor;
    mst_bookmark from = {0};
    int64_t passed;
    MST_TRY(mst_bookmark_take(bookmark, 0, MST_BOOKMARK_MOST, &passed));
    mst_status status = mst_bookmark_take_all(bookmark, &from);
    pause_thread(c);
    if (!status) status = restore_upstream(cursor->upstream, &from, passed);
    mst_bookmark_free(&from);
    return prefetch_begin(c, status, 0);
}

static void drop(prefetch_cursor *c, int64_t n) {
    c->first = (c->first + n) % c->num_slots;
    c->filled -= n;
}

/* Judges by the bytes of the batch that the caller used last. */
static bool has_room_to_grow(const prefetch_cursor *c) {
    const slot *last = &c->slots[(c->first + c->num_slots - 1) % c->num_slots];
    size_t bytes = 1;
    for (int i = 0; i < c->base.dataset->num_components; i++) bytes += last->capacity[i];
    return 2 * c->num_slots - 1 <= c->most_slots && (size_t)c->num_slots * 2 <= AUTOTUNE_BYTES / bytes;
}

/* Called when the caller wants a batch and has given back the one before. If no batch is ready, although all were ready
 * before, the thread is fast enough on average, and more batches in advance would have helped. Their number is
 * num_slots - 1, because the caller uses one slot; it is doubled. Slots can be added to an empty ring without moving
 * any, since the slot that the thread may be filling is the first. */
static void tune(prefetch_cursor *c) {
    if (c->filled >= c->num_slots - 1) c->was_full = true;
    if (c->filled || !c->was_full || c->ended || !has_room_to_grow(c)) return;
    c->num_slots = 2 * c->num_slots - 1;
    c->was_full = false;
}

static mst_status batch(mst_cursor *cursor, mst_element *element) {
    prefetch_cursor *c = (prefetch_cursor *)cursor;
    mst_status status = MST_OK;
    *element = (mst_element){0};
    MST_TRY(check_process(c));
    pthread_mutex_lock(&c->lock);
    if (c->looked_at) drop(c, 1);
    tune(c);
    pthread_cond_broadcast(&c->changed);
    while (!c->filled && !c->ended && !c->quit) pthread_cond_wait(&c->changed, &c->lock);
    c->looked_at = c->filled > 0;
    if (c->quit) {
        status = MST_FAIL(MST_CANCELLED, "prefetch: the iterator was destroyed");
    } else if (c->looked_at) {
        const slot *s = &c->slots[c->first];
        c->passed++;
        *element = (mst_element){.count = s->count,
                                 .first = s->wanted.first,
                                 .memory = (const void *const *)s->component,
                                 .shape = s->has_shape ? s->shape : NULL};
    } else {
        status = mst_failure_restore(&c->failure);
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

static mst_status prefetch_skip(mst_cursor *cursor, int64_t n, int64_t *skipped) {
    prefetch_cursor *c = (prefetch_cursor *)cursor;
    mst_status status = MST_OK;
    MST_TRY(check_process(c));
    pause_thread(c);
    if (c->looked_at) drop(c, 1);
    c->looked_at = false;
    *skipped = n < c->filled ? n : c->filled;
    drop(c, *skipped);
    if (*skipped < n && !c->ended) {
        int64_t more = 0;
        status = cursor->upstream->type->skip(cursor->upstream, n - *skipped, &more);
        *skipped += more;
    }
    c->passed += *skipped;
    resume_thread(c);
    return status;
}

/* After a fork, the child does not have the thread. What the thread held or waited for is never released there, so
 * destroying it would block forever. */
static bool is_in_another_process(const prefetch_cursor *c) {
    return c->has_thread && c->process != mst_process_number();
}

static void stop(mst_cursor *cursor) {
    prefetch_cursor *c = (prefetch_cursor *)cursor;
    if (is_in_another_process(c)) return;
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* Waits for the thread, which was told to stop. */
static void end_thread(prefetch_cursor *c) {
    if (is_in_another_process(c)) return;
    if (c->has_thread) pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
}

static void prefetch_destroy(mst_cursor *cursor) {
    prefetch_cursor *c = (prefetch_cursor *)cursor;
    end_thread(c);
    for (int64_t i = 0; c->slots && i < c->most_slots; i++) {
        for (int j = 0; c->slots[i].component && j < cursor->dataset->num_components; j++)
            mst_buffer_free(c->slots[i].component[j]);
        free(c->slots[i].component);
        free(c->slots[i].capacity);
        free(c->slots[i].shape);
        mst_arena_free(&c->slots[i].text);
    }
    free(c->slots);
    mst_bookmark_free(&c->start);
    mst_team_fetch_destroy(c->fetch);
}

static const mst_cursor_type cursor_type = {.start = prefetch_start,
                                            .batch = batch,
                                            .skip = prefetch_skip,
                                            .destroy = prefetch_destroy,
                                            .save = prefetch_save,
                                            .restore = prefetch_restore,
                                            .stop = stop};

static mst_status make_slots(prefetch_cursor *c) {
    const mst_dataset *dataset = c->base.dataset;
    const int64_t n = ((const prefetch *)dataset)->n;
    c->num_slots = (n == MST_AUTOTUNE ? 1 : n) + 1;
    c->most_slots = n == MST_AUTOTUNE ? AUTOTUNE_MOST + 1 : c->num_slots;
    if (!(c->slots = calloc((size_t)c->most_slots, sizeof *c->slots)))
        return MST_NO_MEMORY("for %lld batches", (long long)c->most_slots);
    for (int64_t i = 0; i < c->most_slots; i++) {
        slot *s = &c->slots[i];
        s->component = calloc((size_t)dataset->num_components, sizeof *s->component);
        s->capacity = calloc((size_t)dataset->num_components, sizeof *s->capacity);
        s->shape = calloc((size_t)dataset->num_components, sizeof *s->shape);
        if (!s->component || !s->capacity || !s->shape) return MST_NO_MEMORY("for a batch");
    }
    return MST_OK;
}

static mst_status prefetch_open(const mst_dataset *dataset, mst_cursor **out) {
    MST_TRY(mst_cursor_alloc(&cursor_type, sizeof(prefetch_cursor), dataset, out));
    prefetch_cursor *c = (prefetch_cursor *)*out;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    mst_status status =
        mst_team_fetch_create(dataset->upstream, c->base.upstream, ((const prefetch *)dataset)->threads, &c->fetch);
    if (!status) status = make_slots(c);
    if (!status) return MST_OK;
    mst_cursor_destroy(*out);
    *out = NULL;
    return mst_error_prefix("prefetch");
}

static const mst_dataset_type type = {
    .name = "prefetch", .open = prefetch_open, .keeps_rows = true, .gives_values = true, .makes_ahead = true};

mst_status mst_dataset_prefetch(mst_dataset *dataset, int64_t n, mst_dataset **out) {
    return mst_dataset_prefetch_with(dataset, n, NULL, out);
}

mst_dataset *mst_data_prefetch(mst_dataset *dataset, int64_t n) {
    MST_DATASET_NEST(dataset, mst_dataset_prefetch(dataset, n, &out));
}

mst_status mst_dataset_prefetch_with(mst_dataset *dataset, int64_t n, const mst_prefetch_options *options,
                                     mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    static const mst_prefetch_options defaults;
    prefetch *d;
    *out = NULL;
    if (!options) options = &defaults;
    if (n < 1 && n != MST_AUTOTUNE)
        return MST_FAIL(MST_INVALID, "prefetch: n is %lld, it must be at least 1, or MST_AUTOTUNE (%d)", (long long)n,
                        MST_AUTOTUNE);
    MST_TRY(mst_dataset_want_least("prefetch", "threads", options->threads, 0));
    if (options->threads > MOST_THREADS)
        return MST_FAIL(MST_INVALID, "prefetch: threads is %lld, at most %d are possible", (long long)options->threads,
                        MOST_THREADS);
    if (dataset->batch_size == 0)
        return MST_FAIL(MST_INVALID, "prefetch: works on batches, and the dataset has rows: put prefetch after batch");
    for (int i = 0; i < dataset->num_components; i++) MST_TRY(mst_dataset_want_values(dataset, i, "prefetch"));
    if (n > INT32_MAX)
        return MST_FAIL(MST_INVALID, "prefetch: n is %lld, no memory holds so many batches", (long long)n);
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->n = n;
    d->threads = (int)options->threads;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_prefetch_with(mst_dataset *dataset, int64_t n, const mst_prefetch_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_prefetch_with(dataset, n, options, &out));
}
