#include "pjrt/jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "pjrt/client.h"
#include "run/backend.h"

struct mst_pjrt_jobs {
    const PJRT_Api *api;
    pthread_mutex_t lock;
    pthread_cond_t ended; /* no event is left */
    int64_t references;   /* the owner, and each event that is to come */
    _Atomic int64_t pending;
    void *memory;
    int64_t count;
    mst_pjrt_job job[];
};

mst_pjrt_jobs *mst_pjrt_jobs_create(const PJRT_Api *api, int64_t count, size_t bytes) {
    mst_pjrt_jobs *x = calloc(1, sizeof *x + (size_t)count * sizeof *x->job);
    if (!x) return NULL;
    if (bytes && !(x->memory = malloc(bytes))) {
        free(x);
        return NULL;
    }
    x->api = api;
    x->references = 1;
    x->count = count;
    pthread_mutex_init(&x->lock, NULL);
    mst_condition_init(&x->ended);
    return x;
}

static void forget_errors(mst_pjrt_jobs *x) {
    for (int64_t i = 0; i < x->count; i++) {
        free(x->job[i].message);
        x->job[i].message = NULL;
    }
}

/* Gives up a reference under the lock, which it leaves. */
static void unlock_and_drop(mst_pjrt_jobs *x) {
    const bool is_last = --x->references == 0;
    pthread_mutex_unlock(&x->lock);
    if (!is_last) return;
    forget_errors(x);
    pthread_cond_destroy(&x->ended);
    pthread_mutex_destroy(&x->lock);
    free(x->memory);
    free(x);
}

void mst_pjrt_jobs_leave(mst_pjrt_jobs *x) {
    if (!x) return;
    pthread_mutex_lock(&x->lock);
    unlock_and_drop(x);
}

mst_pjrt_job *mst_pjrt_job_at(mst_pjrt_jobs *x, int64_t i) {
    return &x->job[i];
}

void *mst_pjrt_jobs_memory(mst_pjrt_jobs *x) {
    return x->memory;
}

bool mst_pjrt_jobs_reset(mst_pjrt_jobs *x) {
    pthread_mutex_lock(&x->lock);
    const bool is_free = x->references == 1;
    if (is_free) {
        forget_errors(x);
        memset(x->job, 0, (size_t)x->count * sizeof *x->job);
    }
    pthread_mutex_unlock(&x->lock);
    return is_free;
}

void mst_pjrt_job_start(mst_pjrt_jobs *x, mst_pjrt_job *job, int32_t node) {
    pthread_mutex_lock(&x->lock);
    job->node = node;
    job->is_started = true;
    pthread_mutex_unlock(&x->lock);
}

static void keep_error(const mst_pjrt_jobs *x, mst_pjrt_job *job, PJRT_Error *error) {
    char message[MST_PJRT_MESSAGE];
    const mst_status status = mst_pjrt_error_take(x->api, error, message);
    if (job->status) return;
    job->status = status;
    job->message = strdup(message);
}

/* An event has come, on a thread of the plugin. */
static void come(PJRT_Error *error, void *context) {
    struct mst_pjrt_event *e = context;
    mst_pjrt_jobs *x = e->jobs;
    PJRT_Event *event = e->event;
    pthread_mutex_lock(&x->lock);
    if (error) keep_error(x, e->job, error);
    e->event = NULL;
    e->job->pending--;
    if (atomic_fetch_sub(&x->pending, 1) == 1) pthread_cond_broadcast(&x->ended);
    const PJRT_Api *api = x->api;
    unlock_and_drop(x);
    mst_pjrt_event_drop(api, event);
}

void mst_pjrt_job_expect(mst_pjrt_jobs *x, mst_pjrt_job *job, PJRT_Event *event) {
    pthread_mutex_lock(&x->lock);
    struct mst_pjrt_event *e = job->event;
    while (e->event) e++; /* there are as many as can be expected */
    *e = (struct mst_pjrt_event){x, job, event};
    job->pending++;
    x->references++;
    atomic_fetch_add(&x->pending, 1);
    pthread_mutex_unlock(&x->lock);
    PJRT_Event_OnReady_Args args = {
        .struct_size = PJRT_Event_OnReady_Args_STRUCT_SIZE, .event = event, .callback = come, .user_arg = e};
    PJRT_Error *error = x->api->PJRT_Event_OnReady(&args);
    if (error) come(error, e); /* the plugin will not call back */
}

/* ---- waiting ---- */

/* Whether no event is left, within some microseconds. */
static bool spin_for_end(const mst_pjrt_jobs *x) {
    enum { TURNS = 2000 };
    for (int i = 0; i < TURNS; i++)
        if (atomic_load_explicit(&x->pending, memory_order_acquire) == 0) return true;
    return false;
}

/* Waits a tenth of a second at most, because a clock that a test has replaced does not wake this thread. False:
 * DEADLINE has passed. Called under the lock. */
static bool wait_until(mst_pjrt_jobs *x, int64_t deadline) {
    enum { MOST = 100000000, SECOND = 1000000000 };
    const int64_t left = deadline - mst_pjrt_host->services->clock_now();
    if (left <= 0) return false;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += left < MOST ? left : MOST;
    at.tv_sec += at.tv_nsec / SECOND;
    at.tv_nsec %= SECOND;
    pthread_cond_timedwait(&x->ended, &x->lock, &at);
    return true;
}

bool mst_pjrt_jobs_wait(mst_pjrt_jobs *x, int64_t deadline, bool spin) {
    bool in_time = true;
    if (spin && spin_for_end(x)) return true;
    pthread_mutex_lock(&x->lock);
    while (atomic_load(&x->pending) && in_time) in_time = wait_until(x, deadline);
    const bool ended = atomic_load(&x->pending) == 0;
    pthread_mutex_unlock(&x->lock);
    return ended;
}

static const mst_pjrt_job *find_job(mst_pjrt_jobs *x, bool is_pending) {
    const mst_pjrt_job *found = NULL;
    pthread_mutex_lock(&x->lock);
    for (int64_t i = 0; i < x->count && !found; i++) {
        const mst_pjrt_job *job = &x->job[i];
        if (job->is_started && (is_pending ? job->pending > 0 : !job->pending && (job->status || job->word)))
            found = job;
    }
    pthread_mutex_unlock(&x->lock);
    return found;
}

const mst_pjrt_job *mst_pjrt_jobs_pending(mst_pjrt_jobs *x) {
    return find_job(x, true);
}

const mst_pjrt_job *mst_pjrt_jobs_failed(mst_pjrt_jobs *x) {
    return find_job(x, false);
}
