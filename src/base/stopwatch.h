/** Adds up how long something goes on. If several threads do it at once, that time counts once. */
#ifndef MUSTER_BASE_STOPWATCH_H
#define MUSTER_BASE_STOPWATCH_H

#include <pthread.h>
#include <stdint.h>

typedef struct mst_stopwatch {
    pthread_mutex_t lock; /**< of all that follows */
    int running;          /**< starts without a stop */
    int64_t since, total; /**< nanoseconds: the begin of the present run, and the sum of the runs before it */
} mst_stopwatch;

void mst_stopwatch_init(mst_stopwatch *watch);
void mst_stopwatch_destroy(mst_stopwatch *watch);
/** Each start has a stop, maybe by another thread. WATCH may be NULL here: nothing is measured. */
void mst_stopwatch_start(mst_stopwatch *watch);
void mst_stopwatch_stop(mst_stopwatch *watch);
/** From now on the time counts from 0. */
void mst_stopwatch_reset(mst_stopwatch *watch);
/** Nanoseconds until NOW (base/clock.h); *PRESENT: those since the last start, 0 if it is stopped. */
int64_t mst_stopwatch_read(mst_stopwatch *watch, int64_t now, int64_t *present);

#endif
