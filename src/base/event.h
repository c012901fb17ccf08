/** A number that only rises, and threads that wait for it: first spinning for some microseconds, then asleep. */
#ifndef MUSTER_BASE_EVENT_H
#define MUSTER_BASE_EVENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** Where sleepers of many events sleep. */
typedef struct mst_bed {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    atomic_int sleepers;
    bool spin; /**< worth it only while every thread has a core */
} mst_bed;

void mst_bed_init(mst_bed *bed, bool spin);
void mst_bed_destroy(mst_bed *bed);

/** Sets *EVENT to VALUE and wakes who waits. */
void mst_event_set(mst_bed *bed, atomic_uint_fast64_t *event, uint64_t value);
/** Waits until *EVENT >= VALUE or, where CANCEL is given, *CANCEL >= VALUE. False after TIMEOUT seconds (0: never). */
bool mst_event_wait(mst_bed *bed, atomic_uint_fast64_t *event, uint64_t value, atomic_uint_fast64_t *cancel,
                    double timeout);

#endif
