/** Progress of work that may take long, such as reading a large file, for a program that shows it.
 *
 *      mst_long_work_begin("reading", path, NULL, size);
 *      while (...) mst_long_work_step(done);
 *      mst_long_work_end();
 *
 *  Works may be nested. A thread sets a function with mst_long_work_watch. The function is called only for work of this
 *  thread that has taken at least two seconds. In a thread without such a function, the functions below do nothing. */
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
    const char *unit;              /**< what `done` and `total` count: "files"; NULL: bytes */
    uint64_t done, total;          /**< total 0: not known */
    int64_t begun, told;           /**< times of mst_clock_now: of the begin, and of the last call of the function that
                                        watches (0: none yet) */
} mst_long_work;

/** Called with the work that takes long, at most once a second. ENDED: the work is over. This last call is made only if
 *  there was an earlier one for the same work. */
typedef void (*mst_long_work_function)(void *context, const mst_long_work *work, bool ended);

/** Lets FUNCTION be called with CONTEXT for long work of the calling thread, in that thread. NULL ends this. */
MST_API void mst_long_work_watch(mst_long_work_function function, void *context);

/** Begins a work of TOTAL units (0: not known). VERB and UNIT must be constants. */
MST_API void mst_long_work_begin(const char *verb, const char *path, const char *unit, uint64_t total);
/** Reports that DONE units in total of the innermost work are done. May call the function that watches. */
MST_API void mst_long_work_step(uint64_t done);
/** The same if the innermost work was begun with VERB and counts bytes; otherwise does nothing. */
MST_API void mst_long_work_step_of(const char *verb, uint64_t done);
/** Ends the innermost work. */
MST_API void mst_long_work_end(void);

#endif
