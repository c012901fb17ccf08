/* The threads of the devices and their queues (executor.h).
 *
 * Frame number n of a device is in place n mod num_frames of its queue. Two timelines count frames: `submitted` counts
 * those put on the queue, `done` those that the device has left. A queue has a place for each frame that may be in
 * flight, and one for the mark of the end. A device counts its points (plan/program.h) through all frames on one
 * timeline; frame->base says where the points of a frame begin.
 *
 * Device 0 usually has no thread: each caller runs device 0's part of its frame when the frames before it are done. If
 * the deadline of a caller passes first, it marks its place as given up, and the caller before it skips this place. */
#include "run/executor.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/denormal.h"
#include "base/no_memory.h"
#include "base/openmp.h"
#include "base/signal_mask.h"
#include "base/thread.h"
#include "run/gate.h"

/* A device, its thread and its queue. Frame number n is in place n mod num_frames. */
typedef struct worker {
    mst_timeline submitted; /* counts frames put on the queue */
    mst_timeline done;      /* counts frames that the device has left */
    mst_executor *executor;
    int device;
    uint64_t points;      /* value of its timeline when all frames on the queue are done */
    mst_frame **queue;    /* a NULL entry: the end */
    bool *given_up;       /* by place: the caller of device 0 left before its turn */
    pthread_mutex_t lock; /* protects `given_up`, and the advancing of `done` by callers */
    pthread_t thread;
    bool started;       /* it has a thread */
    mst_timeline ended; /* 1: the thread has come to its end */
    mst_team *team;     /* threads of the device, if it has more than one */
} worker;

struct mst_executor {
    const mst_devices *devices;
    bool pin, spin, runs_all; /* runs_all: device 0 has a thread too */
    int num_frames;
    _Atomic int users; /* the owner and the threads; the last to leave frees the executor */
    mst_executor_end end;
    mst_timeline *lines; /* by device */
    worker *workers;     /* one for each device; callers run device 0 unless `runs_all` */
    pthread_t caller;    /* thread that made the executor */
    void *binding;       /* the cores to which the caller's thread was bound before */
};

bool mst_executor_spins(const mst_devices *devices) {
    int threads = 0;
    for (int i = 0; i < devices->count; i++)
        if (mst_device_is_here(devices, i)) threads += devices->device[i].num_threads;
    return threads <= mst_num_cores();
}

static void pin(const worker *w) {
    const mst_device *device = &w->executor->devices->device[w->device];
    if (w->executor->pin && mst_bind_thread(device->first_core, device->num_threads)) {
        /* if pinning fails, the step runs unbound */
    }
}

static void free_executor(mst_executor *e) {
    for (int i = 0; i < e->devices->count; i++) {
        mst_team_destroy(e->workers[i].team);
        free(e->workers[i].queue);
        free(e->workers[i].given_up);
        pthread_mutex_destroy(&e->workers[i].lock);
    }
    free(e->lines);
    free(e->workers);
    free(e);
}

/* Drops one reference: the owner's, or that of a thread at its end. The last one frees the executor. */
static void leave(mst_executor *e) {
    if (atomic_fetch_sub(&e->users, 1) > 1) return;
    const mst_executor_end end = e->end;
    free_executor(e);
    if (end.ended) end.ended(end.owner);
}

/* Runs a frame with oneDNN limited to the calling thread: mst_parallel shares the work among threads. */
static void executor_run(worker *w, mst_frame *frame) {
    int before;
    const mst_status status = mst_openmp_begin(&before);
    if (status) mst_frame_fail(frame, status, -1, w->device, false);
    mst_frame_run(frame, w->device, w->team, w->executor->lines);
    mst_openmp_end(before);
}

static void *work(void *context) {
    worker *w = context;
    mst_executor *e = w->executor;
    mst_signals_never();
    mst_flush_denormals();
    pin(w);
    for (uint64_t number = 1;; number++) {
        mst_timeline_wait(&w->submitted, number, MST_NEVER, e->spin); /* until there is a frame, or the end */
        mst_frame *frame = w->queue[number % (uint64_t)e->num_frames];
        if (!frame) break;
        if (frame->touch) mst_frame_touch(frame, w->device);
        executor_run(w, frame);
        mst_timeline_advance(&w->done, number);
        mst_frame_leave(frame);
    }
    mst_timeline_advance(&w->ended, 1);
    leave(e);
    return NULL;
}

static mst_status begin_member(void *context, int member) {
    int before;
    (void)member;
    MST_TRY(mst_openmp_begin(&before));
    pin(context);
    return MST_OK;
}

static mst_status executor_start(worker *w) {
    atomic_fetch_add(&w->executor->users, 1);
    w->started = mst_thread_start(&w->thread, work, w) == 0;
    if (w->started) return MST_OK;
    atomic_fetch_sub(&w->executor->users, 1);
    return MST_FAIL(MST_OUT_OF_MEMORY,
                    "cannot start a thread for %s: allow more threads (ulimit -u) or use fewer devices",
                    w->executor->devices->device[w->device].text);
}

static mst_status make_worker(mst_executor *e, int i) {
    worker *w = &e->workers[i];
    w->executor = e;
    w->device = i;
    pthread_mutex_init(&w->lock, NULL);
    w->queue = calloc((size_t)e->num_frames, sizeof *w->queue);
    w->given_up = calloc((size_t)e->num_frames, sizeof *w->given_up);
    if (!w->queue || !w->given_up) return MST_NO_MEMORY("for an executor");
    if (!mst_device_is_here(e->devices, i)) return MST_OK;
    const int threads = e->devices->device[i].num_threads;
    if (threads > 1) MST_TRY(mst_team_create(threads, e->spin, begin_member, w, &w->team));
    return i == 0 && !e->runs_all ? MST_OK : executor_start(w);
}

