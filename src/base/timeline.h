/** Timelines: a counter that only rises, and threads that wait until it reaches a value. Vulkan calls it a timeline
 *  semaphore.
 *
 *  A waiting thread spins for some microseconds and then sleeps in the operating system, on this timeline alone.
 *  Nothing is allocated, and a timeline cannot fail: a thread that could not do its work records the error in the frame
 *  (run/frame.h) and advances the timeline all the same, so that no thread waits for ever.
 *
 *  A thread that has waited for the last value may free the timeline at once: a thread that advances it does not touch
 *  it any more once the value can be seen.
 */
#ifndef MUSTER_BASE_TIMELINE_H
#define MUSTER_BASE_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** A cache line of its own: two threads that advance two timelines must not fight for it. Zero-initialised is at 0. */
typedef struct mst_timeline {
    _Alignas(64) _Atomic uint64_t state; /**< four times the value, plus 1 if a thread sleeps on it, plus 2 if one
                                          *   sleeps on its event */
    struct mst_timeline *also; /**< rises by one after each advance of this one, for a thread that waits for any of
                                *   several; NULL: none. Set before the first advance */
    int event;                 /**< 1 + an eventfd on which a thread sleeps (mst_timeline_poll); 0: none. Likewise */
} mst_timeline;

static inline uint64_t mst_timeline_value(const mst_timeline *timeline) {
    return atomic_load_explicit(&timeline->state, memory_order_acquire) >> 2;
}

/** Sets the timeline to VALUE, at least its present one, and wakes the threads that wait for it. A thread that reads
 *  VALUE also sees all that the calling thread wrote before. */
void mst_timeline_advance(mst_timeline *timeline, uint64_t value);
/** Adds COUNT and returns the new value: for timelines that several threads advance. */
uint64_t mst_timeline_add(mst_timeline *timeline, uint64_t count);
/** Waits until the timeline is at VALUE or above. False if DEADLINE (base/clock.h) came first. SPIN: spins for some
 *  microseconds first, which pays if every thread has a core of its own. */
bool mst_timeline_wait(mst_timeline *timeline, uint64_t value, int64_t deadline, bool spin);

/** What a thread waits for: the timeline at VALUE or above. */
typedef struct mst_timeline_due {
    mst_timeline *timeline;
    uint64_t value;
} mst_timeline_due;

/** Sleeps until one of N timelines, which have the same event, is at its value, or FD is readable. False if DEADLINE
 *  has come. It may also return early. One thread at a time for an event. */
bool mst_timeline_poll(const mst_timeline_due *due, int n, int fd, int64_t deadline);

/** Lets threads that sleep on the timeline now, but for one that sleeps on its event, sleep on through its advances,
 *  until mst_timeline_rouse: another thread does their work meanwhile. */
void mst_timeline_hush(mst_timeline *timeline);
/** Wakes the threads that sleep on the timeline if it is above SEEN; else the next advance will. */
void mst_timeline_rouse(mst_timeline *timeline, uint64_t seen);

#endif
