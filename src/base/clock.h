/** Time on a clock that only rises: nanoseconds for deadlines, seconds for measuring. */
#ifndef MUSTER_BASE_CLOCK_H
#define MUSTER_BASE_CLOCK_H

#include <stdint.h>

#define MST_NEVER INT64_MAX /**< a deadline that does not come */

/** The monotonic clock of the system, or what mst_clock_replace has put in its place. */
int64_t mst_clock_now(void);
/** Puts NOW in place of the system's clock (a simulation, a test); NULL brings it back. */
void mst_clock_replace(int64_t (*now)(void));
/** The time SECONDS from now; MST_NEVER where that is too far to count. */
int64_t mst_clock_after(double seconds);
/** Seconds on the monotonic clock of the system, whatever mst_clock_replace has put in its place. */
double mst_clock_seconds(void);

#endif
