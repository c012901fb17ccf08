#include "pjrt/jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "pjrt/client.h"
#include "pjrt/under_way.h"
#include "run/backend.h"

struct mst_pjrt_jobs {
    const PJRT_Api *api;
    pthread_mutex_t lock; /* guards the members below, and the members of jobs that events change */
    pthread_cond_t ended; /* no job is running */
    int64_t references;   /* one of the owner, and one of each job that is running or is never freed */
    _Atomic int64_t running;
    void *memory;
    int64_t count;
    mst_pjrt_job *job[]; /* NULL: it was not started */
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

static void forget_jobs(mst_pjrt_jobs *x) {
    for (int64_t i = 0; i < x->count; i++) {
        mst_pjrt_job_release(x->job[i]);
        x->job[i] = NULL;
    }
}

/* Releases the lock, which the caller holds, and drops a reference. */
static void unlock_and_drop(mst_pjrt_jobs *x) {
    const bool is_last = --x->references == 0;
    pthread_mutex_unlock(&x->lock);
    if (!is_last) return;
    forget_jobs(x);
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

void *mst_pjrt_jobs_memory(const mst_pjrt_jobs *x) {
    return x->memory;
}

bool mst_pjrt_jobs_reset(mst_pjrt_jobs *x) {
    pthread_mutex_lock(&x->lock);
    const bool is_free = x->references == 1;
    if (is_free) forget_jobs(x);
    pthread_mutex_unlock(&x->lock);
    return is_free;
}

/* ---- jobs ---- */

mst_pjrt_job *mst_pjrt_job_retain(mst_pjrt_job *job) {
    if (job) atomic_fetch_add(&job->references, 1);
    return job;
}

static void release_causes(mst_pjrt_job *job) {
    for (int i = 0; i < job->num_causes; i++) mst_pjrt_job_release(job->cause[i]);
    job->num_causes = 0;
}

/* Releases the causes too, and by recursion their causes. The depth is at most the number of programs in a step: state
 * from earlier steps was made by jobs that have succeeded, and these are no causes. */
void mst_pjrt_job_release(mst_pjrt_job *job) {
    if (!job || atomic_fetch_sub(&job->references, 1) > 1) return;
    release_causes(job);
    free(job->message);
    free(job);
}

mst_pjrt_job *mst_pjrt_job_start(mst_pjrt_jobs *x, int64_t i, int32_t node, int most_causes) {
    mst_pjrt_job *job = calloc(1, sizeof *job + (size_t)most_causes * sizeof(mst_pjrt_job *));
    if (!job) return NULL;
    job->references = 2; /* one of the list, and one that is dropped when the job ends */
    job->node = node;
    job->jobs = x;
    job->pending = 1;
    pthread_mutex_lock(&x->lock);
    mst_pjrt_job *before = x->job[i];
    x->job[i] = job;
    x->references++;
    atomic_fetch_add(&x->running, 1);
    pthread_mutex_unlock(&x->lock);
    mst_pjrt_work_begin();
    mst_pjrt_job_release(before);
    return job;
}

void mst_pjrt_job_use(mst_pjrt_job *job, mst_pjrt_job *cause) {
    if (!cause || atomic_load(&cause->state) == MST_PJRT_SUCCEEDED) return;
    if (job->num_causes && job->cause[job->num_causes - 1] == cause) return;
    job->cause[job->num_causes++] = mst_pjrt_job_retain(cause);
}

static void keep_error(mst_pjrt_job *job, PJRT_Error *error) {
    char message[MST_PJRT_MESSAGE];
    const mst_status status = mst_pjrt_error_take(job->jobs->api, error, message);
    if (job->status) return;
    job->status = status;
    job->message = strdup(message);
}

/* Sets the times of JOB, which has succeeded. It cannot have run before its causes had ended. */
static void note_times(mst_pjrt_job *job) {
    for (int i = 0; i < job->num_causes; i++) {
        const mst_pjrt_job *cause = job->cause[i];
        if (atomic_load(&cause->state) == MST_PJRT_SUCCEEDED && cause->ended > job->began) job->began = cause->ended;
    }
    job->ended = mst_pjrt_host->services->clock_now();
}

/* Counts one event of JOB, or its launch, and ends JOB with the last one. ERROR is NULL if the event has succeeded. */
static void advance_job(mst_pjrt_job *job, PJRT_Error *error) {
    mst_pjrt_jobs *x = job->jobs;
    pthread_mutex_lock(&x->lock);
    if (error) keep_error(job, error);
    if (--job->pending > 0) {
        pthread_mutex_unlock(&x->lock);
        return;
    }
    const bool has_failed = job->status || job->word;
    if (!has_failed && job->began) note_times(job);
    if (!has_failed) release_causes(job);
    atomic_store(&job->state, has_failed ? MST_PJRT_FAILED : MST_PJRT_SUCCEEDED);
    if (atomic_fetch_sub(&x->running, 1) == 1) pthread_cond_broadcast(&x->ended);
    unlock_and_drop(x);
    mst_pjrt_job_release(job);
    mst_pjrt_work_end();
}

void mst_pjrt_job_launched(mst_pjrt_job *job) {
    advance_job(job, NULL);
}

/* The callback of an event. The plugin calls it on one of its threads. */
static void come(PJRT_Error *error, void *context) {
    struct mst_pjrt_event *e = context;
    mst_pjrt_event_drop(e->job->jobs->api, e->event);
    advance_job(e->job, error);
}

/* Keeps a reference to JOB and to its list for ever. */
static void keep_for_ever(mst_pjrt_job *job) {
    static _Atomic(mst_pjrt_job *) kept; /* a linked list of these jobs, so that leak checkers can reach them */
    if (job->is_kept) return;
    job->is_kept = true;
    mst_pjrt_job_retain(job);
    pthread_mutex_lock(&job->jobs->lock);
    job->jobs->references++;
    pthread_mutex_unlock(&job->jobs->lock);
    job->next_kept = atomic_load(&kept);
    while (!atomic_compare_exchange_weak(&kept, &job->next_kept, job)) continue;
}

void mst_pjrt_job_expect(mst_pjrt_job *job, PJRT_Event *event) {
    mst_pjrt_jobs *x = job->jobs;
    pthread_mutex_lock(&x->lock);
    struct mst_pjrt_event *e = job->event;
    while (e->event) e++; /* one is free, since at most MST_PJRT_EVENTS are expected */
    *e = (struct mst_pjrt_event){job, event};
    job->pending++;
    pthread_mutex_unlock(&x->lock);
    PJRT_Event_OnReady_Args args = {
        .struct_size = PJRT_Event_OnReady_Args_STRUCT_SIZE, .event = event, .callback = come, .user_arg = e};
    PJRT_Error *error = x->api->PJRT_Event_OnReady(&args);
    if (!error) return;
    keep_for_ever(job);
    come(error, e); /* the plugin will not call it */
}

/* Whether CAUSE has failed. A plugin may report the failure of a program before the failure of its cause. So this waits
 * while CAUSE is still running, for at most *TURNS turns of 0.2 ms, and subtracts them from *TURNS. */
static bool cause_has_failed(const mst_pjrt_job *cause, int *turns) {
    enum { MICROSECONDS = 200 };
    for (; *turns > 0 && atomic_load(&cause->state) == MST_PJRT_RUNNING; (*turns)--) usleep(MICROSECONDS);
    return atomic_load(&cause->state) == MST_PJRT_FAILED;
}

const mst_pjrt_job *mst_pjrt_job_root(const mst_pjrt_job *job) {
    int turns = 5000; /* a second for all causes together */
    for (int i = 0; i < job->num_causes; i++)
        if (cause_has_failed(job->cause[i], &turns)) {
            job = job->cause[i];
            i = -1; /* go on with the first cause of this job */
        }
    return job;
}

mst_status mst_pjrt_job_report(const mst_pjrt_job *job, const char *what) {
    return MST_FAIL(job->status, "%s: the plugin says: %s%s", what, job->message ? job->message : "",
                    mst_pjrt_advice(job->status));
}

/* ---- waiting ---- */

/* Spins for some microseconds at most; true as soon as no job is running. */
static bool spin_for_end(const mst_pjrt_jobs *x) {
    enum { TURNS = 2000 };
    for (int i = 0; i < TURNS; i++)
        if (atomic_load_explicit(&x->running, memory_order_acquire) == 0) return true;
    return false;
}

/* Waits a tenth of a second at most, then the caller looks again: a test may replace the clock, and the replaced clock
 * does not wake this thread. False: DEADLINE has passed. Called under the lock. */
static bool wait_until(mst_pjrt_jobs *x, int64_t deadline) {
    enum { MOST = 100000000 };
    const int64_t left = deadline - mst_pjrt_host->services->clock_now();
    if (left <= 0) return false;
    const struct timespec at = mst_clock_timespec(left < MOST ? left : MOST);
    pthread_cond_timedwait(&x->ended, &x->lock, &at);
    return true;
}

bool mst_pjrt_jobs_wait(mst_pjrt_jobs *x, int64_t deadline, bool spin) {
    bool in_time = true;
    if (spin && spin_for_end(x)) return true;
    pthread_mutex_lock(&x->lock);
    while (atomic_load(&x->running) && in_time) in_time = wait_until(x, deadline);
    const bool ended = atomic_load(&x->running) == 0;
    pthread_mutex_unlock(&x->lock);
    return ended;
}

mst_pjrt_job *mst_pjrt_jobs_first(mst_pjrt_jobs *x, mst_pjrt_job_state state) {
    mst_pjrt_job *found = NULL;
    pthread_mutex_lock(&x->lock);
    for (int64_t i = 0; i < x->count && !found; i++)
        if (x->job[i] && atomic_load(&x->job[i]->state) == state) found = mst_pjrt_job_retain(x->job[i]);
    pthread_mutex_unlock(&x->lock);
    return found;
}

bool mst_pjrt_jobs_times(mst_pjrt_jobs *x, int64_t i, int64_t *began, int64_t *ended) {
    pthread_mutex_lock(&x->lock);
    const mst_pjrt_job *job = x->job[i];
    *began = job ? job->began : 0;
    *ended = job ? job->ended : 0;
    pthread_mutex_unlock(&x->lock);
    return *ended != 0;
}
