/** The model of `muster train`: the objectives of its outputs, its layers unless a file has them, and its optimizer. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_MODEL_H
#define MUSTER_CLI_TRAIN_TRAIN_MODEL_H

#include "cli/train/training.h"

/** Makes and compiles the model. The data must be open, and so must the task of a cluster. Prints errors, and returns
 *  an exit status. */
int train_model_make(training *t);

#endif
