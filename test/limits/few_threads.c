/* For LD_PRELOAD: simulates a system that has no more threads. Calls of pthread_create after the first FEW_THREADS
 * fail with EAGAIN, as at a limit of processes (ulimit -u). That limit itself does not hold for root. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread,
                                                          const pthread_attr_t *restrict attributes,
                                                          void *(*run)(void *), void *restrict context) {
    static atomic_int calls;
    const char *few = getenv("FEW_THREADS");
    if (few && atomic_fetch_add(&calls, 1) >= atoi(few)) return EAGAIN;
    create *next;
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return next(thread, attributes, run, context);
}
