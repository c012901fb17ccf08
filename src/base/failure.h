/** A saved copy of a thread's error record, to be kept on an object or restored on another thread. */
#ifndef MUSTER_BASE_FAILURE_H
#define MUSTER_BASE_FAILURE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_failure {
    mst_status code; /**< MST_OK: there is no failure */
    bool derived;    /**< only reports that another thread failed; replaced when that thread's own error arrives */
    int32_t line;
    const char *file;
    char message[1024], node[256], device[256];
} mst_failure;

/* The next three functions are in status.c, with the thread's record. muster/status.h has its public functions. */

/** mst_error_set with a va_list of arguments. */
mst_status mst_error_set_list(mst_status code, const char *file, int line, const char *format, va_list list);
/** The number of errors that the calling thread has recorded so far. */
uint64_t mst_error_count(void);
/** Call it after a user function (a kernel, a feed, a callback) has failed with CODE. BEFORE is mst_error_count() from
 *  before the call of the user function. If the user function recorded no error of this code, records one "without a
 *  message". So mst_error() does not show an older error. Returns CODE. */
mst_status mst_error_complete(mst_status code, uint64_t before);

/** Copies the calling thread's error, whose code is CODE, to FAILURE, and sets `derived` to false. If CODE is MST_OK,
 *  there is no error to copy, and FAILURE becomes empty. If the thread's record has another code, it belongs to an
 *  older error. FAILURE then gets the text "CODE, without a message". */
void mst_failure_keep(mst_failure *failure, mst_status code);
/** Makes FAILURE the calling thread's error, and returns its code. */
mst_status mst_failure_restore(const mst_failure *failure);

#endif
