#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

#include "base/signal_mask.h"

int mst_thread_start(pthread_t *out, void *(*run)(void *context), void *context) {
    sigset_t most, before;
    mst_signals_most(&most);
    pthread_sigmask(SIG_SETMASK, &most, &before); /* a new thread gets the mask of the thread that starts it */
    const int error = pthread_create(out, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void mst_thread_give_way(void) {
    const struct sched_param none = {0};
    if (sched_getscheduler(0) == SCHED_OTHER) (void)sched_setscheduler(0, SCHED_BATCH, &none);
}

void mst_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}
