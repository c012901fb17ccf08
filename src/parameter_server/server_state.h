/** A parameter server (server_run.c). The functions of its files are in their headers, except those of small files. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_STATE_H
#define MUSTER_PARAMETER_SERVER_SERVER_STATE_H

#include "messages/task_message.h"
#include "muster/server.h"
#include "parameter_server/ps_begin.h"
#include "parameter_server/ps_message.h"
#include "parameter_server/server_begin.h"
#include "parameter_server/server_finish.h"
#include "parameter_server/server_gradients.h"
#include "parameter_server/server_leave.h"
#include "parameter_server/server_log.h"
#include "parameter_server/server_order.h"
#include "parameter_server/server_replay.h"
#include "parameter_server/server_update.h"
#include "parameter_server/server_values.h"
#include "parameter_server/server_wait.h"
#include "parameter_server/server_workers.h"

struct mst_server {
    mst_server_options options;
    mst_task_status status;
    mst_mail *mail;
    int32_t self, num_workers, chief;
    mst_server_worker *worker; /**< [num_workers] */
    int64_t *position;
    char text[200];
    /* fingerprints of the first worker that came */
    int32_t first;
    mst_fingerprint fingerprint[MST_FINGERPRINTS_MOST];
    int32_t num_fingerprints; /* 0: nobody has come */
    /* after BEGIN */
    uint32_t round; /**< 0: it has not begun */
    mst_ps_job job;
    mst_graph *graph;
    mst_session *session;
    mst_server_variable *variable;
    int32_t num_variables;
    size_t bytes;      /**< of all variables */
    size_t body_bytes; /**< of a message of all variables, if none is sparse */
    bool has_sparse;
    mst_value train;
    mst_shards *leaf;        /**< of all workers, from left to right */
    int32_t *first_leaf;     /**< [num_workers + 1] */
    mst_array *terms;        /**< [2 * leaves]: of the variable that is being added up */
    mst_server_piece *piece; /**< [leaves][num_variables]: of the workers whose gradients are there */
    void *workspace;         /**< for the sums of rows */
    mst_feed *feed;
    int32_t num_feeds;
    char *zero; /**< zeros: used as gradients of a worker that is not waited for */
    int64_t num_dropped, num_applied, total_staleness, most_staleness;
    int64_t staleness[MST_STALENESS_COUNTS]; /**< counts since BEGIN (parameter_server/ps_message.h) */
    int64_t step;
    int64_t waits_since; /**< when the first gradients of this step came; 0: none are there */
    int64_t warned;      /**< when the last warning about a long wait was written; 0: none was */
    double waited;       /**< seconds of waiting, as of then or later */
    int64_t said;
    int64_t said_missing; /**< when the log last said for whom the finished workers wait */
    bool has_said_missing;
    int64_t parts;              /**< since when all have done their work; 0: not yet */
    mst_server_values value;    /**< at step value_step */
    mst_server_values previous; /**< before the last update; unused in an asynchronous job without sparse variables */
    int64_t value_step;
    /** Messages with which an update has failed; freed with the session, which may still read them. */
    mst_task_message *failed;
    mst_server_order order;
    mst_update_writer update_log;
    mst_update_log *replay; /**< the log that is replayed. NULL: none, or not yet read */
    int64_t finished;       /**< number of trainings that all workers have finished */
    bool stops;             /**< the chief's callbacks have ended the training: workers hear so with their values */
    mst_snapshot *kept;     /**< what the chief's callbacks keep; NULL before BEGIN */
    uint64_t instructions;  /**< of oneDNN that workers have been told to use; 0: none have been told */
    bool is_closed;         /**< the chief has the last state of this round, after which no update is made */
    int64_t leaves_since;   /**< when this server has said that it leaves; 0: it has not */
    bool may_leave;         /**< the chief has its state */
    bool is_left;           /**< the job ends because a task stays away: the chief may still ask for the state */
    bool ended;
};

/** Writes a line to the log. */
void mst_server_say(mst_server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** "worker:1 at localhost:2223"; valid until the next call. */
const char *mst_server_name(mst_server *s, int32_t task);
/** Does what *MESSAGE of a worker asks. Sets *MESSAGE to NULL if it is kept. */
MST_CHECKED mst_status mst_server_take_request(mst_server *s, mst_task_message **message);
/** Sends worker TO a message of KIND, FAILED or NOTICE, with TEXT. REQUEST: the one that it answers; 0: none. */
MST_CHECKED mst_status mst_server_send_line(mst_server *s, int32_t kind, int32_t to, uint64_t request,
                                            const char *text);

/* ---- server_rate.c ---- */

/** Answers MESSAGE of kind RATE with the learning rate, after setting it if MESSAGE has a new one. */
MST_CHECKED mst_status mst_server_take_rate(mst_server *s, const mst_task_message *message);

/* ---- server_agree.c ---- */

/** Takes MESSAGE of kind AGREE. It is answered when all workers have come. */
MST_CHECKED mst_status mst_server_take_agree(mst_server *s, const mst_task_message *message);
/** Answers the workers that wait for that, if all have come. */
MST_CHECKED mst_status mst_server_agree(mst_server *s);
/** Whether a worker with these INSTRUCTIONS lacks some of those with which the others train. */
bool mst_server_lacks_instructions(const mst_server *s, uint64_t instructions);

/* ---- server_kept.c ---- */

/** Answers MESSAGE of kind KEPT. */
MST_CHECKED mst_status mst_server_take_kept(mst_server *s, const mst_task_message *message);

#endif
