/** Work that may take long, such as reading a large file: what it is, and how far it is, for a program that shows it.
 *
 *      mst_long_work_begin("reading", path, NULL, size);
 *      while (...) mst_long_work_step(done);
 *      mst_long_work_end();
 *
 *  Works nest. Only the thread that watches is told, and only of work that has taken two seconds; in other threads, and
 *  where nobody watches, these functions do nothing. */
#ifndef MUSTER_BASE_LONG_WORK_H
#define MUSTER_BASE_LONG_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

enum { MST_LONG_WORK_PATH = 256 };

#define MST_LONG_WORK_READING "reading"
#define MST_LONG_WORK_WRITING "writing"

typedef struct mst_long_work {
    const char *verb;              /**< "reading" */
    char path[MST_LONG_WORK_PATH]; /**< the file or folder, cut off if it is long, and without control characters */
    const char *unit;              /**< "files"; NULL: bytes */
    uint64_t done, total;          /**< total 0: not known */
    int64_t begun, told;           /**< times of the clock; told: 0 if it was not told yet */
} mst_long_work;

/** Called with the work that takes long, at most once a second; ENDED: it is over, after it was told before. */
typedef void (*mst_long_work_function)(void *context, const mst_long_work *work, bool ended);

/** Tells FUNCTION of the long work of the calling thread; NULL: no longer. */
MST_API void mst_long_work_watch(mst_long_work_function function, void *context);

/** Begins a work of TOTAL units (0: not known). VERB and UNIT must be constants. */
MST_API void mst_long_work_begin(const char *verb, const char *path, const char *unit, uint64_t total);
/** DONE units of the work that was begun last are done. */
MST_API void mst_long_work_step(uint64_t done);
/** The same, if that work is VERB and counts bytes. */
MST_API void mst_long_work_step_of(const char *verb, uint64_t done);
/** Ends the work that was begun last. */
MST_API void mst_long_work_end(void);

#endif
