/** All time in the library comes from here. There is a clock that only rises, which tests can replace: it counts
 *  nanoseconds for deadlines and seconds for measuring. And there is the time of day. */
#ifndef MUSTER_BASE_CLOCK_H
#define MUSTER_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define MST_NEVER INT64_MAX /**< a deadline that never comes */

/** The monotonic clock of the system, or the clock that replaced it (mst_clock_replace). */
int64_t mst_clock_now(void);
/** Uses NOW in place of the system's clock, for a simulation or a test; NULL restores the system's clock. */
void mst_clock_replace(int64_t (*now)(void));
/** The time SECONDS from now; MST_NEVER if that is too far to count. */
int64_t mst_clock_after(double seconds);
/** mst_clock_now in seconds. */
double mst_clock_seconds(void);
/** Seconds since 1970. */
double mst_clock_wall(void);
/** The time that is NANOSECONDS from now on the monotonic clock of the system, for pthread_cond_timedwait. Sleeping
 *  always uses the system's clock, never a replaced one. */
struct timespec mst_clock_timespec(int64_t nanoseconds);

#endif
