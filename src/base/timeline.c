#include "base/timeline.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signal_mask.h"
#include "base/wake.h"

/* About 50 microseconds: in most steps two devices differ by less, and waking costs more. */
enum { SPINS = 2000 };

static void pause_spin(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Bits of the state that say that a thread sleeps: on the state itself, on the event. The value is above them. */
enum { SLEEPS = 1, POLLS = 2, VALUE_SHIFT = 2 };

/* The kernel compares 32 bits: the low ones of the state. */
static uint32_t *futex_word(mst_timeline *timeline) {
    uint32_t *word = (uint32_t *)(void *)&timeline->state;
    return word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void wake(mst_timeline *timeline) {
    syscall(SYS_futex, futex_word(timeline), FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* What belongs to a timeline, to be read before an advance. */
typedef struct followers {
    mst_timeline *also;
    int event;
} followers;

/* What follows an advance that found the state BEFORE. The timeline may have been freed: the kernel uses only its
 * address. If that belongs to another timeline now, sleepers of that one wake, look, and sleep again. */
static void tell(mst_timeline *timeline, uint64_t before, followers f) {
    if (before & SLEEPS) wake(timeline);
    if (before & POLLS && f.event) mst_wake(f.event - 1);
    if (f.also) mst_timeline_add(f.also, 1);
}

void mst_timeline_advance(mst_timeline *timeline, uint64_t value) {
    const followers f = {timeline->also, timeline->event};
    tell(timeline, atomic_exchange(&timeline->state, value << VALUE_SHIFT), f);
}

uint64_t mst_timeline_add(mst_timeline *timeline, uint64_t count) {
    const followers f = {timeline->also, timeline->event};
    uint64_t before = atomic_load_explicit(&timeline->state, memory_order_relaxed), value;
    do value = (before >> VALUE_SHIFT) + count;
    while (!atomic_compare_exchange_weak(&timeline->state, &before, value << VALUE_SHIFT));
    tell(timeline, before, f);
    return value;
}

/* The longest sleep in one go: a clock that a test has replaced (mst_clock_replace) may pass the deadline at any time,
 * and does not wake this thread. A thread that waits within a step handles pending signals at the same interval. */
enum { LONGEST_NANOSECONDS = 100 * 1000 * 1000 };

/* How long to sleep, into *LIMIT; NULL in *OUT: until it is woken. False if DEADLINE has come. */
static bool limit_sleep(int64_t deadline, struct timespec *limit, const struct timespec **out) {
    *limit = (struct timespec){.tv_nsec = LONGEST_NANOSECONDS};
    *out = deadline == MST_NEVER && !mst_signals_wait() ? NULL : limit;
    if (deadline == MST_NEVER) return true;
    const int64_t left = deadline - mst_clock_now();
    if (left > 0 && left < LONGEST_NANOSECONDS) limit->tv_nsec = (long)left;
    return left > 0;
}

/* Sleeps while the state is SEEN; false if DEADLINE has come. */
static bool sleep_on(mst_timeline *timeline, uint64_t seen, int64_t deadline) {
    struct timespec limit;
    const struct timespec *most;
    if (!limit_sleep(deadline, &limit, &most)) return false;
    if (syscall(SYS_futex, futex_word(timeline), FUTEX_WAIT_PRIVATE, (uint32_t)seen, most, NULL, 0) &&
        errno == ETIMEDOUT)
        mst_signals_let_in();
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
    while (seen >> VALUE_SHIFT < value && in_time) {
        const bool told = seen & SLEEPS || atomic_compare_exchange_weak(&timeline->state, &seen, seen | SLEEPS);
        if (!told) continue;
        in_time = sleep_on(timeline, seen | SLEEPS, deadline);
        seen = atomic_load(&timeline->state);
    }
    return seen >> VALUE_SHIFT >= value;
}

/* The next advance of the timeline wakes the thread that sleeps on its event. False: the value has come. */
static bool listen_to(const mst_timeline_due *due) {
    uint64_t seen = atomic_load(&due->timeline->state);
    while (seen >> VALUE_SHIFT < due->value)
        if (atomic_compare_exchange_weak(&due->timeline->state, &seen, seen | POLLS)) return true;
    return false;
}

bool mst_timeline_poll(const mst_timeline_due *due, int n, int fd, int64_t deadline) {
    const int event = due[0].timeline->event - 1;
    struct pollfd fds[] = {{.fd = event, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    struct timespec limit;
    uint64_t count;
    int num_listened = 0;
    bool in_time = true;
    while (num_listened < n && listen_to(&due[num_listened])) num_listened++;
    if (num_listened == n) {
        const struct timespec *most;
        in_time = limit_sleep(deadline, &limit, &most);
        if (in_time && ppoll(fds, 2, most, NULL) == 0) mst_signals_let_in();
        if ((fds[0].revents & POLLIN) && read(event, &count, sizeof count) < 0) {
            /* nothing is lost: it is readable still */
        }
    }
    /* if this thread itself advances one of them, no thread is to be woken */
    for (int i = 0; i < num_listened; i++) atomic_fetch_and(&due[i].timeline->state, ~(uint64_t)POLLS);
    return in_time;
}

void mst_timeline_hush(mst_timeline *timeline) {
    atomic_fetch_and(&timeline->state, ~(uint64_t)SLEEPS);
}

void mst_timeline_rouse(mst_timeline *timeline, uint64_t seen) {
    uint64_t state = atomic_load(&timeline->state);
    while (state >> VALUE_SHIFT <= seen)
        if (atomic_compare_exchange_weak(&timeline->state, &state, state | SLEEPS)) return;
    wake(timeline);
}
