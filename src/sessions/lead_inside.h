/** The inside of the leader, shared by its files: tasks, sessions, their plans and requests. Used only by the thread of
 *  the task server. */
#ifndef MUSTER_SESSIONS_LEAD_INSIDE_H
#define MUSTER_SESSIONS_LEAD_INSIDE_H

#include "sessions/lead.h"

typedef struct mst_lead_task {
    bool is_there;  /**< the task has said HELLO */
    bool joins;     /**< it has said JOINS since its HELLO */
    uint64_t hello; /**< number of its last HELLO */
    uint32_t sent;  /**< number of messages sent to it since that HELLO */
    mst_task_devices devices;
} mst_lead_task;

typedef struct mst_lead_plan {
    struct mst_lead_plan *next;
    uint64_t number;
    void *body; /**< body of the request PLAN */
    size_t bytes;
    bool is_made;           /**< the present parts have made it */
    bool commits, has_step; /**< as in mst_session_part_plan_info */
    bool has_hash;
    uint64_t hash; /**< as in mst_session_part_plan_info, from the first task that has answered */
    int32_t num_tasks, num_feeds, num_fetches, num_runs_on;
    bool *runs_on;                   /**< by task of the cluster: whether the plan runs there */
    int32_t *feed_task, *fetch_task; /**< task that needs the feed, task that gives the fetch; -1: none */
    char **made;                     /**< by task of the cluster: its lines of the plan log; NULL: none, or sent */
    char *log;                       /**< lines of the placement log, for the answer; NULL: none, or already sent */
} mst_lead_plan;

typedef enum mst_lead_stage {
    MST_LEAD_IDLE, /**< no request */
    MST_LEAD_WAITS_FOR_TASKS,
    MST_LEAD_OPENS,
    MST_LEAD_PLANS,
    MST_LEAD_RUNS,
    MST_LEAD_STATES
} mst_lead_stage;

/** A run under way. */
typedef struct mst_lead_run {
    uint64_t number;
    bool counts;    /**< if it happens, it is counted for random numbers */
    bool decided;   /**< the tasks have been told whether it happens */
    bool overtaken; /**< as in mst_session_part_finish */
    bool *voted;    /**< by task of the cluster: whether it has voted */
    int32_t num_voted;
    mst_tensor **output; /**< [num_fetches] */
} mst_lead_run;

typedef struct mst_lead_session {
    struct mst_lead_session *next;
    mst_lead *lead;
    uint64_t id;
    int32_t client; /**< number of its client among the peers of the mail */
    mst_open_message open;
    mst_task_message *opening; /**< the request OPEN, which has the graph */
    bool is_open;              /**< all tasks have a part */
    bool is_broken;            /**< the parts are of no use any more, and must be closed */
    int64_t runs;              /**< number of runs counted for random numbers */
    uint64_t last_plan;        /**< number of the plan made last */
    mst_lead_plan *plans;
    /* of the request */
    mst_lead_stage stage;
    mst_task_message *request;
    int64_t deadline;
    uint64_t ticket; /**< ticket of the awaited answers */
    bool *awaits;    /**< by task of the cluster: whether its answer is awaited */
    int32_t num_awaited;
    mst_failure failure; /**< code MST_OK: none yet */
    mst_lead_plan *plan;
    mst_lead_run run;
    unsigned char *has; /**< for STATE: whether each entry has a value */
    size_t num_entries;
} mst_lead_session;

struct mst_lead {
    mst_task_server *server;
    int32_t num_tasks;
    mst_lead_task *task;
    mst_lead_session *sessions;
    uint64_t last_session, last_ticket, last_run; /**< the numbers given last */
    bool told_end;                                /**< the tasks have been told that the job is over */
    int64_t next_complaint;                       /**< when the log says again for whom the leader waits */
};

/* ---- tasks: lead_tasks.c ---- */

