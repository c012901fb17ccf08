/** Starting threads of the library, and conditions for timed waits. */
#ifndef MUSTER_BASE_THREAD_H
#define MUSTER_BASE_THREAD_H

#include <pthread.h>

/** Starts a thread that calls RUN, and returns the result of pthread_create. The thread handles no signals
 *  except those of faults (base/signal_mask.h); the program's own threads handle the others. */
int mst_thread_start(pthread_t *out, void *(*run)(void *context), void *context);
/** From now on the calling thread, and threads that it starts, do not take a core from a running thread when they are
 *  woken. They wait until that thread sleeps or its time slice ends, some milliseconds at most (SCHED_BATCH). This is
 *  for threads that serve computing threads. If the process does not have the default scheduling policy, nothing
 *  changes. */
void mst_thread_give_way(void);
/** Makes a condition for pthread_cond_timedwait with times from mst_clock_timespec (base/clock.h). */
void mst_condition_init(pthread_cond_t *condition);

#endif
