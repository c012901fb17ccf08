/** A worker's side of parameter servers: the variables are kept by the servers, and here are copies of them.
 *
 *      join      the servers have the values, from the chief's store where they had none; the store gets them
 *      update    gradients go to the servers, who update; the store gets the new values
 *      finish    waits until all workers have made their last step of this training
 *      leave     waits until all workers have done their work; the store gets the last values
 *
 *  An update is known by the position of its batch in the data of this worker, a number that rises. The servers apply
 *  each position once: what is sent again after a broken connection, or by a worker that was started again, is answered
 *  and not applied. A worker that was started again gets the position from which it goes on. */
#ifndef MUSTER_PARAMETER_SERVER_PS_CLIENT_H
#define MUSTER_PARAMETER_SERVER_PS_CLIENT_H

#include "membership/member_message.h"
#include "messages/parcel.h"
#include "muster/graph.h"
#include "muster/store.h"
#include "muster/task.h"
#include "parameter_server/ps_message.h"
#include "parameter_server/ps_part.h"

typedef struct mst_ps_client mst_ps_client;

/** A variable and the server that keeps it, numbered from 0, or MST_PS_EACH: each keeps a part of its rows. */
typedef struct mst_ps_variable {
    const char *name;
    mst_spec spec;
    mst_state_kind kind; /**< of its entry in the store */
    int32_t ps;
    bool sparse; /**< its gradients are rows and their numbers (mst_step_values in muster/strategy.h) */
} mst_ps_variable;

/** What the workers train, the same on all of them but for the position. */
typedef struct mst_ps_program {
    mst_store *store; /**< retained */
    const mst_ps_variable *variable;
    int32_t num_variables;
    /** Of the chief: the update that each server makes, [num_ps], as mst_update_graph_create makes it. Gradient I of a
     *  server is of its Ith variable. */
    mst_graph *const *graph;
    bool synchronous;
    int32_t aggregate, staleness;   /**< as in mst_ps_job */
    int32_t num_shards, num_leaves; /**< of all workers; parts of the gradients that this worker sends */
    int64_t last_step;              /**< no update is made past it; 0: there is no last one */
    int64_t position;               /**< of this worker where the servers have no values yet */
    const mst_fingerprint *fingerprint;
    int32_t num_fingerprints;
} mst_ps_program;

/** OPTIONS are copied, but not the strings. `cluster` has parameter servers, and this task is a worker. */
MST_CHECKED mst_status mst_ps_client_open(const mst_task_options *options, const mst_mail_options *mail,
                                          mst_ps_client **out);
/** NULL is allowed. */
void mst_ps_client_close(mst_ps_client *client);

int32_t mst_ps_client_num_servers(const mst_ps_client *client);

/** Waits until the servers are there and have values. The store gets these, and in a process that was started again
 *  what callbacks keep. PROGRAM and what it points to are not needed afterwards. *POSITION is the batch from which
 *  this worker goes on. MST_INVALID where this worker's fingerprints are not those of the others. */
MST_CHECKED mst_status mst_ps_client_join(mst_ps_client *client, const mst_ps_program *program, int64_t *position);
/** Before a step: replaces the tensors of GRADIENT, as of mst_ps_client_update, which may be NULL, by those in whose
 *  memory its gradients are sent without being copied. They are written until that update, and not afterwards. */
MST_CHECKED mst_status mst_ps_client_place_gradients(mst_ps_client *client, mst_tensor **gradient);
/** Sends GRADIENT of the batch at POSITION, and waits for the new values: of leaf 0 those of all variables, of leaf 1,
 *  ..., of a sparse variable two tensors, of whose rows only those that are there are sent. *STEP: how many updates the
 *  servers have made. MST_UNAVAILABLE where a server is lost; or where one was started again and has lost
 *  its values (mst_ps_client_must_join): all then join anew, and go on from the last state that the chief has
 *  collected. */
MST_CHECKED mst_status mst_ps_client_update(mst_ps_client *client, int64_t position, mst_tensor *const *gradient,
                                            int64_t *step);
/** Whether this worker is the chief, and a server has said that it leaves: the next update keeps the state of all
 *  servers in place of being made, and all join anew. */
