/** Executables that a task shares with the other workers, so that a job compiles each program once (run/executables.h).
 *  Messages: messages/executable_message.h.
 *
 *  One task gives executables to all others. Until the first generation it is the chief. In a generation it is the
 *  source (membership/members.h), because the source has the executables of earlier generations. It compiles programs
 *  for which neither its memory nor its disk has an executable.
 *
 *  Each other task asks it for an executable before the first use. The task asks even if its own disk has one, because
 *  that one may come from another compilation. A task keeps each executable that it gets, in memory and on disk, and
 *  gives it to others that ask. The source offers its executables to the task that would be the next source. After a
 *  loss, the new source asks the other tasks before it compiles: they may have executables of the previous source.
 *
 *  A wait for another task has no time limit of its own. A thread that waits for the errand (run/errand.h) gives up at
 *  its deadline, or when the generation ends. The errand goes on, and asks the source of the next generation. */
#ifndef MUSTER_TASK_TASK_EXECUTABLES_H
#define MUSTER_TASK_TASK_EXECUTABLES_H

#include "base/failure.h"
#include "run/executables.h"

typedef struct mst_task_executables mst_task_executables;

typedef struct mst_task_executables_options {
    int32_t num_tasks, self;
    int32_t chief;           /**< gives executables until the first generation begins */
    const char *const *name; /**< [num_tasks]; "worker:1" */
    /** Before the first generation: after so many seconds without a connection to the chief, this task compiles its
     *  programs by itself. */
    double patience;
    /** Sends a control message. Called under a lock of the executables; not called after they were closed. */
    mst_status (*send)(void *context, int32_t to, const void *data, size_t bytes);
    void *context; /**< of `send`; it and the names must stay until the executables are closed */
} mst_task_executables_options;

/** Makes the executables of a task. Nothing is sent or received before mst_task_executables_open. */
MST_CHECKED mst_status mst_task_executables_create(const mst_task_executables_options *options,
                                                   mst_task_executables **out);
/** From now on `send` may be called. With SHARES, mst_executable_make of this process shares executables here. */
void mst_task_executables_open(mst_task_executables *x, bool shares);
/** Ends calls under way with MST_CANCELLED, except those that compile. NULL is allowed, here and below. */
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
/** The generation has ended by FAILURE: until the next one begins, no call waits for other tasks. */
void mst_task_executables_end(mst_task_executables *x, const mst_failure *failure);
/** The job has ended, with FAILURE, or successfully if that is NULL. From now on this task compiles its
 *  programs by itself. */
void mst_task_executables_finish(mst_task_executables *x, const mst_failure *failure);

#endif
