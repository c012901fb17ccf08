/** Threads that serve a transport: they run on all cores of the process, also where a bound thread starts them, and
 *  leave signals to the program's own threads. */
#ifndef MUSTER_TRANSPORT_SERVICE_THREAD_H
#define MUSTER_TRANSPORT_SERVICE_THREAD_H

#include <pthread.h>

#include "muster/status.h"

/** Starts a thread that calls RUN, to be joined by the caller. */
MST_CHECKED mst_status mst_service_thread_start(void *(*run)(void *context), void *context, pthread_t *out);

#endif
