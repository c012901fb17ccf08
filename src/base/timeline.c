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

/* About 50 microseconds. In most steps two devices differ by less, and waking a thread takes longer. */
enum { SPINS = 2000 };

static void pause_spin(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Bits of the state. SLEEPS: a thread sleeps on the state itself. POLLS: a thread sleeps on the event. The value is
 * above these bits. */
enum { SLEEPS = 1, POLLS = 2, VALUE_SHIFT = 2 };

/* The address of the low 32 bits of the state, which the kernel compares. */
static uint32_t *futex_word(mst_timeline *timeline) {
    uint32_t *word = (uint32_t *)(void *)&timeline->state;
    return word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void wake(mst_timeline *timeline) {
    syscall(SYS_futex, futex_word(timeline), FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Members of a timeline, to be read before an advance: after it the timeline may have been freed. */
typedef struct followers {
    mst_timeline *also;
    int event;
} followers;

/* Wakes threads after an advance that found the state BEFORE. The timeline may have been freed; the kernel uses only
 * its address. If the address belongs to another timeline now, threads that sleep on that one wake, look, and sleep
 * again. */
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

/* The longest sleep at a time. A clock that a test has replaced (mst_clock_replace) may pass the deadline at any time,
 * and does not wake this thread. A thread that waits within a step also handles pending signals at this interval. */
enum { LONGEST_NANOSECONDS = 100 * 1000 * 1000 };

/* Sets *LIMIT to how long to sleep, and *OUT to LIMIT; *OUT is NULL if the thread sleeps until it is woken. False if
 * DEADLINE has passed. */
static bool limit_sleep(int64_t deadline, struct timespec *limit, const struct timespec **out) {
    *limit = (struct timespec){.tv_nsec = LONGEST_NANOSECONDS};
    *out = deadline == MST_NEVER && !mst_signals_wait() ? NULL : limit;
    if (deadline == MST_NEVER) return true;
    const int64_t left = deadline - mst_clock_now();
    if (left > 0 && left < LONGEST_NANOSECONDS) limit->tv_nsec = (long)left;
    return left > 0;
}

/* Sleeps while the state is SEEN. False if DEADLINE has passed. */
static bool sleep_on(mst_timeline *timeline, uint64_t seen, int64_t deadline) {
    struct timespec limit;
    const struct timespec *most;
    if (!limit_sleep(deadline, &limit, &most)) return false;
    if (syscall(SYS_futex, futex_word(timeline), FUTEX_WAIT_PRIVATE, (uint32_t)seen, most, NULL, 0) &&
        errno == ETIMEDOUT)
        mst_signals_let_in();
    return true;
}

/* An advance clears the bit SLEEPS and wakes all sleepers. Those whose value has not been reached set it again. */
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

/* Lets the next advance of the timeline wake the thread that sleeps on its event. False: the value has been reached
 * already. */
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
            /* the event could not be read to 0; it only stays readable */
        }
    }
    /* clear the bits, so that an advance by this thread itself wakes no thread */
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
