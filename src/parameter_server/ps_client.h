/** A worker's side of parameter servers. The servers keep the variables; the worker's store has copies of them.
 *
 *      join      waits until the servers have values (the first ones come from the chief's store); copies them to the
 *                store
 *      update    sends gradients to the servers, which update the variables; copies the new values to the store
 *      finish    waits until all workers have made their last step of this training
 *      leave     waits until all workers have done their work; copies the last values to the store
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
    int32_t num_shards, num_leaves; /**< shards of all workers; partial sums that this worker sends of each gradient */
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

/** Waits until the servers are connected and have values, and copies the values to the store. In a process that was
 *  started again it also copies the state of callbacks (ps_kept.h). PROGRAM and what it points to are not needed
 *  afterwards. *POSITION is the batch from which this worker goes on. MST_INVALID if this worker's fingerprints differ
 *  from the fingerprints of the other workers. */
MST_CHECKED mst_status mst_ps_client_join(mst_ps_client *client, const mst_ps_program *program, int64_t *position);
/** Call it before a step. GRADIENT is as in mst_ps_client_update, and may be NULL. Replaces its tensors by tensors in
 *  memory from which they are sent without a copy. The caller may write to them until it calls mst_ps_client_update,
 *  not afterwards. */
MST_CHECKED mst_status mst_ps_client_place_gradients(mst_ps_client *client, mst_tensor **gradient);
/** Sends GRADIENT of the batch at POSITION, and waits for the new values. GRADIENT has the gradients of all variables
 *  for leaf 0, then for leaf 1, and so on. A sparse variable has two tensors; only its existing rows are sent. *STEP:
 *  how many updates the servers have made. MST_UNAVAILABLE if a server is lost, or was started again and has lost its
 *  values. In the second case mst_ps_client_must_join is true: all workers join again, and go on from the last state
 *  that the chief has collected. */
MST_CHECKED mst_status mst_ps_client_update(mst_ps_client *client, int64_t position, mst_tensor *const *gradient,
                                            int64_t *step);
/** Whether this worker is the chief, and a server has said that it leaves. The next mst_ps_client_update then makes
 *  no update. It collects the state of all servers instead, and all workers join again. */
bool mst_ps_client_is_leaving(const mst_ps_client *client);
/** Whether a request has failed because a server was started again. */
bool mst_ps_client_must_join(const mst_ps_client *client);
/** Whether only some of the synchronous servers have made the update of this worker's next step. This happens if the
 *  worker was killed after its gradients had reached only some of the servers. The servers are then at different steps,
 *  so their values are no consistent state of the job. */
bool mst_ps_client_is_between(const mst_ps_client *client);
/** Copies all state of the servers to the store: variables, slots, positions of the workers. */
MST_CHECKED mst_status mst_ps_client_collect(mst_ps_client *client);
/** As mst_ps_client_collect, for a job that has ended, or a worker that must stop. If a server is lost, or the servers
 *  are at different steps, the store gets the state that the chief has collected last. */
MST_CHECKED mst_status mst_ps_client_collect_last(mst_ps_client *client);
/** Whether this worker is the chief, and the job has ended because a lost task has not come back: then
 *  mst_ps_client_collect_last may be called. */
bool mst_ps_client_is_left(const mst_ps_client *client);
/** Whether a request was given up because the `stop` of the task said so. */
bool mst_ps_client_was_stopped(const mst_ps_client *client);
/** In an asynchronous job the store may have received the whole state of the servers after the last values. This
 *  function writes the last values back to the store. The gradients of the next step are then computed from the values
 *  whose step is used for the staleness and in the log of updates. */
MST_CHECKED mst_status mst_ps_client_use_values(mst_ps_client *client);
/** In an asynchronous job: the staleness of the gradients that the first server has applied, in updates of that server.
 *  COUNT[i] gradients were I updates old; the last element counts MST_STALENESS_COUNTS - 1 updates and more. The counts
 *  begin with the last call of this function, or else when this worker joined. On a chief that has given the servers
 *  their values as it joined, they begin there. Errors as mst_ps_client_update. */
MST_CHECKED mst_status mst_ps_client_staleness(mst_ps_client *client, int64_t count[MST_STALENESS_COUNTS]);
/** *OUT: the learning rate of the servers, whose updates have no schedule. RATE: on the chief, a new learning rate,
 *  used from the chief's next gradients on; NULL: the rate does not change. Errors as mst_ps_client_update. */
MST_CHECKED mst_status mst_ps_client_rate(mst_ps_client *client, const float *rate, float *out);
/** Call it when this worker has made its last step of a training. Waits until all workers have made theirs, and the
 *  chief has all state. Until then a server may be lost, and this worker must be able to repeat steps. The store gets
 *  the last values; on the chief it gets all state, and mst_ps_client_collect then needs no server. STOPS: the chief's
 *  callbacks have ended the training before all steps were made. Workers that are at another step than the chief then
 *  end their training too (mst_ps_client_is_ended). Errors as mst_ps_client_update; MST_CANCELLED if the `stop` of the
 *  task says so. */
MST_CHECKED mst_status mst_ps_client_finish(mst_ps_client *client, bool stops);
/** Whether the chief's callbacks have ended the training; this worker is told with its last values. */
bool mst_ps_client_is_ended(const mst_ps_client *client);
/** Whether mst_ps_client_finish has brought the last values, and no step was made since. */
bool mst_ps_client_has_last(const mst_ps_client *client);
/** Whether the `stop` of the task says that this worker must stop. */
bool mst_ps_client_is_asked_to_stop(const mst_ps_client *client);
/** On the chief, after the callbacks of an epoch: sends their state, which is in the store (ps_kept.h), to the first
 *  server. A worker that is started again gets it when it joins. Errors as mst_ps_client_update. */
MST_CHECKED mst_status mst_ps_client_keep(mst_ps_client *client);
/** Call it on the chief if its callbacks have put back the weights of the best epoch: its store then differs from the
 *  last values. The servers get the weights of the store. The workers get them when they leave, or join for another
 *  training. Does nothing if mst_ps_client_has_last is false. Lost servers are waited for as in mst_ps_client_leave. */
MST_CHECKED mst_status mst_ps_client_give_weights(mst_ps_client *client);
/** Call it when this worker has done its work; waits until all workers have. The store gets the last values. If
 *  mst_ps_client_finish has already brought them, the store is left unchanged, with changes that the program has made
 *  since. A server that is lost after the last step is waited for until the recovery timeout, and is not an error. */
MST_CHECKED mst_status mst_ps_client_leave(mst_ps_client *client);
/** Ends the job on all tasks with the calling thread's error, whose code is STATUS; returns STATUS. */
mst_status mst_ps_client_fail(mst_ps_client *client, mst_status status);

#endif
