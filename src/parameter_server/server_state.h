/** A parameter server (server_run.c), and what its parts do. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_STATE_H
#define MUSTER_PARAMETER_SERVER_SERVER_STATE_H

#include "base/shard_tree.h"
#include "cluster/fingerprint.h"
#include "messages/parcel.h"
#include "muster/op.h"
#include "muster/server.h"
#include "muster/session.h"
#include "parameter_server/ps_begin.h"
#include "parameter_server/ps_message.h"
#include "parameter_server/update_log.h"

/** What the server knows of a worker. */
typedef struct mst_server_worker {
    uint64_t instance;      /**< 0: it has not come yet */
    uint64_t request;       /**< its last one, of this instance: what it is sent answers that */
    bool waits;             /**< for the first values */
    bool finished;          /**< it has made its last step of a training, and waits for the others */
    bool has_state;         /**< the chief: it has finished, and has all that is kept */
    bool left;              /**< it has done its work, or is given up */
    bool gone;              /**< it knows that all have done their work, and needs this server no more */
    int64_t lost;           /**< since when; 0: it is not */
    char why[200];          /**< it is lost */
    int64_t kept_out_since; /**< a process of it cannot join: since when that is known; 0: none */
    char kept_out[1400];    /**< why */
    mst_parcel *gradients;  /**< that wait for those of others */
    mst_parcel *listed;     /**< requests that wait for their turn (server_order.c), in the order in which they came */
    bool computes;          /**< it has values whose gradients have not come */
    bool held;        /**< it waits for values until others have come (max_staleness), or until its turn (replay) */
    bool wants;       /**< values are given in turn, and it has asked for them since its last gradients */
    int64_t read;     /**< step of its values */
    int64_t has;      /**< step of the values that it says it has, of this round; -1: none */
    int64_t previous; /**< its position before the last update */
    uint64_t instructions; /**< of oneDNN, that it has or uses; 0: not known */
    bool agrees;           /**< it waits to hear which ones all workers have (server_agree.c) */
} mst_server_worker;

/** A variable, and what its gradient is fed to. */
typedef struct mst_server_variable {
    const char *name; /**< the graph's */
    mst_spec spec;
    size_t bytes;
    size_t offset;    /**< in a message of all variables, where none is sparse */
    int32_t feed;     /**< number of the feed of its gradient; of a sparse one the first of two: rows, their numbers */
    mst_tensor *sum;  /**< of the gradients of a step; of a sparse one rows, more of them than are there; dense and
                      *   asynchronous, during an update: the gradient where it lies */
    bool is_reported; /**< a sum of what workers report, which ends with their epoch where they are in step */
    bool adds;        /**< it rises by what comes: MST_JOIN_ADD */
    /* of a sparse gradient */
    bool is_sparse;
    bool has_squares;   /**< rows have the sums of their squares behind them */
    int64_t num_rows;   /**< of the variable */
    int64_t columns;    /**< elements of a row of the gradient as it is sent */
    int64_t *changed;   /**< [num_rows]: step of the values in which a row was first other than in those before */
    mst_tensor *number; /**< i64: how many rows of `sum` are there, and their numbers */
} mst_server_variable;

/** A gradient of a leaf, in a parcel. */
typedef struct mst_server_piece {
    const void *data;      /**< elements or rows */
    const int64_t *number; /**< of a sparse one: how many rows there are, and their numbers */
} mst_server_piece;

/** Values of all variables: in the memory from which they are sent; a tensor for each where one is sparse. NULL, both:
 *  not read. */
typedef struct mst_server_values {
    mst_mail_block *block;
    mst_tensor **tensor; /**< [num_variables] */
} mst_server_values;

/** What is done next on all servers: REQUEST of a worker is taken; worker -1: an update is made. */
typedef struct mst_server_turn {
    int32_t worker;
    uint64_t request;
} mst_server_turn;

