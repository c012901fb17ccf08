/** Threads that take turns, on a clock of their own: one runs at a time, which one is drawn from a seed, and time goes
 *  on only when all wait. So a program of many threads does the same whenever it is run with the same seed.
 *
 *      turns_begin(seed);        the calling thread has the first turn
 *      ...                       threads that are started from here on take turns with it
 *      turns_end();              they have ended
 *
 *  A turn ends where a thread waits: for a mutex, a condition, a timeline (base/timeline.h), a time, another thread.
 *  The seed may also end one where a mutex is locked. It works in programs that are linked with the options
 *  TURNS_LINK_OPTIONS of test/CMakeLists.txt, which put functions of turns.c in place of those of the C library; the
 *  code that is tested is not changed. Threads of other libraries (OpenMP) do not take part, and must not wait for
 *  those that do. Where all wait and no time would wake any, or nothing comes to an end, the program is aborted with a
 *  line. */
#ifndef MUSTER_TEST_SUPPORT_TURNS_H
#define MUSTER_TEST_SUPPORT_TURNS_H

#include <stdint.h>

void turns_begin(uint64_t seed);
void turns_end(void);
/** How many turns there have been, and a hash of who has had them when. */
uint64_t turns_history(uint64_t *count);

#endif
