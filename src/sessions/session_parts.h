/** The parts of sessions in a task server (run/part.h). There is one part for each session, with a thread for work that
 *  may take long. */
#ifndef MUSTER_SESSIONS_SESSION_PARTS_H
#define MUSTER_SESSIONS_SESSION_PARTS_H

#include "sessions/service.h"

MST_CHECKED mst_status mst_session_parts_create(mst_task_server *server, mst_session_parts **out);
/** Ends all parts, and waits for them. NULL is allowed. */
void mst_session_parts_destroy(mst_session_parts *parts);
/** Ends all parts, because the leader is lost for the reason WHY. */
void mst_session_parts_drop(mst_session_parts *parts, const char *why);
/** Takes MESSAGE, which the leader has sent to a part; it then belongs to PARTS. Call it for messages in the order in
 *  which they were sent. */
void mst_session_parts_take(mst_session_parts *parts, mst_task_message *message);
/** Takes MESSAGE, a value that the part of another task has sent. */
void mst_session_parts_take_value(mst_session_parts *parts, const mst_task_message *message);

#endif