mst_status mst_executor_create(const mst_devices *devices, const mst_session_options *options, int num_frames,
                               bool runs_all, mst_executor **out) {
    *out = NULL;
    const size_t count = (size_t)devices->count;
    mst_executor *e = calloc(1, sizeof *e);
    if (e) e->lines = aligned_alloc(_Alignof(mst_timeline), count * sizeof *e->lines);
    if (e) e->workers = aligned_alloc(_Alignof(worker), count * sizeof *e->workers);
    if (!e || !e->lines || !e->workers) {
        if (e) free(e->lines);
        if (e) free(e->workers);
        free(e);
        return MST_NO_MEMORY("for an executor");
    }
    memset(e->lines, 0, count * sizeof *e->lines);
    memset(e->workers, 0, count * sizeof *e->workers);
    e->devices = devices;
    e->pin = options->pin_threads;
    e->spin = mst_executor_spins(devices);
    e->num_frames = num_frames;
    e->runs_all = runs_all;
    atomic_store(&e->users, 1);
    mst_status status = MST_OK;
    for (int i = 0; i < devices->count && !status; i++) status = make_worker(e, i);
    if (!status && e->pin && !runs_all) {
        e->caller = pthread_self();
        e->binding = mst_save_binding();
        status = mst_bind_thread(devices->device[0].first_core, devices->device[0].num_threads);
    }
    if (status)
        mst_executor_destroy(e, 0, NULL);
    else
        *out = e;
    return status;
}

void mst_executor_destroy(mst_executor *e, double seconds, const mst_executor_end *end) {
    bool late = false;
    if (end) e->end = *end;
    const int64_t deadline = mst_clock_after(seconds);
    if (e->binding) mst_restore_binding(e->binding, pthread_equal(pthread_self(), e->caller) != 0);
    for (int i = 0; i < e->devices->count; i++) {
        worker *w = &e->workers[i];
        if (!w->started) continue;
        const uint64_t number = mst_timeline_value(&w->submitted) + 1;
        w->queue[number % (uint64_t)e->num_frames] = NULL;
        mst_timeline_advance(&w->submitted, number);
    }
    for (int i = 0; i < e->devices->count; i++) {
        worker *w = &e->workers[i];
        if (!w->started) continue;
        /* idle threads end at once, whatever the deadline: only the end is on their queues */
        const bool idle = mst_timeline_value(&w->done) + 1 == mst_timeline_value(&w->submitted);
        const bool has_ended = mst_timeline_wait(&w->ended, 1, idle ? MST_NEVER : deadline, true);
        if (has_ended)
            pthread_join(w->thread, NULL);
        else
            pthread_detach(w->thread);
        late |= !has_ended;
    }
    if (late && end) end->late(end->owner);
    leave(e);
}

bool mst_executor_runs_all(const mst_executor *e) {
    return e->runs_all;
}

mst_team *mst_executor_team(const mst_executor *e, int device) {
    return e->workers[device].team;
}

void mst_executor_submit(mst_executor *e, mst_frame *frame, const int32_t *devices, int32_t num_devices) {
    atomic_store(&frame->end, MST_RUNNING);
    atomic_store(&frame->remaining, num_devices);
    if (num_devices == 0) mst_timeline_advance(&frame->left, frame->number);
    for (int32_t i = 0; i < num_devices; i++) {
        worker *w = &e->workers[devices[i]];
        const uint64_t number = mst_timeline_value(&w->submitted) + 1;
        frame->base[devices[i]] = w->points;
        w->points += (uint64_t)frame->plan->program[devices[i]].num_points;
        w->queue[number % (uint64_t)e->num_frames] = frame;
        if (devices[i] == 0) frame->own_number = number;
    }
    /* the frame has its place on every queue before any device begins */
    for (int32_t i = 0; i < num_devices; i++) {
        worker *w = &e->workers[devices[i]];
        mst_timeline_advance(&w->submitted, mst_timeline_value(&w->submitted) + 1);
    }
}

/* Notes that device 0 is done with frame NUMBER, and with the frames after it whose callers have given up. */
static void finish_own(worker *w, uint64_t number) {
    const uint64_t places = (uint64_t)w->executor->num_frames;
    pthread_mutex_lock(&w->lock);
    if (mst_timeline_value(&w->done) == number - 1) {
        while (w->given_up[(number + 1) % places] && number < mst_timeline_value(&w->submitted))
            w->given_up[++number % places] = false;
        mst_timeline_advance(&w->done, number);
    } else {
        w->given_up[number % places] = true;
    }
    pthread_mutex_unlock(&w->lock);
}

void mst_executor_run_alone(mst_frame *frame, const int32_t *devices, int32_t num_devices) {
    int before;
    const uint64_t mode = mst_flush_denormals();
    const mst_status status = mst_openmp_begin(&before);
    if (status) mst_frame_fail(frame, status, -1, devices[0], false);
    mst_frame_run_alone(frame, devices, num_devices);
    mst_float_mode_set(mode);
    mst_openmp_end(before);
}

void mst_executor_run_own(mst_executor *e, mst_frame *frame) {
    worker *w = &e->workers[0];
    if (e->runs_all) return;
    if (mst_timeline_wait(&w->done, frame->own_number - 1, frame->deadline, e->spin)) {
        const uint64_t mode = mst_flush_denormals();
        executor_run(w, frame);
        mst_float_mode_set(mode);
    } else {
        mst_frame_fail(frame, MST_FAIL(MST_DEADLINE, "waited too long for the steps before this one"), -1, 0, true);
    }
    finish_own(w, frame->own_number);
    mst_frame_leave(frame);
}
