#include "run/errand.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "base/timeline.h"
#include "device/device.h"

struct mst_errand {
    mst_timeline ended; /* is 1 when the work has ended */
    _Atomic int users;  /* the owner and the thread; the last to leave frees the errand */
    const mst_errand_type *type;
    void *context;
    mst_failure failure; /* of the work */
    pthread_mutex_t lock;
    const mst_errand_watch *watch; /* under the lock; NULL: none */
};

enum { MOST_TOLD = 400 };
static const double LOOK = 0.05;          /* seconds between two looks at the watch */
static _Thread_local mst_errand *current; /* the errand whose thread this is; NULL: none */
static _Thread_local const mst_errand_stop *stops_by;

static void drop_user(mst_errand *errand) {
    if (atomic_fetch_sub(&errand->users, 1) > 1) return;
    errand->type->release(errand->context);
    pthread_mutex_destroy(&errand->lock);
    free(errand);
}

static void *do_errand(void *context) {
    mst_errand *errand = context;
    current = errand;
    mst_unbind_thread();
    const uint64_t errors = mst_error_count();
    const mst_status status = errand->type->work(errand->context);
    mst_failure_keep(&errand->failure, mst_error_complete(status, errors));
    mst_timeline_advance(&errand->ended, 1);
    drop_user(errand);
    return NULL;
}

mst_status mst_errand_start(const mst_errand_type *type, void *context, mst_errand **out) {
    pthread_t thread;
    mst_errand *errand = aligned_alloc(_Alignof(mst_errand), sizeof *errand);
    if (!errand) return MST_NO_MEMORY("for an errand of a device");
    memset(errand, 0, sizeof *errand);
    errand->type = type;
    errand->context = context;
    atomic_init(&errand->users, 2);
    pthread_mutex_init(&errand->lock, NULL);
    if (mst_thread_start(&thread, do_errand, errand)) {
        pthread_mutex_destroy(&errand->lock);
        free(errand);
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a thread for a device: allow more threads (ulimit -u)");
    }
    pthread_detach(thread);
    *out = errand;
    return MST_OK;
}

/* The error of the errand's watch, if it has one. */
static mst_status check_watch(mst_errand *errand) {
    pthread_mutex_lock(&errand->lock);
    const mst_errand_watch *watch = errand->watch;
    const mst_status status = watch ? watch->check(watch->context) : MST_OK;
    pthread_mutex_unlock(&errand->lock);
    return status;
}

static mst_status is_late(mst_errand *errand, const char *what) {
    char text[MOST_TOLD] = "";
    pthread_mutex_lock(&errand->lock);
    const mst_errand_watch *watch = errand->watch;
    if (watch) watch->tell(watch->context, text, sizeof text);
    pthread_mutex_unlock(&errand->lock);
    if (*text) return MST_FAIL(MST_DEADLINE, "%s takes too long: %s", what, text);
    return MST_FAIL(MST_DEADLINE, "%s takes too long: it is stuck, or the timeout is too short", what);
}

mst_status mst_errand_wait(mst_errand *errand, int64_t deadline, const char *what) {
    while (mst_timeline_value(&errand->ended) < 1) {
        MST_TRY(check_watch(errand));
        if (stops_by && stops_by->asked(stops_by->context))
            return MST_FAIL(MST_CANCELLED, "%s was not waited for: the process has been asked to stop", what);
        const int64_t look = mst_clock_after(LOOK);
        if (mst_timeline_wait(&errand->ended, 1, look < deadline ? look : deadline, false)) break;
        if (mst_clock_now() >= deadline) return is_late(errand, what);
    }
    if (!errand->failure.code) return MST_OK;
    (void)!mst_failure_restore(&errand->failure);
    return mst_error_prefix("%s", what);
}

void mst_errand_leave(mst_errand *errand) {
    if (errand) drop_user(errand);
}

void mst_errand_set_stop(const mst_errand_stop *stop) {
    stops_by = stop;
}

void mst_errand_set_watch(const mst_errand_watch *watch) {
    if (!current) return;
    pthread_mutex_lock(&current->lock);
    current->watch = watch;
    pthread_mutex_unlock(&current->lock);
}
