/** Errands: work of backends that nobody can cancel and that may never end, such as compiling. An errand has a thread
 *  of its own. Who waits for it leaves at a deadline, and who needs it no more leaves it at once. */
#ifndef MUSTER_RUN_ERRAND_H
#define MUSTER_RUN_ERRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_errand mst_errand;

/** What an errand does. All functions get its context, to which nothing else may refer when it has been left. */
typedef struct mst_errand_type {
    mst_status (*work)(void *context); /**< on the errand's thread */
    void (*release)(void *context);    /**< frees the context when the work has ended and the errand was left */
} mst_errand_type;

/** What the work itself waits for, if that is outside of this process. Both functions are called on the threads that
 *  wait for the errand, under a lock of the errand, and must not wait. */
typedef struct mst_errand_watch {
    /** An error, which is then the calling thread's: nobody is to wait now, and who does leaves with this error. The
     *  work goes on, and may be waited for again. */
    mst_status (*check)(void *context);
    /** Writes what the work waits for, as half a sentence; or "". */
    void (*tell)(void *context, char *text, size_t size);
    void *context;
} mst_errand_watch;

/** Starts the work. CONTEXT is then the errand's; if this fails, it is still the caller's. */
MST_CHECKED mst_status mst_errand_start(const mst_errand_type *type, void *context, mst_errand **out);
/** Waits until the work has ended, at most until DEADLINE (base/clock.h). The status and the error are those of the
 *  work, each time; MST_DEADLINE if it has not ended. The message says that WHAT has failed: "compiling 'dense'", and
 *  for what the work waits. The error may be that of the work's watch. Several threads may call it at once. If it
 *  succeeds, the caller sees all that the work has written. */
MST_CHECKED mst_status mst_errand_wait(mst_errand *errand, int64_t deadline, const char *what);
/** Leaves the errand: its work may go on for ever. No thread may be waiting for it. NULL is allowed. */
void mst_errand_leave(mst_errand *errand);
/** Whether who waits for errands has been asked to stop. ASKED is called several times a second, by several threads. */
typedef struct mst_errand_stop {
    bool (*asked)(void *context);
    void *context;
} mst_errand_stop;
/** From now on the calling thread's waits for errands end with MST_CANCELLED if STOP says so; NULL: they do not. The
 *  work goes on. STOP must stay until the thread gets another one. */
void mst_errand_set_stop(const mst_errand_stop *stop);
/** From now on WATCH says whether others may wait for the errand whose thread is the calling one; NULL: they may.
 *  Returns when the watch before is not used any more. On other threads it does nothing. */
void mst_errand_set_watch(const mst_errand_watch *watch);

#endif
