/** The thread on which a transport calls its owner (mst_transport_events), in the order of the events. A slow owner
 *  therefore does not hold up the receiving of bytes, and no function of the transport calls the owner. An owner that
 *  handles messages quickly can receive them without this thread (mst_event_thread_direct). */
#ifndef MUSTER_TRANSPORT_EVENT_THREAD_H
#define MUSTER_TRANSPORT_EVENT_THREAD_H

#include "transport/transport.h"

typedef struct mst_event_thread mst_event_thread;

/** EVENTS is copied; tasks are numbered below NUM_TASKS. */
MST_CHECKED mst_status mst_event_thread_start(const mst_transport_events *events, int32_t num_tasks,
                                              mst_event_thread **out);
/** Waits for the call that is under way, and drops the remaining events. NULL is allowed. */
void mst_event_thread_stop(mst_event_thread *thread);

/** From now on the thread that has received a control message calls the owner itself, if no earlier event waits. The
 *  owner's `control` must not wait, and must call no function of the transport except `post`. It must take no lock that
 *  the receiving thread may hold. */
void mst_event_thread_direct(mst_event_thread *thread);

/** Copies the message. False: the message is dropped. There is no memory for it, or the owner is so slow that more than
 *  64 MiB of messages wait. */
MST_CHECKED bool mst_event_thread_control(mst_event_thread *thread, int32_t from, uint64_t instance, const void *data,
                                          size_t bytes);
/* If there is no memory for one of these two events, the owner is told that the task was lost for that reason. */
void mst_event_thread_connected(mst_event_thread *thread, int32_t task, uint64_t instance);
void mst_event_thread_lost(mst_event_thread *thread, int32_t task, uint64_t instance, const char *why);
/** These events are dropped if there is no memory for them. */
void mst_event_thread_taken(mst_event_thread *thread, int32_t by, int32_t task, const char *where);
void mst_event_thread_list_mismatch(mst_event_thread *thread, int32_t task, const char *why);
void mst_event_thread_stranger(mst_event_thread *thread, const char *line);
void mst_event_thread_mismatch(mst_event_thread *thread, int32_t task, mst_key key, const char *why);

#endif
