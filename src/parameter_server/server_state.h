/** A parameter server (server_run.c), and the functions of its files. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_STATE_H
#define MUSTER_PARAMETER_SERVER_SERVER_STATE_H

#include "base/shard_tree.h"
#include "cluster/fingerprint.h"
#include "messages/task_message.h"
#include "muster/op.h"
#include "muster/server.h"
#include "muster/session.h"
#include "parameter_server/ps_begin.h"
#include "parameter_server/ps_message.h"
#include "parameter_server/update_log.h"

/** What the server knows of a worker. */
typedef struct mst_server_worker {
    uint64_t instance;           /**< 0: it has not come yet */
    uint64_t request;            /**< the last request of this instance: answers have its number */
    bool waits;                  /**< for the first values */
    bool finished;               /**< it has made its last step of a training, and waits for the others */
    bool has_state;              /**< the chief: it has finished, and has all state */
    bool left;                   /**< it has done its work, or is given up */
    bool gone;                   /**< it knows that all have done their work, and no longer needs this server */
    int64_t lost;                /**< since when it is lost; 0: it is not */
    char why[200];               /**< why it is lost */
    int64_t kept_out_since;      /**< since when a process of this worker is known that cannot join; 0: there is none */
    char kept_out[1400];         /**< why it cannot join */
    mst_task_message *gradients; /**< waiting for those of others */
    /** Requests that wait for their turn (server_order.c), in the order in which they came. */
    mst_task_message *listed;
    bool computes;    /**< it has values whose gradients have not come */
    bool held;        /**< it waits for values until others have come (max_staleness), or until its turn (replay) */
    bool wants;       /**< values are given in turn, and it has asked for them since its last gradients */
    int64_t read;     /**< step of its values */
    int64_t has;      /**< step of the values of this round that it says it has; -1: none */
    int64_t previous; /**< its position before the last update */
    uint64_t instructions; /**< of oneDNN that it has or uses; 0: not known */
    bool agrees;           /**< it waits to hear which instructions all workers have (server_agree.c) */
} mst_server_worker;

/** A variable, and the feeds for its gradient. */
typedef struct mst_server_variable {
    const char *name; /**< belongs to the graph */
    mst_spec spec;
    size_t bytes;
    size_t offset;    /**< in a message of all variables, if none is sparse */
    int32_t feed;     /**< number of the feed of its gradient; of a sparse one the first of two: rows, their numbers */
    mst_tensor *sum;  /**< sum of the gradients of a step. Sparse: rows, with more room than is in use. Dense and
                      *   asynchronous, during an update: the gradient itself, in place */
    bool is_reported; /**< a sum that workers report; if they are in step, it ends with their epoch */
    bool adds;        /**< gradients are added to it: MST_JOIN_ADD */
    /* if the gradient is sparse */
    bool is_sparse;
    bool has_squares;   /**< each row is followed by the sum of its squares */
    int64_t num_rows;   /**< of the variable */
    int64_t columns;    /**< elements of a row of the gradient as it is sent */
    int64_t *changed;   /**< [num_rows]: step of the first values that have the present contents of a row */
    mst_tensor *number; /**< i64: number of rows in `sum`, and their numbers */
} mst_server_variable;

/** A gradient of a leaf, inside a message. */
typedef struct mst_server_piece {
    const void *data;      /**< elements or rows */
    const int64_t *number; /**< of a sparse one: number of rows, and their numbers */
} mst_server_piece;

/** Values of all variables: in the memory from which they are sent; or, if a variable is sparse, a tensor for each.
 *  Both NULL: not read. */
typedef struct mst_server_values {
    mst_mail_block *block;
    mst_tensor **tensor; /**< [num_variables] */
} mst_server_values;

/** The next action of all servers: REQUEST of a worker is taken; worker -1: an update is made. */
typedef struct mst_server_turn {
    int32_t worker;
    uint64_t request;
} mst_server_turn;

/** The order in which several servers take the requests of workers (server_order.c). Turns are numbered from 1. */
typedef struct mst_server_order {
    int32_t num_ps, self; /**< 0 servers: there is no order */
    int64_t taken;        /**< number of turns that this server has taken; the first server has given as many */
    int64_t told;         /**< when the first server was reminded last */
    /* only in the first server */
    uint64_t *listed;      /**< [num_ps][num_workers]: the request of each worker that waits at each server */
    int64_t *taken_by;     /**< [num_ps]: number of turns that each server has reported */
    mst_server_turn *turn; /**< [num_turns] the turns after the first `forgotten`, which all servers have taken */
    int64_t num_turns, room, forgotten;
} mst_server_order;

typedef struct mst_server {
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
} mst_server;

