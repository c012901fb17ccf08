#include "base/clock.h"

#include <stdatomic.h>
#include <stddef.h>

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t monotonic(void) {
    return read_clock(CLOCK_MONOTONIC);
}

static int64_t (*_Atomic source)(void) = monotonic;

int64_t mst_clock_now(void) {
    return atomic_load_explicit(&source, memory_order_relaxed)();
}

void mst_clock_replace(int64_t (*now)(void)) {
    atomic_store(&source, now ? now : monotonic);
}

int64_t mst_clock_after(double seconds) {
    const double far = 1e9; /* about thirty years */
    if (!(seconds < far)) return MST_NEVER;
    return mst_clock_now() + (int64_t)(seconds * 1e9);
}

double mst_clock_seconds(void) {
    return (double)mst_clock_now() * 1e-9;
}

double mst_clock_wall(void) {
    return (double)read_clock(CLOCK_REALTIME) * 1e-9;
}

struct timespec mst_clock_timespec(int64_t nanoseconds) {
    const int64_t until = monotonic() + nanoseconds;
    return (struct timespec){.tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000)};
}
