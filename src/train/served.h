/** What mst_fit does where parameter servers keep the variables (muster/server.h). */
#ifndef MUSTER_TRAIN_SERVED_H
#define MUSTER_TRAIN_SERVED_H

#include "train/position.h"
#include "train/trainer.h"

/** Whether the variables of TRAINER are kept by parameter servers. */
bool mst_is_served(const mst_trainer *trainer);
/** Whether all workers of TRAINER are at the same step, of whose gradients servers make one update: in synchronous
 *  training without backup workers. */
bool mst_served_is_in_step(const mst_trainer *trainer);
/** On the chief: builds the graph of the update of each server, and gives the store the slots that the servers will
 *  keep, so that those of a checkpoint can be restored there. After the variables have values, once. Nothing where
 *  TRAINER is not served. */
MST_CHECKED mst_status mst_served_build(mst_trainer *trainer);
void mst_served_free(mst_trainer *trainer);
/** Waits until the servers are there and have values: from this worker's store where it is the chief and they had none.
 *  POSITION: where this worker begins; on return where it goes on, *MOVED where that is elsewhere. The store then has
 *  the values of the servers. */
MST_CHECKED mst_status mst_served_join(mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                                       mst_position *position, bool *moved);
/** Before a step whose gradients are sent: sees where they are to be made. Nothing where TRAINER is not served. */
MST_CHECKED mst_status mst_served_place_gradients(mst_trainer *trainer);
/** Sends the gradients of the step that was made last, of batch BATCH of EPOCH, and waits for the new values. *STEP:
 *  how many updates the servers have made. */
MST_CHECKED mst_status mst_served_update(mst_trainer *trainer, int64_t epoch, int64_t batch, int64_t *step);
/** *RATE: the learning rate of the servers, whose updates have no schedule. */
MST_CHECKED mst_status mst_served_rate(const mst_trainer *trainer, double *rate);
/** A callback has set the learning rate to *RATE, which becomes that of the servers (mst_ps_client_rate) where this
 *  worker is the chief; what other workers set counts for their own callbacks alone. *RATE is rounded to f32. */
MST_CHECKED mst_status mst_served_set_rate(const mst_trainer *trainer, double *rate);
/** Whether the callbacks of this worker decide when a training ends: those of all workers where they are in step, and
 *  come to the same, else those of the chief. */
bool mst_served_decides(const mst_trainer *trainer);
/** Whether another worker's callbacks have ended the training (mst_ps_client_is_ended); false where TRAINER is not
 *  served. */
bool mst_served_is_ended(const mst_trainer *trainer);
/** Whether this worker alone is to stop (mst_ps_client_is_asked_to_stop); false where TRAINER is not served. */
bool mst_served_is_asked_to_stop(const mst_trainer *trainer);
/** Behind the callbacks of an epoch (mst_ps_client_keep). Nothing where TRAINER is not served. */
MST_CHECKED mst_status mst_served_keep(mst_trainer *trainer);
/** This worker has made its last step: waits until all have (mst_ps_client_finish). STOPS: callbacks have ended the
 *  training. Nothing where TRAINER is not served. */
MST_CHECKED mst_status mst_served_finish(mst_trainer *trainer, bool stops);
/** Callbacks have put back weights of an earlier epoch (mst_ps_client_give_weights). Nothing where TRAINER is not
 *  served. */
MST_CHECKED mst_status mst_served_give_weights(mst_trainer *trainer);
/** Whether the store has the last values, which come no more (mst_ps_client_has_last); false where TRAINER is not
 *  served. */
bool mst_served_has_last(const mst_trainer *trainer);
/** Whether one of these has failed because a server was started again: then join again, and go on from there. */
bool mst_served_must_join(const mst_trainer *trainer);
/** Called after the last step of all workers: the store of each worker gets the moving averages, if there are any. */
MST_CHECKED mst_status mst_served_take_averages(mst_trainer *trainer);
/** How stale the gradients were that an asynchronous job has applied since the last call
 *  (parameter_server/ps_client.h): *COUNTS, i64 [n], has how many were 0, 1, ..., n - 1 updates old. The caller's; NULL
 *  where there were none, where this task is not the chief, or where TRAINER is not served asynchronously. */
MST_CHECKED mst_status mst_served_staleness(const mst_trainer *trainer, mst_tensor **counts);
/** mst_ps_client_collect_last, where TRAINER is served; mst_ps_client_is_left and mst_ps_client_was_stopped, false
 *  where it is not. */
MST_CHECKED mst_status mst_served_collect_last(mst_trainer *trainer);
bool mst_served_is_left(const mst_trainer *trainer);
bool mst_served_was_stopped(const mst_trainer *trainer);
/** Whether a server is about to leave (mst_ps_client_is_leaving); false where TRAINER is not served. */
bool mst_served_is_leaving(const mst_trainer *trainer);
/** Whether the servers are at different steps (mst_ps_client_is_between); false where TRAINER is not served. */
bool mst_served_is_between(const mst_trainer *trainer);
/** The store gets all that the servers keep, slots too: before a checkpoint. Nothing where TRAINER is not served. */
MST_CHECKED mst_status mst_served_collect(mst_trainer *trainer);
/** Before a step, and before an evaluation: undoes what mst_served_collect has changed of the variables
 *  (mst_ps_client_use_values). Nothing where TRAINER is not served. */
MST_CHECKED mst_status mst_served_use_values(mst_trainer *trainer);

#endif
