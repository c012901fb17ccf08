/** The parts of mst_fit that are used if the workers of a cluster train together (muster/task.h). */
#ifndef MUSTER_TRAIN_WORKERS_H
#define MUSTER_TRAIN_WORKERS_H

#include "cluster/fingerprint.h"
#include "task/task.h"
#include "train/trainer.h"

/** Fills in what must be the same in all workers: version, options, program, data; and the type of the machine. Returns
 *  the number of fingerprints, less than MST_FINGERPRINTS_MOST. (worker_fingerprints.c) */
int32_t mst_workers_fingerprints(const mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                                 mst_fingerprint out[MST_FINGERPRINTS_MOST]);
/** Waits until all workers are there with the same program, options and data, and have one state. The position in the
 *  data must then be read anew. Does nothing if TRAINER is in no cluster or in one with parameter servers, or if the
 *  workers have already come together; then all of *JOINED is false. */
MST_CHECKED mst_status mst_workers_join(mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                                        mst_task_joined *joined);
/** The state of this worker has changed. NUMBER counts its steps and epochs (train/position.h); errors can then say how
 *  far the workers were. */
void mst_workers_committed(const mst_trainer *trainer, int64_t number);
/** MST_UNAVAILABLE if the workers must come together again. A step that a worker makes alone does not notice it. */
MST_CHECKED mst_status mst_workers_check(const mst_trainer *trainer);
/** Whether STATUS, the error of a step, only says that another worker was lost. */
bool mst_workers_lost(const mst_trainer *trainer, mst_status status);
/** Tells the other workers that this one has failed with the calling thread's error STATUS, which becomes the error of
 *  all of them. Returns STATUS. */
mst_status mst_workers_fail(const mst_trainer *trainer, mst_status status);

/** Whether a callback that ends the training here also ends it on other workers. A process that is asked to end does
 *  not end the training: it counts as lost, and the others wait for it. */
bool mst_workers_stop_together(const mst_trainer *trainer);
/** A callback has ended the training here after the state NUMBER, although steps are left. MST_OK: it ends there on all
 *  workers. An error for which mst_workers_lost is true: the workers must come together first. */
MST_CHECKED mst_status mst_workers_stop(const mst_trainer *trainer, int64_t number);
/** Before a training is resumed: that a callback has ended it before counts no more. */
void mst_workers_go_on(const mst_trainer *trainer);
/** Whether a callback of a worker has ended the training that began with the state FIRST. */
bool mst_workers_are_stopped(const mst_trainer *trainer, int64_t first);

#endif
