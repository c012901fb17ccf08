#include "run/errand.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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
};

static void drop_user(mst_errand *errand) {
    if (atomic_fetch_sub(&errand->users, 1) > 1) return;
    errand->type->release(errand->context);
    free(errand);
}

static void *do_errand(void *context) {
    mst_errand *errand = context;
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
    if (mst_thread_start(&thread, do_errand, errand)) {
        free(errand);
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a thread for a device: allow more threads (ulimit -u)");
    }
    pthread_detach(thread);
    *out = errand;
    return MST_OK;
}

mst_status mst_errand_wait(mst_errand *errand, int64_t deadline, const char *what) {
    if (!mst_timeline_wait(&errand->ended, 1, deadline, false))
        return MST_FAIL(MST_DEADLINE, "%s takes too long: it is stuck, or the timeout is too short", what);
    if (!errand->failure.code) return MST_OK;
    (void)!mst_failure_restore(&errand->failure);
    return mst_error_prefix("%s", what);
}

void mst_errand_leave(mst_errand *errand) {
    if (errand) drop_user(errand);
}
