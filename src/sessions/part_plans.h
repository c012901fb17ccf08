/** The plans of a part of a session, by the numbers that the leader has given them. The thread of the part makes and
 *  forgets them; the thread of the task server finds them. */
#ifndef MUSTER_SESSIONS_PART_PLANS_H
#define MUSTER_SESSIONS_PART_PLANS_H

#include <pthread.h>
#include <stdio.h>

#include "run/part.h"
#include "sessions/wire_body.h"

typedef struct mst_session_part_plan mst_session_part_plan;

/** A log that the session writes. Its text goes to the client with each plan. */
typedef struct mst_session_part_log {
    FILE *file; /**< NULL: the client has not asked for it */
    char *text;
    size_t bytes;
} mst_session_part_log;

/** Zero-initialised, it is unused. */
typedef struct mst_session_part_plans {
    bool is_used;
    pthread_mutex_t lock;
    mst_session_part_plan *first;
    mst_session_part_log placements, made; /**< placement log, plan log */
} mst_session_part_plans;

/** LOGS: the client has asked for the placement log; WANTS_PLANS: for the plan log. */
MST_CHECKED mst_status mst_session_part_plans_init(mst_session_part_plans *plans, bool logs, bool wants_plans);
/** Drops all plans. The logs stay open as long as SESSION writes to them, until mst_session_part_plans_close_logs. */
void mst_session_part_plans_free(mst_session_part_plans *plans, mst_session *session);
void mst_session_part_plans_close_logs(mst_session_part_plans *plans);

/** Makes plan NUMBER from what READER has, as in PLAN of session_message.h. OUT gets the answer. */
MST_CHECKED mst_status mst_session_part_plans_make(mst_session_part_plans *plans, mst_session *session,
                                                   const mst_graph *graph, uint64_t number, int32_t num_tasks,
                                                   mst_wire_reader *reader, mst_wire_writer *out);
void mst_session_part_plans_forget(mst_session_part_plans *plans, mst_session *session, uint64_t number);
/** Finds plan NUMBER, which must have NUM_FEEDS feeds; valid until it is forgotten. */
MST_CHECKED mst_status mst_session_part_plans_find(mst_session_part_plans *plans, uint64_t number, int32_t num_feeds,
                                                   struct mst_cached_plan **out, int32_t *num_fetches);

#endif
