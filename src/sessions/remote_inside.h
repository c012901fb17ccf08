/** The inside of a session whose devices belong to task servers: its state in the program.
 *
 *  The graph of the leader's session does not change. If the program's graph has grown, or the leader has been started
 *  again, the next call opens another session of the leader. Variables stay in the stores of their tasks. Calls of
 *  several threads are made one after another. */
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
    mst_feed *feeds; /**< only `value` and `spec` */
    mst_value *fetches;
    int32_t *feed_task, *fetch_task; /**< task that needs the feed, task that gives the fetch; -1: none */
} mst_remote_plan;

typedef struct mst_remote_session {
    mst_graph *graph;
    mst_session_options options; /**< without pointers that belong to the caller */
    mst_remote_client *client;
    pthread_mutex_t lock; /**< guards all members after it except the devices */
    bool is_open;
    uint64_t id;            /**< number of the leader's session */
    uint64_t graph_version; /**< version of the graph of that session */
    uint64_t losses;        /**< mst_remote_client_losses at the last mst_remote_prepare */
    int64_t runs;           /**< number of runs counted for random numbers */
    mst_remote_plan *plans; /**< the last used one first */
    int num_plans;
    int64_t plans_made;
    char **device; /**< [num_devices] names */
    int num_devices;
} mst_remote_session;

typedef struct mst_remote_call {
    bool initial;   /**< it gives variables their first values */
    bool uncounted; /**< it is not counted for random numbers */
    bool overtaken; /**< result, as in mst_session_part_finish */
} mst_remote_call;

/* All of these are called under the lock. */

/** Makes sure that the leader has a session of the present graph. */
MST_CHECKED mst_status mst_remote_prepare(mst_remote_session *session);
/** Closes the leader's session if one is open, and frees its plans. */
void mst_remote_forget(mst_remote_session *session);
/** Asks for SESSION, as mst_remote_client_ask does. If the answer is an error, fails with it, and *MESSAGE is freed.
 *  For a run give FAILURE: it gets the error (MST_OK: none), and the call succeeds, because more data follow. After
 *  MST_OK READER stands after the error in *MESSAGE, which the caller frees. */
MST_CHECKED mst_status mst_remote_ask(mst_remote_session *session, int32_t kind, mst_wire_writer *writer,
                                      mst_task_message **message, mst_wire_reader *reader, mst_failure *failure);
/** The plan of a call, which must belong to the session: from the list, or a new one. */
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
