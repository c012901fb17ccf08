/* Which point is armed is one record under a lock, by the full name of its node. A late kernel moves a clock that
 * replaces the library's ahead by FAULT_SECONDS, so that no test waits for a timeout, and sleeps until it is
 * disarmed. */
#include "support/fault.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static struct {
    pthread_mutex_t lock;
    fault_kind kind;
    char name[128]; /* "": none */
    int times;
    pthread_t caller;
} armed = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Atomic int64_t ahead; /* of the system's clock */
static _Atomic int count;
static _Atomic int advancing; /* late kernels that are moving the clock */

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec + atomic_load(&ahead);
}

static void sleep_for(int milliseconds) {
    const struct timespec time = {.tv_nsec = milliseconds * 1000000L};
    nanosleep(&time, NULL);
}

void fault_arm(fault_kind kind, const char *name, int times) {
    pthread_mutex_lock(&armed.lock);
    armed.kind = kind;
    armed.times = times;
    armed.caller = pthread_self();
    snprintf(armed.name, sizeof armed.name, "%s", name);
    pthread_mutex_unlock(&armed.lock);
    mst_clock_replace(now);
}

/* Waits for a kernel that is moving the clock: it would take the time from the next step. */
void fault_disarm(void) {
    while (atomic_load(&advancing)) sleep_for(1);
    pthread_mutex_lock(&armed.lock);
    armed.name[0] = '\0';
    pthread_mutex_unlock(&armed.lock);
}

int fault_count(void) {
    return atomic_exchange(&count, 0);
}

static bool is_armed(const char *name, fault_kind *kind, int *times, bool *on_caller) {
    pthread_mutex_lock(&armed.lock);
    const bool is = strcmp(armed.name, name) == 0;
    *kind = armed.kind;
    *times = armed.times;
    *on_caller = pthread_equal(armed.caller, pthread_self());
    pthread_mutex_unlock(&armed.lock);
    return is;
}

static void advance_clock(int times) {
    for (int i = 0; i < times; i++) {
        sleep_for(1); /* others come to where they wait */
        atomic_fetch_add(&ahead, (int64_t)FAULT_SECONDS * 1000000000);
    }
}

static void wait_for_disarm(const char *name) {
    fault_kind kind;
    int times;
    bool on_caller;
    while (is_armed(name, &kind, &times, &on_caller) && !on_caller) sleep_for(1);
}

mst_status fault_here(const char *name) {
    fault_kind kind;
    int times;
    bool on_caller;
    if (!is_armed(name, &kind, &times, &on_caller)) return MST_OK;
    atomic_fetch_add(&count, 1);
    if (kind == FAULT_LATE) {
        atomic_fetch_add(&advancing, 1);
        advance_clock(times);
        atomic_fetch_sub(&advancing, 1);
        wait_for_disarm(name);
    }
    return kind == FAULT_ERROR ? MST_FAIL(MST_IO, "the disk is gone") : MST_OK;
}

/* ---- ops ---- */

static mst_status infer(mst_infer *c) {
    MST_TRY(mst_infer_want_dtype(c, 0, MST_F32));
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_value grad(mst_grad *c, int i) {
    (void)i;
    return c->ddst[0];
}

static mst_status copy(const mst_kernel_args *a) {
    fault_kind kind;
    int times;
    bool on_caller;
    const bool is = is_armed(a->name, &kind, &times, &on_caller);
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * sizeof(float));
    if (is && kind == FAULT_NAN) {
        atomic_fetch_add(&count, 1);
        for (int64_t i = 0; i < a->dst[0].count; i++) ((float *)a->dst[0].data)[i] = NAN;
    } else if (is && kind == FAULT_ERROR) {
        atomic_fetch_add(&count, 1);
        return mst_kernel_fail(a, MST_IO, "the disk is gone");
    }
    return is && kind == FAULT_LATE ? fault_here(a->name) : MST_OK;
}

static bool writes(const void *options, int num_src, int i) {
    (void)options, (void)num_src, (void)i;
    return true;
}

static mst_status increment(const mst_kernel_args *a) {
    fault_kind kind;
    int times;
    bool on_caller;
    if (is_armed(a->name, &kind, &times, &on_caller) && kind == FAULT_LATE) {
        atomic_fetch_add(&count, 1);
        advance_clock(times);
        if (times == 1)
            sleep_for(150); /* who sleeps looks at the clock every 100 ms */
        else
            wait_for_disarm(a->name);
    }
    for (int64_t i = 0; i < a->src[0].count; i++) ((float *)a->src[0].data)[i] += 1;
    return MST_OK;
}

static const mst_op point_op = {.name = "fault_point",
                                .num_src = 1,
                                .num_dst = 1,
                                .dtypes = MST_DTYPE_BIT(MST_F32),
                                .flags = MST_OP_STATEFUL,
                                .infer = infer,
                                .grad = grad,
                                .reference = copy};
static const mst_op increment_op = {.name = "fault_increment",
                                    .num_src = 1,
                                    .num_dst = 1,
                                    .dtypes = MST_DTYPE_BIT(MST_F32),
                                    .flags = MST_OP_STATEFUL | MST_OP_VIEW | MST_OP_INFALLIBLE,
                                    .infer = infer,
                                    .writes = writes,
                                    .reference = increment};

mst_value fault_point(mst_value src, const char *name) {
    return mst_call_named(NULL, &point_op, name, 1, &src, NULL);
}

mst_value fault_increment(mst_value variable, const char *name) {
    return mst_call_named(NULL, &increment_op, name, 1, &variable, NULL);
}
