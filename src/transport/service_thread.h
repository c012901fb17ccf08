/** Threads that serve a transport. They may run on all cores of the process, even if a bound thread starts them.
 *  Signals go to the program's own threads instead. */
#ifndef MUSTER_TRANSPORT_SERVICE_THREAD_H
#define MUSTER_TRANSPORT_SERVICE_THREAD_H

#include <pthread.h>

#include "muster/status.h"

/** Starts a thread that calls RUN; the caller joins it. */
MST_CHECKED mst_status mst_service_thread_start(void *(*run)(void *context), void *context, pthread_t *out);

#endif
