/** The parts of mst_fit that are used if parameter servers keep the variables (muster/server.h). In this header TRAINER
 *  is called served if they do. */
#ifndef MUSTER_TRAIN_SERVED_H
#define MUSTER_TRAIN_SERVED_H

#include "train/position.h"
#include "train/trainer.h"

/** Whether parameter servers keep the variables of TRAINER. */
bool mst_is_served(const mst_trainer *trainer);
/** Whether all workers of TRAINER are at the same step, and the servers make one update of their gradients: that is
 *  synchronous training without backup workers. */
bool mst_served_is_in_step(const mst_trainer *trainer);
/** On the chief: builds the graph of each server's update. Also gives the store the slots that the servers will keep,
 *  so that those of a checkpoint can be restored there. Call it once, after the variables have values. Does nothing if
 *  TRAINER is not served. */
MST_CHECKED mst_status mst_served_build(mst_trainer *trainer);
void mst_served_free(mst_trainer *trainer);
/** Waits until the servers are there and have values. If they had none, they get those of the chief's store. POSITION:
 *  where this worker begins; on return where it goes on, and *MOVED says whether that is elsewhere. The store then has
 *  the values of the servers. */
MST_CHECKED mst_status mst_served_join(mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                                       mst_position *position, bool *moved);
/** Before a step whose gradients are sent: sets where they are computed. Does nothing if TRAINER is not served. */
MST_CHECKED mst_status mst_served_place_gradients(mst_trainer *trainer);
/** Sends the gradients of the last step, which used batch BATCH of EPOCH, and waits for the new values. *STEP: how many
 *  updates the servers have made. */
MST_CHECKED mst_status mst_served_update(mst_trainer *trainer, int64_t epoch, int64_t batch, int64_t *step);
/** *RATE: the learning rate of the servers, whose updates have no schedule. */
MST_CHECKED mst_status mst_served_rate(const mst_trainer *trainer, double *rate);
/** A callback has set the learning rate to *RATE. If this worker is the chief, that becomes the rate of the servers
 *  (mst_ps_client_rate); a rate set on another worker is only seen by its own callbacks. *RATE is rounded to f32. */
MST_CHECKED mst_status mst_served_set_rate(const mst_trainer *trainer, double *rate);
/** Whether the callbacks of this worker decide when a training ends. If the workers are in step, those of each worker
 *  decide, with the same result; otherwise only those of the chief. */
bool mst_served_decides(const mst_trainer *trainer);
/** Whether another worker's callbacks have ended the training (mst_ps_client_is_ended); false if TRAINER is not
 *  served. */
bool mst_served_is_ended(const mst_trainer *trainer);
/** Whether only this worker must stop (mst_ps_client_is_asked_to_stop); false if TRAINER is not served. */
bool mst_served_is_asked_to_stop(const mst_trainer *trainer);
/** Call it after the callbacks of an epoch (mst_ps_client_keep). Does nothing if TRAINER is not served. */
MST_CHECKED mst_status mst_served_keep(mst_trainer *trainer);
/** This worker has made its last step: waits until all have (mst_ps_client_finish). STOPS: callbacks have ended the
 *  training. Does nothing if TRAINER is not served. */
MST_CHECKED mst_status mst_served_finish(mst_trainer *trainer, bool stops);
/** Callbacks have put back weights of an earlier epoch (mst_ps_client_give_weights). Does nothing if TRAINER is not
 *  served. */
MST_CHECKED mst_status mst_served_give_weights(mst_trainer *trainer);
/** Whether the store already has the last values (mst_ps_client_has_last); false if TRAINER is not served. */
bool mst_served_has_last(const mst_trainer *trainer);
/** Whether one of these functions has failed because a server was started again: then join again, and go on from
 *  there. */
bool mst_served_must_join(const mst_trainer *trainer);
/** Called after the last step of all workers: the store of each worker gets the moving averages, if there are any. */
MST_CHECKED mst_status mst_served_take_averages(mst_trainer *trainer);
/** How stale the gradients were that an asynchronous job has applied since the last call
 *  (parameter_server/ps_client.h). *COUNTS, i64 [n], belongs to the caller: element I counts those that were I updates
 *  old. NULL if there were none, if this task is not the chief, or if TRAINER is not served asynchronously. */
MST_CHECKED mst_status mst_served_staleness(const mst_trainer *trainer, mst_tensor **counts);
/** As mst_ps_client_collect_last, if TRAINER is served; otherwise does nothing. The next two are mst_ps_client_is_left
 *  and mst_ps_client_was_stopped; false if TRAINER is not served. */
MST_CHECKED mst_status mst_served_collect_last(mst_trainer *trainer);
bool mst_served_is_left(const mst_trainer *trainer);
bool mst_served_was_stopped(const mst_trainer *trainer);
/** Whether a server is about to leave (mst_ps_client_is_leaving); false if TRAINER is not served. */
bool mst_served_is_leaving(const mst_trainer *trainer);
/** Whether the servers are at different steps (mst_ps_client_is_between); false if TRAINER is not served. */
bool mst_served_is_between(const mst_trainer *trainer);
/** Before a checkpoint: the store gets everything that the servers keep, slots too. Does nothing if TRAINER is not
 *  served. */
MST_CHECKED mst_status mst_served_collect(mst_trainer *trainer);
/** Before a step, and before an evaluation: undoes the changes of variables by mst_served_collect
 *  (mst_ps_client_use_values). Does nothing if TRAINER is not served. */
MST_CHECKED mst_status mst_served_use_values(mst_trainer *trainer);

#endif
