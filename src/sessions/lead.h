/** The leader's side of sessions. The leader keeps track of the tasks that are there, and handles the requests of
 *  clients. It numbers the runs of all sessions, and sends them to all tasks in that order.
 *
 *  A request goes through some of these steps. In each step the leader asks some tasks, and waits for all their
 *  answers:
 *
 *      wait for tasks --> open parts --> make the plan --> run --> answer
 *                         (once)         (once per plan)
 *
 *  A run happens if all tasks that have something to do in it have voted. If a task fails before that, the run does not
 *  happen. When a task is lost, its sessions lose their parts: the next request opens them again. */
#ifndef MUSTER_SESSIONS_LEAD_H
#define MUSTER_SESSIONS_LEAD_H

#include "sessions/service.h"

MST_CHECKED mst_status mst_lead_create(mst_task_server *server, mst_lead **out);
/** NULL is allowed. */
void mst_lead_destroy(mst_lead *lead);
/** Handles a message of a client or a task. MESSAGE then belongs to the leader. */
void mst_lead_take(mst_lead *lead, mst_task_message *message);
/** The connection with a task or a client has broken for the reason WHY. */
void mst_lead_lose(mst_lead *lead, int32_t peer, const char *why);
/** Ends requests that have taken too long. Returns the time of the next call. */
int64_t mst_lead_work(mst_lead *lead, int64_t now);

#endif
