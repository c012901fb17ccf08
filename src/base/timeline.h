/** Timelines: counters that only rise. Threads can wait until a timeline reaches a value. Vulkan calls this a timeline
 *  semaphore.
 *
 *  A waiting thread spins for some microseconds and then sleeps in the operating system, on this timeline alone.
 *  Nothing is allocated, and a timeline cannot fail. A thread that could not do its work records the error in the frame
 *  (run/frame.h) and still advances the timeline. So no thread waits forever.
 *
 *  A thread that has waited for the last value may free the timeline at once. The reason is that an advancing thread
 *  does not touch it any more once the value can be seen.
 */
#ifndef MUSTER_BASE_TIMELINE_H
#define MUSTER_BASE_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** Each timeline has a cache line of its own, so that threads that advance different timelines do not slow each other
 *  down. A timeline of zeros has value 0. */
typedef struct mst_timeline {
    _Alignas(64) _Atomic uint64_t state; /**< four times the value, plus 1 if a thread sleeps on it, plus 2 if a
                                          *   thread sleeps on its event */
    struct mst_timeline *also; /**< rises by one after each advance of this one, for a thread that waits for any
                                *   of several timelines; NULL: none. Set before the first advance */
    int event;                 /**< 1 + an eventfd on which a thread sleeps (mst_timeline_poll); 0: none. Set before the
                                    first advance */
} mst_timeline;

static inline uint64_t mst_timeline_value(const mst_timeline *timeline) {
    return atomic_load_explicit(&timeline->state, memory_order_acquire) >> 2;
}

/** Sets the timeline to VALUE, at least its present value, and wakes the threads that wait for it. A thread that reads
 *  VALUE also sees all that the calling thread wrote before. */
void mst_timeline_advance(mst_timeline *timeline, uint64_t value);
/** Adds COUNT and returns the new value. For timelines that several threads advance. */
uint64_t mst_timeline_add(mst_timeline *timeline, uint64_t count);
/** Waits until the timeline has at least VALUE. False if DEADLINE (base/clock.h) passed first. SPIN: spin for some
 *  microseconds first, which pays if every thread has a core of its own. */
bool mst_timeline_wait(mst_timeline *timeline, uint64_t value, int64_t deadline, bool spin);

/** A timeline, and the value for which a thread waits: this value or a greater one. */
typedef struct mst_timeline_due {
    mst_timeline *timeline;
    uint64_t value;
} mst_timeline_due;

/** Sleeps until one of N timelines, which all have the same event, reaches its value, or FD is readable. False if
 *  DEADLINE has passed. It may also return early. Only one thread at a time may sleep on an event. */
bool mst_timeline_poll(const mst_timeline_due *due, int n, int fd, int64_t deadline);

/** Lets the threads that are asleep on the timeline at this moment stay asleep when it advances, until
 *  mst_timeline_rouse. The caller does their work until then. A thread that sleeps on the timeline's event is still
 *  woken. */
void mst_timeline_hush(mst_timeline *timeline);
/** Ends mst_timeline_hush. Wakes the threads that sleep on the timeline if its value is above SEEN; else the next
 *  advance wakes them. */
void mst_timeline_rouse(mst_timeline *timeline, uint64_t seen);

#endif
