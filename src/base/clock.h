/** The library's only way to the time: a clock that only rises, nanoseconds for deadlines and seconds for measuring,
 *  which tests can replace; and the time of day. */
#ifndef MUSTER_BASE_CLOCK_H
#define MUSTER_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define MST_NEVER INT64_MAX /**< a deadline that does not come */

/** The monotonic clock of the system, or the clock that replaced it (mst_clock_replace). */
int64_t mst_clock_now(void);
/** Puts NOW in place of the system's clock (a simulation, a test); NULL brings it back. */
void mst_clock_replace(int64_t (*now)(void));
/** The time SECONDS from now; MST_NEVER if that is too far to count. */
int64_t mst_clock_after(double seconds);
/** mst_clock_now in seconds. */
double mst_clock_seconds(void);
/** Seconds since 1970. */
double mst_clock_wall(void);
/** The time NANOSECONDS from now on the monotonic clock of the system, for pthread_cond_timedwait: sleeping always uses
 *  the system's clock. */
struct timespec mst_clock_timespec(int64_t nanoseconds);

#endif
