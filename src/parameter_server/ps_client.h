/** A worker's side of parameter servers. The servers keep the variables; the worker's store has copies of them.
 *
 *      join      the servers have values, from the chief's store if they had none; the store gets them
 *      update    gradients go to the servers, which update; the store gets the new values
 *      finish    waits until all workers have made their last step of this training
 *      leave     waits until all workers have done their work; the store gets the last values
 *
 *  An update is identified by the position of its batch in the data of this worker, an increasing number. The servers
 *  apply each position once. If gradients are sent again, after a broken connection or by a worker that was started
 *  again, the servers answer but do not apply them. A worker that was started again gets the position from which it
 *  goes on. */
#ifndef MUSTER_PARAMETER_SERVER_PS_CLIENT_H
#define MUSTER_PARAMETER_SERVER_PS_CLIENT_H

#include "membership/member_message.h"
#include "messages/task_message.h"
#include "muster/graph.h"
#include "muster/store.h"
#include "muster/task.h"
#include "parameter_server/ps_message.h"
#include "parameter_server/ps_part.h"

typedef struct mst_ps_client mst_ps_client;

/** A variable, and the number of the server that keeps it, from 0. MST_PS_EACH: each server keeps a part of its
 *  rows. */
typedef struct mst_ps_variable {
    const char *name;
    mst_spec spec;
    mst_state_kind kind; /**< kind of its entry in the store */
    int32_t ps;
    bool sparse; /**< its gradients are rows and row numbers (mst_step_values in muster/strategy.h) */
} mst_ps_variable;

/** What the workers train, the same on all of them except for the position. */
typedef struct mst_ps_program {
    mst_store *store; /**< retained */
    const mst_ps_variable *variable;
    int32_t num_variables;
    /** On the chief: the update of each server, [num_ps], made by mst_update_graph_create. Gradient I of a server
     *  belongs to its variable I. */
    mst_graph *const *graph;
    bool synchronous;
    int32_t aggregate, staleness;   /**< as in mst_ps_job */
    int32_t num_shards, num_leaves; /**< shards of all workers; leaves: parts of the gradients that this worker sends */
    int64_t last_step;              /**< no update is made after this step; 0: there is no last step */
    int64_t position;               /**< position of this worker, if the servers have no values yet */
    const mst_fingerprint *fingerprint;
    int32_t num_fingerprints;
} mst_ps_program;

/** OPTIONS are copied, but not their strings. The cluster must have parameter servers, and this task must be a
 *  worker. */
MST_CHECKED mst_status mst_ps_client_open(const mst_task_options *options, const mst_mail_options *mail,
                                          mst_ps_client **out);
/** NULL is allowed. */
void mst_ps_client_close(mst_ps_client *client);

int32_t mst_ps_client_num_servers(const mst_ps_client *client);

/** Waits until the servers are there and have values, which the store gets. In a process that was started again it also
 *  gets what callbacks keep. PROGRAM and what it points to are not needed afterwards. *POSITION is the batch from which
 *  this worker goes on. MST_INVALID if this worker's fingerprints differ from those of the others. */
MST_CHECKED mst_status mst_ps_client_join(mst_ps_client *client, const mst_ps_program *program, int64_t *position);
/** Call it before a step. GRADIENT is as in mst_ps_client_update, and may be NULL. Replaces its tensors by tensors in
 *  memory from which they are sent without a copy. They may be written until that update, and not afterwards. */
MST_CHECKED mst_status mst_ps_client_place_gradients(mst_ps_client *client, mst_tensor **gradient);
/** Sends GRADIENT of the batch at POSITION, and waits for the new values. GRADIENT has the gradients of all variables
 *  for leaf 0, then for leaf 1, and so on. A sparse variable has two tensors; only its existing rows are sent. *STEP:
 *  how many updates the servers have made. MST_UNAVAILABLE if a server is lost; or if one was started again and has
 *  lost its values (mst_ps_client_must_join). In that case all join again, and go on from the last state that the chief
 *  has collected. */
MST_CHECKED mst_status mst_ps_client_update(mst_ps_client *client, int64_t position, mst_tensor *const *gradient,
                                            int64_t *step);
/** Whether this worker is the chief, and a server has said that it leaves. The next mst_ps_client_update then makes
 *  no update. It collects the state of all servers instead, and all workers join again. */
