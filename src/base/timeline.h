/** Timelines: a counter that only rises, and threads that wait until it reaches a value (elsewhere called a timeline
 *  semaphore).
 *
 *  A waiting thread spins for some microseconds and then sleeps in the operating system, on this line alone. Nothing is
 *  allocated, and a line cannot fail: a thread that could not do its work records the error elsewhere (run/frame.h) and
 *  advances the line all the same, so that no thread waits for ever.
 */
#ifndef MUSTER_BASE_TIMELINE_H
#define MUSTER_BASE_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** A cache line of its own: two threads that advance two lines must not fight for one. Zero-initialised is at 0. */
typedef struct mst_line {
    _Alignas(64) _Atomic uint64_t value;
    _Atomic uint32_t sleepers;
} mst_line;

static inline uint64_t mst_line_value(const mst_line *line) {
    return atomic_load_explicit(&line->value, memory_order_acquire);
}

/** Sets the line to VALUE, at least its present one, and wakes the threads that wait for it. A thread that reads VALUE
 *  also sees all that the calling thread wrote before. */
void mst_line_advance(mst_line *line, uint64_t value);
/** Adds COUNT and returns the new value: for lines that several threads advance. */
uint64_t mst_line_add(mst_line *line, uint64_t count);
/** Waits until the line is at VALUE or above. False where DEADLINE (base/clock.h) came first. SPIN: spins for some
 *  microseconds first, which pays where every thread has a core of its own. */
bool mst_line_wait(mst_line *line, uint64_t value, int64_t deadline, bool spin);

#endif
