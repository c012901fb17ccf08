/** The thread on which a transport tells its owner what happened (mst_transport_events), in the order in which it
 *  happened. So an owner that takes long holds up no bytes, and no call of the transport calls its owner. One that is
 *  quick may be told of messages without it (mst_event_thread_direct). */
#ifndef MUSTER_TRANSPORT_EVENT_THREAD_H
#define MUSTER_TRANSPORT_EVENT_THREAD_H

#include "transport/transport.h"

typedef struct mst_event_thread mst_event_thread;

/** EVENTS is copied; tasks are numbered below NUM_TASKS. */
MST_CHECKED mst_status mst_event_thread_start(const mst_transport_events *events, int32_t num_tasks,
                                              mst_event_thread **out);
/** Waits for the call that is under way, and drops what has not been told. NULL is allowed. */
void mst_event_thread_stop(mst_event_thread *thread);

/** From now on a control message before which nothing waits is told on the thread that has received it: the owner's
 *  `control` neither waits nor calls the transport, but to post, and no lock is held there that it takes. */
void mst_event_thread_direct(mst_event_thread *thread);

/** Copies the message. False where there is no memory for it, or where more than 64 MiB of messages wait for an owner
 *  that does not take them: it is dropped. */
MST_CHECKED bool mst_event_thread_control(mst_event_thread *thread, int32_t from, uint64_t instance, const void *data,
                                          size_t bytes);
/* Without memory for one of these, the owner is told that the task was lost for that reason. */
void mst_event_thread_connected(mst_event_thread *thread, int32_t task, uint64_t instance);
void mst_event_thread_lost(mst_event_thread *thread, int32_t task, uint64_t instance, const char *why);
/** These are dropped where there is no memory for them. */
void mst_event_thread_taken(mst_event_thread *thread, int32_t by, int32_t task, const char *where);
void mst_event_thread_misfit(mst_event_thread *thread, int32_t task, const char *why);
void mst_event_thread_stranger(mst_event_thread *thread, const char *line);
void mst_event_thread_mismatch(mst_event_thread *thread, int32_t task, mst_key key, const char *why);

#endif
