/** What the leader of a cluster does for sessions: which tasks are there, the requests of clients, and the runs, which
 *  it numbers for all sessions and sends to all tasks in that order.
 *
 *  A request goes through some of these steps, in each of which the tasks concerned are asked and all answers awaited:
 *
 *      wait for tasks --> open parts --> make the plan --> run --> answer
 *                         (once)         (once a plan)
 *
 *  A run in which all tasks that have something to do have voted happens; one in which a task fails before does not.
 *  When a task is lost its sessions have no parts any more: the next request opens them again. */
#ifndef MUSTER_SESSIONS_LEAD_H
#define MUSTER_SESSIONS_LEAD_H

#include "sessions/service.h"

MST_CHECKED mst_status mst_lead_create(mst_task_server *server, mst_lead **out);
/** NULL is allowed. */
void mst_lead_destroy(mst_lead *lead);
/** A message of a client or a task, which is taken over. */
void mst_lead_take(mst_lead *lead, mst_parcel *parcel);
/** The connection with a task, or a client, has broken: WHY. */
void mst_lead_lose(mst_lead *lead, int32_t peer, const char *why);
/** Ends what has taken too long; returns when it is to be called next. */
int64_t mst_lead_work(mst_lead *lead, int64_t now);

#endif