bool mst_ps_client_is_leaving(const mst_ps_client *client);
/** Whether a request has failed because a server was started again. */
bool mst_ps_client_must_join(const mst_ps_client *client);
/** Whether only some of the synchronous servers have made the update of this worker's next step. That is so if the
 *  worker was killed after its gradients had reached only some of them. The servers together then have no state of the
 *  job. */
bool mst_ps_client_is_between(const mst_ps_client *client);
/** The store gets everything that the servers keep: variables, slots, positions of the workers. */
MST_CHECKED mst_status mst_ps_client_collect(mst_ps_client *client);
/** As mst_ps_client_collect, if the job has ended or this worker must stop. If a server is lost, or the servers are at
 *  different steps, the store gets what the chief has collected last. */
MST_CHECKED mst_status mst_ps_client_collect_last(mst_ps_client *client);
/** Whether this worker is the chief, and the job has ended because a task stays away: mst_ps_client_collect_last may be
 *  called. */
bool mst_ps_client_is_left(const mst_ps_client *client);
/** Whether a request was given up because the `stop` of the task said so. */
bool mst_ps_client_was_stopped(const mst_ps_client *client);
/** In an asynchronous job the store may have got the whole state of the servers after the last values came. This
 *  function restores the variables of those last values in it. The gradients of the next step are then computed from
 *  them: their step is used for the staleness and in the log of updates. */
MST_CHECKED mst_status mst_ps_client_use_values(mst_ps_client *client);
/** In an asynchronous job: counts how stale the gradients were that the first server has applied; its updates count the
 *  steps. The counts begin with the last call of this function, or when this worker joins. On a chief that has just
 *  given the servers their values, they begin then. COUNT[i] gradients were I updates old; the last element counts
 *  MST_STALENESS_COUNTS - 1 updates and more. Errors as mst_ps_client_update. */
MST_CHECKED mst_status mst_ps_client_staleness(mst_ps_client *client, int64_t count[MST_STALENESS_COUNTS]);
/** *OUT: the learning rate of the servers, whose updates have no schedule. RATE: on the chief, a new learning rate,
 *  used from the chief's next gradients on; NULL: the rate does not change. Errors as mst_ps_client_update. */
MST_CHECKED mst_status mst_ps_client_rate(mst_ps_client *client, const float *rate, float *out);
/** This worker has made its last step of a training. Waits until all have, and the chief has all state. Until then a
 *  server may be lost, and this worker must be able to repeat steps. The store gets the last values; on the chief it
 *  gets all state, and mst_ps_client_collect then needs no server. STOPS: the chief's callbacks have ended the training
 *  before all steps were made. Workers that are at another step than the chief then end their training too
 *  (mst_ps_client_is_ended). Errors as mst_ps_client_update; MST_CANCELLED if the `stop` of the task says so. */
MST_CHECKED mst_status mst_ps_client_finish(mst_ps_client *client, bool stops);
/** Whether the chief's callbacks have ended the training; this worker hears it with its last values. */
bool mst_ps_client_is_ended(const mst_ps_client *client);
/** Whether mst_ps_client_finish has brought the last values, and no step was made since. */
bool mst_ps_client_has_last(const mst_ps_client *client);
/** Whether the `stop` of the task says that this worker must stop. */
bool mst_ps_client_is_asked_to_stop(const mst_ps_client *client);
/** On the chief, after the callbacks of an epoch: gives the servers what the callbacks keep in the store (ps_kept.h). A
 *  worker that is started again gets it when it joins. Errors as mst_ps_client_update. */
MST_CHECKED mst_status mst_ps_client_keep(mst_ps_client *client);
/** Call it on the chief if its callbacks have put back the weights of the best epoch: its store then differs from the
 *  last values. The servers get the weights of the store. The workers get them when they leave, or join for another
 *  training. Does nothing if mst_ps_client_has_last is false. Lost servers are waited for as in mst_ps_client_leave. */
MST_CHECKED mst_status mst_ps_client_give_weights(mst_ps_client *client);
/** This worker has done its work: waits until all have. The store gets the last values, unless mst_ps_client_finish has
 *  brought them: changes that the program has made since then stay. A server that is lost after the last step is waited
 *  for until the recovery timeout, and is not an error. */
MST_CHECKED mst_status mst_ps_client_leave(mst_ps_client *client);
/** The job ends on all tasks with the calling thread's error, whose code is STATUS; returns STATUS. */
mst_status mst_ps_client_fail(mst_ps_client *client, mst_status status);

#endif
