/** An error on its way from one thread or process to another: the error record of a thread as a value of fixed size. */
#ifndef MUSTER_BASE_FAILURE_H
#define MUSTER_BASE_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_failure {
    mst_status code; /**< MST_OK: none */
    bool derived;    /**< only says that another thread failed; gives way to the cause */
    int32_t line;
    int64_t step;
    const char *file;
    char message[1024], node[256], device[256];
} mst_failure;

/** Number of errors that the calling thread has recorded so far. */
uint64_t mst_error_count(void);
/** To be called with the CODE that a function of the user returned (a kernel, a feed, a callback), and with what
 *  mst_error_count() was BEFORE it. A function may fail without recording an error; mst_error() would then show an
 *  older one, so this records an error of that code "without a message". Returns CODE. */
mst_status mst_error_complete(mst_status code, uint64_t before);

/** Copies the calling thread's error, whose code is CODE (MST_OK: there is none), to FAILURE. Where the record is of
 *  another code, a kernel has failed without a record: then the message says so. */
void mst_failure_keep(mst_failure *failure, mst_status code);
/** Makes FAILURE the calling thread's error, and returns its code. */
mst_status mst_failure_restore(const mst_failure *failure);

#endif
