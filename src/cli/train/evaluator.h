/** `muster train` as the evaluator of a job, which follows the checkpoints and does not train. */
#ifndef MUSTER_CLI_TRAIN_EVALUATOR_H
#define MUSTER_CLI_TRAIN_EVALUATOR_H

#include "cli/train/training.h"

/** Evaluates each new checkpoint of --checkpoint-dir on the test part of the data, and returns when the training that
 *  writes them has ended. Returns an exit status, and has printed what was wrong. */
int evaluator_run(training *t);

#endif