bool mst_ps_client_is_leaving(const mst_ps_client *client);
/** Whether a request has failed because a server was started again. */
bool mst_ps_client_must_join(const mst_ps_client *client);
/** Whether the synchronous servers have not all made the update of the step that this worker makes next: it was killed
 *  when its gradients had come to some of them. What they keep is then no state of the job. */
bool mst_ps_client_is_between(const mst_ps_client *client);
/** The store gets all that the servers keep: variables, slots, positions of the workers. */
MST_CHECKED mst_status mst_ps_client_collect(mst_ps_client *client);
/** mst_ps_client_collect where the job has ended, or this worker is to stop: the store gets what the servers have, or
 *  where one of them is lost, or they are at different steps, what the chief has collected last. */
MST_CHECKED mst_status mst_ps_client_collect_last(mst_ps_client *client);
/** Whether this worker is the chief, and the job has ended since a task stays away: mst_ps_client_collect_last may be
 *  called. */
bool mst_ps_client_is_left(const mst_ps_client *client);
/** Whether a request was given up, as the `stop` of the task says. */
bool mst_ps_client_was_stopped(const mst_ps_client *client);
/** Where the store has had all that asynchronous servers keep since the last values came, it gets the variables of
 *  those values again: the gradients of the next step are then of the values by whose step their staleness is counted,
 *  and which the log of updates names. */
MST_CHECKED mst_status mst_ps_client_use_values(mst_ps_client *client);
/** How stale the gradients of an asynchronous job were that the first server, by whose updates steps are counted, has
 *  applied since the last call, or since this worker has joined; where it is the chief and has just given the servers
 *  their values, since then. COUNT[i] of them were I updates old, COUNT[MST_STALENESS_COUNTS - 1] as many or more.
 *  Errors as mst_ps_client_update. */
MST_CHECKED mst_status mst_ps_client_staleness(mst_ps_client *client, int64_t count[MST_STALENESS_COUNTS]);
/** *OUT: the learning rate of the servers, whose updates have no schedule. RATE: on the chief, the new one, which
 *  counts from its next gradients on; NULL: it stays. Errors as mst_ps_client_update. */
MST_CHECKED mst_status mst_ps_client_rate(mst_ps_client *client, const float *rate, float *out);
/** This worker has made its last step of a training: waits until all have, and the chief has all state, so that it can
 *  make steps again that a server loses until then. The store gets the last values, on the chief all state, for which
 *  mst_ps_client_collect needs no server any more. STOPS: on the chief, its callbacks have ended the training before
 *  all steps were made, and workers that are not in step end theirs too (mst_ps_client_is_ended). Errors as
 *  mst_ps_client_update; MST_CANCELLED where the `stop` of the task says so. */
MST_CHECKED mst_status mst_ps_client_finish(mst_ps_client *client, bool stops);
/** Whether the chief's callbacks have ended the training, of which this worker has heard with its last values. */
bool mst_ps_client_is_ended(const mst_ps_client *client);
/** Whether mst_ps_client_finish has brought the last values, and nothing was made since. */
bool mst_ps_client_has_last(const mst_ps_client *client);
/** Whether the `stop` of the task says that this worker is to stop. */
bool mst_ps_client_is_asked_to_stop(const mst_ps_client *client);
/** On the chief, behind the callbacks of an epoch: gives the servers what these keep in the store (ps_kept.h),
 *  which a worker that is started again gets when it joins. Errors as mst_ps_client_update. */
MST_CHECKED mst_status mst_ps_client_keep(mst_ps_client *client);
/** On the chief, whose store has other weights than the last ones since callbacks have put back those of the best
 *  epoch: the servers get them, and all workers when they leave, or join for another training. Nothing where
 *  mst_ps_client_has_last does not hold. Servers that are lost are waited for as by mst_ps_client_leave. */
MST_CHECKED mst_status mst_ps_client_give_weights(mst_ps_client *client);
/** This worker has done its work: waits until all have. The store gets the last values, where it has not got them
 *  by mst_ps_client_finish: what the program has changed in it since then stays. A server that is lost after the last
 *  step is waited for as long as the recovery timeout says, and is no error. */
MST_CHECKED mst_status mst_ps_client_leave(mst_ps_client *client);
/** The job ends on all tasks with the calling thread's error, whose code is STATUS; returns STATUS. */
mst_status mst_ps_client_fail(mst_ps_client *client, mst_status status);

#endif
