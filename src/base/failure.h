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

/** Keeps the calling thread's error, whose code is CODE (MST_OK: there is none). A kernel may fail without a record:
 *  then the message says so. */
void mst_failure_keep(mst_failure *failure, mst_status code);
/** Makes it the calling thread's error; its code. */
mst_status mst_failure_restore(const mst_failure *failure);

#endif
