/** The inside of a session whose devices are those of task servers: what its program keeps of it.
 *
 *  The leader's session has a graph that does not change. Where the program's has grown, or the leader has been started
 *  again, the next call opens another one; variables stay where they are. Calls of several threads are made one after
 *  the other. */
#ifndef MUSTER_SESSIONS_REMOTE_INSIDE_H
#define MUSTER_SESSIONS_REMOTE_INSIDE_H

#include <pthread.h>
#include <stdio.h>

#include "muster/session.h"
#include "sessions/remote_client.h"

/** A plan that the leader has. */
typedef struct mst_remote_plan {
    struct mst_remote_plan *next;
    uint64_t number;
    int num_feeds, num_fetches;
    mst_feed *feeds; /**< `value` and `spec` */
    mst_value *fetches;
    int32_t *feed_task, *fetch_task; /**< task of the cluster, -1: none */
} mst_remote_plan;

typedef struct mst_remote_session {
    mst_graph *graph;
    mst_session_options options; /**< without what belongs to the caller */
    mst_remote_client *client;
    pthread_mutex_t lock; /**< of all that follows but the devices */
    bool is_open;
    uint64_t id, graph_version, losses;
    int64_t runs;           /**< counted for random numbers */
    mst_remote_plan *plans; /**< the last used first */
    int num_plans;
    int64_t plans_made;
    char **device; /**< [num_devices] names */
    int num_devices;
} mst_remote_session;

typedef struct mst_remote_call {
    bool initial;
    bool uncounted; /**< its number for random operations is not used up */
    bool overtaken; /**< set: as of mst_session_part_finish */
} mst_remote_call;

/* All of these under the lock. */

/** Sees that the leader has a session of the present graph. */
MST_CHECKED mst_status mst_remote_prepare(mst_remote_session *session);
void mst_remote_forget(mst_remote_session *session);
/** mst_remote_client_ask of the session, with the error that the answer has: READER is behind that, in *PARCEL, the
 *  caller's. Of a run the error comes behind what follows it: FAILURE gets it (else NULL). */
MST_CHECKED mst_status mst_remote_ask(mst_remote_session *session, int32_t kind, mst_wire_writer *writer,
                                      mst_parcel **parcel, mst_wire_reader *reader, mst_failure *failure);
/** The plan of a call, which has to be the session's: from the list or new. */
MST_CHECKED mst_status mst_remote_plan_get(mst_remote_session *session, const mst_feed *feeds, int num_feeds,
                                           const mst_value *fetches, int num_fetches, mst_remote_plan **out);
void mst_remote_plans_free(mst_remote_session *session);
/** mst_session_run. */
MST_CHECKED mst_status mst_remote_run(mst_remote_session *session, mst_remote_call *call, const mst_feed *feeds,
                                      int num_feeds, const mst_value *fetches, int num_fetches, mst_tensor **outputs);

/* ---- remote_variables.c: these take the lock ---- */

MST_CHECKED mst_status mst_remote_init_variables(mst_remote_session *session);
MST_CHECKED mst_status mst_remote_get_variable(mst_remote_session *session, mst_value variable, mst_tensor **out);
MST_CHECKED mst_status mst_remote_have_values(mst_remote_session *session, const mst_value *variable, int count,
                                              unsigned char *has);
MST_CHECKED mst_status mst_remote_set_variable(mst_remote_session *session, mst_value variable,
                                               const mst_tensor *value);

#endif