bool mst_lead_has_all(const mst_lead *lead);
/** Writes the names of the missing tasks to TEXT of SIZE bytes, which is returned. */
const char *mst_lead_missing(const mst_lead *lead, char *text, size_t size);
/** Sends a message of KIND to TASK, if it is there. Its body is the body of WRITER, then BODY; both may be NULL. */
void mst_lead_send(mst_lead *lead, int32_t task, int32_t kind, uint64_t session, uint64_t step,
                   const mst_wire_writer *writer, const void *body, size_t bytes);
void mst_lead_take_hello(mst_lead *lead, const mst_task_message *message);
void mst_lead_take_join(mst_lead *lead, const mst_task_message *message);
/** If the job is over, tells all tasks so. */
void mst_lead_end_job(mst_lead *lead);

/* ---- sessions: lead_session.c ---- */

void mst_lead_take_request(mst_lead *lead, mst_task_message *message);
void mst_lead_take_answer(mst_lead *lead, const mst_task_message *message);
mst_lead_session *mst_lead_find_session(mst_lead *lead, int64_t id);
/** Continues the request of a session that waits for no answer. */
void mst_lead_go_on(mst_lead_session *session);
/** TASK has answered, or will not answer. Returns whether it was the last one awaited. */
bool mst_lead_has_answered(mst_lead_session *session, int32_t task);
/** Begins STAGE: from now on it awaits an answer of each task that mst_lead_await names. */
void mst_lead_begin_stage(mst_lead_session *session, mst_lead_stage stage);
void mst_lead_await(mst_lead_session *session, int32_t task);
/** Keeps FAILURE if the session has no failure yet, or if FAILURE is not derived and the present one is. */
void mst_lead_keep_failure(mst_lead_session *session, const mst_failure *failure);
/** Keeps the calling thread's error, of code STATUS, as mst_lead_keep_failure does. */
void mst_lead_keep_error(mst_lead_session *session, mst_status status);
/** Stops waiting for answers. */
void mst_lead_stop_waiting(mst_lead_session *session);
/** The connection with TASK is lost, as FAILURE says. */
void mst_lead_session_lose(mst_lead_session *session, int32_t task, const mst_failure *failure);
/** Closes the parts of SESSION and frees it. */
void mst_lead_session_end(mst_lead_session *session);
/** Ends a request that has taken too long. Returns the time at which it will have taken too long. */
int64_t mst_lead_session_work(mst_lead_session *session, int64_t now);

/* ---- plans: lead_plan.c ---- */

/** Makes the plan of MESSAGE, a request PLAN. */
MST_CHECKED mst_status mst_lead_plan_create(mst_lead_session *session, const mst_task_message *message,
                                            mst_lead_plan **out);
void mst_lead_plan_free(mst_lead_plan *plan);
mst_lead_plan *mst_lead_plan_find(mst_lead_session *session, uint64_t number);
void mst_lead_plan_forget(mst_lead_session *session, uint64_t number);
/** Asks all tasks for their parts of the session's plan. */
void mst_lead_plan_begin(mst_lead_session *session);
/** Takes what TASK reports about its plan; READER is after the error MST_OK. */
MST_CHECKED mst_status mst_lead_plan_take(mst_lead_session *session, int32_t task, mst_wire_reader *reader);
void mst_lead_plan_put(const mst_lead_session *session, const mst_lead_plan *plan, mst_wire_writer *writer);

/* ---- runs: lead_run.c ---- */

/** Begins the run of the session's request. */
void mst_lead_run_begin(mst_lead_session *session);
/** Decides that the run does not happen, because of the session's failure, if nothing is decided yet. */
void mst_lead_run_refuse(mst_lead_session *session);
void mst_lead_run_take_vote(mst_lead *lead, const mst_task_message *message);
void mst_lead_run_take_done(mst_lead *lead, const mst_task_message *message);
/** Writes the results of the run, after the error MST_OK. */
void mst_lead_run_put(const mst_lead_session *session, mst_wire_writer *writer);
/** Frees what the run of a request has allocated. */
void mst_lead_run_end(mst_lead_session *session);

#endif
