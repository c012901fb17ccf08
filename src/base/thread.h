/** Threads of the library, and conditions for timed waits. */
#ifndef MUSTER_BASE_THREAD_H
#define MUSTER_BASE_THREAD_H

#include <pthread.h>

/** Starts a thread that calls RUN, as pthread_create does, and returns what that returns. The thread handles no signals
 *  except those of faults (base/signal_mask.h); the program's own threads handle the others. */
int mst_thread_start(pthread_t *out, void *(*run)(void *context), void *context);
/** From now on the calling thread, and those that it starts, do not push a thread from its core when they are woken:
 *  they wait until it sleeps or its time is up, some milliseconds at most (SCHED_BATCH). For threads that serve those
 *  that compute. If the process has another policy than the ordinary one, it keeps that. */
void mst_thread_give_way(void);
/** Makes a condition for pthread_cond_timedwait with times of mst_clock_timespec (base/clock.h). */
void mst_condition_init(pthread_cond_t *condition);

#endif
