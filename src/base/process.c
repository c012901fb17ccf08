#include "base/process.h"

#include <pthread.h>
#include <stdatomic.h>

/* number of forks between the first process that called mst_process_number and this one */
static _Atomic uint64_t forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void) {
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void watch_forks(void) {
    (void)pthread_atfork(NULL, NULL, count_fork);
}

uint64_t mst_process_number(void) {
    pthread_once(&once, watch_forks);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

mst_status mst_process_check(uint64_t number, const char *what) {
    if (atomic_load_explicit(&forks, memory_order_relaxed) == number) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "%s: it was made before fork(), and its threads are not in the child process: make it anew there",
                    what);
}
