#include "base/event.h"

#include <math.h>
#include <time.h>

/* About 50 microseconds: longer than the difference of two devices' work in most steps, shorter than a wake-up costs.
 */
enum { SPINS = 2000 };

static void pause_spin(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void mst_bed_init(mst_bed *bed, bool spin) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&bed->mutex, NULL);
    pthread_cond_init(&bed->condition, &attributes);
    pthread_condattr_destroy(&attributes);
    atomic_init(&bed->sleepers, 0);
    bed->spin = spin;
}

void mst_bed_destroy(mst_bed *bed) {
    pthread_mutex_destroy(&bed->mutex);
    pthread_cond_destroy(&bed->condition);
}

/* Both sides use sequential consistency: either the setter sees the sleeper, or the sleeper sees the value. */
void mst_event_set(mst_bed *bed, atomic_uint_fast64_t *event, uint64_t value) {
    atomic_store(event, value);
    if (atomic_load(&bed->sleepers) == 0) return;
    pthread_mutex_lock(&bed->mutex);
    pthread_cond_broadcast(&bed->condition);
    pthread_mutex_unlock(&bed->mutex);
}

static bool come(atomic_uint_fast64_t *event, uint64_t value, atomic_uint_fast64_t *cancel) {
    return atomic_load(event) >= value || (cancel && atomic_load(cancel) >= value);
}

static bool sleep_until(mst_bed *bed, atomic_uint_fast64_t *event, uint64_t value, atomic_uint_fast64_t *cancel,
                        double timeout) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double whole = floor(timeout), nanoseconds = (timeout - whole) * 1e9 + (double)until.tv_nsec;
    until.tv_sec += (time_t)whole + (nanoseconds >= 1e9);
    until.tv_nsec = (long)(nanoseconds >= 1e9 ? nanoseconds - 1e9 : nanoseconds);
    pthread_mutex_lock(&bed->mutex);
    atomic_fetch_add(&bed->sleepers, 1);
    int late = 0;
    while (!late && !come(event, value, cancel))
        late = timeout > 0 ? pthread_cond_timedwait(&bed->condition, &bed->mutex, &until)
                           : pthread_cond_wait(&bed->condition, &bed->mutex);
    atomic_fetch_sub(&bed->sleepers, 1);
    pthread_mutex_unlock(&bed->mutex);
    return come(event, value, cancel);
}

bool mst_event_wait(mst_bed *bed, atomic_uint_fast64_t *event, uint64_t value, atomic_uint_fast64_t *cancel,
                    double timeout) {
    for (int i = 0; i < (bed->spin ? SPINS : 1); i++) {
        if (come(event, value, cancel)) return true;
        pause_spin();
    }
    return sleep_until(bed, event, value, cancel, timeout);
}
