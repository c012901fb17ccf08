/** Measures for how long something is done in total. Time in which several threads do it at once counts once. */
#ifndef MUSTER_BASE_STOPWATCH_H
#define MUSTER_BASE_STOPWATCH_H

#include <pthread.h>
#include <stdint.h>

typedef struct mst_stopwatch {
    pthread_mutex_t lock; /**< protects all that follows */
    int running;          /**< number of starts without a stop */
    int64_t since, total; /**< in nanoseconds. since: beginning of the present run; total: sum of the runs before it */
} mst_stopwatch;

void mst_stopwatch_init(mst_stopwatch *watch);
void mst_stopwatch_destroy(mst_stopwatch *watch);
/** Starts and stops. Each start needs a stop, which may be in another thread. If WATCH is NULL, nothing is measured. */
void mst_stopwatch_start(mst_stopwatch *watch);
void mst_stopwatch_stop(mst_stopwatch *watch);
/** Sets the measured time to 0. */
void mst_stopwatch_reset(mst_stopwatch *watch);
/** Nanoseconds measured until NOW (base/clock.h). *PRESENT: nanoseconds of the present run, 0 if it is stopped. */
int64_t mst_stopwatch_read(mst_stopwatch *watch, int64_t now, int64_t *present);

#endif
