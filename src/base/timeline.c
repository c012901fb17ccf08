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

enum { SLEEPS = 1 }; /* the bit of the state that says that a thread sleeps */

/* The kernel compares 32 bits: the low ones of the state. */
static uint32_t *futex_word(mst_timeline *timeline) {
    uint32_t *word = (uint32_t *)(void *)&timeline->state;
    return word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void wake(mst_timeline *timeline) {
    syscall(SYS_futex, futex_word(timeline), FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* What follows an advance that found the state BEFORE. The timeline may have been freed: the kernel takes its address
 * alone, and where that belongs to another timeline now, its sleepers look and sleep again. */
static void tell(mst_timeline *timeline, uint64_t before, mst_timeline *also) {
    if (before & SLEEPS) wake(timeline);
    if (also) mst_timeline_add(also, 1);
}

void mst_timeline_advance(mst_timeline *timeline, uint64_t value) {
    mst_timeline *also = timeline->also;
    tell(timeline, atomic_exchange(&timeline->state, value << 1), also);
}

uint64_t mst_timeline_add(mst_timeline *timeline, uint64_t count) {
    mst_timeline *also = timeline->also;
    uint64_t before = atomic_load_explicit(&timeline->state, memory_order_relaxed), value;
    do value = (before >> 1) + count;
    while (!atomic_compare_exchange_weak(&timeline->state, &before, value << 1));
    tell(timeline, before, also);
    return value;
}

/* The longest sleep in one go: a clock that a test has put in place (mst_clock_replace) may pass the deadline at any
 * time, and does not wake us. */
enum { LONGEST_NANOSECONDS = 100 * 1000 * 1000 };

/* Sleeps while the state is SEEN; false where DEADLINE has come. */
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

/* An advance takes the bit away and wakes all; those whose value has not come set it again. */
bool mst_timeline_wait(mst_timeline *timeline, uint64_t value, int64_t deadline, bool spin) {
    for (int i = 0; i < (spin ? SPINS : 1); i++) {
        if (mst_timeline_value(timeline) >= value) return true;
        pause_spin();
    }
    bool in_time = true;
    uint64_t seen = atomic_load(&timeline->state);
    while (seen >> 1 < value && in_time) {
        const bool told = seen & SLEEPS || atomic_compare_exchange_weak(&timeline->state, &seen, seen | SLEEPS);
        if (!told) continue;
        in_time = sleep_on(timeline, seen | SLEEPS, deadline);
        seen = atomic_load(&timeline->state);
    }
    return seen >> 1 >= value;
}

void mst_timeline_hush(mst_timeline *timeline) {
    atomic_fetch_and(&timeline->state, ~(uint64_t)SLEEPS);
}

void mst_timeline_rouse(mst_timeline *timeline, uint64_t seen) {
    uint64_t state = atomic_load(&timeline->state);
    while (state >> 1 <= seen)
        if (atomic_compare_exchange_weak(&timeline->state, &state, state | SLEEPS)) return;
    wake(timeline);
}