/** The order in which several servers take the requests of workers (server_order.c). Turns are numbered from 1 on. */
typedef struct mst_server_order {
    int32_t num_ps, self; /**< 0 servers: there is no order */
    int64_t taken;        /**< how many turns this server has taken; the first one has given as many */
    int64_t told;         /**< when the first server was reminded last */
    /* of the first server */
    uint64_t *listed;      /**< [num_ps][num_workers]: the request that each server has of each worker */
    int64_t *taken_by;     /**< [num_ps]: as each server has told */
    mst_server_turn *turn; /**< [num_turns] behind those that are forgotten, since all servers have taken them */
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
    /* fingerprints of the worker that came first */
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
    size_t body_bytes; /**< of a message of all variables, where none is sparse */
    bool has_sparse;
    mst_value train;
    mst_shards *leaf;        /**< of all workers, from left to right */
    int32_t *first_leaf;     /**< [num_workers + 1] */
    mst_array *terms;        /**< [2 * leaves]: of the variable that is added up */
    mst_server_piece *piece; /**< [leaves][num_variables]: of the workers whose gradients are there */
    void *workspace;         /**< of the sums of rows */
    mst_feed *feed;
    int32_t num_feeds;
    char *zero; /**< zeros: gradients of a worker that is not waited for */
    int64_t num_dropped, num_applied, total_staleness, most_staleness;
    int64_t staleness[MST_STALENESS_COUNTS]; /**< counts since BEGIN (messages/parcel.h) */
    int64_t step;
    int64_t waits_since; /**< gradients of a step: when the first came; 0: none is there */
    int64_t warned;      /**< when it was told last that it waits long; 0: it was not */
    double waited;       /**< for so many seconds by then, or later */
    int64_t said;
    int64_t said_missing; /**< when it was last said for whom the finished workers wait */
    bool has_said_missing;
    int64_t parts;              /**< since when all have done their work; 0: not yet */
    mst_server_values value;    /**< at step value_step */
    mst_server_values previous; /**< before the last update; not of an asynchronous job without sparse variables */
    int64_t value_step;
    mst_parcel
        *failed; /**< that are freed with the session, which may still read them: with these an update has failed */
    mst_server_order order;
    mst_update_writer update_log;
    mst_update_log *replay; /**< the log that is replayed. NULL: none, or not yet read */
    int64_t finished;       /**< trainings that all workers have finished */
    bool stops;             /**< the chief's callbacks have ended the training: workers hear so with their values */
    mst_snapshot *kept;     /**< by the chief's callbacks; NULL before BEGIN */
    uint64_t instructions;  /**< of oneDNN, that workers have been told to use; 0: none have */
    bool is_closed;         /**< the chief has the last state of this round, behind which no update is made */
    int64_t leaves_since;   /**< it has said that it leaves: when; 0: it has not */
    bool may_leave;         /**< the chief has its state */
    bool is_left;           /**< the job ends since a task stays away: the chief may still ask for the state */
    bool ended;
} mst_server;

