/** Executables of a task (run/executables.h), which it shares with the other workers, so that a job compiles each text
 *  once. Messages: messages/executable_message.h.
 *
 *  One task gives them to all: the source of the generation (membership/members.h), since it was there before, and so
 *  has what was used before; until the first generation, the chief. It compiles what neither it nor its disk has. All
 *  others ask it for each executable that they use first, also for one that their own disk has: theirs may have been
 *  compiled another time. What a task gets it keeps, in memory and on its disk, and gives it when it is asked itself.
 *  The source also offers what it has to the task that would be the next source. After a loss, the source asks the
 *  others before it compiles: they may have what the source before has given them.
 *
 *  A wait for another task has no end of its own: who waits for the errand (run/errand.h) leaves at its deadline, or
 *  when the generation ends. The errand goes on, and asks the source of the next generation. */
#ifndef MUSTER_TASK_TASK_EXECUTABLES_H
#define MUSTER_TASK_TASK_EXECUTABLES_H

#include "base/failure.h"
#include "run/executables.h"

typedef struct mst_task_executables mst_task_executables;

typedef struct mst_task_executables_options {
    int32_t num_tasks, self;
    int32_t chief;           /**< gives executables until the first generation begins */
    const char *const *name; /**< [num_tasks]; "worker:1" */
    /** Seconds without a connection to the chief, before the first generation, after which a task compiles itself. */
    double patience;
    /** Sends a control message. Called under a lock of the executables; not called after they were closed. */
    mst_status (*send)(void *context, int32_t to, const void *data, size_t bytes);
    void *context; /**< of `send`; it and the names must stay until the executables are closed */
} mst_task_executables_options;

/** Makes the executables of a task. Nothing is sent or received before mst_task_executables_open. */
MST_CHECKED mst_status mst_task_executables_create(const mst_task_executables_options *options,
                                                   mst_task_executables **out);
/** `send` may be called from now on; with SHARES, mst_executable_make of this process uses these executables. */
void mst_task_executables_open(mst_task_executables *x, bool shares);
/** Calls under way end with MST_CANCELLED, except those that compile. NULL is allowed, here and below. */
void mst_task_executables_close(mst_task_executables *x);
/** Frees them when the last call has ended; they must be closed. */
void mst_task_executables_release(mst_task_executables *x);

/** As mst_executable_make. */
MST_CHECKED mst_status mst_task_executables_make(mst_task_executables *x, const mst_executable_order *order,
                                                 void **data, size_t *size);

/** Events of the transport. */
void mst_task_executables_received(mst_task_executables *x, int32_t from, const void *data, size_t bytes);
void mst_task_executables_connected(mst_task_executables *x, int32_t task);
void mst_task_executables_lost(mst_task_executables *x, int32_t task);
/** A generation of these members begins, whose source gives the executables. */
void mst_task_executables_begin(mst_task_executables *x, int32_t source, const int32_t *member, int32_t num_members);
/** It has ended by FAILURE: until the next one, nobody waits for other tasks. */
void mst_task_executables_end(mst_task_executables *x, const mst_failure *failure);
/** The job has ended, with FAILURE or, if that is NULL, well: from now on this task compiles itself. */
void mst_task_executables_finish(mst_task_executables *x, const mst_failure *failure);

#endif
