#include "base/clock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static int64_t monotonic(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t (*_Atomic source)(void) = monotonic;

int64_t mst_clock_now(void) {
    return atomic_load_explicit(&source, memory_order_relaxed)();
}

void mst_clock_replace(int64_t (*now)(void)) {
    atomic_store(&source, now ? now : monotonic);
}

int64_t mst_clock_after(double seconds) {
    const double far = 1e9; /* some thirty years */
    if (!(seconds < far)) return MST_NEVER;
    return mst_clock_now() + (int64_t)(seconds * 1e9);
}

double mst_clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