/** Writes a line to the log. */
void mst_server_say(mst_server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** "worker:1 at localhost:2223"; valid until the next call. */
const char *mst_server_name(mst_server *s, int32_t task);

/* ---- server_values.c: what workers are sent ---- */

/** Sends the variables to the workers from FIRST to END - 1 that WHOM selects (NULL: all of them). */
MST_CHECKED mst_status mst_server_send_values(mst_server *s, int32_t kind, int32_t first, int32_t end,
                                              bool (*whom)(const mst_server_worker *));
/** These send the variables to worker W, and to all workers that wait for them. */
MST_CHECKED mst_status mst_server_answer(mst_server *s, int32_t w);
MST_CHECKED mst_status mst_server_answer_waiting(mst_server *s);
/** Whether worker W, which was started again, wants to repeat step NUMBER - 1: this server has made the update with its
 *  gradients, and another server has not. mst_server_send_previous sends it the values before that update. */
bool mst_server_wants_previous(const mst_server *s, int32_t w, int64_t number);
MST_CHECKED mst_status mst_server_send_previous(mst_server *s, int32_t w);
/** These send worker TO all state, and the staleness counts. */
MST_CHECKED mst_status mst_server_send_state(mst_server *s, int32_t to);
MST_CHECKED mst_status mst_server_send_staleness(mst_server *s, int32_t to);
/** Tells worker TO, which has sent REQUEST, that there are no values. */
MST_CHECKED mst_status mst_server_send_empty(mst_server *s, int32_t to, uint64_t request);
void mst_server_release_values(mst_server *s, mst_server_values *value);

/* ---- server_begin.c ---- */

/** Takes graph and state from the chief's BEGIN. */
MST_CHECKED mst_status mst_server_begin(mst_server *s, const mst_task_message *message);
/** Frees what mst_server_begin has made. */
void mst_server_clear(mst_server *s);
void mst_server_drop_gradients(mst_server *s, int32_t w);
/** Frees MESSAGE, which may be NULL, after its handling has returned STATUS. */
void mst_server_end_message(mst_server *s, mst_task_message *message, mst_status status);

/* ---- server_gradients.c ---- */

/** Finds the gradients in MESSAGE, and checks that they belong to this program; MST_INVALID if they do not. */
MST_CHECKED mst_status mst_server_read_gradients(mst_server *s, const mst_task_message *message);
/** Fills the feeds with the sum of the gradients of the COUNT workers whose gradients are there. If COUNT is not all,
 *  the sum is scaled up to the size that it would have with all of them. */
MST_CHECKED mst_status mst_server_add_up(mst_server *s, int32_t count);
/** Fills the feeds with the gradients of WORKER, which have been read. Dense ones are read in place until
 *  mst_server_leave_alone. */
MST_CHECKED mst_status mst_server_take_alone(mst_server *s, int32_t worker);
void mst_server_leave_alone(mst_server *s);

/* ---- server_update.c ---- */

/** Applies the gradients of *MESSAGE, or keeps them and sets it to NULL. */
MST_CHECKED mst_status mst_server_take_gradients(mst_server *s, mst_task_message **message);
/** Applies the gradients of MESSAGE in an asynchronous job; they have been read. The worker is then `held` for
 *  values. */
MST_CHECKED mst_status mst_server_apply(mst_server *s, const mst_task_message *message);
/** Drops the gradients of MESSAGE: other workers have already made that step. */
MST_CHECKED mst_status mst_server_drop_late(mst_server *s, const mst_task_message *message);
/** The gradients of worker W have been applied or dropped, and it waits for values; if values are given in turn, only
 *  once it has asked for them. */
void mst_server_hold(mst_server *s, int32_t w);
/** Handles MESSAGE of kind WANT: its worker waits for values. */
MST_CHECKED mst_status mst_server_want(mst_server *s, const mst_task_message *message);
/** Makes the update of a synchronous job if enough gradients are there. If the servers have one order, gives the update
 *  the next turn instead. */
MST_CHECKED mst_status mst_server_update_together(mst_server *s);
/** Makes the update with the gradients that are there. */
MST_CHECKED mst_status mst_server_make_update(mst_server *s);
/** As mst_server_make_update, but sends no values: the senders of the gradients wait for them. */
MST_CHECKED mst_status mst_server_apply_together(mst_server *s);
/** Gives values to workers that no longer have to wait for others. */
MST_CHECKED mst_status mst_server_answer_held(mst_server *s);

/* ---- server_order.c ---- */

/** Call it after BEGIN: whether several servers need one order depends on the job. */
MST_CHECKED mst_status mst_server_begin_order(mst_server *s);
void mst_server_clear_order(mst_server *s);
/** Whether MESSAGE of a worker must wait for its turn. */
bool mst_server_is_ordered(const mst_server *s, const mst_task_message *message);
/** Keeps *MESSAGE until it is its turn, and sets it to NULL. */
MST_CHECKED mst_status mst_server_list_request(mst_server *s, mst_task_message **message);
/** A process of worker W has said HELLO: its waiting requests are forgotten. */
void mst_server_forget_listed(mst_server *s, int32_t w);
/** If this is the first server, gives the next turn to an update. */
MST_CHECKED mst_status mst_server_order_update(mst_server *s);
/** From time to time tells the first server again what waits here. */
MST_CHECKED mst_status mst_server_remind_first(mst_server *s, int64_t now);
/** Handles MESSAGE from another server. */
MST_CHECKED mst_status mst_server_hear_server(mst_server *s, const mst_task_message *message);

/* ---- server_run.c ---- */

/** Does what *MESSAGE of a worker asks. Sets *MESSAGE to NULL if it is kept. */
MST_CHECKED mst_status mst_server_take_request(mst_server *s, mst_task_message **message);
/** Sends worker TO a message of KIND, FAILED or NOTICE, with TEXT. REQUEST: the one that it answers; 0: none. */
MST_CHECKED mst_status mst_server_send_line(mst_server *s, int32_t kind, int32_t to, uint64_t request,
                                            const char *text);

/* ---- server_workers.c ---- */

/** Handles MESSAGE of kind HELLO. */
MST_CHECKED mst_status mst_server_greet(mst_server *s, const mst_task_message *message);
/** There are no values. If a worker waits for the last values, asks the chief, which has done its work, for them. */
MST_CHECKED mst_status mst_server_call_chief(mst_server *s);
/** Handles MESSAGE of kind LOST. */
void mst_server_lose_worker(mst_server *s, const mst_task_message *message);
/** Handles P of kind CANNOT_JOIN: a process of the worker cannot join; or the worker has heard that from another
 *  server, or about another worker. A message without an instance is about a process that has another list of tasks. */
void mst_server_hear_cannot_join(mst_server *s, const mst_task_message *p);
/** Ends the job if a process that cannot join is needed; else says that the job goes on. */
MST_CHECKED mst_status mst_server_check_kept_out(mst_server *s, int64_t now);

/* ---- server_finish.c ---- */

/** Handles MESSAGE of kind FINISHED: its worker has made the last step of a training. */
MST_CHECKED mst_status mst_server_finish(mst_server *s, const mst_task_message *message);
/** Handles MESSAGE of kind LEAVE: its worker has done its work. */
MST_CHECKED mst_status mst_server_take_leave(mst_server *s, const mst_task_message *message);
/** As mst_server_take_leave, for a worker that has the last values, and that this server does not know: the server was
 *  started again since. */
MST_CHECKED mst_status mst_server_take_unknown_leave(mst_server *s, const mst_task_message *message);
/** Sends the last values to all workers if all have left. */
MST_CHECKED mst_status mst_server_end_when_all_left(mst_server *s);
/** Ends the server when all workers know that all have left. */
void mst_server_end_when_all_gone(mst_server *s);

/* ---- server_wait.c ---- */

/** Says in the log and in the status for whom the server waits. */
void mst_server_note_waiting(mst_server *s, int64_t now);
/** Says for whom the workers wait that have finished. */
MST_CHECKED mst_status mst_server_say_who_is_missing(mst_server *s, int64_t now);
/** Ends the job, or goes on without the worker, if a worker is lost for too long. */
MST_CHECKED mst_status mst_server_check_lost(mst_server *s, int64_t now);
/** Warns of a step that has waited for long, and ends the job if it has waited for too long. */
MST_CHECKED mst_status mst_server_check_step(mst_server *s, int64_t now);

/* ---- server_leave.c ---- */

/** Whether this server must end: it is stopped, or it leaves and the chief has its state. */
MST_CHECKED mst_status mst_server_check_stop(mst_server *s, int64_t now);

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

/* ---- server_log.c ---- */

/** Call it after BEGIN: opens the log of updates, if one is wanted. */
MST_CHECKED mst_status mst_server_begin_log(mst_server *s);
/** Reads the log to be replayed. Free *OUT also after an error. */
MST_CHECKED mst_status mst_server_read_log(mst_server *s, mst_update_log *out);
/** Notes the gradients of MESSAGE: they have made the variables those of the present step, or were dropped at it. */
MST_CHECKED mst_status mst_server_log_gradients(mst_server *s, const mst_task_message *message, mst_logged_event event);

/* ---- server_replay.c: only if options.replay_updates is set ---- */

/** Sends the values and makes the updates whose turn it is. A worker to which values must be sent is `held`. */
MST_CHECKED mst_status mst_server_go_on_with_replay(mst_server *s);
/** Keeps *MESSAGE, gradients, until their turn, and sets it to NULL. */
MST_CHECKED mst_status mst_server_replay_gradients(mst_server *s, mst_task_message **message);
/** Whether worker W may leave: all its gradients have been applied. */
MST_CHECKED mst_status mst_server_check_leaving(mst_server *s, int32_t w);
/** Whether HELLO comes from a process that has taken part from the beginning. */
MST_CHECKED mst_status mst_server_check_instance(mst_server *s, const mst_task_message *hello);
void mst_server_close_replay(mst_server *s);

#endif
