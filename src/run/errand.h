/** Errands: work of backends that cannot be cancelled and may never end, such as compiling. An errand has a thread of
 *  its own. A thread that waits for it gives up at a deadline. An owner that no longer needs it abandons it at once. */
#ifndef MUSTER_RUN_ERRAND_H
#define MUSTER_RUN_ERRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_errand mst_errand;

/** What an errand does. The functions get its context. After mst_errand_leave nothing else may refer to the context. */
typedef struct mst_errand_type {
    mst_status (*work)(void *context); /**< on the errand's thread */
    void (*release)(void *context);    /**< frees the context; called when the work has ended and the errand was left */
} mst_errand_type;

/** For work that waits for something outside of this process. Both functions are called on the threads that wait for
 *  the errand, under a lock of the errand, and must not wait themselves. */
typedef struct mst_errand_watch {
    /** Returns an error, and sets it for the thread, if no thread should wait now. Threads that are waiting then stop
     *  waiting, with this error. The work goes on, and threads may wait for it again later. */
    mst_status (*check)(void *context);
    /** Writes what the work waits for, as half a sentence; or "". */
    void (*tell)(void *context, char *text, size_t size);
    void *context;
} mst_errand_watch;

/** Starts the work. CONTEXT then belongs to the errand; if this fails, it still belongs to the caller. */
MST_CHECKED mst_status mst_errand_start(const mst_errand_type *type, void *context, mst_errand **out);
/** Waits until the work has ended, at most until DEADLINE (base/clock.h). Each call returns the status and the error of
 *  the work. MST_DEADLINE if the work has not ended: the message names WHAT, such as "compiling 'dense'", and says what
 *  the work waits for. The error may also be that of the work's watch. Several threads may wait at once. If the wait
 *  succeeds, the caller sees everything that the work has written. */
MST_CHECKED mst_status mst_errand_wait(mst_errand *errand, int64_t deadline, const char *what);
/** Abandons the errand, whose work may go on forever. No thread may be waiting for it. NULL is allowed. */
void mst_errand_leave(mst_errand *errand);
/** Tells whether threads that wait for errands should stop. ASKED is called several times a second, by several
 *  threads. */
typedef struct mst_errand_stop {
    bool (*asked)(void *context);
    void *context;
} mst_errand_stop;
/** From now on, waits of the calling thread for errands end with MST_CANCELLED if STOP says so; NULL: they do not. The
 *  work goes on. STOP must stay valid until the thread sets another one. */
void mst_errand_set_stop(const mst_errand_stop *stop);
/** To be called by the work of an errand: from now on WATCH says whether threads may wait for this errand; NULL: they
 *  may. Returns when the previous watch is no longer used. On other threads it does nothing. */
void mst_errand_set_watch(const mst_errand_watch *watch);

#endif
