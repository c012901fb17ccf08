/** Threads of the library, and conditions for timed waits. */
#ifndef MUSTER_BASE_THREAD_H
#define MUSTER_BASE_THREAD_H

#include <pthread.h>

/** Starts a thread that calls RUN, as pthread_create does, and returns what that returns. It gets no signals: they are
 *  for the program's own threads. */
int mst_thread_start(pthread_t *out, void *(*run)(void *context), void *context);
/** Makes a condition for pthread_cond_timedwait with times of mst_clock_timespec (base/clock.h). */
void mst_condition_init(pthread_cond_t *condition);

#endif
