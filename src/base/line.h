/** Timelines: a counter that only rises, and threads that wait until it reaches a value.
 *
 *  A waiter spins for some microseconds and then sleeps in the kernel, on this line alone. Nothing is allocated, and a
 *  line cannot fail: who cannot do what a value stands for says so elsewhere (a frame) and advances the line all the
 *  same, so that nobody waits for ever.
 */
#ifndef MUSTER_BASE_LINE_H
#define MUSTER_BASE_LINE_H

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

/** Sets the line to VALUE, which is not below what it is, and wakes who waits. What was written before is seen by those
 *  who then see VALUE. */
void mst_line_advance(mst_line *line, uint64_t value);
/** Adds COUNT, for lines that several threads advance; the new value. */
uint64_t mst_line_add(mst_line *line, uint64_t count);
/** Waits until the line is at VALUE or above. False where DEADLINE (base/clock.h) came first. SPIN: every thread has a
 *  core of its own, so that it pays to wait some microseconds awake. */
bool mst_line_wait(mst_line *line, uint64_t value, int64_t deadline, bool spin);

#endif
