/** The fingerprints of a training, which must be the same on all workers (cluster/fingerprint.h). */
#ifndef MUSTER_TRAIN_WORKER_FINGERPRINTS_H
#define MUSTER_TRAIN_WORKER_FINGERPRINTS_H

#include "cluster/fingerprint.h"
#include "train/trainer.h"

/** Fills in the fingerprints of version, options, program, data, and the type of the machine. Returns their number,
 *  less than MST_FINGERPRINTS_MOST. */
int32_t mst_worker_fingerprints(const mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                                mst_fingerprint out[MST_FINGERPRINTS_MOST]);

#endif
