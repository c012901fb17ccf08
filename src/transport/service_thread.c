#include "transport/service_thread.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "base/thread.h"
#include "device/device.h"

typedef struct service {
    void *(*run)(void *context);
    void *context;
} service;

static void *run_service(void *context) {
    const service s = *(service *)context;
    free(context);
    mst_unbind_thread();
    mst_thread_give_way();
    return s.run(s.context);
}

mst_status mst_service_thread_start(void *(*run)(void *context), void *context, pthread_t *out) {
    service *s = malloc(sizeof *s);
    if (!s) return MST_NO_MEMORY("for a thread of a transport");
    *s = (service){run, context};
    if (!mst_thread_start(out, run_service, s)) return MST_OK;
    free(s);
    return MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a thread of a transport: allow more threads (ulimit -u)");
}