/** A line of the log. */
void mst_server_say(mst_server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** "worker:1 at localhost:2223", until the next call. */
const char *mst_server_name(mst_server *s, int32_t task);

/* ---- server_values.c: what workers are sent ---- */

/** Sends the variables to the workers from FIRST to END - 1 for which WHOM says so (NULL: all of them). */
MST_CHECKED mst_status mst_server_send_values(mst_server *s, int32_t kind, int32_t first, int32_t end,
                                              bool (*whom)(const mst_server_worker *));
/** Sends the variables to worker W; to all that wait for them. */
MST_CHECKED mst_status mst_server_answer(mst_server *s, int32_t w);
MST_CHECKED mst_status mst_server_answer_waiting(mst_server *s);
/** Whether worker W, which was started again, wants to make step NUMBER - 1 once more, since with its gradients another
 *  server has not made the update that this one has; sends it the values before that. */
bool mst_server_wants_previous(const mst_server *s, int32_t w, int64_t number);
MST_CHECKED mst_status mst_server_send_previous(mst_server *s, int32_t w);
/** Sends worker TO all that is kept; how stale gradients were. */
MST_CHECKED mst_status mst_server_send_state(mst_server *s, int32_t to);
MST_CHECKED mst_status mst_server_send_staleness(mst_server *s, int32_t to);
/** Says to worker TO, which has sent REQUEST, that there are no values. */
MST_CHECKED mst_status mst_server_send_empty(mst_server *s, int32_t to, uint64_t request);
void mst_server_release_values(mst_server *s, mst_server_values *value);

/* ---- server_begin.c ---- */

/** Takes graph and state from the chief's BEGIN. */
MST_CHECKED mst_status mst_server_begin(mst_server *s, const mst_parcel *parcel);
/** Frees what that has made. */
void mst_server_clear(mst_server *s);
void mst_server_drop_gradients(mst_server *s, int32_t w);
/** Frees PARCEL, of which may be NULL, after what was done with it has given STATUS. */
void mst_server_end_parcel(mst_server *s, mst_parcel *parcel, mst_status status);

/* ---- server_gradients.c ---- */

/** Finds the gradients in PARCEL, and checks that they are of this program; MST_INVALID where they are not. */
MST_CHECKED mst_status mst_server_read_gradients(mst_server *s, const mst_parcel *parcel);
/** Fills the feeds with the sum of the gradients that are there, of COUNT workers; where that is not all, with a sum as
 *  large as that of all. */
MST_CHECKED mst_status mst_server_add_up(mst_server *s, int32_t count);
/** Fills the feeds with the gradients of WORKER, which have been read: dense ones are read where they lie, until
 *  mst_server_leave_alone. */
MST_CHECKED mst_status mst_server_take_alone(mst_server *s, int32_t worker);
void mst_server_leave_alone(mst_server *s);

/* ---- server_update.c ---- */

/** Applies the gradients of *PARCEL, or keeps them and sets it to NULL. */
MST_CHECKED mst_status mst_server_take_gradients(mst_server *s, mst_parcel **parcel);
/** Applies the gradients of PARCEL, of an asynchronous job, which have been read. The worker's values are `held`. */
MST_CHECKED mst_status mst_server_apply(mst_server *s, const mst_parcel *parcel);
/** Drops the gradients of PARCEL: those of others have made their step. */
MST_CHECKED mst_status mst_server_drop_late(mst_server *s, const mst_parcel *parcel);
/** Worker W, whose gradients have been applied or dropped, waits for values: where they are given in turn, when it has
 *  asked for them. */
void mst_server_hold(mst_server *s, int32_t w);
/** PARCEL, of kind WANT: its worker waits for values. */
MST_CHECKED mst_status mst_server_want(mst_server *s, const mst_parcel *parcel);
/** Makes the update of a synchronous job where enough gradients are there, or where servers have one order gives it the
 *  next turn. */
MST_CHECKED mst_status mst_server_update_together(mst_server *s);
/** Makes the update of the gradients that are there. */
MST_CHECKED mst_status mst_server_make_update(mst_server *s);
/** The same, and sends no values: those who have sent the gradients wait for them. */
MST_CHECKED mst_status mst_server_apply_together(mst_server *s);
/** Gives values to those who wait for them until others have come. */
MST_CHECKED mst_status mst_server_answer_held(mst_server *s);

/* ---- server_order.c ---- */

/** After BEGIN: whether several servers need one order depends on the job. */
MST_CHECKED mst_status mst_server_begin_order(mst_server *s);
void mst_server_clear_order(mst_server *s);
/** Whether PARCEL, of a worker, is to be taken when it is its turn. */
bool mst_server_is_ordered(const mst_server *s, const mst_parcel *parcel);
/** Keeps *PARCEL until it is its turn, and sets it to NULL. */
MST_CHECKED mst_status mst_server_list_request(mst_server *s, mst_parcel **parcel);
/** A process of worker W says HELLO. */
void mst_server_forget_listed(mst_server *s, int32_t w);
/** The next turn is that of an update, if this is the first server. */
MST_CHECKED mst_status mst_server_order_update(mst_server *s);
/** Tells the first server now and then what waits here. */
MST_CHECKED mst_status mst_server_remind_first(mst_server *s, int64_t now);
/** PARCEL is of another server. */
MST_CHECKED mst_status mst_server_hear_server(mst_server *s, const mst_parcel *parcel);

/* ---- server_run.c ---- */

/** Does what *PARCEL of a worker asks; it is NULL where it is kept. */
MST_CHECKED mst_status mst_server_take_request(mst_server *s, mst_parcel **parcel);

/* ---- server_rate.c ---- */

/** Answers PARCEL, of kind RATE, with the learning rate, which it may have set. */
MST_CHECKED mst_status mst_server_take_rate(mst_server *s, const mst_parcel *parcel);

/* ---- server_agree.c ---- */

/** Takes PARCEL, of kind AGREE, which is answered when all workers have come. */
MST_CHECKED mst_status mst_server_take_agree(mst_server *s, const mst_parcel *parcel);
/** Answers those who wait for that, where it is so. */
MST_CHECKED mst_status mst_server_agree(mst_server *s);
/** Whether a worker with these INSTRUCTIONS has not all those with which the others train. */
bool mst_server_lacks_instructions(const mst_server *s, uint64_t instructions);

/* ---- server_kept.c ---- */

/** Answers PARCEL, of kind KEPT. */
MST_CHECKED mst_status mst_server_take_kept(mst_server *s, const mst_parcel *parcel);

/* ---- server_log.c ---- */

/** After BEGIN: opens the log of updates, where there is to be one. */
MST_CHECKED mst_status mst_server_begin_log(mst_server *s);
/** Reads the log that is to be replayed. *OUT is freed also after an error. */
MST_CHECKED mst_status mst_server_read_log(mst_server *s, mst_update_log *out);
/** Notes gradients that have made the variables those of this step; or that were dropped at this step. */
MST_CHECKED mst_status mst_server_log_gradients(mst_server *s, const mst_parcel *parcel, mst_logged_event event);

/* ---- server_replay.c: only where options.replay_updates is set ---- */

/** Sends the values and makes the updates whose turn it is. Workers for whom values are to be sent are `held`. */
MST_CHECKED mst_status mst_server_go_on_with_replay(mst_server *s);
/** Keeps *PARCEL, gradients, until it is their turn, and sets it to NULL. */
MST_CHECKED mst_status mst_server_replay_gradients(mst_server *s, mst_parcel **parcel);
/** Whether worker W may leave: all its gradients have been applied. */
MST_CHECKED mst_status mst_server_check_leaving(mst_server *s, int32_t w);
/** Whether HELLO is of a process that has taken part from the beginning. */
MST_CHECKED mst_status mst_server_check_instance(mst_server *s, const mst_parcel *hello);
void mst_server_close_replay(mst_server *s);

#endif
