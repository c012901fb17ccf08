/** `muster train` as the evaluator of a job, which evaluates checkpoints and does not train. */
#ifndef MUSTER_CLI_TRAIN_EVALUATOR_H
#define MUSTER_CLI_TRAIN_EVALUATOR_H

#include "cli/train/training.h"

/** Evaluates each new checkpoint of --checkpoint-dir on the test part of the data. Returns when the training that
 *  writes them has ended. Prints errors, and returns an exit status. */
int evaluator_run(training *t);

#endif
