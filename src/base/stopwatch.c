#include "base/stopwatch.h"

#include "base/clock.h"

void mst_stopwatch_init(mst_stopwatch *w) {
    pthread_mutex_init(&w->lock, NULL);
    w->running = 0;
    w->since = w->total = 0;
}

void mst_stopwatch_destroy(mst_stopwatch *w) {
    pthread_mutex_destroy(&w->lock);
}

void mst_stopwatch_start(mst_stopwatch *w) {
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    if (w->running++ == 0) w->since = mst_clock_now();
    pthread_mutex_unlock(&w->lock);
}

void mst_stopwatch_stop(mst_stopwatch *w) {
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    if (--w->running == 0) w->total += mst_clock_now() - w->since;
    pthread_mutex_unlock(&w->lock);
}

void mst_stopwatch_reset(mst_stopwatch *w) {
    pthread_mutex_lock(&w->lock);
    w->since = mst_clock_now();
    w->total = 0;
    pthread_mutex_unlock(&w->lock);
}

int64_t mst_stopwatch_read(mst_stopwatch *w, int64_t now, int64_t *present) {
    pthread_mutex_lock(&w->lock);
    *present = w->running && now > w->since ? now - w->since : 0;
    const int64_t total = w->total + *present;
    pthread_mutex_unlock(&w->lock);
    return total;
}
