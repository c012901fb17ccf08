#include "base/timeline.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* About 50 microseconds: in most steps two devices differ by less, and to be woken costs more. */
enum { SPINS = 2000 };

static void pause_spin(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* The kernel compares 32 bits: the low ones of the counter. */
static uint32_t *futex_word(mst_timeline *timeline) {
    uint32_t *word = (uint32_t *)(void *)&timeline->value;
    return word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void wake(mst_timeline *timeline) {
    syscall(SYS_futex, futex_word(timeline), FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Both sides are sequentially consistent: either the advancing thread sees the sleeper, or the sleeper the value. */
void mst_timeline_advance(mst_timeline *timeline, uint64_t value) {
    atomic_store(&timeline->value, value);
    if (atomic_load(&timeline->sleepers)) wake(timeline);
}

uint64_t mst_timeline_add(mst_timeline *timeline, uint64_t count) {
    const uint64_t value = atomic_fetch_add(&timeline->value, count) + count;
    if (atomic_load(&timeline->sleepers)) wake(timeline);
    return value;
}

/* The longest sleep in one go: a clock that a test has put in place (mst_clock_replace) may pass the deadline at any
 * time, and does not wake us. */
enum { LONGEST_NANOSECONDS = 100 * 1000 * 1000 };

/* Sleeps while the counter is SEEN; false where DEADLINE has come. */
static bool sleep_on(mst_timeline *timeline, uint64_t seen, int64_t deadline) {
    struct timespec limit = {.tv_nsec = LONGEST_NANOSECONDS};
    if (deadline != MST_NEVER) {
        const int64_t left = deadline - mst_clock_now();
        if (left <= 0) return false;
        if (left < LONGEST_NANOSECONDS) limit.tv_nsec = (long)left;
    }
    syscall(SYS_futex, futex_word(timeline), FUTEX_WAIT_PRIVATE, (uint32_t)seen, deadline == MST_NEVER ? NULL : &limit,
            NULL, 0);
    return true;
}

bool mst_timeline_wait(mst_timeline *timeline, uint64_t value, int64_t deadline, bool spin) {
    for (int i = 0; i < (spin ? SPINS : 1); i++) {
        if (mst_timeline_value(timeline) >= value) return true;
        pause_spin();
    }
    atomic_fetch_add(&timeline->sleepers, 1);
    bool in_time = true;
    uint64_t seen;
    while ((seen = atomic_load(&timeline->value)) < value && in_time) in_time = sleep_on(timeline, seen, deadline);
    atomic_fetch_sub(&timeline->sleepers, 1);
    return seen >= value || mst_timeline_value(timeline) >= value;
}
