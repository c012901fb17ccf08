/* One record under a lock holds which fault is armed, by the full name of its node. A kernel that is to be late
 * moves a replaced clock ahead by FAULT_SECONDS, so that no test waits for a timeout. It then sleeps until it is
 * disarmed. */
#include "support/fault.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "graph/graph.h"
#include "muster/hlo.h"
#include "muster/ops.h"
#include "support/engine.h"

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

/* ---- on devices that compile: a program fails if a flag says so, which the host gives ---- */

static const char flag_suffix[] = "/flag";

/* Is armed by the name of the point that it is for. */
static mst_status raise_flag(const mst_kernel_args *a) {
    char name[128];
    fault_kind kind;
    int times;
    bool on_caller;
    snprintf(name, sizeof name, "%.*s", (int)(strlen(a->name) - strlen(flag_suffix)), a->name);
    const bool is = is_armed(name, &kind, &times, &on_caller);
    *(int32_t *)a->dst[0].data = is ? (int32_t)kind : -1;
    if (is && kind == FAULT_LATE) return fault_here(name);
    if (is) atomic_fetch_add(&count, 1);
    return MST_OK;
}

static mst_status flag_infer(mst_infer *c) {
    c->dst[0] = (mst_spec){.dtype = MST_I32};
    return MST_OK;
}

static void flagged_lower(mst_lower *l) {
    const mst_hlo error = mst_hlo_number(l, MST_I32, FAULT_ERROR), nan = mst_hlo_number(l, MST_I32, FAULT_NAN);
    mst_hlo_fault(l, mst_hlo_compare(l, "EQ", l->src[1], error), MST_IO, "the disk is gone");
    l->dst[0] = mst_hlo_select(l, mst_hlo_compare(l, "EQ", l->src[1], nan), mst_hlo_number(l, MST_F32, NAN), l->src[0]);
}

static mst_value flagged_grad(mst_grad *c, int i) {
    return i == 0 ? c->ddst[0] : MST_NONE;
}

static mst_status no_kernel(const mst_kernel_args *a) {
    return mst_kernel_fail(a, MST_INTERNAL, "it is for devices that compile");
}

static const mst_op flag_op = {.name = "fault_flag",
                               .num_dst = 1,
                               .dtypes = MST_DTYPE_BIT(MST_I32),
                               .flags = MST_OP_STATEFUL,
                               .infer = flag_infer,
                               .reference = raise_flag};
static const mst_op flagged_op = {.name = "fault_point",
                                  .num_src = 2,
                                  .num_dst = 1,
                                  .dtypes = MST_DTYPE_BIT(MST_F32) | MST_DTYPE_BIT(MST_I32),
                                  .flags = MST_OP_STATEFUL,
                                  .infer = infer,
                                  .grad = flagged_grad,
                                  .reference = no_kernel,
                                  .lower = flagged_lower};

static mst_value flagged_point(mst_value src, const char *name) {
    mst_graph *graph = mst_value_graph(src);
    char flag[128];
    mst_value pair[2] = {src, MST_NONE};
    snprintf(flag, sizeof flag, "%s%s", name, flag_suffix);
    mst_with_host (graph, true) pair[1] = mst_call_named(graph, &flag_op, flag, 0, NULL, NULL);
    return mst_call_named(graph, &flagged_op, name, 2, pair, NULL);
}

mst_value fault_point(mst_value src, const char *name) {
    return engine_compiles() ? flagged_point(src, name) : mst_call_named(NULL, &point_op, name, 1, &src, NULL);
}

mst_value fault_increment(mst_value variable, const char *name) {
    return mst_call_named(NULL, &increment_op, name, 1, &variable, NULL);
}
